// SPDX-License-Identifier: LGPL-2.1-or-later
/// Prints the metadata of the buffers that another process sends. The tests of `element-processes` run it.
///
///     meta-receiver SOURCE load|register|nothing
///
/// SOURCE is an element with its properties, as on a launch line.
/// `load` loads the plugin cudaccl; `register` only makes the metadata's name known, and needs no plugin.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cudaccl/gstcudacclmeta.h"
#include "meta_dump.h"
#include "ref.h"

using namespace cudaccl::test;

namespace {

bool prepare(const std::string& how) {
  if (how == "load") {
    GstPlugin* plugin = gst_plugin_load_by_name("cudaccl");
    gst_clear_object(&plugin);
    return gst_meta_get_info(GST_CUDACCL_META_NAME) != nullptr;
  }
  if (how == "register") {
    const gchar* tags[] = {"video", "size", nullptr};
    return gst_meta_register_custom(GST_CUDACCL_META_NAME, tags, nullptr, nullptr, nullptr) != nullptr;
  }
  return how == "nothing";
}

void print_error(GstMessage* message) {
  GError* raw = nullptr;
  gchar* raw_debug = nullptr;
  gst_message_parse_error(message, &raw, &raw_debug);
  const Error error(raw);
  const Text debug(raw_debug);
  std::fprintf(stderr, "meta-receiver: %s (%s)\n", error->message, debug ? debug.get() : "");
}

/// At the end of the stream, success; after an error, or without a buffer for ten seconds, no success.
bool print_buffers(GstElement* pipeline) {
  const Ref<GstElement> sink(gst_bin_get_by_name(GST_BIN(pipeline), "out"));
  const Ref<GstBus> bus(gst_element_get_bus(pipeline));
  while (true) {
    GstSample* raw = nullptr;
    g_signal_emit_by_name(sink.get(), "try-pull-sample", guint64{10 * GST_SECOND}, &raw);
    const Ref<GstSample> sample(raw);
    if (!sample) {
      gboolean is_end = FALSE;
      g_object_get(sink.get(), "eos", &is_end, nullptr);
      const Ref<GstMessage> error(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
      if (error) {
        print_error(error.get());
      }
      return is_end && !error;
    }
    std::fputs(dump_metas(gst_sample_get_buffer(sample.get())).c_str(), stdout);
    std::fflush(stdout);  // the sender may wait for it
  }
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc != 3 || !prepare(argv[2])) {
    std::fprintf(stderr, "meta-receiver SOURCE load|register|nothing\n");
    return EXIT_FAILURE;
  }
  GError* raw = nullptr;
  const Ref<GstElement> pipeline(
      gst_parse_launch((std::string(argv[1]) + " ! appsink name=out sync=false").c_str(), &raw));
  if (const Error error(raw); error) {
    std::fprintf(stderr, "%s\n", error->message);
    return EXIT_FAILURE;
  }
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const bool succeeded = print_buffers(pipeline.get());
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  return succeeded ? EXIT_SUCCESS : EXIT_FAILURE;
}
