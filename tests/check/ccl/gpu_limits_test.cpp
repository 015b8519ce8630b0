// SPDX-License-Identifier: LGPL-2.1-or-later
/// A GPU with less than this one has: less shared memory, hardly any memory left, and another process that
/// works on it. The results are those of the CPU, or there is one error that says what is lacking.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fixture.h"
#include "images.h"

namespace {

/// Shared memory, KiB: what a block may ask for, and what a multiprocessor has; 0: as it is.
struct SharedMemory {
  int of_block = 0;
  int of_multiprocessor = 0;
};
SharedMemory pretended;

}  // namespace

extern "C" cudaError_t __real_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);

/// The linker puts this in the place of the function.
extern "C" cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const cudaError_t error = __real_cudaDeviceGetAttribute(value, attribute, device);
  if (pretended.of_block > 0 && attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin) {
    *value = pretended.of_block << 10;
  }
  if (pretended.of_block > 0 && attribute == cudaDevAttrMaxSharedMemoryPerMultiprocessor) {
    *value = pretended.of_multiprocessor << 10;
  }
  return error;
}

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 1282;
constexpr uint32_t kHeight = 721;

/// Frames of noise and shapes, with and without tracks, on a new engine and on the CPU's.
void expect_what_the_cpu_gives(Algorithm algorithm) {
  FrameRunner runner;
  FrameRunner reference(make_host_engine());
  for (FrameRunner* each : {&runner, &reference}) {
    each->config.output = Output::kColorized;
    each->config.max_components = 1 << 19;
  }
  runner.config.algorithm = algorithm;
  for (const uint32_t max_tracks : {0u, 2048u}) {
    runner.config.max_tracks = max_tracks;
    reference.config.max_tracks = max_tracks;
    for (const Image& image : {blobs(kWidth, kHeight, 1), noise(kWidth, kHeight, 1, 55, 2),
                               spiral(kWidth, kHeight), blobs(kWidth, kHeight, 3)}) {
      for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
        runner.with_maps = reference.with_maps = foreground == Foreground::kValues;
        Settings settings;
        settings.rule.foreground = foreground;
        const Outcome got = runner.run(image, settings);
        ASSERT_TRUE(same_bytes(got, reference.run(image, settings))) << image.name << ", " << max_tracks;
      }
    }
  }
}

TEST(GpuLimitsTest, FramesOfBothRules) {
  expect_what_the_cpu_gives(Algorithm::kAuto);
}

class SharedMemoryTest : public testing::TestWithParam<SharedMemory> {
 protected:
  void SetUp() override { pretended = GetParam(); }
  void TearDown() override { pretended = {}; }
};

TEST_P(SharedMemoryTest, EveryLabeler) {
  expect_what_the_cpu_gives(Algorithm::kAuto);
  for (const AlgorithmInfo& labeler : labelers()) {
    if (!HasFailure() &&
        labeler.algorithm != Algorithm::kNeighborPropagation) {  // takes seconds for a spiral
      SCOPED_TRACE(name_of(labeler));
      expect_what_the_cpu_gives(labeler.algorithm);
    }
  }
}

/// `runs` needs more tiles than such a GPU has blocks.
TEST_P(SharedMemoryTest, LargeFrames) {
  FrameRunner runner;
  FrameRunner reference(make_host_engine());
  for (FrameRunner* each : {&runner, &reference}) {
    each->config.output = Output::kColorized;
  }
  const Image image = noise(3842, 2161, 4, 50, 1);
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    for (const uint32_t features : {0u, uint32_t{kAllFeatures}}) {
      for (const uint32_t min_width : {0u, 20u}) {
        Settings settings;
        settings.connectivity = connectivity;
        settings.features = features;
        settings.filter.min_width = min_width;
        ASSERT_TRUE(same_bytes(runner.run(image, settings), reference.run(image, settings)))
            << features << ", " << min_width;
      }
    }
  }
}

/// As of compute capability 7.5, 7.0, 8.9 and 8.0.
INSTANTIATE_TEST_SUITE_P(Gpus, SharedMemoryTest,
                         testing::Values(SharedMemory{64, 64}, SharedMemory{96, 96}, SharedMemory{99, 100},
                                         SharedMemory{163, 164}),
                         [](const auto& info) { return "Kib" + std::to_string(info.param.of_block); });

/// Memory of the GPU that is taken until little is left.
class Ballast {
 public:
  explicit Ballast(size_t left) {
    for (size_t chunk = size_t{1} << 36; chunk >= 1 << 20; chunk /= 2) {
      size_t n_free = 0;
      size_t total = 0;
      while (cudaMemGetInfo(&n_free, &total) == cudaSuccess && n_free >= left + chunk && take(chunk)) {
      }
    }
  }
  ~Ballast() { release(); }
  Ballast(const Ballast&) = delete;
  Ballast& operator=(const Ballast&) = delete;

  void release() {
    for (void* chunk : chunks_) {
      EXPECT_EQ(cudaFree(chunk), cudaSuccess);
    }
    chunks_.clear();
  }

 private:
  bool take(size_t size) {
    void* chunk = nullptr;
    if (cudaMalloc(&chunk, size) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    chunks_.push_back(chunk);
    return true;
  }

  std::vector<void*> chunks_;
};

/// What does not fit is one error, after which the engine is as before, and what fits is right.
TEST(GpuLimitsTest, MemoryNearlyFull) {
  expect_what_the_cpu_gives(Algorithm::kAuto);  // what is loaded with the first frame is loaded
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  Config large;
  large.width = large.height = 8192;
  large.slots = 4;
  {
    Ballast ballast(size_t{256} << 20);
    expect_what_the_cpu_gives(Algorithm::kAuto);
    for (int i = 0; i < 3; ++i) {
      const Status status = engine->configure(large);
      EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.message();
    }
    expect_what_the_cpu_gives(Algorithm::kAuto);
  }
  EXPECT_TRUE(engine->configure(large).ok());
}

/// Another process, which does the same.
class Neighbour {
 public:
  Neighbour() {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    pipe_ = popen((self + " --gtest_repeat=3 --gtest_filter=GpuLimitsTest.FramesOfBothRules").c_str(), "r");
  }
  /// Its exit status, when it has ended. `output`: what it printed.
  int wait(std::string* output) {
    std::array<char, 256> part;
    while (std::fgets(part.data(), part.size(), pipe_) != nullptr) {
      *output += part.data();
    }
    return pclose(pipe_);
  }

 private:
  std::FILE* pipe_;
};

TEST(GpuLimitsTest, AnotherProcess) {
  Neighbour neighbour;
  for (int i = 0; i < 3; ++i) {
    expect_what_the_cpu_gives(Algorithm::kAuto);
  }
  std::string output;
  EXPECT_EQ(neighbour.wait(&output), 0) << output;
}

}  // namespace

}  // namespace ccl::test
