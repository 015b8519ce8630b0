// SPDX-License-Identifier: LGPL-2.1-or-later
/// Starts and stops pipelines many times. leaks_test.cpp runs it under GStreamer's leaks tracer.
///
///     state-cycles CYCLES [leak]
///
/// With `leak` one buffer is never released, to show that the tracer reports it.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness.h"

using cudaccl::test::Pipeline;

namespace {

/// Regions and records, and masks with detections where the build has them.
std::string all_metadata() {
  const cudaccl::test::Ref<GstElement> element = cudaccl::test::make_element();
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), "metadata");
  const bool has_masks =
      g_flags_get_value_by_nick(G_PARAM_SPEC_FLAGS(spec)->flags_class, "segmentation") != nullptr;
  return std::string("components+roi") + (has_masks ? "+analytics+segmentation" : "");
}

/// One pipeline from start to stop: frames, several outputs, other caps, a corrupt frame. Only every second
/// cycle waits for the end of the stream; the others stop in the middle.
bool run_cycle(int cycle) {
  using namespace cudaccl::test;
  Pipeline p("appsrc name=in format=time caps=\"" + caps_text("GRAY8", 40, 30) +
             "\" ! cudaccl name=ccl metadata=" + all_metadata() + " post-messages=true backend=" + backend() +
             " ! queue ! appsink name=out sync=false");
  const char* outputs[] = {"colorized", "labels", "mask", "passthrough", "overlay"};
  const char* maps[] = {"labels", "ids", "none"};
  for (int i = 0; i < 3; ++i) {
    gst_util_set_object_arg(G_OBJECT(p.element("ccl").get()), "output", outputs[(cycle + i) % 5]);
    gst_util_set_object_arg(G_OBJECT(p.element("ccl").get()), "label-map", maps[(cycle + i) % 3]);
    if (p.push(make_frame(noise(40, 30, cycle + i), "GRAY8")) != GST_FLOW_OK || !p.pull()) {
      return false;
    }
  }
  const Ref<GstCaps> caps(gst_caps_from_string(caps_text("NV12", 50, 20).c_str()));
  g_object_set(p.element("in").get(), "caps", caps.get(), nullptr);
  if (p.push(make_frame(noise(50, 20, cycle), "NV12")) != GST_FLOW_OK || !p.pull()) {
    return false;
  }
  p.push(Ref<GstBuffer>(gst_buffer_new()));  // corrupt, so it is dropped
  if (cycle % 2 == 0) {
    p.end();
    return p.pull() == nullptr;
  }
  return true;
}

/// The same element through all states, without a pipeline.
bool run_element_cycle(GstElement* element) {
  return gst_element_set_state(element, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS &&
         gst_element_set_state(element, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  const int cycles = argc > 1 ? std::atoi(argv[1]) : 1;
  {
    const cudaccl::test::Ref<GstElement> element = cudaccl::test::make_element();
    for (int i = 0; i < cycles; ++i) {
      if (!run_cycle(i) || !run_element_cycle(element.get())) {
        std::fprintf(stderr, "cycle %d failed\n", i);
        return EXIT_FAILURE;
      }
    }
  }
  if (argc > 2 && std::strcmp(argv[2], "leak") == 0) {
    std::printf("leaked buffer %p\n", static_cast<void*>(gst_buffer_new()));
  }
  gst_deinit();
  std::puts("done");
  return EXIT_SUCCESS;
}
