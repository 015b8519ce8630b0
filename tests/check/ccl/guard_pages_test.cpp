// SPDX-License-Identifier: LGPL-2.1-or-later
/// Nothing beside an image is read or written: each plane of the source and each result lies at a page that
/// cannot be accessed, in every layout and on every SIMD level, and the results are those of frames with room
/// around them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fixture.h"
#include "forced_level.h"
#include "guarded.h"
#include "sources.h"

namespace ccl::test {

namespace {

using host::SimdLevel;

/// Around the lengths of vectors, words of bits, and chunks of rows.
constexpr std::pair<uint32_t, uint32_t> kSizes[] = {{1, 1},  {1, 5},  {2, 3},  {3, 1},   {7, 5},
                                                    {15, 4}, {16, 3}, {17, 9}, {31, 5},  {33, 7},
                                                    {63, 3}, {64, 2}, {65, 6}, {127, 3}, {130, 7}};

/// What engine and frames do, so that all together do everything.
struct Case {
  std::string name;
  Output output;
  Settings settings = {};
  Segmentation segmentation = {};
  Algorithm algorithm = Algorithm::kAuto;
  uint32_t planes = 0;
  uint32_t threads = 1;
  bool is_tracked = false;
  bool has_regions = false;
};

Case& add(std::vector<Case>* cases, const char* name, Output output) {
  Case& added = cases->emplace_back(Case{.name = name, .output = output});
  added.settings.rule.threshold = 150;
  return added;
}

void add_motion(std::vector<Case>* cases) {
  for (const Output output : {Output::kForeground, Output::kBackground, Output::kOverlay}) {
    for (const BackgroundModel model : {BackgroundModel::kSigmaDelta, BackgroundModel::kMixture}) {
      Case& motion = add(cases, model == BackgroundModel::kMixture ? "mixture" : "sigma-delta", output);
      motion.settings.rule.foreground = Foreground::kMotion;
      motion.segmentation.motion.model = model;
      motion.segmentation.motion.warm_up_ms = 50;
    }
  }
}

/// Labelers read a plane of luma, whatever the source is.
void add_labelers(std::vector<Case>* cases) {
  for (const AlgorithmInfo& labeler : labelers()) {
    add(cases, labeler.nick, Output::kLabels).algorithm = labeler.algorithm;
    Case& values = add(cases, labeler.nick, Output::kColorized);
    values.algorithm = labeler.algorithm;
    values.settings.rule.foreground = Foreground::kValues;
    values.planes = kLabelPlane;
  }
}

std::vector<Case> make_cases(Layout layout) {
  std::vector<Case> cases;
  if (layout == Layout::kGray) {
    add_labelers(&cases);
  }
  for (const Output output : {Output::kDistance, Output::kDistance8}) {
    Case& distance = add(&cases, "distance", output);
    distance.planes = kDistancePlane;
    distance.settings.separation.neck = output == Output::kDistance ? 700 : 0;
  }
  Case& separate = add(&cases, "separate", Output::kMask);
  separate.settings.separation.neck = 900;
  separate.settings.features = UINT32_MAX;
  separate.planes = kIdPlane | kLabelPlane;
  separate.threads = 3;
  Case& drawn = add(&cases, "drawing", Output::kOverlay);
  drawn.is_tracked = drawn.has_regions = true;
  drawn.settings.draw_boxes = drawn.settings.draw_ids = drawn.settings.draw_trails =
      drawn.settings.draw_regions = true;
  drawn.planes = kIdPlane;
  Case& local = add(&cases, "local", Output::kForeground);
  local.settings.rule.foreground = Foreground::kLocal;
  local.segmentation.local = {.radius = 3, .offset = 2, .deviation = 200};
  local.segmentation.morphology = {.open_radius = 1, .close_radius = 2, .fill_holes = 9};
  Case& otsu = add(&cases, "otsu", Output::kColorized);
  otsu.settings.rule.foreground = Foreground::kOtsu;
  otsu.settings.filter.min_area = 3;
  otsu.settings.filter.top_n = 2;
  Case& hysteresis = add(&cases, "hysteresis", Output::kLabels);
  hysteresis.segmentation.threshold_low = 120;
  hysteresis.threads = 2;
  add_motion(&cases);
  return cases;
}

/// Where an image has its bytes: from the first one to the end of the last one.
struct Range {
  const uint8_t* begin;
  const uint8_t* end;
};

Range rows_at(const uint8_t* first, size_t stride, size_t row, uint32_t rows) {
  return {first, first + stride * (rows - 1) + row};
}

/// The planes of a source; those that alternate are one.
std::vector<Range> planes_of(const InputImage& image, uint32_t width, uint32_t height) {
  const SourcePixels& source = image.source;
  std::vector<Range> planes = {source.pixels != nullptr
                                   ? rows_at(source.pixels, source.stride,
                                             size_t{width - 1} * source.step + bytes_read(source), height)
                                   : rows_at(image.pixels, image.stride, width, height)};
  const Chroma& chroma = image.chroma;
  const uint32_t columns = ((width - 1) >> chroma.shift_x) + 1;
  const uint32_t rows = ((height - 1) >> chroma.shift_y) + 1;
  for (const uint8_t* first : {chroma.u, chroma.v}) {
    if (first == nullptr) {
      continue;
    }
    const Range plane = rows_at(first, chroma.stride, size_t{columns - 1} * chroma.step + 1, rows);
    const auto overlaps = [&](const Range& other) {
      return plane.begin < other.end && other.begin < plane.end;
    };
    const auto other = std::find_if(planes.begin(), planes.end(), overlaps);
    const bool is_beside = planes.size() == 2 && chroma.step == 2;  // in a frame of one row
    Range* shared = other != planes.end() ? &*other : is_beside ? &planes[1] : nullptr;
    if (shared == nullptr) {
      planes.push_back(plane);
    } else {
      *shared = {std::min(shared->begin, plane.begin), std::max(shared->end, plane.end)};
    }
  }
  return planes;
}

/// Memory for everything that a frame reads and writes.
class Frame {
 public:
  /// At guards, or with room.
  Frame(const Source& source, const Config& config, std::optional<Side> side) : side_(side) {
    job.input = source.image;
    for (const Range& plane : planes_of(source.image, config.width, config.height)) {
      uint8_t* copy = take(static_cast<size_t>(plane.end - plane.begin));
      std::memcpy(copy, plane.begin, static_cast<size_t>(plane.end - plane.begin));
      for (const uint8_t** first :
           {&job.input.pixels, &job.input.source.pixels, &job.input.chroma.u, &job.input.chroma.v}) {
        if (*first != nullptr && *first >= plane.begin && *first < plane.end) {
          *first = copy + (*first - plane.begin);
        }
      }
    }
    add_results(config);
  }

  /// What was written, of all results.
  std::vector<uint8_t> results() const {
    std::vector<uint8_t> all;
    for (const auto& [memory, size] : results_) {
      all.insert(all.end(), memory, memory + size);
    }
    return all;
  }

  FrameJob job;

 private:
  uint8_t* take(size_t size) {
    if (side_) {
      return guarded_.emplace_back(size, *side_).data();
    }
    return roomy_.emplace_back(size + 2 * kRoom, 0x5a).data() + kRoom;
  }

  uint8_t* add_result(size_t size) {
    uint8_t* memory = take(size);
    std::memset(memory, 0x5a, size);
    return results_.emplace_back(memory, size).first;
  }

  void add_results(const Config& config) {
    const size_t pixels = size_t{config.width} * config.height;
    const uint32_t bytes = bytes_per_pixel(config.output);
    job.output = {.pixels = add_result(pixels * bytes), .stride = size_t{config.width} * bytes};
    if (config.output == Output::kMask) {
      job.output.chroma_row = (config.width + 1) / 2;
      job.output.chroma_rows = (config.height + 1) / 2;
      job.output.chroma_stride = job.output.chroma_row;
      for (uint8_t*& chroma : job.output.chroma) {
        chroma = add_result(job.output.chroma_stride * job.output.chroma_rows);
      }
    }
    for (const auto& [plane, image] :
         {std::pair(kLabelPlane, &job.label_plane), std::pair(kIdPlane, &job.id_plane),
          std::pair(kDistancePlane, &job.distance_plane)}) {
      if ((config.planes & plane) != 0) {
        *image = {.values = reinterpret_cast<uint32_t*>(add_result(pixels * 4)),
                  .stride = size_t{config.width} * 4};
      }
    }
    job.root_map = reinterpret_cast<uint32_t*>(add_result(pixels * 4));
    job.labels = reinterpret_cast<uint32_t*>(add_result(pixels * 4));
  }

  static constexpr size_t kRoom = 256;
  std::optional<Side> side_;
  std::vector<Guarded> guarded_;
  std::vector<std::vector<uint8_t>> roomy_;
  std::vector<std::pair<uint8_t*, size_t>> results_;
};

class GuardPagesTest : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (!host::is_supported(GetParam())) {
      GTEST_SKIP() << "this processor lacks " << host::simd_name(GetParam());
    }
  }

  /// What a stream of three frames gives: all bytes of results, and the numbers of components.
  std::vector<uint8_t> run(Layout layout, const Case& c, uint32_t width, uint32_t height,
                           std::optional<Side> side) {
    const ForcedLevel forced(side ? GetParam() : SimdLevel::kPortable);
    const std::unique_ptr<Engine> engine = make_host_engine();
    const Config config{.width = width,
                        .height = height,
                        .algorithm = c.algorithm,
                        .output = c.output,
                        .max_components = 300,
                        .max_tracks = c.is_tracked ? 64u : 0u,
                        .planes = c.planes,
                        .threads = c.threads};
    const Status configured = engine->configure(config);
    EXPECT_TRUE(configured.ok()) << configured.message();
    std::vector<uint8_t> all;
    for (uint32_t i = 0; configured.ok() && i < 3; ++i) {
      const std::unique_ptr<Source> source = make_source(layout, width, height, 1 + i / 2);
      Frame frame(*source, config, side);
      add_settings(c, config, i, &frame.job);
      const Status pushed = engine->push(frame.job);
      FrameResult result;
      EXPECT_TRUE(pushed.ok() && engine->pop(&result).ok()) << pushed.message();
      const std::vector<uint8_t> results = frame.results();
      all.insert(all.end(), results.begin(), results.end());
      all.push_back(static_cast<uint8_t>(result.counts.n_components));
    }
    return all;
  }

  static void add_settings(const Case& c, const Config& config, uint32_t i, FrameJob* job) {
    job->settings = c.settings;
    job->segmentation = c.segmentation;
    job->tracking = {.confirm_frames = 1};
    job->time = int64_t{i} * 100'000'000;
    job->resets_background = i == 0;
    if (c.has_regions) {
      const double right = config.width;
      const double bottom = config.height;
      job->outlines = std::make_shared<OutlineLayer>(
          std::vector<Outline>{{"name", {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}}}}, config.width,
          config.height);
    }
  }
};

TEST_P(GuardPagesTest, NothingBesideThemIsTouched) {
  for (const Layout layout : kLayouts) {
    for (const auto& [width, height] : kSizes) {
      for (const Case& c : make_cases(layout)) {
        const std::vector<uint8_t> want = run(layout, c, width, height, {});
        for (const Side side : {Side::kEnd, Side::kBegin}) {
          ASSERT_EQ(run(layout, c, width, height, side), want)
              << make_source(layout, 8, 8, 1)->name << ", " << c.name << ", " << name_of(c.output) << ", "
              << width << "x" << height;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, GuardPagesTest, testing::ValuesIn(host::kSimdLevels),
                         [](const auto& level) { return host::simd_name(level.param); });

/// The guards are where they should be.
TEST(GuardedDeathTest, AByteTooFarIsAFault) {
  const Guarded end(5, Side::kEnd);
  const Guarded begin(5, Side::kBegin);
  volatile uint8_t* at_end = end.data();
  volatile uint8_t* at_begin = begin.data();
  for (const size_t i : {0u, 4u}) {
    at_end[i] = 1;
    at_begin[i] = 1;
  }
  EXPECT_DEATH(at_end[5] = 1, "");
  EXPECT_DEATH(at_begin[-1] = 1, "");
}

}  // namespace

}  // namespace ccl::test
