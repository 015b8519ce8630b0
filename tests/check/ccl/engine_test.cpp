// SPDX-License-Identifier: LGPL-2.1-or-later
/// The engine's contract: order of frames, slots, refusals, reconfiguration.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fixture.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

class EngineTest : public testing::Test {
 protected:
  EngineTest() {
    const Status status = make_engine(&engine_);
    EXPECT_TRUE(status.ok()) << status.message();
  }

  static Config sized(uint32_t width, uint32_t height, uint32_t slots = 1) {
    Config config;
    config.width = width;
    config.height = height;
    config.slots = slots;
    return config;
  }

  StatusCode configure(const Config& config) { return engine_->configure(config).code(); }

  StatusCode push(const Image& image) {
    FrameJob job;
    job.input = {image.pixels(), image.stride};
    return engine_->push(job).code();
  }

  /// The number of labels in the oldest frame.
  uint32_t pop() {
    FrameResult result;
    const Status status = engine_->pop(&result);
    EXPECT_TRUE(status.ok()) << status.message();
    return result.counts.n_labels;
  }

  bool is_empty() {
    FrameResult result;
    return engine_->pop(&result).code() == StatusCode::kNeedMoreData;
  }

  /// A frame with `n` components, to know it by.
  static Image dots(uint32_t n, uint32_t width = 64, uint32_t height = 48) {
    Image image = plain("dots", width, height);
    for (uint32_t i = 0; i < n; ++i) {
      image.at(i % (width / 2) * 2, i / (width / 2) * 2) = 255;
    }
    return image;
  }

  std::unique_ptr<Engine> engine_;
  const Config small_ = sized(64, 48, 3);
};

TEST_F(EngineTest, SaysWhatItIs) {
  EXPECT_EQ(engine_->backend(), backend());
  EXPECT_FALSE(engine_->description().empty());
  EXPECT_EQ(make_host_engine()->backend(), Backend::kCpu);
}

TEST_F(EngineTest, FramesLeaveInTheOrderTheyCame) {
  ASSERT_EQ(configure(small_), StatusCode::kOk);
  std::vector<Image> images;
  for (uint32_t i = 0; i < 40; ++i) {
    images.push_back(dots(i));
  }
  for (uint32_t i = 0; i < images.size(); ++i) {
    if (i >= 3) {
      ASSERT_EQ(pop(), i - 3);
    }
    ASSERT_EQ(push(images[i]), StatusCode::kOk);
  }
  for (uint32_t i = 37; i < 40; ++i) {
    ASSERT_EQ(pop(), i);
  }
  EXPECT_TRUE(is_empty());
}

/// Every slot has a table of its own: pushing all frames before popping any mixes none of them up.
TEST_F(EngineTest, SlotsKeepTheirRecords) {
  ASSERT_EQ(configure(small_), StatusCode::kOk);
  const std::array images = {dots(5), dots(7), dots(9)};
  for (const Image& image : images) {
    ASSERT_EQ(push(image), StatusCode::kOk);
  }
  std::array<FrameResult, 3> results;
  for (FrameResult& result : results) {
    ASSERT_TRUE(engine_->pop(&result).ok());
  }
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(results[i].components.size(), 5u + 2 * i);
    for (uint32_t k = 0; k < results[i].components.size(); ++k) {
      EXPECT_EQ(results[i].components[k].label, k + 1);
      EXPECT_EQ(results[i].components[k].x, 2 * k);
    }
  }
}

TEST_F(EngineTest, TooManyPushes) {
  ASSERT_EQ(configure(small_), StatusCode::kOk);
  const Image image = dots(4);
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_EQ(push(image), StatusCode::kOk);
  }
  EXPECT_EQ(push(image), StatusCode::kInvalidArgument);
  for (uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pop(), 4u);
  }
  EXPECT_TRUE(is_empty());
  EXPECT_EQ(push(image), StatusCode::kOk);
}

TEST_F(EngineTest, FlushDiscardsFramesInFlight) {
  ASSERT_EQ(configure(small_), StatusCode::kOk);
  const Image old = dots(4);
  const Image young = dots(6);
  for (uint32_t n = 0; n <= 3; ++n) {
    for (uint32_t i = 0; i < n; ++i) {
      ASSERT_EQ(push(old), StatusCode::kOk);
    }
    engine_->flush();
    EXPECT_TRUE(is_empty());
    ASSERT_EQ(push(young), StatusCode::kOk);
    EXPECT_EQ(pop(), 6u);
  }
}

TEST_F(EngineTest, ConfigureDiscardsFramesInFlight) {
  ASSERT_EQ(configure(small_), StatusCode::kOk);
  const Image old = dots(4);
  ASSERT_EQ(push(old), StatusCode::kOk);
  ASSERT_EQ(configure(sized(20, 10)), StatusCode::kOk);
  EXPECT_TRUE(is_empty());
  const Image image = dots(6, 20, 10);
  ASSERT_EQ(push(image), StatusCode::kOk);
  EXPECT_EQ(push(image), StatusCode::kInvalidArgument) << "there is one slot now";
  EXPECT_EQ(pop(), 6u);
}

TEST_F(EngineTest, NeedsToBeConfigured) {
  const Image image = dots(1);
  EXPECT_EQ(push(image), StatusCode::kInvalidArgument);
  EXPECT_TRUE(is_empty());
  engine_->flush();
  EXPECT_EQ(configure(small_), StatusCode::kOk);
  EXPECT_EQ(push(image), StatusCode::kOk);
  EXPECT_EQ(pop(), 1u);
}

TEST_F(EngineTest, RefusesConfigurations) {
  std::array wrong = {sized(0, 5), sized(5, 0),   sized(kMaxDimension + 1, 5), sized(5, kMaxDimension + 1),
                      sized(5, 5), sized(5, 5, 0)};
  wrong[4].max_components = 0;
  for (const Config& config : wrong) {
    const Status status = engine_->configure(config);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_FALSE(status.message().empty());
  }
  EXPECT_EQ(configure(small_), StatusCode::kOk);
}

TEST_F(EngineTest, RefusesFrames) {
  Config config = small_;
  const Image image = dots(2);
  std::vector<uint8_t> pixels(64 * 48 * 4);
  for (const Output output :
       {Output::kColorized, Output::kOverlay, Output::kLabels, Output::kMask, Output::kDistance}) {
    config.output = output;
    ASSERT_EQ(configure(config), StatusCode::kOk);
    const size_t row = 64 * bytes_per_pixel(output);
    FrameJob good;
    good.input = {image.pixels(), 64};
    good.output = {pixels.data(), row};
    constexpr size_t kNegative = ~size_t{63};  // what a caller means who casts -64
    FrameJob jobs[] = {good, good, good, good, good, good, good, good, good, good};
    jobs[0].input.pixels = nullptr;
    jobs[1].input.stride = 63;
    jobs[2].output.pixels = nullptr;
    jobs[3].output.stride = row - 1;
    jobs[4].input.source = {.pixels = image.pixels(), .stride = 64, .step = 5};
    jobs[5].input.source = {.pixels = image.pixels(), .stride = 63, .step = 1};
    jobs[6].input.stride = kNegative;
    jobs[7].output.stride = kNegative;
    jobs[8].input.source = {.pixels = image.pixels(), .stride = kNegative, .step = 1};
    jobs[9].input.chroma = {.u = image.pixels(), .v = image.pixels(), .stride = kNegative};
    for (const FrameJob& job : jobs) {
      EXPECT_EQ(engine_->push(job).code(), StatusCode::kInvalidArgument);
    }
    EXPECT_TRUE(is_empty()) << "a refused frame is in flight";
    EXPECT_TRUE(engine_->push(good).ok());
    EXPECT_EQ(pop(), 2u);
  }
}

TEST_F(EngineTest, NamesTheLabelersItHas) {
  for (const AlgorithmInfo& info : algorithms()) {
    if (info.runs_on(backend())) {
      continue;
    }
    Config config = sized(9, 9);
    config.algorithm = info.algorithm;
    const Status status = engine_->configure(config);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    for (const AlgorithmInfo& other : labelers()) {
      EXPECT_NE(status.message().find(other.nick), std::string::npos) << status.message();
    }
  }
}

TEST_F(EngineTest, AutoIsALabelerOfTheBackend) {
  const AlgorithmInfo* resolved = nullptr;
  ASSERT_TRUE(resolve_algorithm(Algorithm::kAuto, backend(), &resolved).ok());
  EXPECT_NE(resolved->algorithm, Algorithm::kAuto);
  const Image image = noise(129, 65, 1, 55, 1);
  FrameRunner runner;
  const Outcome by_itself = runner.run(image, {});
  EXPECT_EQ(by_itself.root_map, expect_labels(image, {}).root_map);
  runner.config.algorithm = resolved->algorithm;
  EXPECT_TRUE(same_bytes(runner.run(image, {}), by_itself));
}

/// The ring of slots starts from the first: an engine that continued at the fourth would leave its memory.
TEST_F(EngineTest, FewerSlotsThanBefore) {
  ASSERT_EQ(configure(sized(64, 48, 4)), StatusCode::kOk);
  for (uint32_t n = 1; n <= 3; ++n) {
    ASSERT_EQ(push(dots(n)), StatusCode::kOk);
    ASSERT_EQ(pop(), n);
  }
  ASSERT_EQ(configure(sized(64, 48, 1)), StatusCode::kOk);
  ASSERT_EQ(push(dots(5)), StatusCode::kOk);
  EXPECT_EQ(pop(), 5u);
}

TEST_F(EngineTest, ManyConfigurations) {
  for (uint32_t i = 0; i < 100; ++i) {
    const uint32_t width = 2 + i * 37 % 301;
    const uint32_t height = 2 + i * 53 % 199;
    const std::vector<AlgorithmInfo> all = labelers();
    Config config = sized(width, height, 1 + i % 4);
    config.algorithm = all[i % all.size()].algorithm;
    config.max_components = 1 + i;
    ASSERT_EQ(configure(config), StatusCode::kOk);
    const Image image = noise(width, height, 1, 50, i);
    ASSERT_EQ(push(image), StatusCode::kOk);
    ASSERT_EQ(pop(), expect_labels(image, {}).n_labels) << i;
  }
}

}  // namespace

}  // namespace ccl::test
