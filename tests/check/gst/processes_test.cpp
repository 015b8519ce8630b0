// SPDX-License-Identifier: LGPL-2.1-or-later
/// GstCudaCclMeta in another process: unixfdsink here, unixfdsrc there.
#include "processes.h"

#include <gtest/gtest.h>

namespace cudaccl::test {

namespace {

std::string why_no_sockets() {
  for (const char* name : {"unixfdsink", "unixfdsrc"}) {
    GstElementFactory* factory = gst_element_factory_find(name);
    if (factory == nullptr) {
      return std::string(name) + " is missing: needs GStreamer 1.24 or newer, and its Bad plugins";
    }
    gst_object_unref(factory);
  }
  const Ref<GstElement> sink(gst_element_factory_make("unixfdsink", nullptr));
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(sink.get()), "wait-for-connection") == nullptr) {
    return "unixfdsink has no property wait-for-connection: needs GStreamer 1.26 or newer";
  }
  return "";
}

struct Outcome {
  bool succeeded = false;
  std::string read;  ///< in the other process
  std::string sent;
};

/// Frames of 0 to 100 components through two elements to another process. The second one writes into the
/// sink's shared memory, which appsrc would not.
Outcome send_to(const char* how) {
  const SocketFolder folder;
  const std::string path = " socket-path=" + folder.socket();
  Outcome outcome;
  Pipeline p(
      dots_line("GRAY8", "", "mask") + "unixfdsink name=sink sync=false wait-for-connection=true" + path,
      GST_STATE_NULL);
  prepare_sender(p, &outcome.sent);
  EXPECT_NE(gst_element_set_state(p.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  for (uint32_t i = 0; i <= kMostDots; ++i) {
    EXPECT_EQ(p.push(make_dots(i, "GRAY8")), GST_FLOW_OK);
  }
  p.end();
  Receiver receiver("unixfdsrc" + path, how);
  outcome.read = receiver.read_rest();
  outcome.succeeded = receiver.finish();
  gst_element_set_state(p.get(), GST_STATE_NULL);
  return outcome;
}

class Processes : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_sockets(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
};

class Receivers : public Processes, public testing::WithParamInterface<const char*> {};

}  // namespace

TEST_P(Receivers, ReadEveryRecord) {
  const Outcome outcome = send_to(GetParam());
  EXPECT_TRUE(outcome.succeeded);
  EXPECT_EQ(outcome.read, outcome.sent);
  expect_dots(outcome.sent);
}

INSTANTIATE_TEST_SUITE_P(How, Receivers,
                         testing::Values("load", "register"
#if GST_CHECK_VERSION(1, 28, 0)
                                         ,
                                         "nothing"  // it finds the plugin by the name of the metadata
#endif
                                         ),
                         [](const auto& info) { return std::string(info.param); });

#if !GST_CHECK_VERSION(1, 28, 0)
/// The frames arrive as they are.
TEST_F(Processes, NothingArrivesWhereTheNameIsUnknown) {
  const Outcome outcome = send_to("nothing");
  EXPECT_TRUE(outcome.succeeded);
  EXPECT_EQ(count(outcome.read, "buffer\n"), kMostDots + 1);
  EXPECT_EQ(count(outcome.read, "frame"), 0u);
}
#endif

}  // namespace cudaccl::test
