// SPDX-License-Identifier: LGPL-2.1-or-later
/// Calls of the C interface: their order, what they refuse, and what they say.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "c_engine.h"

namespace {

std::atomic<uint64_t> n_allocations = 0;
/// All requests fail once there were so many.
std::atomic<uint64_t> first_failure = UINT64_MAX;

void* allocate(size_t size) {
  void* memory = n_allocations++ < first_failure ? std::malloc(size != 0 ? size : 1) : nullptr;
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

// The library takes its memory from these, too.
void* operator new(size_t size) {
  return allocate(size);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}

namespace ccl::test {

namespace {

/// `n` components in one row.
Image dots(uint32_t n) {
  Image image = plain("dots", 64, 4);
  for (uint32_t i = 0; i < n; ++i) {
    image.at(2 * i, 1) = 255;
  }
  return image;
}

TEST(CCallsTest, TheLibraryDescribesItself) {
  EXPECT_GE(std::strlen(cudaccl_version()), 5u);
  EXPECT_EQ(cudaccl_api_version(), CUDACCL_API_VERSION);
  EXPECT_EQ(cudaccl_component_layout_version(), CCL_COMPONENT_LAYOUT_VERSION);
  EXPECT_EQ(cudaccl_track_layout_version(), CCL_TRACK_LAYOUT_VERSION);
  EXPECT_STREQ(cudaccl_status_text(CUDACCL_OK), "ok");
  std::set<std::string> texts;
  for (int status = CUDACCL_OK; status <= CUDACCL_DEVICE_ERROR; ++status) {
    texts.insert(cudaccl_status_text(static_cast<CudacclStatus>(status)));
  }
  EXPECT_EQ(texts.size(), size_t{CUDACCL_DEVICE_ERROR} + 1) << "two have the same text";
  EXPECT_STREQ(cudaccl_status_text(static_cast<CudacclStatus>(99)), "unknown status");
  EXPECT_STREQ(cudaccl_filter_name(0), "min-area");
  EXPECT_EQ(cudaccl_filter_name(kFilterConditions), nullptr);
  EXPECT_EQ(cudaccl_bytes_per_pixel(CUDACCL_OUTPUT_LABELS16), 2u);
  EXPECT_EQ(cudaccl_bytes_per_pixel(CUDACCL_OUTPUT_DISTANCE), 2u);
  EXPECT_EQ(cudaccl_bytes_per_pixel(CUDACCL_OUTPUT_DISTANCE8), 1u);
  EXPECT_EQ(cudaccl_bytes_per_pixel(99), 0u);
}

TEST(CCallsTest, AlgorithmsAreListed) {
  std::string names;
  cudaccl::AlgorithmInfo info;
  for (size_t i = 0; i < cudaccl_algorithm_count(); ++i) {
    ASSERT_EQ(cudaccl_algorithm_info(i, &info), CUDACCL_OK);
    names += std::string(info.name) + " ";
    EXPECT_TRUE(info.on_cpu != 0 || info.on_cuda != 0 || cudaccl_has_cuda() == 0) << info.name;
    if (info.on_cpu != 0) {
      cudaccl::Engine engine(c_options());
      cudaccl::Config config = c_config(8, 8);
      config.algorithm = info.name;
      if (!engine.is_cuda()) {
        EXPECT_EQ(cudaccl_engine_configure(engine.get(), &config), CUDACCL_OK) << info.name;
      }
    }
  }
  EXPECT_TRUE(says(names.c_str(), "auto runs dlp"));
  EXPECT_EQ(cudaccl_algorithm_info(cudaccl_algorithm_count(), &info), CUDACCL_INVALID_ARGUMENT);
  EXPECT_TRUE(says(cudaccl_last_error(nullptr), "there is no algorithm"));
}

TEST(CCallsTest, DevicesAreListed) {
  int32_t count = -1;
  ASSERT_EQ(cudaccl_device_count(&count), CUDACCL_OK);
  if (backend() == Backend::kCuda) {
    ASSERT_GT(count, 0);
    cudaccl::DeviceInfo info;
    ASSERT_EQ(cudaccl_device_info(0, &info), CUDACCL_OK);
    EXPECT_GT(std::strlen(info.name), 0u);
    EXPECT_GE(info.compute_major, 7);
    EXPECT_GT(info.memory, uint64_t{1} << 30);
  } else if (count == 0) {
    EXPECT_GT(std::strlen(cudaccl_last_error(nullptr)), 0u) << "why there is none";
  }
  cudaccl::DeviceInfo info;
  EXPECT_NE(cudaccl_device_info(count, &info), CUDACCL_OK);
  EXPECT_EQ(cudaccl_device_count(nullptr), CUDACCL_INVALID_ARGUMENT);
}

TEST(CCallsTest, AnEngineSaysWhatItIs) {
  const cudaccl::Engine engine(c_options());
  EXPECT_EQ(cudaccl_engine_backend(engine.get()), c_backend());
  EXPECT_FALSE(engine.description().empty());
  EXPECT_EQ(cudaccl_engine_device_id(engine.get()) >= 0, engine.is_cuda());
  EXPECT_EQ(cudaccl_engine_context(engine.get()) != nullptr, engine.is_cuda());
  EXPECT_STREQ(cudaccl_last_error(engine.get()), "");
}

TEST(CCallsTest, EnginesThatCannotBeMade) {
  CudacclEngine* engine = reinterpret_cast<CudacclEngine*>(1);
  cudaccl::EngineOptions options;
  options.backend = 3;
  EXPECT_EQ(cudaccl_engine_new(&options, &engine), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(engine, nullptr);
  EXPECT_TRUE(says(cudaccl_last_error(nullptr), "backend"));
  options.backend = CUDACCL_BACKEND_CUDA;
  options.device_id = -2;
  EXPECT_EQ(cudaccl_engine_new(&options, &engine), CUDACCL_INVALID_ARGUMENT);
  options.device_id = 999;
  const CudacclStatus status = cudaccl_engine_new(&options, &engine);
  EXPECT_TRUE(status == CUDACCL_NO_DEVICE || status == CUDACCL_UNSUPPORTED) << status;
  options = {};
  options.backend = CUDACCL_BACKEND_CPU;
  options.context = &options;
  EXPECT_EQ(cudaccl_engine_new(&options, &engine), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_new(nullptr, nullptr), CUDACCL_INVALID_ARGUMENT);
}

/// With `auto` there is always an engine, which says why it is not on a GPU.
TEST(CCallsTest, AutoTakesWhatThereIs) {
  const cudaccl::Engine engine;
  int32_t count = 0;
  ASSERT_EQ(cudaccl_device_count(&count), CUDACCL_OK);
  EXPECT_EQ(engine.is_cuda(), count > 0);
  EXPECT_EQ(std::strlen(cudaccl_last_error(engine.get())) > 0, count == 0);
}

TEST(CCallsTest, NullIsRefused) {
  const Image image = dots(3);
  CEngine c(image);
  EXPECT_EQ(cudaccl_engine_configure(nullptr, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_TRUE(says(cudaccl_last_error(nullptr), "CudacclEngine is NULL"));
  EXPECT_EQ(cudaccl_engine_push(nullptr, &c.frame), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_pop(nullptr, &c.result), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_run(nullptr, &c.frame, &c.result), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_flush(nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_set_regions(nullptr, nullptr), CUDACCL_INVALID_ARGUMENT);
  CudacclEngine* engine = c.engine.get();
  EXPECT_EQ(cudaccl_engine_push(engine, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_pop(engine, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_run(engine, nullptr, &c.result), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_run(engine, &c.frame, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_memory_new(engine, CUDACCL_MEMORY_HOST, 1, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_algorithm_info(0, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_device_info(0, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(c.run(), CUDACCL_OK) << "nothing has changed";
  EXPECT_EQ(cudaccl_engine_configure(engine, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_backend(nullptr), uint32_t{CUDACCL_BACKEND_AUTO});
  EXPECT_STREQ(cudaccl_engine_description(nullptr), "");
  EXPECT_EQ(cudaccl_engine_device_id(nullptr), -1);
  EXPECT_EQ(cudaccl_engine_context(nullptr), nullptr);
  EXPECT_EQ(cudaccl_memory_data(nullptr), nullptr);
  cudaccl_memory_free(nullptr);
  cudaccl_engine_free(nullptr);
}

TEST(CCallsTest, AnEngineMustBeConfigured) {
  const Image image = dots(3);
  const cudaccl::Engine engine(c_options());
  cudaccl::Input input = c_input(image);
  cudaccl::Frame frame;
  frame.input = &input;
  cudaccl::Result result;
  EXPECT_EQ(cudaccl_engine_push(engine.get(), &frame), CUDACCL_INVALID_ARGUMENT);
  EXPECT_TRUE(says(cudaccl_last_error(engine.get()), "cudaccl_engine_configure()"));
  EXPECT_EQ(cudaccl_engine_pop(engine.get(), &result), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_set_regions(engine.get(), nullptr), CUDACCL_INVALID_ARGUMENT);
}

TEST(CCallsTest, FramesLeaveInTheOrderTheyCame) {
  std::vector<Image> images;
  for (uint32_t i = 0; i < 12; ++i) {
    images.push_back(dots(i));
  }
  cudaccl::Config config = c_config(64, 4);
  config.slots = 3;
  CEngine c(images[0], config);
  CudacclEngine* engine = c.engine.get();
  EXPECT_EQ(cudaccl_engine_pop(engine, &c.result), CUDACCL_NEED_MORE_DATA);
  for (uint32_t i = 0; i < 12; ++i) {
    if (i >= 3) {
      EXPECT_EQ(cudaccl_engine_push(engine, &c.frame), CUDACCL_INVALID_ARGUMENT) << "a fourth frame";
      ASSERT_EQ(cudaccl_engine_pop(engine, &c.result), CUDACCL_OK);
      EXPECT_EQ(c.result.n_labels, i - 3);
      EXPECT_EQ(c.result.time, int64_t{i} - 3);
    }
    c.input = c_input(images[i]);
    c.frame.time = i;
    ASSERT_EQ(cudaccl_engine_push(engine, &c.frame), CUDACCL_OK) << c.error();
  }
  EXPECT_TRUE(c.refuses("in flight"));
  EXPECT_EQ(cudaccl_engine_set_regions(engine, nullptr), CUDACCL_INVALID_ARGUMENT);
  EXPECT_EQ(cudaccl_engine_flush(engine), CUDACCL_OK);
  EXPECT_EQ(cudaccl_engine_pop(engine, &c.result), CUDACCL_NEED_MORE_DATA);
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(c.result.n_labels, 11u);
}

TEST(CCallsTest, AnOutputIsNeededWhereSomethingIsPainted) {
  const Image image = dots(3);
  cudaccl::Config config = c_config(64, 4);
  config.output = CUDACCL_OUTPUT_MASK;
  CEngine c(image, config);
  EXPECT_TRUE(c.refuses("no output image"));
  std::vector<uint8_t> mask(image.memory.size());
  cudaccl::Output output;
  output.pixels = mask.data();
  c.frame.output = &output;
  EXPECT_TRUE(c.refuses("stride of 0"));
  output.stride = 64;
  EXPECT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(mask, image.memory);
}

TEST(CCallsTest, Memory) {
  CudacclMemory* memory = nullptr;
  {
    cudaccl::Engine engine(c_options());
    EXPECT_EQ(cudaccl_memory_new(engine.get(), CUDACCL_MEMORY_HOST, 0, &memory), CUDACCL_INVALID_ARGUMENT);
    EXPECT_EQ(cudaccl_memory_new(engine.get(), 2, 1, &memory), CUDACCL_INVALID_ARGUMENT);
    for (const size_t bytes : {SIZE_MAX / 2, SIZE_MAX - 62, SIZE_MAX}) {
      EXPECT_EQ(cudaccl_memory_new(engine.get(), CUDACCL_MEMORY_HOST, bytes, &memory), CUDACCL_OUT_OF_MEMORY);
    }
    EXPECT_EQ(memory, nullptr);
    const CudacclStatus status = cudaccl_memory_new(engine.get(), CUDACCL_MEMORY_DEVICE, 1000, &memory);
    EXPECT_EQ(status, engine.is_cuda() ? CUDACCL_OK : CUDACCL_UNSUPPORTED);
    cudaccl_memory_free(memory);
    ASSERT_EQ(cudaccl_memory_new(engine.get(), CUDACCL_MEMORY_HOST, 1000, &memory), CUDACCL_OK);
  }
  void* data = cudaccl_memory_data(memory);  // which outlives the engine
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
  std::memset(data, 1, 1000);
  cudaccl_memory_free(memory);
}

TEST(CCallsTest, ImagesOnAGpuAreRefusedOnTheCpu) {
  if (backend() != Backend::kCpu) {
    GTEST_SKIP() << "there is a GPU";
  }
  const Image image = dots(3);
  CEngine c(image);
  c.input.memory = CUDACCL_MEMORY_DEVICE;
  EXPECT_TRUE(c.refuses("CPU"));
}

TEST(CCallsTest, FramesTakeNoMemory) {
  if (backend() != Backend::kCpu) {
    GTEST_SKIP() << "the driver's own allocations would be counted";
  }
  const Image image = noise(64, 48, 1, 30, 1);
  cudaccl::Config config = c_config(64, 48);
  config.max_tracks = 100;
  CEngine c(image, config);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  }
  const uint64_t before = n_allocations;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  }
  EXPECT_EQ(n_allocations, before);
}

TEST(CCallsTest, TheHeaderForCppThrows) {
  const Image image = dots(3);
  CEngine c(image);
  c.settings.connectivity = 5;
  try {
    c.engine.run(c.frame);
    ADD_FAILURE() << "no exception";
  } catch (const cudaccl::Error& error) {
    EXPECT_EQ(error.status(), CUDACCL_INVALID_ARGUMENT);
    EXPECT_TRUE(says(error.what(), "connectivity"));
  }
  c.settings.connectivity = 4;
  EXPECT_EQ(c.engine.run(c.frame).components().size(), 3u);
  EXPECT_NE(c.engine.allocate(CUDACCL_MEMORY_HOST, 8).data(), nullptr);
}

/// An engine with tracks in a zone, of which the memory ends in a call.
class Starved {
 public:
  explicit Starved(uint32_t n_zones) {
    config_.max_tracks = 4;
    config_.threads = 1;
    c.settings.track_confirm = 1;
    for (uint32_t i = 0; i < 4; ++i) {
      zones_[i] = {
          {kNames[i], kFrame, 4}, CUDACCL_ANCHOR_BOTTOM, CUDACCL_NO_CROWD, 0, CUDACCL_DEFAULT_MARGIN};
    }
    EXPECT_EQ(configure(), CUDACCL_OK);
    EXPECT_EQ(set_zones(n_zones), CUDACCL_OK);
    EXPECT_EQ(c.run(), CUDACCL_OK) << c.error();
  }

  CudacclStatus configure() { return cudaccl_engine_configure(c.engine.get(), &config_); }
  CudacclStatus set_zones(uint32_t n_zones) {
    cudaccl::Regions regions;
    regions.zones = zones_;
    regions.n_zones = n_zones;
    return cudaccl_engine_set_regions(c.engine.get(), &regions);
  }
  CudacclStatus run_motion() {
    c.settings.foreground = CUDACCL_FOREGROUND_MOTION;
    const CudacclStatus status = c.run();
    c.settings.foreground = CUDACCL_FOREGROUND_BINARY;
    return status;
  }
  CudacclStatus run_shapes() {
    c.settings.features = CUDACCL_FEATURE_GREY | CUDACCL_FEATURE_HULL | CUDACCL_FEATURE_CONTOUR;
    CudacclStatus status = c.run();
    if (status == CUDACCL_OK) {
      cudaccl::Shapes shapes;
      status = cudaccl_engine_shapes(c.engine.get(), 2, &shapes);
    }
    c.settings.features = CUDACCL_FEATURE_ALL;
    return status;
  }
  CudacclStatus refuse() {
    const CudacclFrame frame{};
    return cudaccl_engine_push(c.engine.get(), &frame);
  }

 private:
  static constexpr const char* kNames[] = {"a zone of a long name", "another zone of a long name", "3", "4"};
  static constexpr CudacclPoint kFrame[] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};

  CudacclZone zones_[4];
  const Image image_ = dots(3);
  cudaccl::Config config_ = c_config(64, 4);

 public:
  CEngine c{image_, config_};
};

/// The memory ends at each possible place of a call. The text reports it, and the engine can be used again.
TEST(CCallsTest, AfterLackOfMemoryAnEngineCanBeUsedAgain) {
  if (backend() != Backend::kCpu) {
    GTEST_SKIP() << "the driver's own allocations would fail";
  }
  const std::vector<std::pair<const char*, CudacclStatus (*)(Starved&)>> calls = {
      {"configure", [](Starved& starved) { return starved.configure(); }},
      {"set_regions", [](Starved& starved) { return starved.set_zones(3); }},
      {"run", [](Starved& starved) { return starved.run_motion(); }},
      {"shapes", [](Starved& starved) { return starved.run_shapes(); }},
      {"refusal", [](Starved& starved) { return starved.refuse(); }}};
  for (const auto& [name, function] : calls) {
    for (uint64_t n = 0;; ++n) {
      Starved starved(2);
      first_failure = n_allocations + n;
      const CudacclStatus status = function(starved);
      first_failure = UINT64_MAX;
      if (status != CUDACCL_OUT_OF_MEMORY) {
        EXPECT_GT(n, 0u) << name;
        break;
      }
      EXPECT_TRUE(says(starved.c.error(), "memory")) << name << ", memory for " << n;
      ASSERT_EQ(starved.configure(), CUDACCL_OK) << starved.c.error();
      ASSERT_EQ(starved.set_zones(3), CUDACCL_OK) << starved.c.error();
      ASSERT_EQ(starved.c.run(), CUDACCL_OK) << starved.c.error();
      ASSERT_EQ(starved.c.result.n_zones, 3u);
      EXPECT_EQ(starved.c.result.n_inside[2], 3u) << name << ", memory for " << n;
      EXPECT_EQ(starved.c.result.n_tracks, 3u);
    }
  }
}

}  // namespace

}  // namespace ccl::test
