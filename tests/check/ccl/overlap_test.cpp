// SPDX-License-Identifier: LGPL-2.1-or-later
/// The overlaps of two frames, against a loop over all pixels.
#include "host/stages/overlap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "host/segment_source.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

using Pairs = std::map<std::pair<uint32_t, uint32_t>, uint32_t>;

/// A frame whose components have records, except every third one.
struct Frame {
  explicit Frame(const Image& image, const Settings& settings = {})
      : expected(expect_labels(image, settings)) {
    record_index.push_back(kNoRecord);
    for (uint32_t label = 1; label <= expected.n_labels; ++label) {
      record_index.push_back(label % 3 == 0 ? kNoRecord : n_records++);
    }
  }

  void write(host::KeptRuns* kept) const {
    const host::SegmentSource segments{nullptr, 0, expected.width, expected.height};
    write_kept_runs({segments, expected.labels.data(), expected.n_labels}, record_index.data(), kept);
  }

  uint32_t record_at(size_t i) const { return record_index[expected.labels[i]]; }

  ExpectedFrame expected;
  std::vector<uint32_t> record_index;
  uint32_t n_records = 0;
};

Pairs expect_pairs(const Frame& previous, const Frame& current) {
  Pairs pairs;
  for (size_t i = 0; i < previous.expected.labels.size(); ++i) {
    if (previous.record_at(i) != kNoRecord && current.record_at(i) != kNoRecord) {
      ++pairs[{previous.record_at(i), current.record_at(i)}];
    }
  }
  return pairs;
}

class OverlapTest : public testing::Test {
 protected:
  static constexpr uint32_t kWidth = 131;
  static constexpr uint32_t kHeight = 67;
  static constexpr track::TrackSizes kSizes{.max_tracks = 1, .max_components = kWidth * kHeight};

  Pairs count(const Frame& previous, const Frame& current) {
    previous.write(&previous_);
    current.write(&current_);
    EXPECT_TRUE(counter_.count(previous_, current_, current.n_records));
    Pairs pairs;
    for (uint32_t i = 0; i < counter_.n_overlaps(); ++i) {
      const track::Overlap& overlap = counter_.overlaps()[i];
      EXPECT_TRUE(pairs.insert({{overlap.previous, overlap.current}, overlap.pixels}).second);
    }
    return pairs;
  }

  host::KeptRuns previous_{kWidth, kHeight};
  host::KeptRuns current_{kWidth, kHeight};
  host::OverlapCounter counter_{kHeight, kSizes};
};

TEST_F(OverlapTest, EqualsALoopOverPixels) {
  std::vector<Image> images = adversarial_set(kWidth, kHeight);
  for (uint32_t seed = 0; seed < 8; ++seed) {
    images.push_back(blobs(kWidth, kHeight, seed));
    images.push_back(noise(kWidth, kHeight, 1 + seed % 4, 20 + 10 * seed, seed));
  }
  for (size_t i = 0; i < images.size(); ++i) {
    const Image& other = images[(i * 7 + 3) % images.size()];
    EXPECT_EQ(count(Frame(images[i]), Frame(other)), expect_pairs(Frame(images[i]), Frame(other)))
        << images[i].name << ", " << other.name;
  }
}

TEST_F(OverlapTest, EqualsALoopOverPixelsWithValues) {
  Settings settings;
  settings.rule.foreground = Foreground::kValues;
  const std::vector<Image> images = value_set(kWidth, kHeight);
  for (size_t i = 1; i < images.size(); ++i) {
    const Frame previous(images[i - 1], settings);
    const Frame current(images[i], settings);
    EXPECT_EQ(count(previous, current), expect_pairs(previous, current)) << images[i].name;
  }
}

/// Rows against columns: each component of one frame overlaps each of the other.
TEST(OverlapLimitTest, MorePairsThanRoom) {
  constexpr uint32_t kSide = 199;
  const track::TrackSizes sizes{.max_tracks = 1, .max_components = 100};
  ASSERT_EQ(sizes.max_overlaps(), 1424u);
  host::OverlapCounter counter(kSide, sizes);
  const auto stripes = [](bool upright, uint32_t n) {
    return drawn("stripes", kSide, kSide, [&](uint32_t x, uint32_t y) {
      const uint32_t v = upright ? x : y;
      return v % 2 == 0 && v < 2 * n;
    });
  };
  const auto count = [&](uint32_t n_rows, uint32_t n_columns) {
    const Frame rows(stripes(false, n_rows));
    const Frame columns(stripes(true, n_columns));
    host::KeptRuns previous(kSide, kSide);
    host::KeptRuns current(kSide, kSide);
    rows.write(&previous);
    columns.write(&current);
    return counter.count(previous, current, columns.n_records);
  };
  EXPECT_TRUE(count(47, 66));  // 32 × 44 with records: 1408
  EXPECT_EQ(counter.n_overlaps(), 1408u);
  EXPECT_FALSE(count(100, 100));
  EXPECT_TRUE(count(3, 3));
  EXPECT_EQ(counter.n_overlaps(), 4u);
}

}  // namespace

}  // namespace ccl::test
