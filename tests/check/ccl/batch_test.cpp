// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames that are pushed in one call give what they give one by one.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 150;
constexpr uint32_t kHeight = 70;

class BatchTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_engine(&engine_).ok());
    for (uint32_t seed = 0; seed < 7; ++seed) {
      images_.push_back(noise(kWidth, kHeight, 1 + seed % 3, 40, seed));
    }
  }

  Config config(uint32_t slots, uint32_t batch) const {
    Config config;
    config.width = kWidth;
    config.height = kHeight;
    config.max_tracks = 64;
    config.slots = slots;
    config.batch = batch;
    return config;
  }

  std::vector<FrameJob> jobs(size_t n) const {
    std::vector<FrameJob> jobs(n);
    for (size_t i = 0; i < n; ++i) {
      jobs[i].input = {images_[i].pixels(), images_[i].stride};
      jobs[i].time = static_cast<int64_t>(i) * 40'000'000;
      jobs[i].settings.filter.min_area = 1 + i;
    }
    return jobs;
  }

  std::vector<CclComponent> pop() const {
    FrameResult result;
    EXPECT_TRUE(engine_->pop(&result).ok());
    return {result.components.begin(), result.components.end()};
  }

  std::unique_ptr<Engine> engine_;
  std::vector<Image> images_;
};

}  // namespace

/// Tracks go from frame to frame, each of which has settings of its own.
TEST_F(BatchTest, EqualsFramesOneByOne) {
  const std::vector<FrameJob> all = jobs(7);
  ASSERT_TRUE(engine_->configure(config(1, 1)).ok());
  std::vector<std::vector<CclComponent>> want;
  for (const FrameJob& job : all) {
    ASSERT_TRUE(engine_->push(job).ok());
    want.push_back(pop());
  }
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());  // ids begin again
  std::swap(engine, engine_);
  ASSERT_TRUE(engine_->configure(config(2, 5)).ok());
  const std::span<const FrameJob> span(all);
  ASSERT_TRUE(engine_->push(span.first(5)).ok());
  ASSERT_TRUE(engine_->push(span.subspan(5, 2)).ok());
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<CclComponent> got = pop();
    ASSERT_EQ(got.size(), want[i].size()) << "frame " << i;
    EXPECT_EQ(std::memcmp(got.data(), want[i].data(), got.size() * sizeof(CclComponent)), 0) << "frame " << i;
  }
  FrameResult result;
  EXPECT_EQ(engine_->pop(&result).code(), StatusCode::kNeedMoreData);
}

/// Ids and trails are drawn from tables of their own frames.
TEST_F(BatchTest, PicturesOfTracksEqualThoseOfFramesOneByOne) {
  std::vector<FrameJob> all = jobs(7);
  const auto pictures_of = [&](Config config, size_t at_once, bool draws = true) {
    config.output = Output::kColorized;
    std::vector<std::vector<uint8_t>> pictures(all.size(),
                                               std::vector<uint8_t>(size_t{kWidth} * kHeight * 4));
    for (size_t i = 0; i < all.size(); ++i) {
      all[i].output = {pictures[i].data(), size_t{kWidth} * 4};
      all[i].settings.draw_ids = all[i].settings.draw_trails = draws;
      all[i].tracking.confirm_frames = 1;
    }
    std::unique_ptr<Engine> engine;
    EXPECT_TRUE(make_engine(&engine).ok());
    std::swap(engine, engine_);
    EXPECT_TRUE(engine_->configure(config).ok());
    for (size_t i = 0; i < all.size(); i += at_once) {
      const size_t n = std::min(at_once, all.size() - i);
      EXPECT_TRUE(engine_->push(std::span<const FrameJob>(all).subspan(i, n)).ok());
      for (size_t k = 0; k < n; ++k) {
        pop();
      }
    }
    return pictures;
  };
  const std::vector<std::vector<uint8_t>> want = pictures_of(config(1, 1), 1);
  EXPECT_NE(want, pictures_of(config(1, 1), 1, false));
  EXPECT_EQ(pictures_of(config(1, 5), 5), want);
}

/// What is refused starts nothing.
TEST_F(BatchTest, Refuses) {
  EXPECT_EQ(engine_->configure(config(1, 0)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(engine_->configure(config(1, kMaxBatch + 1)).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(engine_->configure(config(2, 3)).ok());
  std::vector<FrameJob> all = jobs(7);
  const std::span<FrameJob> span(all);
  EXPECT_EQ(engine_->push(span.first(0)).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(engine_->push(span.first(4)).code(), StatusCode::kInvalidArgument);
  const uint8_t* pixels = std::exchange(all[2].input.pixels, nullptr);
  EXPECT_EQ(engine_->push(span.first(3)).code(), StatusCode::kInvalidArgument);
  FrameResult result;
  EXPECT_EQ(engine_->pop(&result).code(), StatusCode::kNeedMoreData);
  all[2].input.pixels = pixels;
  ASSERT_TRUE(engine_->push(span.first(3)).ok());
  ASSERT_TRUE(engine_->push(span.subspan(3, 2)).ok());
  const Status full = engine_->push(span.subspan(5, 2));
  EXPECT_EQ(full.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(full.message().find("5 frames of 6"), std::string::npos) << full.message();
  ASSERT_TRUE(engine_->push(all[5]).ok());
  for (int i = 0; i < 6; ++i) {
    pop();
  }
}

TEST_F(BatchTest, FlushDiscardsFramesThatWait) {
  ASSERT_TRUE(engine_->configure(config(1, 7)).ok());
  const std::vector<FrameJob> all = jobs(7);
  ASSERT_TRUE(engine_->push(all).ok());
  pop();
  engine_->flush();
  FrameResult result;
  EXPECT_EQ(engine_->pop(&result).code(), StatusCode::kNeedMoreData);
  ASSERT_TRUE(engine_->push(all).ok());
  for (size_t i = 0; i < all.size(); ++i) {
    pop();
  }
}

}  // namespace ccl::test
