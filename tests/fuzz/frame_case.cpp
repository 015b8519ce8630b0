// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_case.h"

#include <string>

#include "ccl/setting_names.h"
#include "compare.h"
#include "filters.h"
#include "oracle.h"
#include "segmentation.h"

namespace fuzz {

using ccl::test::ExpectedFrame;
using ccl::test::Image;

namespace {

/// What the frame must have.
struct Expected {
  ExpectedFrame frame;
  std::vector<uint32_t> conditions;  ///< per label: the first that it fails
  ccl::FrameCounts counts;
  std::vector<ccl::test::ExpectedRecord> records;
};

Expected expect(const FrameCase& given) {
  ccl::Settings settings = given.settings;
  Image image = given.image;
  std::vector<bool> is_strong;
  Expected expected;
  const bool makes_bits = ccl::makes_bits(settings.rule, given.segmentation, false);
  const ccl::test::SegmentationCase segmentation{
      .rule = settings.rule, .segmentation = given.segmentation, .connectivity = settings.connectivity};
  if (makes_bits) {
    image = ccl::test::as_image(image, ccl::test::expect_foreground(image, segmentation));
    settings.rule = ccl::kBitRule;
  }
  expected.frame = ccl::test::expect_labels(image, settings);
  const bool has_hysteresis =
      given.settings.rule.foreground == ccl::Foreground::kBinary && given.segmentation.threshold_low > 0;
  if (has_hysteresis) {
    is_strong = ccl::test::expect_strong_labels(given.image, segmentation, expected.frame);
  }
  expected.conditions = ccl::test::expect_conditions(settings.filter, expected.frame, is_strong);
  expected.counts = ccl::test::expect_counts(expected.frame, settings, is_strong);
  expected.records = ccl::test::expect_records(expected.frame, settings, given.max_components, is_strong);
  const bool is_otsu = given.settings.rule.foreground == ccl::Foreground::kOtsu;
  expected.counts.level = is_otsu ? ccl::test::expect_otsu_level(given.image) : 0;
  return expected;
}

std::string describe(const FrameCase& given) {
  return std::string(given.labeler) + ", " + std::to_string(given.image.width) + "x" +
         std::to_string(given.image.height) + ": ";
}

void check(const FrameCase& given, const CudacclResult& got, const std::vector<uint32_t>& labels) {
  const Expected want = expect(given);
  const std::string what = describe(given);
  const auto require_equal = [&](const char* name, uint64_t value, uint64_t wanted) {
    require(value == wanted,
            what + name + " is " + std::to_string(value) + " instead of " + std::to_string(wanted));
  };
  require_equal("n_labels", got.n_labels, want.counts.n_labels);
  require_equal("n_components", got.n_components, want.counts.n_components);
  require_equal("overflow", got.overflow, want.counts.n_components > given.max_components);
  require_equal("level", got.level, want.counts.level);
  for (uint32_t i = 0; i < ccl::kFilterConditions; ++i) {
    require_equal(ccl::kFilterConditionNames[i], got.n_removed[i], want.counts.n_removed[i]);
  }
  for (size_t i = 0; i < labels.size(); ++i) {
    const uint32_t label = want.frame.labels[i];
    const bool is_kept = label != 0 && want.conditions[label] == ccl::kPassed;
    require(labels[i] == (is_kept ? label : 0), what + "wrong label at pixel " + std::to_string(i));
  }
  const testing::AssertionResult same = ccl::test::same_records({got.records, got.n_records}, want.records);
  require(same, what + same.message());
}

}  // namespace

Image take_frame(Bytes* bytes) {
  const uint32_t width = bytes->from_to(1, 70);
  const uint32_t height = bytes->from_to(1, 40);
  const uint32_t kind = bytes->below(4);
  if (kind == 2) {
    return ccl::test::blobs(width, height, bytes->byte());
  }
  if (kind == 3) {
    return ccl::test::noise(width, height, bytes->from_to(1, 3), bytes->below(101), bytes->byte());
  }
  Image image = ccl::test::plain("fuzz", width, height);
  uint8_t bits = 0;
  for (uint32_t i = 0; i < width * height; ++i) {
    bits = kind == 1 || i % 8 == 0 ? bytes->byte() : bits;
    const bool is_set = (bits >> i % 8 & 1) != 0;
    image.at(i % width, i / width) = kind == 1 ? bits : is_set ? ccl::test::kForeground : 0;
  }
  return image;
}

const char* take_labeler(Bytes* bytes) {
  std::vector<const char*> names = {"auto"};
  for (const ccl::AlgorithmInfo& info : ccl::algorithms()) {
    if (info.runs_on(ccl::Backend::kCpu) && info.algorithm != ccl::Algorithm::kAuto) {
      names.push_back(info.nick);
    }
  }
  return names[bytes->below(static_cast<uint32_t>(names.size()))];
}

ccl::Filter take_filter(Bytes* bytes) {
  ccl::Filter filter = ccl::Filter::neutral();
  const auto sometimes = [bytes](auto* field, uint32_t largest) {
    if (bytes->below(4) == 1) {
      *field = static_cast<std::remove_pointer_t<decltype(field)>>(bytes->from_to(0, largest));
    }
  };
  // All fields: a new one does not compile until it is used here.
  auto& [min_area, max_area, min_width, min_height, max_width, max_height, clear_border, min_extent,
         min_circularity, max_eccentricity, top_n] = filter;
  sometimes(&min_area, 100);
  sometimes(&max_area, 300);
  sometimes(&min_width, 20);
  sometimes(&min_height, 20);
  sometimes(&max_width, 40);
  sometimes(&max_height, 40);
  clear_border = bytes->below(4) == 1;
  sometimes(&min_extent, ccl::kFilterOne);
  sometimes(&min_circularity, ccl::kFilterOne);
  sometimes(&max_eccentricity, ccl::kFilterOne);
  sometimes(&top_n, 10);
  return filter;
}

cudaccl::Settings to_c(const ccl::Settings& settings, const ccl::Segmentation& segmentation) {
  cudaccl::Settings c;
  c.connectivity = static_cast<uint32_t>(settings.connectivity);
  c.foreground = static_cast<uint32_t>(settings.rule.foreground);
  c.threshold = settings.rule.threshold;
  c.invert = settings.rule.invert;
  c.threshold_low = segmentation.threshold_low;
  c.local_radius = segmentation.local.radius;
  c.local_offset = segmentation.local.offset;
  c.local_deviation = segmentation.local.deviation / double{ccl::kOne};
  c.open_radius = segmentation.morphology.open_radius;
  c.close_radius = segmentation.morphology.close_radius;
  c.morphology_shape = static_cast<uint32_t>(segmentation.morphology.element);
  c.fill_holes = segmentation.morphology.fill_holes;
  const auto& [min_area, max_area, min_width, min_height, max_width, max_height, clear_border, min_extent,
               min_circularity, max_eccentricity, top_n] = settings.filter;
  c.min_area = min_area;
  c.max_area = max_area;
  c.min_width = min_width;
  c.min_height = min_height;
  c.max_width = max_width;
  c.max_height = max_height;
  c.clear_border = clear_border;
  c.top_n = top_n;
  c.min_extent = min_extent / double{ccl::kFilterOne};
  c.min_circularity = min_circularity / double{ccl::kFilterOne};
  c.max_eccentricity = max_eccentricity / double{ccl::kFilterOne};
  c.features = settings.features;
  c.separate = settings.separation.neck / 1024.0;
  c.separate_aspect = settings.separation.aspect;
  return c;
}

CudacclEngine* engine() {
  static CudacclEngine* const made = [] {
    cudaccl::EngineOptions options;
    options.backend = CUDACCL_BACKEND_CPU;
    CudacclEngine* engine = nullptr;
    cudaccl_engine_new(&options, &engine);
    return engine;
  }();
  return made;
}

void require_ok(CudacclStatus status, const char* call) {
  require(status == CUDACCL_OK, std::string(call) + ": " + cudaccl_last_error(engine()));
}

void check_frame(const FrameCase& given) {
  cudaccl::Config config;
  config.width = given.image.width;
  config.height = given.image.height;
  config.algorithm = given.labeler;
  config.max_components = given.max_components;
  config.planes = CUDACCL_PLANE_LABELS;
  config.threads = given.threads;
  require_ok(cudaccl_engine_configure(engine(), &config), "configure");
  std::vector<uint32_t> labels(size_t{config.width} * config.height);
  cudaccl::Input input;
  input.planes[0] = given.image.pixels();
  input.strides[0] = given.image.stride;
  cudaccl::Plane plane;
  plane.values = labels.data();
  const cudaccl::Settings settings = to_c(given.settings, given.segmentation);
  cudaccl::Frame frame;
  frame.input = &input;
  frame.labels = &plane;
  frame.settings = &settings;
  cudaccl::Result result;
  require_ok(cudaccl_engine_run(engine(), &frame, &result), "run");
  check(given, result, labels);
}

}  // namespace fuzz
