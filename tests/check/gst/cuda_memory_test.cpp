// SPDX-License-Identifier: LGPL-2.1-or-later
/// Input and output in CUDA memory, between elements that share a CUDA context or not.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include <string>
#include <vector>

#include "harness.h"

namespace cudaccl::test {

namespace {

struct UnrefObject {
  void operator()(GstCudaContext* context) const { gst_object_unref(context); }
};
using ContextRef = std::unique_ptr<GstCudaContext, UnrefObject>;

constexpr uint32_t kWidth = 150;  // rows that CUDA memory pads
constexpr uint32_t kHeight = 62;

std::string cuda_caps(const std::string& format, uint32_t width = kWidth, uint32_t height = kHeight) {
  std::string caps = caps_text(format, width, height);
  return caps.replace(0, std::string("video/x-raw").size(), "video/x-raw(memory:CUDAMemory)");
}

GstCudaContext* context_of(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return gst_is_cuda_memory(memory) ? GST_CUDA_MEMORY_CAST(memory)->context : nullptr;
}

void* handle_of(GstBuffer* buffer) {
  GstCudaContext* context = context_of(buffer);
  return context != nullptr ? gst_cuda_context_get_handle(context) : nullptr;
}

class CudaMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() != "cuda") {
      GTEST_SKIP() << "only backend=cuda takes CUDA memory";
    }
    ASSERT_TRUE(gst_cuda_load_library());
    gst_cuda_memory_init_once();
  }

  static ContextRef new_context(guint device = 0) { return ContextRef(gst_cuda_context_new(device)); }

  /// A frame in the context's memory.
  static Ref<GstBuffer> make_cuda_frame(const Image& image, const std::string& format,
                                        GstCudaContext* context) {
    GstVideoInfo info;
    const Ref<GstCaps> caps(gst_caps_from_string(cuda_caps(format, image.width, image.height).c_str()));
    EXPECT_TRUE(gst_video_info_from_caps(&info, caps.get()));
    const Ref<GstBufferPool> pool(gst_cuda_buffer_pool_new(context));
    GstStructure* config = gst_buffer_pool_get_config(pool.get());
    gst_buffer_pool_config_set_params(config, caps.get(), static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), 0,
                                      0);
    EXPECT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
    EXPECT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
    GstBuffer* buffer = nullptr;
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
    const Ref<GstBuffer> host = make_frame(image, format);
    GstVideoFrame from;
    GstVideoFrame to;
    EXPECT_TRUE(gst_video_frame_map(&from, &info, host.get(), GST_MAP_READ));
    EXPECT_TRUE(gst_video_frame_map(&to, &info, buffer, GST_MAP_WRITE));
    gst_video_frame_copy(&to, &from);
    gst_video_frame_unmap(&to);
    gst_video_frame_unmap(&from);
    gst_buffer_pool_set_active(pool.get(), FALSE);
    return Ref<GstBuffer>(buffer);
  }

  /// The output of backend=cpu.
  static std::vector<uint8_t> reference(const Image& image, const std::string& format,
                                        const std::string& properties, const std::string& src_format) {
    Harness h("backend=cpu " + properties);
    h.accept("video/x-raw,format=" + src_format);
    EXPECT_TRUE(h.send_caps(format, image.width, image.height));
    return h.pixels(h.process(image, format));
  }
};

size_t free_memory() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

}  // namespace

TEST_F(CudaMemory, EveryFormatInAndOut) {
  const ContextRef context = new_context();
  for (const char* format : {"NV12", "NV21", "I420", "YV12", "Y42B", "Y444"}) {
    for (const char* src : {"RGBA", "BGRA", "RGBx", "BGRx", "ARGB", "ABGR"}) {
      Harness h("output=colorized threshold=128");
      h.accept(std::string("video/x-raw(memory:CUDAMemory),format=") + src);
      ASSERT_TRUE(h.send_caps(cuda_caps(format))) << format << " to " << src;
      const Image image = noise(kWidth, kHeight, 1);
      const Ref<GstBuffer> out = h.process(make_cuda_frame(image, format, context.get()));
      EXPECT_NE(context_of(out.get()), nullptr);
      EXPECT_EQ(h.pixels(out), reference(image, format, "output=colorized threshold=128", src))
          << format << " to " << src;
    }
  }
}

TEST_F(CudaMemory, EveryOutputFromEveryMemoryAtEveryDepth) {
  const ContextRef context = new_context();
  struct Case {
    const char* output;
    const char* format;
    bool can_be_cuda;
  };
  for (const Case& c :
       {Case{"colorized", "RGBA", true}, Case{"overlay", "BGRx", true}, Case{"labels", "GRAY16_LE", false},
        Case{"mask", "GRAY8", false}, Case{"mask", "NV12", true}, Case{"mask", "I420", true},
        Case{"foreground", "RGBA", true}, Case{"background", "ARGB", true},
        Case{"passthrough", "NV12", true}}) {
    for (const bool from_cuda : {false, true}) {
      for (const bool to_cuda : {false, true}) {
        const bool is_passthrough = std::string(c.output) == "passthrough";
        if ((to_cuda && !c.can_be_cuda) || (is_passthrough && from_cuda != to_cuda)) {
          continue;
        }
        for (const guint64 depth : {0, 3}) {
          const std::string properties = std::string("threshold=128 output=") + c.output;
          Harness h(properties + " pipeline-depth=" + std::to_string(depth));
          h.accept(std::string("video/x-raw") + (to_cuda ? "(memory:CUDAMemory)" : "") +
                   ",format=" + c.format);
          ASSERT_TRUE(h.send_caps(from_cuda ? cuda_caps("NV12") : caps_text("NV12", kWidth, kHeight)));
          for (uint32_t seed = 0; seed < 6; ++seed) {
            const Image image = noise(kWidth, kHeight, seed);
            ASSERT_EQ(
                h.push(from_cuda ? make_cuda_frame(image, "NV12", context.get()) : make_frame(image, "NV12")),
                GST_FLOW_OK);
          }
          gst_harness_push_event(h.get(), gst_event_new_eos());
          for (uint32_t seed = 0; seed < 6; ++seed) {
            const Ref<GstBuffer> out = h.pull();
            ASSERT_NE(out, nullptr);
            EXPECT_EQ(context_of(out.get()) != nullptr, to_cuda);
            const Image image = noise(kWidth, kHeight, seed);
            EXPECT_EQ(h.pixels(out), reference(image, "NV12", properties, c.format))
                << c.output << (from_cuda ? " from CUDA" : "") << (to_cuda ? " to CUDA" : "") << " depth "
                << depth;
            expect_records(components_of(out.get()).records, components_of(out.get()).n_records,
                           label(image, {.threshold = 128}).records);
          }
        }
      }
    }
  }
}

/// GStreamer's elements produce no GRAY8 in CUDA memory, but others may.
TEST_F(CudaMemory, GreyCapsAreAccepted) {
  Harness h("output=mask");
  EXPECT_TRUE(h.send_caps(cuda_caps("GRAY8")));
}

/// The element adopts upstream's context, so that no frame is copied through the host.
TEST_F(CudaMemory, UpstreamsContextIsAdopted) {
  const ContextRef theirs = new_context();
  Harness h("output=colorized");
  h.accept("video/x-raw(memory:CUDAMemory)");
  ASSERT_TRUE(h.send_caps(cuda_caps("NV12")));
  const Image image = noise(kWidth, kHeight, 3);
  for (int i = 0; i < 3; ++i) {
    const Ref<GstBuffer> out = h.process(make_cuda_frame(image, "NV12", theirs.get()));
    EXPECT_EQ(h.pixels(out), reference(image, "NV12", "", "RGBA"));
    if (i > 0) {  // the first buffer is from a pool that was made before the context was known
      EXPECT_EQ(handle_of(out.get()), gst_cuda_context_get_handle(theirs.get()));
    }
  }
}

/// Frames of other contexts are read as well.
TEST_F(CudaMemory, MixedContextsInOneStream) {
  const ContextRef contexts[] = {new_context(), new_context(), new_context()};
  Harness h("output=labels threshold=128", cuda_caps("NV12"));
  for (uint32_t i = 0; i < 9; ++i) {
    const Image image = noise(kWidth, kHeight, i);
    const Ref<GstBuffer> out = h.process(make_cuda_frame(image, "NV12", contexts[i % 3].get()));
    EXPECT_EQ(h.pixels(out), labels(label(image, {.threshold = 128}))) << i;
  }
}

TEST_F(CudaMemory, AnotherDevicesFramesAreCopiedThroughTheHost) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  if (devices < 2) {
    GTEST_SKIP() << "there is one GPU only";
  }
  const ContextRef theirs = new_context(1);
  Harness h("output=colorized cuda-device-id=0");
  h.accept("video/x-raw(memory:CUDAMemory)");
  ASSERT_TRUE(h.send_caps(cuda_caps("NV12")));
  for (uint32_t i = 0; i < 4; ++i) {
    const Image image = noise(kWidth, kHeight, i);
    const Ref<GstBuffer> out = h.process(make_cuda_frame(image, "NV12", theirs.get()));
    EXPECT_EQ(h.pixels(out), reference(image, "NV12", "", "RGBA"));
    guint device = 99;
    g_object_get(context_of(out.get()), "cuda-device-id", &device, nullptr);
    EXPECT_EQ(device, 0u);
  }
}

/// The element moves to the GPU of the frames, and reports that GPU.
TEST_F(CudaMemory, StatsNameTheDeviceOfTheFrames) {
  int devices = 0;
  ASSERT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  if (devices < 2) {
    GTEST_SKIP() << "there is one GPU only";
  }
  const ContextRef contexts[] = {new_context(0), new_context(1)};
  Harness h("output=labels threshold=128");
  for (const int device : {0, 1, 0, 1}) {
    const Image image = noise(kWidth + 2 * static_cast<uint32_t>(device), kHeight, 1);
    ASSERT_TRUE(h.send_caps(cuda_caps("NV12", image.width)));
    const Ref<GstBuffer> out = h.process(make_cuda_frame(image, "NV12", contexts[device].get()));
    EXPECT_EQ(h.pixels(out), labels(label(image, {.threshold = 128})));
    GstStructure* raw = nullptr;
    g_object_get(h.element(), "stats", &raw, nullptr);
    const Ref<GstStructure> stats(raw);
    gint id = -99;
    EXPECT_TRUE(gst_structure_get_int(stats.get(), "device-id", &id));
    EXPECT_EQ(id, device);
  }
}

/// The element requests the application's context and uses it.
TEST_F(CudaMemory, ApplicationsContextIsUsed) {
  const ContextRef theirs = new_context();
  Pipeline p("appsrc name=in format=time caps=\"" + caps_text("GRAY8", kWidth, kHeight) +
             "\" ! cudaccl backend=cuda ! video/x-raw(memory:CUDAMemory) ! appsink name=out sync=false");
  struct Answer {
    GstCudaContext* context;
    int times = 0;
  } answer{theirs.get()};
  const Ref<GstBus> bus(gst_element_get_bus(p.get()));
  gst_bus_set_sync_handler(
      bus.get(),
      [](GstBus*, GstMessage* message, gpointer data) {
        auto* answer = static_cast<Answer*>(data);
        const gchar* type = nullptr;
        if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT &&
            gst_message_parse_context_type(message, &type) && std::string(type) == GST_CUDA_CONTEXT_TYPE) {
          GstContext* context = gst_context_new_cuda_context(answer->context);
          gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)), context);
          gst_context_unref(context);
          ++answer->times;
        }
        return GST_BUS_PASS;
      },
      &answer, nullptr);
  // The pipeline starts when it is made. Start it again, now that the application answers.
  ASSERT_NE(gst_element_set_state(p.get(), GST_STATE_NULL), GST_STATE_CHANGE_FAILURE);
  ASSERT_NE(gst_element_set_state(p.get(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  const Image image = noise(kWidth, kHeight, 4);
  ASSERT_EQ(p.push(make_frame(image, "GRAY8")), GST_FLOW_OK);
  const Ref<GstSample> sample = p.pull();
  ASSERT_NE(sample, nullptr);
  EXPECT_GE(answer.times, 1);
  EXPECT_EQ(handle_of(gst_sample_get_buffer(sample.get())), gst_cuda_context_get_handle(theirs.get()));
  gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
}

/// With GStreamer's own elements: all share one context.
TEST_F(CudaMemory, BetweenUploadAndDownload) {
  for (const char* output : {"colorized", "overlay", "passthrough"}) {
    Pipeline p("appsrc name=in format=time caps=\"" + caps_text("NV12", kWidth, kHeight) +
               "\" ! cudaupload ! cudaccl backend=cuda pipeline-depth=2 threshold=128 output=" + output +
               " ! video/x-raw(memory:CUDAMemory) ! tee name=t ! queue ! appsink name=seen sync=false "
               "t. ! queue ! cudadownload ! appsink name=out sync=false");
    for (uint32_t i = 0; i < 5; ++i) {
      ASSERT_EQ(p.push(make_frame(noise(kWidth, kHeight, i), "NV12")), GST_FLOW_OK);
    }
    p.end();
    for (uint32_t i = 0; i < 5; ++i) {
      const Image image = noise(kWidth, kHeight, i);
      const Ref<GstSample> seen = p.pull("seen");
      const Ref<GstSample> sample = p.pull();
      ASSERT_NE(seen, nullptr);
      ASSERT_NE(sample, nullptr);
      EXPECT_NE(context_of(gst_sample_get_buffer(seen.get())), nullptr);
      GstBuffer* out = gst_sample_get_buffer(sample.get());
      GstVideoInfo info;
      ASSERT_TRUE(gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get())));
      EXPECT_EQ(pixels_of(out, gst_sample_get_caps(sample.get())),
                reference(image, "NV12", std::string("threshold=128 output=") + output,
                          GST_VIDEO_INFO_NAME(&info)));
      EXPECT_EQ(components_of(gst_sample_get_buffer(seen.get())).n_components,
                label(image, {.threshold = 128}).records.size());
    }
  }
}

TEST_F(CudaMemory, FromCudaToSystemMemoryAndBackInTheStream) {
  const ContextRef context = new_context();
  Harness h("output=colorized threshold=128 pipeline-depth=2");
  uint32_t pushed = 0;
  for (int round = 0; round < 6; ++round) {
    const bool is_cuda = round % 2 == 0;
    h.accept(round % 3 == 0 ? "video/x-raw(memory:CUDAMemory)" : "video/x-raw,format=RGBA");
    ASSERT_TRUE(h.send_caps(is_cuda ? cuda_caps("NV12") : caps_text("NV12", kWidth, kHeight)));
    for (int i = 0; i < 3; ++i, ++pushed) {
      const Image image = noise(kWidth, kHeight, pushed);
      ASSERT_EQ(h.push(is_cuda ? make_cuda_frame(image, "NV12", context.get()) : make_frame(image, "NV12")),
                GST_FLOW_OK)
          << round;
    }
  }
  gst_harness_push_event(h.get(), gst_event_new_eos());
  for (uint32_t i = 0; i < pushed; ++i) {
    const Ref<GstBuffer> out = h.pull();
    ASSERT_NE(out, nullptr);
    EXPECT_EQ(components_of(out.get()).n_components,
              label(noise(kWidth, kHeight, i), {.threshold = 128}).records.size());
  }
}

/// The pools offered upstream have memory with the fastest transfers.
TEST_F(CudaMemory, PoolsAreOfferedUpstream) {
  Harness h("output=colorized pipeline-depth=3");
  for (const bool is_cuda : {false, true}) {
    ASSERT_TRUE(h.send_caps(is_cuda ? cuda_caps("NV12") : caps_text("NV12", kWidth, kHeight)));
    const Ref<GstCaps> caps(gst_pad_get_current_caps(h.get()->srcpad));
    const Ref<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
    ASSERT_TRUE(gst_pad_peer_query(h.get()->srcpad, query.get()));
    ASSERT_EQ(gst_query_get_n_allocation_pools(query.get()), 1u);
    GstBufferPool* raw = nullptr;
    guint min = 0;
    gst_query_parse_nth_allocation_pool(query.get(), 0, &raw, nullptr, &min, nullptr);
    const Ref<GstBufferPool> pool(raw);
    EXPECT_GE(min, 4u);
    ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
    GstBuffer* buffer = nullptr;
    ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr), GST_FLOW_OK);
    if (is_cuda) {
      EXPECT_NE(context_of(buffer), nullptr);
    } else {
      GstMapInfo mapped;
      ASSERT_TRUE(gst_buffer_map(buffer, &mapped, GST_MAP_READ));
      cudaPointerAttributes attributes{};
      EXPECT_EQ(cudaPointerGetAttributes(&attributes, mapped.data), cudaSuccess);
      EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
      gst_buffer_unmap(buffer, &mapped);
    }
    gst_buffer_unref(buffer);
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

TEST_F(CudaMemory, OutputsInSystemMemoryArePageLocked) {
  Harness h("output=colorized", "GRAY8", kWidth, kHeight);
  const Ref<GstBuffer> out = h.process(noise(kWidth, kHeight, 1));
  GstMapInfo mapped;
  ASSERT_TRUE(gst_buffer_map(out.get(), &mapped, GST_MAP_READ));
  cudaPointerAttributes attributes{};
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, mapped.data), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  gst_buffer_unmap(out.get(), &mapped);
}

/// Buffers may outlive the element, its engine and its context.
TEST_F(CudaMemory, BuffersOutliveTheElement) {
  Ref<GstBuffer> kept[2];
  std::vector<uint8_t> pixels[2];
  for (const bool is_cuda : {false, true}) {
    Harness h("output=colorized");
    h.accept(is_cuda ? "video/x-raw(memory:CUDAMemory),format=RGBA" : "video/x-raw,format=RGBA");
    ASSERT_TRUE(h.send_caps("GRAY8", 64, 16));
    kept[is_cuda] = h.process(noise(64, 16, 1));
    pixels[is_cuda] = h.pixels(kept[is_cuda]);
  }
  const Ref<GstCaps> caps(gst_caps_from_string(caps_text("RGBA", 64, 16).c_str()));
  for (const bool is_cuda : {false, true}) {
    EXPECT_EQ(pixels_of(kept[is_cuda].get(), caps.get()), pixels[is_cuda]);
  }
}

TEST_F(CudaMemory, NoGpuMemoryIsLeakedInHundredCycles) {
  const ContextRef context = new_context();
  const Ref<GstElement> element = make_element("output=colorized pipeline-depth=3");
  const auto live = [&](int times) {
    for (int i = 0; i < times; ++i) {
      Pipeline p("appsrc name=in format=time caps=\"" + caps_text("NV12", kWidth, kHeight) +
                 "\" ! cudaupload ! cudaccl backend=cuda pipeline-depth=2 ! "
                 "video/x-raw(memory:CUDAMemory) ! appsink name=out sync=false");
      for (uint32_t frame = 0; frame < 4; ++frame) {
        ASSERT_EQ(p.push(make_frame(noise(kWidth, kHeight, frame), "NV12")), GST_FLOW_OK);
      }
      ASSERT_NE(p.pull(), nullptr);
    }
  };
  live(3);
  const size_t before = free_memory();
  live(100);
  EXPECT_EQ(free_memory(), before);
}

TEST_F(CudaMemory, NoGpuMemoryIsLeakedInTenThousandRenegotiations) {
  const ContextRef context = new_context();
  Harness h("output=colorized");
  const Image images[] = {noise(kWidth, kHeight, 1), noise(kWidth / 2, kHeight, 2)};
  const Ref<GstBuffer> frames[] = {make_cuda_frame(images[0], "NV12", context.get()),
                                   make_cuda_frame(images[1], "NV12", context.get())};
  const auto renegotiate = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const int which = i % 2;
      const bool is_cuda = i / 2 % 2 == 0;
      const std::string caps =
          is_cuda ? cuda_caps("NV12", images[which].width) : caps_text("NV12", images[which].width, kHeight);
      ASSERT_TRUE(h.send_caps(caps));
      if (i % 16 < 4) {
        ASSERT_EQ(h.push(is_cuda ? Ref<GstBuffer>(gst_buffer_copy(frames[which].get()))
                                 : make_frame(images[which], "NV12")),
                  GST_FLOW_OK);
        ASSERT_NE(h.pull(), nullptr);
      }
      while (const Ref<GstEvent> event{gst_harness_try_pull_event(h.get())}) {
      }
      while (const Ref<GstMessage> message = h.message(GST_MESSAGE_ANY)) {
      }
    }
  };
  renegotiate(40);
  const size_t before = free_memory();
  renegotiate(10000);
  EXPECT_EQ(free_memory(), before);
}

}  // namespace cudaccl::test
