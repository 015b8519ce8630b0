// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is drawn over frames: strokes against areas found by sampling, the rules of captions and trails
/// against their definitions, and whole pictures against a slow drawing of all strokes at all pixels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "ccl/draw/font.h"
#include "ccl/draw/outlines.h"
#include "ccl/draw/tracks.h"
#include "drawing.h"
#include "host/stages/draw.h"

namespace ccl::test {

namespace {

using draw::kDistanceUnit;
using draw::kSubpixels;
using draw::make_stroke;
using draw::Pen;
using draw::Place;
using draw::Stroke;

double distance_to(double x, double y, const Place& a, const Place& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double squared = dx * dx + dy * dy;
  const double t = squared > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / squared, 0.0, 1.0) : 0.0;
  return std::hypot(x - a.x - t * dx, y - a.y - t * dy) / kSubpixels;
}

/// The part of a pixel's area within `radius` pixels of the line, from 32 × 32 samples.
double sampled_coverage(int32_t x, int32_t y, const Stroke& stroke, double radius) {
  constexpr int32_t kSamples = 32;
  int32_t n_inside = 0;
  for (int32_t i = 0; i < kSamples * kSamples; ++i) {
    const double sample_x = (x + (i % kSamples + 0.5) / kSamples) * kSubpixels;
    const double sample_y = (y + (i / kSamples + 0.5) / kSamples) * kSubpixels;
    n_inside += distance_to(sample_x, sample_y, stroke.from, stroke.to) < radius ? 1 : 0;
  }
  return n_inside / static_cast<double>(kSamples * kSamples);
}

std::vector<Stroke> random_strokes(uint32_t count, int32_t size, uint32_t seed) {
  std::mt19937 random(seed);
  const auto coordinate = [&] {
    return static_cast<int32_t>(random() % static_cast<uint32_t>(size * kSubpixels));
  };
  std::vector<Stroke> strokes;
  for (uint32_t i = 0; i < count; ++i) {
    const Place from = {coordinate(), coordinate()};
    const Place near = {from.x + static_cast<int32_t>(random() % 41) - 20,
                        from.y + static_cast<int32_t>(random() % 41) - 20};
    const Place level = {coordinate(), from.y};
    const Place upright = {from.x, coordinate()};
    const Place to[] = {{coordinate(), coordinate()}, near, level, upright, from};
    strokes.push_back(make_stroke(from, to[i % 5]));
  }
  return strokes;
}

/// Pixels along a line at their centres: full within radius − ½, none from radius + ½ on, half at the radius.
TEST(StrokeTest, PixelsByHand) {
  constexpr Stroke kLine = make_stroke({2 * 16 + 8, 3 * 16 + 8}, {7 * 16 + 8, 3 * 16 + 8});
  static_assert(kLine.length == 5 * 256 && kLine.along_x == 1 << 20 && kLine.along_y == 0);
  const auto covered = [&](int32_t x, int32_t y) {
    return draw::cover(distance(kLine, x, y), kDistanceUnit);
  };
  EXPECT_EQ(covered(4, 3), 255u);
  EXPECT_EQ(covered(4, 2), 128u);  // the edge of the line runs through the pixel's centre
  EXPECT_EQ(covered(4, 4), 128u);
  EXPECT_EQ(covered(4, 1), 0u);
  EXPECT_EQ(covered(1, 3), 128u);  // the round ends
  EXPECT_EQ(covered(8, 3), 128u);
  EXPECT_EQ(covered(0, 3), 0u);
  EXPECT_EQ(covered(8, 2), 22u);  // 1.5 − √2 of 256, the root rounded down to 362/256
  EXPECT_EQ(covered(8, 4), 22u);
  EXPECT_EQ(covered(8, 1), 0u);
  constexpr Stroke kBetweenRows = make_stroke({16, 16}, {80, 16});
  EXPECT_EQ(draw::cover(distance(kBetweenRows, 3, 0), kDistanceUnit), 255u);
  EXPECT_EQ(draw::cover(distance(kBetweenRows, 3, 1), kDistanceUnit), 255u);
  EXPECT_EQ(draw::cover(distance(kBetweenRows, 3, 2), kDistanceUnit), 0u);
  EXPECT_EQ(draw::cover(distance(kBetweenRows, 3, 0), 64), 64u);  // half a pixel wide, on two rows
}

TEST(StrokeTest, DistancesAreExact) {
  for (const int32_t size : {8, 100, 4000, 32768}) {
    std::mt19937 random(1);
    for (const Stroke& stroke : random_strokes(2000, size, 2)) {
      // At the line, where it matters: a random place on it, and some pixels beside.
      const double t = (random() % 1000) / 1000.0;
      const int32_t x =
          static_cast<int32_t>((stroke.from.x + t * (stroke.to.x - stroke.from.x)) / kSubpixels) +
          static_cast<int32_t>(random() % 17) - 8;
      const int32_t y =
          static_cast<int32_t>((stroke.from.y + t * (stroke.to.y - stroke.from.y)) / kSubpixels) +
          static_cast<int32_t>(random() % 17) - 8;
      const double want = distance_to(x * 16.0 + 8, y * 16.0 + 8, stroke.from, stroke.to) * kDistanceUnit;
      // The places that the rules round: two of the distance, and the direction over the length of the line.
      ASSERT_NEAR(distance(stroke, x, y), want, 2.5 + size / 2900.0)
          << size << " pixels, at " << x << ", " << y;
    }
  }
}

/// Whether the place of the line that is nearest to a pixel is at least a pixel from its ends.
bool is_inner(int32_t x, int32_t y, const Stroke& stroke) {
  const double dx = stroke.to.x - stroke.from.x;
  const double dy = stroke.to.y - stroke.from.y;
  const double length = std::hypot(dx, dy);
  const double along = ((x * 16.0 + 8 - stroke.from.x) * dx + (y * 16.0 + 8 - stroke.from.y) * dy) / length;
  return length > 0 && along >= kSubpixels && along <= length - kSubpixels;
}

/// The tolerances that stroke.h states, from the thinnest pen of a frame on.
TEST(StrokeTest, CoverageIsNearlyTheArea) {
  double worst = 0;
  double worst_at_ends = 0;
  for (const uint32_t radius : {110u, 150u, 256u, 380u, 700u}) {
    for (const Stroke& stroke : random_strokes(60, 16, radius)) {
      for (int32_t y = -2; y < 18; ++y) {
        for (int32_t x = -2; x < 18; ++x) {
          const double got = draw::cover(distance(stroke, x, y), radius) / 255.0;
          const double want = sampled_coverage(x, y, stroke, radius / 256.0);
          double& w = is_inner(x, y, stroke) ? worst : worst_at_ends;
          w = std::max(w, std::abs(got - want));
        }
      }
    }
  }
  EXPECT_LT(worst, 0.0625);
  EXPECT_GT(worst, 0.01);  // the samples are of the same strokes
  EXPECT_LT(worst_at_ends, 0.25);
}

TEST(StrokeTest, BoxesHaveAllPixels) {
  constexpr int32_t kSize = 60;
  for (const uint32_t rim : {118u, 400u, 1000u}) {
    const Pen pen = {rim / 2, rim};
    for (const Stroke& stroke : random_strokes(200, kSize, rim)) {
      const draw::PixelBox box = box_of(stroke.from, stroke.to, pen);
      for (int32_t y = -8; y < kSize + 8; ++y) {
        const draw::PixelBox row = row_of(stroke, pen, y);
        for (int32_t x = -8; x < kSize + 8; ++x) {
          const draw::PixelBox pixel = {x, y, x + 1, y + 1};
          if (draw::cover(distance(stroke, x, y), rim) > 0) {
            ASSERT_TRUE(box.meets(pixel) && row.meets(pixel)) << x << ", " << y << ", rim " << rim;
          }
        }
      }
    }
  }
}

/// A path is blended once, so that a joint is as dark as what it joins.
TEST(StrokeTest, JointsAreNotDarker) {
  const Pen pen = {300, 500};
  const Stroke whole = make_stroke({40, 88}, {680, 88});
  const Stroke parts[] = {make_stroke({40, 88}, {360, 88}), make_stroke({360, 88}, {680, 88})};
  for (int32_t y = 0; y < 12; ++y) {
    for (int32_t x = 0; x < 48; ++x) {
      draw::Coverage path;
      for (const Stroke& part : parts) {
        path.add(coverage_at(distance(part, x, y), pen, 100));
      }
      const draw::Coverage want = coverage_at(distance(whole, x, y), pen, 100);
      ASSERT_EQ(path.line, want.line) << x << ", " << y;
      ASSERT_EQ(path.rim, want.rim) << x << ", " << y;
    }
  }
}

/// Every pixel of a caption has the coverage of the strokes of its digits, at their places.
TEST(CaptionTest, IsThePathOfItsDigits) {
  for (const uint32_t height : {100u, 480u, 2160u}) {
    const draw::Scale scale = draw::scale_for(height);
    const draw::DigitFont font(scale);
    const draw::DigitCells cells = font.cells();
    for (const uint32_t id : {1u, 10u, 907u, 23456u, 4294967295u}) {
      for (const uint32_t strength : {255u, 128u}) {
        draw::DrawnTrack track{};
        track.id = id;
        track.strength = strength;
        const std::string text = std::to_string(id);
        const auto n_digits = static_cast<uint32_t>(text.size());
        const uint32_t width = cells.width + (n_digits - 1) * cells.advance;
        for (uint32_t y = 0; y < cells.height; ++y) {
          for (uint32_t x = 0; x < width; ++x) {
            const draw::Coverage want = expect_caption(text, scale, cells, x, y, strength);
            const draw::Coverage got = caption_coverage(track, cells, x, y);
            ASSERT_EQ(got.line, want.line) << id << " at " << x << ", " << y;
            ASSERT_EQ(got.rim, want.rim) << id << " at " << x << ", " << y;
          }
        }
      }
    }
  }
}

/// Rims end within their cells, or they would be cut off.
TEST(CaptionTest, MarginsAreEmpty) {
  for (const uint32_t height : {1u, 240u, 1080u, 4320u}) {
    const draw::DigitFont font(draw::scale_for(height));
    const draw::DigitCells cells = font.cells();
    for (uint32_t i = 0; i < draw::kDigits * cells.height * cells.width; ++i) {
      const uint32_t x = i % cells.width;
      const uint32_t y = i / cells.width % cells.height;
      if (x == 0 || y == 0 || x + 1 == cells.width || y + 1 == cells.height) {
        ASSERT_EQ(cells.coverage[2 * i + 1], 0) << "digit " << i / cells.width / cells.height;
      }
    }
  }
}

TEST(CaptionTest, LiesAboveTheBoxAndInTheFrame) {
  const draw::Scale scale = draw::scale_for(400);
  const draw::DigitFont font(scale);
  draw::TrackStyle style{};
  style.width = 600;
  style.height = 400;
  style.digits = font.cells();
  const auto height = static_cast<int32_t>(style.digits.height);
  const auto width = static_cast<int32_t>(style.digits.width + style.digits.advance);  // of two digits
  const auto box = [&](uint16_t x, uint16_t y) {
    CclTrack track{};
    track.id = 42;
    track.x = x;
    track.y = y;
    track.width = track.height = 10;
    return caption_box(track, style);
  };
  EXPECT_EQ(box(100, 200), (draw::PixelBox{100, 200 - height, 100 + width, 200}));
  EXPECT_EQ(box(100, 3), (draw::PixelBox{100, 0, 100 + width, height}));
  EXPECT_EQ(box(598, 200), (draw::PixelBox{600 - width, 200 - height, 600, 200}));
  style.width = style.height = 7;  // less than a digit
  EXPECT_EQ(box(3, 3), (draw::PixelBox{0, 0, 7, 7}));
}

/// Points by the definition: the places where the track was seen last when each step began, the newest first,
/// and before them the place where it is.
TEST(TrailTest, PointsAreStepsApart) {
  for (const int64_t frame_time : {8'000'000, 33'333'333, 66'000'000, 200'000'000, 2'100'000'000}) {
    std::vector<draw::TrailPoint> places;  // at the beginning of each step, the last one moving
    int64_t step_time = 0;
    draw::Trail trail{};
    for (int32_t frame = 0; frame < 400; ++frame) {
      CclTrack track{};
      track.id = 7;
      track.last_time = frame * frame_time;
      track.x = static_cast<uint16_t>(10 + frame * 3);
      track.y = static_cast<uint16_t>(20 + frame % 50);
      track.width = 5;
      track.height = 9;
      const draw::TrailPoint place = {static_cast<uint16_t>(2 * track.x + 5),
                                      static_cast<uint16_t>(2 * (track.y + 9))};
      if (frame == 0) {
        places.push_back(place);
      }
      for (; track.last_time - step_time >= draw::kTrailStep; step_time += draw::kTrailStep) {
        places.push_back(places.back());
      }
      places.back() = place;
      const draw::TrailStep step = trail_step(&trail, frame == 0 ? 0 : 1, track);
      draw::Trail next{};
      next.id = track.id;
      next.step_time = step.step_time;
      for (uint32_t i = 0; i < draw::kTrailPoints; ++i) {
        next.points[i] = step.point(i);
        const size_t n = places.size();
        const draw::TrailPoint want = i < n ? places[n - 1 - i] : places.front();
        // The oldest place moves until the first step ends, and older points are where the track began.
        const bool is_first = i + 1 >= n;
        ASSERT_TRUE(next.points[i] == want || is_first) << "point " << i << ", frame " << frame;
      }
      trail = next;
    }
  }
}

TEST(TrailTest, PredictionsAddNothing) {
  draw::Trail trail{};
  trail.id = 3;
  trail.step_time = 1000;
  for (uint16_t i = 0; i < draw::kTrailPoints; ++i) {
    trail.points[i] = {i, i};
  }
  CclTrack track{};
  track.id = 3;
  track.flags = CCL_TRACK_CONFIRMED | CCL_TRACK_PREDICTED;
  track.last_time = 1000 + 2 * draw::kTrailStep;
  track.x = 77;
  draw::TrailStep step = trail_step(&trail, 1, track);
  EXPECT_EQ(step.step_time, 1000);
  for (uint16_t i = 0; i < draw::kTrailPoints; ++i) {
    EXPECT_EQ(step.point(i), (draw::TrailPoint{i, i}));
  }
  track.flags = CCL_TRACK_CONFIRMED;
  step = trail_step(&trail, 1, track);
  EXPECT_EQ(step.step_time, track.last_time);
  EXPECT_EQ(step.point(0), (draw::TrailPoint{154, 0}));
  EXPECT_EQ(step.point(1), (draw::TrailPoint{0, 0}));
  EXPECT_EQ(step.point(2), (draw::TrailPoint{0, 0})) << "a step of which nothing is known";
  EXPECT_EQ(step.point(31), (draw::TrailPoint{29, 29}));
  track.last_time = 5;  // the clock began again
  EXPECT_EQ(trail_step(&trail, 1, track).step_time, 5);
  track.id = 4;  // another track has no past
  EXPECT_EQ(trail_step(&trail, 1, track).point(31), (draw::TrailPoint{154, 0}));
}

TEST(TrailTest, IsFoundByItsId) {
  std::vector<draw::Trail> trails(9);
  for (uint32_t i = 0; i < trails.size(); ++i) {
    trails[i].id = 10 * i + 5;
  }
  for (uint32_t count = 0; count <= trails.size(); ++count) {
    for (uint32_t id = 0; id < 100; ++id) {
      uint32_t want = 0;
      while (want < count && trails[want].id < id) {
        ++want;
      }
      ASSERT_EQ(find_trail(trails.data(), count, id), want) << id << " of " << count;
    }
  }
}

TEST(TrailTest, FadesWithAge) {
  EXPECT_EQ(draw::trail_strength(0, 255), 255u);
  for (uint32_t i = 1; i < draw::kTrailStrokes; ++i) {
    EXPECT_LT(draw::trail_strength(i, 255), draw::trail_strength(i - 1, 255));
    EXPECT_LE(draw::trail_strength(i, 128), 128u);
  }
  EXPECT_GT(draw::trail_strength(draw::kTrailStrokes - 1, 255), 0u);
}

TEST(TrailTest, ReachesEveryPlaceOfTheWidestFrame) {
  CclTrack track{};
  track.x = track.y = 32767;
  track.width = track.height = 1;
  EXPECT_EQ(draw::anchor_of(track), (draw::TrailPoint{65535, 65535}));
}

/// Whole pictures, by the host's stage and by the definition.
class DrawingTest : public testing::Test {
 protected:
  void expect_frames(const Config& config, Settings settings, uint32_t n_frames) {
    host::ThreadPool pool(2);
    host::Drawing drawing(config, pool);
    TrackScene scene(config, 11);
    SlowDrawing slow(config);
    for (uint32_t i = 0; i < n_frames; ++i) {
      settings.draw_ids = i % 7 != 3;
      settings.draw_trails = i % 5 != 4;
      if (i == 20) {  // trails begin again
        settings.draw_ids = settings.draw_trails = false;
      }
      scene.advance();
      const std::vector<uint8_t> ground = scene.ground();
      std::vector<uint8_t> got = ground;
      FrameJob job;
      job.settings = settings;
      job.output = {got.data() + kOffset, size_t{config.width} * 4 + kPadding};
      drawing.draw(job, scene.tracks());
      const std::vector<uint8_t> want = slow.draw(settings, scene.tracks(), ground);
      const auto at = std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin();
      ASSERT_TRUE(got == want) << "frame " << i << ", byte " << at;
      n_changed_ += got != ground ? 1 : 0;
    }
  }

  uint32_t n_changed_ = 0;  ///< frames
};

TEST_F(DrawingTest, TracksAreAsDefined) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, {33u, 70u}, {203u, 91u}}) {
    for (const Palette palette : {Palette::kGolden, Palette::kViridisByArea}) {
      Config config;
      config.width = width;
      config.height = height;
      config.output = palette == Palette::kGolden ? Output::kOverlay : Output::kColorized;
      config.max_tracks = 16;
      config.layout = {2, 3, 0, 1};
      Settings settings;
      settings.palette = palette;
      settings.color_seed = 5;
      ASSERT_NO_FATAL_FAILURE(expect_frames(config, settings, width > 1 ? 30 : 22));
    }
  }
  EXPECT_GT(n_changed_, 80u);
}

TEST_F(DrawingTest, OtherOutputsStayAsTheyAre) {
  for (const Output output : {Output::kBackground, Output::kForeground, Output::kLabels}) {
    Config config;
    config.width = 64;
    config.height = 48;
    config.output = output;
    config.max_tracks = 16;
    host::ThreadPool pool(1);
    host::Drawing drawing(config, pool);
    std::vector<uint8_t> pixels(64 * 48 * 4, 99);
    FrameJob job;
    job.settings.draw_ids = job.settings.draw_trails = job.settings.draw_regions = true;
    job.output = {pixels.data(), 64 * 4};
    job.outlines = std::make_shared<OutlineLayer>(std::vector<Outline>{{"a", {{5, 5}, {30, 20}}}}, 64, 48);
    TrackScene scene(config, 1);
    scene.advance();
    drawing.draw(job, scene.tracks());
    EXPECT_EQ(std::count(pixels.begin(), pixels.end(), 99), 64 * 48 * 4);
  }
}

}  // namespace

}  // namespace ccl::test
