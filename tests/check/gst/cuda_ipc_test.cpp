// SPDX-License-Identifier: LGPL-2.1-or-later
/// GstCudaCclMeta in another process, with frames that stay on the GPU: cudaipcsink here, cudaipcsrc there.
#include <gtest/gtest.h>

#include "processes.h"

namespace cudaccl::test {

namespace {

std::string why_no_cuda_ipc() {
  if (backend() != "cuda") {
    return "frames in CUDA memory need backend=cuda";
  }
  guint major = 0;
  guint minor = 0;
  guint micro = 0;
  guint nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  if (major == 1 && minor < 26) {
    return "GStreamer before 1.26 sends no metadata through cudaipcsink";
  }
  for (const char* name : {"cudaupload", "cudaipcsink", "cudaipcsrc"}) {
    GstElementFactory* factory = gst_element_factory_find(name);
    if (factory == nullptr) {
      return std::string(name) + " is missing: needs the plugin nvcodec, and a driver that it accepts";
    }
    gst_object_unref(factory);
  }
  return "";
}

/// How the memory is shared (`ipc-mode` of cudaipcsink), and how the receiver gets to know the metadata.
struct Way {
  const char* mode;
  const char* how;
};

class CudaIpc : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_cuda_ipc(); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
};

}  // namespace

/// cudaipcsink sends only its newest frame, so each frame waits until the one before it has arrived.
TEST_P(CudaIpc, ReceiverReadsEveryRecord) {
  const SocketFolder folder;
  const std::string address = " address=" + folder.socket();
  std::string sent;
  Pipeline p(dots_line("NV12", "cudaupload ! ", "colorized") +
                 "video/x-raw(memory:CUDAMemory) ! cudaipcsink name=sink sync=false ipc-mode=" +
                 GetParam().mode + address,
             GST_STATE_NULL);
  prepare_sender(p, &sent);
  ASSERT_NE(gst_element_set_state(p.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  Receiver receiver("cudaipcsrc" + address, GetParam().how);
  std::string read;
  for (uint32_t i = 0; i <= kMostDots; ++i) {
    ASSERT_EQ(p.push(make_dots(i, "NV12")), GST_FLOW_OK);
    const std::string frame = receiver.read(kLinesPerFrame);
    ASSERT_EQ(count(frame, "\n"), kLinesPerFrame) << "of frame " << i << " arrived: " << frame << p.errors();
    read += frame;
  }
  gst_element_set_state(p.get(), GST_STATE_NULL);  // the receiver's stream ends
  EXPECT_EQ(receiver.read_rest(), "");
  EXPECT_TRUE(receiver.finish());
  EXPECT_EQ(read, sent);
  expect_dots(sent);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, CudaIpc, testing::Values(Way{"legacy", "load"}, Way{"legacy", "register"}, Way{"mmap", "load"}),
    [](const auto& info) { return std::string(info.param.mode) + "_" + info.param.how; });

}  // namespace cudaccl::test
