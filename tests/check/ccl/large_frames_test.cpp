// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames so large that `runs` works otherwise than on small ones: on a GPU its tiles become wider where a
/// multiprocessor would have too many, and where it has too many of those too, they take turns. The CPU has
/// no tiles: there, frames that need numbers of more than 16 bits for labels, and of more than 12 for
/// columns, are enough.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>

#include "exact_test.h"

namespace ccl::test {

namespace {

class LargeFramesTest : public ExactTest {
 protected:
  LargeFramesTest() : ExactTest(1u << 22) {}

  testing::AssertionResult is_exact(const Image& frame) {
    const Image image = is_binary() ? frame : split_foreground(frame);
    const Settings settings = GetParam().settings();
    Settings basic = settings;
    basic.features = 0;
    const ExpectedFrame want = expect_labels(image, settings);
    const auto has = [&](const Settings& s) {
      return has_records(want, expect_records(want, s, runner_.config.max_components), image, s);
    };
    const testing::AssertionResult labels = has_labels(want, image, settings);
    const testing::AssertionResult records = labels ? has(settings) : labels;
    return records ? has(basic) : records;
  }
};

/// Rows of whole chunks have kernels of their own on a GPU.
std::vector<uint32_t> widths() {
  return backend() == Backend::kCuda ? std::vector<uint32_t>{4100, 4112} : std::vector<uint32_t>{4100};
}

uint32_t height(uint32_t on_cuda) {
  return backend() == Backend::kCuda ? on_cuda : 300;
}

/// A checkerboard has almost the longest perimeter and the smallest Euler number that a tile can have. The
/// row across one tile, which goes on from the tile beside it, makes the latter less by one.
TEST_P(LargeFramesTest, WideTiles) {
  const auto is_foreground = [](uint32_t x, uint32_t y) {
    return (x + y) % 2 == 0 || (y == 255 && x >= 256 && x < 512);
  };
  for (const uint32_t width : widths()) {
    ASSERT_TRUE(is_exact(noise(width, height(1100), 1, 55, 1)));
    ASSERT_TRUE(is_exact(drawn("checkerboard and a row", width, height(1100), is_foreground)));
  }
}

TEST_P(LargeFramesTest, TilesThatTakeTurns) {
  for (const uint32_t width : widths()) {
    ASSERT_TRUE(is_exact(noise(width, height(2300), 2, 55, 2)));
  }
}

/// Sums over one component do not fit 32 bits. Frames without features have code of their own.
TEST(LargeSumsTest, OfOneComponent) {
  constexpr uint32_t kSize = 2200;
  const Image frame = drawn("full", kSize, kSize, [](uint32_t, uint32_t) { return true; });
  for (const AlgorithmInfo& labeler : stage_labelers()) {
    for (const uint32_t features : {0u, uint32_t{kAllFeatures}}) {
      FrameRunner runner;
      runner.with_maps = false;
      runner.config.algorithm = labeler.algorithm;
      runner.config.threads = 3;
      const Outcome got = runner.run(frame, {.features = features});
      ASSERT_EQ(got.records.size(), 1u) << name_of(labeler);
      EXPECT_EQ(got.records[0].cx, (kSize - 1) / 2.0) << name_of(labeler);
      EXPECT_EQ(got.records[0].cy, (kSize - 1) / 2.0) << name_of(labeler);
    }
  }
}

/// As many pixels as there can be. The engine reserves 50 GB of addresses, of which a frame with few runs
/// uses 0.4 GB: most pixels are never written, and take no memory, either.
TEST(LargestFrameTest, IsLabelled) {
  if (backend() != Backend::kCpu) {
    GTEST_SKIP() << "the bits of this frame and its labels do not fit into every GPU; device_memory_test.cpp "
                    "has that error";
  }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer takes memory of its own for the addresses of this frame";
#endif
  mallopt(M_PERTURB, 0);  // with MALLOC_PERTURB_ of Meson, all of it would be written
  constexpr size_t kSide = kMaxDimension;
  void* memory = mmap(nullptr, kSide * kSide, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto* pixels = static_cast<uint8_t*>(memory);
  pixels[0] = pixels[kSide * kSide - 1] = 255;
  for (size_t i = 0; i < kSide; ++i) {
    pixels[i * kSide + (kSide - 1 - i)] = 255;  // from corner to corner
  }
  const std::unique_ptr<Engine> engine = make_host_engine();
  const Config config{.width = kMaxDimension, .height = kMaxDimension, .max_components = 10};
  Status status = engine->configure(config);
  FrameResult result;
  FrameJob job;
  job.input = {pixels, kSide};
  if (status.ok()) {
    status = engine->push(job);
  }
  if (status.code() == StatusCode::kOutOfMemory) {
    munmap(memory, kSide * kSide);
    GTEST_SKIP() << status.message();
  }
  ASSERT_TRUE(status.ok() && engine->pop(&result).ok()) << status.message();
  ASSERT_EQ(result.components.size(), 3u);
  EXPECT_EQ(result.components[0].area, 1u);
  EXPECT_EQ(result.components[1].area, kSide);
  EXPECT_EQ(result.components[1].width, kSide);
  EXPECT_EQ(result.components[1].height, kSide);
  EXPECT_EQ(result.components[2].x, kSide - 1);
  EXPECT_EQ(result.components[2].y, kSide - 1);
  munmap(memory, kSide * kSide);
}

INSTANTIATE_TEST_SUITE_P(Runs, LargeFramesTest, testing::ValuesIn(labeler_cases(Algorithm::kRuns)),
                         test_name<LabelerCase>);

}  // namespace

}  // namespace ccl::test
