// SPDX-License-Identifier: LGPL-2.1-or-later
/// Configuration and settings.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

#include "capi/convert.h"

namespace ccl::capi {

namespace {

/// Enumerations have the engine's values.
static_assert(CUDACCL_OUTPUT_NONE == static_cast<int>(Output::kNone));
static_assert(CUDACCL_OUTPUT_COLORIZED == static_cast<int>(Output::kColorized));
static_assert(CUDACCL_OUTPUT_OVERLAY == static_cast<int>(Output::kOverlay));
static_assert(CUDACCL_OUTPUT_LABELS16 == static_cast<int>(Output::kLabels));
static_assert(CUDACCL_OUTPUT_MASK == static_cast<int>(Output::kMask));
static_assert(CUDACCL_OUTPUT_BACKGROUND == static_cast<int>(Output::kBackground));
static_assert(CUDACCL_OUTPUT_FOREGROUND == static_cast<int>(Output::kForeground));
static_assert(CUDACCL_PLANE_LABELS == int{kLabelPlane});
static_assert(CUDACCL_PLANE_IDS == int{kIdPlane});
static_assert(CUDACCL_MEMORY_HOST == static_cast<int>(Memory::kHost));
static_assert(CUDACCL_MEMORY_DEVICE == static_cast<int>(Memory::kDevice));
static_assert(CUDACCL_FOREGROUND_BINARY == static_cast<int>(Foreground::kBinary));
static_assert(CUDACCL_FOREGROUND_VALUES == static_cast<int>(Foreground::kValues));
static_assert(CUDACCL_FOREGROUND_OTSU == static_cast<int>(Foreground::kOtsu));
static_assert(CUDACCL_FOREGROUND_LOCAL == static_cast<int>(Foreground::kLocal));
static_assert(CUDACCL_FOREGROUND_MOTION == static_cast<int>(Foreground::kMotion));
static_assert(CUDACCL_MODEL_SIGMA_DELTA == static_cast<int>(BackgroundModel::kSigmaDelta));
static_assert(CUDACCL_MODEL_MIXTURE == static_cast<int>(BackgroundModel::kMixture));
static_assert(CUDACCL_ELEMENT_SQUARE == static_cast<int>(Element::kSquare));
static_assert(CUDACCL_ELEMENT_CROSS == static_cast<int>(Element::kCross));
static_assert(CUDACCL_PALETTE_GOLDEN == static_cast<int>(Palette::kGolden));
static_assert(CUDACCL_PALETTE_GLASBEY == static_cast<int>(Palette::kGlasbey));
static_assert(CUDACCL_PALETTE_VIRIDIS_BY_AREA == static_cast<int>(Palette::kViridisByArea));
static_assert(CUDACCL_PALETTE_MONO == static_cast<int>(Palette::kMono));
static_assert(CUDACCL_FEATURE_MOMENTS == int{kFeatureMoments});
static_assert(CUDACCL_FEATURE_PERIMETER == int{kFeaturePerimeter});
static_assert(CUDACCL_FEATURE_EULER == int{kFeatureEuler});
static_assert(CUDACCL_FEATURE_ALL == int{kAllFeatures});

constexpr PixelLayout kLayouts[] = {{0, 1, 2, 3}, {2, 1, 0, 3}, {1, 2, 3, 0}, {3, 2, 1, 0}};
static_assert(CUDACCL_ORDER_RGBA == 0 && CUDACCL_ORDER_BGRA == 1 && CUDACCL_ORDER_ARGB == 2 &&
              CUDACCL_ORDER_ABGR == 3);

constexpr int64_t kNsPerMs = 1'000'000;

struct IntegerField {
  const char* name;
  uint32_t CudacclSettings::*field;
  uint32_t least;
  uint32_t largest;
};

/// Those whose range is smaller than their type.
constexpr IntegerField kIntegers[] = {
    {"foreground", &CudacclSettings::foreground, 0, CUDACCL_FOREGROUND_MOTION},
    {"invert", &CudacclSettings::invert, 0, 1},
    {"local_radius", &CudacclSettings::local_radius, 1, kMaxLocalRadius},
    {"background_model", &CudacclSettings::background_model, 0, CUDACCL_MODEL_MIXTURE},
    {"motion_sensitivity", &CudacclSettings::motion_sensitivity, 0, kMaxSensitivity},
    {"motion_shadows", &CudacclSettings::motion_shadows, 0, 1},
    {"open_radius", &CudacclSettings::open_radius, 0, kMaxMorphologyRadius},
    {"close_radius", &CudacclSettings::close_radius, 0, kMaxMorphologyRadius},
    {"morphology_shape", &CudacclSettings::morphology_shape, 0, CUDACCL_ELEMENT_CROSS},
    {"clear_border", &CudacclSettings::clear_border, 0, 1},
    {"palette", &CudacclSettings::palette, 0, CUDACCL_PALETTE_MONO},
    {"draw_boxes", &CudacclSettings::draw_boxes, 0, 1},
    {"draw_ids", &CudacclSettings::draw_ids, 0, 1},
    {"draw_trails", &CudacclSettings::draw_trails, 0, 1},
    {"draw_regions", &CudacclSettings::draw_regions, 0, 1},
    {"mask_on", &CudacclSettings::mask_on, 0, 255},
    {"mask_off", &CudacclSettings::mask_off, 0, 255},
    {"features", &CudacclSettings::features, 0, CUDACCL_FEATURE_ALL},
    {"track_confirm", &CudacclSettings::track_confirm, 1, kMaxConfirmFrames},
    {"CudacclSettings::reserved", &CudacclSettings::reserved, 0, 0},
};

struct RealField {
  const char* name;
  double CudacclSettings::*field;
};

/// All from 0 to 1.
constexpr RealField kReals[] = {
    {"local_deviation", &CudacclSettings::local_deviation},
    {"motion_max_change", &CudacclSettings::motion_max_change},
    {"min_extent", &CudacclSettings::min_extent},
    {"min_circularity", &CudacclSettings::min_circularity},
    {"max_eccentricity", &CudacclSettings::max_eccentricity},
    {"overlay_alpha", &CudacclSettings::overlay_alpha},
};

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

Status check(const CudacclSettings& given, uint32_t largest_value) {
  if (given.connectivity != 4 && given.connectivity != 8) {
    return refuse("connectivity is " + std::to_string(given.connectivity) + "; 4 or 8 is possible");
  }
  for (const IntegerField& row : kIntegers) {
    CCL_RETURN_IF_ERROR(check_range(row.name, given.*row.field, row.least, row.largest));
  }
  CCL_RETURN_IF_ERROR(check_range("local_offset", given.local_offset, -kMaxLocalOffset, kMaxLocalOffset));
  for (const RealField& row : kReals) {
    CCL_RETURN_IF_ERROR(check_range(row.name, given.*row.field, 0, 1));
  }
  if (given.foreground == CUDACCL_FOREGROUND_BINARY) {
    CCL_RETURN_IF_ERROR(check_range("threshold", given.threshold, 0, largest_value));
    CCL_RETURN_IF_ERROR(check_range("threshold_low", given.threshold_low, 0, largest_value));
  }
  return {};
}

template <typename Integer>
Integer fixed_point(double value, uint32_t one) {
  return static_cast<Integer>(std::lround(value * one));
}

Filter filter_of(const CudacclSettings& given) {
  return {.min_area = given.min_area,
          .max_area = given.max_area,
          .min_width = given.min_width,
          .min_height = given.min_height,
          .max_width = given.max_width,
          .max_height = given.max_height,
          .clear_border = given.clear_border != 0,
          .min_extent = fixed_point<uint32_t>(given.min_extent, kFilterOne),
          .min_circularity = fixed_point<uint32_t>(given.min_circularity, kFilterOne),
          .max_eccentricity = fixed_point<uint32_t>(given.max_eccentricity, kFilterOne),
          .top_n = given.top_n};
}

ForegroundRule rule_of(const CudacclSettings& given) {
  return {.foreground = static_cast<Foreground>(given.foreground),
          .threshold = static_cast<uint8_t>(std::min<uint32_t>(given.threshold, 255)),
          .invert = given.invert != 0};
}

Segmentation segmentation_of(const CudacclSettings& given, uint32_t largest_value) {
  const bool is_binary = given.foreground == CUDACCL_FOREGROUND_BINARY;
  const bool is_wide = is_binary && largest_value > 255;
  return {.wide_threshold = static_cast<uint16_t>(is_wide ? given.threshold : 0),
          .threshold_low = static_cast<uint16_t>(is_binary ? given.threshold_low : 0),
          .local = {.radius = static_cast<uint8_t>(given.local_radius),
                    .offset = static_cast<int16_t>(given.local_offset),
                    .deviation = fixed_point<uint16_t>(given.local_deviation, kOne)},
          .motion = {.model = static_cast<BackgroundModel>(given.background_model),
                     .sensitivity = static_cast<uint8_t>(given.motion_sensitivity),
                     .shadows = given.motion_shadows != 0,
                     .learning_ms = given.motion_learning_ms,
                     .warm_up_ms = given.motion_warm_up_ms,
                     .max_change = fixed_point<uint16_t>(given.motion_max_change, kOne)},
          .morphology = {.open_radius = static_cast<uint8_t>(given.open_radius),
                         .close_radius = static_cast<uint8_t>(given.close_radius),
                         .element = static_cast<Element>(given.morphology_shape),
                         .fill_holes = given.fill_holes}};
}

Status find_algorithm(const char* name, Algorithm* algorithm) {
  std::string names;
  for (const AlgorithmInfo& info : algorithms()) {
    if (name == nullptr || std::string_view(name) == info.nick) {
      *algorithm = info.algorithm;
      return {};
    }
    names += (names.empty() ? "" : ", ") + std::string(info.nick);
  }
  return refuse("there is no algorithm '" + std::string(name) + "'; there are " + names);
}

}  // namespace

Status refuse(const std::string& message) {
  return {StatusCode::kInvalidArgument, message};
}

Status check_range(const char* name, double value, double least, double largest) {
  if (value >= least && value <= largest) {  // which NaN is not
    return {};
  }
  return refuse(
      std::string(name) + " is " + text_of(value) +
      (least == largest ? "; only " + text_of(least) : "; " + text_of(least) + " to " + text_of(largest)) +
      " is possible");
}

Status convert(const CudacclConfig& given, Config* config) {
  CCL_RETURN_IF_ERROR(check_range("output", given.output, 0, CUDACCL_OUTPUT_FOREGROUND));
  CCL_RETURN_IF_ERROR(check_range("order", given.order, 0, CUDACCL_ORDER_ABGR));
  CCL_RETURN_IF_ERROR(check_range("input_memory", given.input_memory, 0, CUDACCL_MEMORY_DEVICE));
  CCL_RETURN_IF_ERROR(check_range("output_memory", given.output_memory, 0, CUDACCL_MEMORY_DEVICE));
  CCL_RETURN_IF_ERROR(check_range("slots", given.slots, 1, kMaxSlots));
  CCL_RETURN_IF_ERROR(check_range("planes", given.planes, 0, CUDACCL_PLANE_LABELS | CUDACCL_PLANE_IDS));
  CCL_RETURN_IF_ERROR(check_range("CudacclConfig::reserved", given.reserved, 0, 0));
  *config = {.width = given.width,
             .height = given.height,
             .output = static_cast<Output>(given.output),
             .layout = kLayouts[given.order],
             .max_components = given.max_components,
             .max_tracks = given.max_tracks,
             .planes = given.planes,
             .slots = given.slots,
             .input_memory = static_cast<Memory>(given.input_memory),
             .output_memory = static_cast<Memory>(given.output_memory),
             .threads = given.threads};
  return find_algorithm(given.algorithm, &config->algorithm);
}

Status convert(const CudacclSettings& given, uint32_t largest_value, FrameJob* job, FrameSettings* frame) {
  CCL_RETURN_IF_ERROR(check(given, largest_value));
  job->settings = {.connectivity = static_cast<Connectivity>(given.connectivity),
                   .rule = rule_of(given),
                   .filter = filter_of(given),
                   .features = given.features,
                   .palette = static_cast<Palette>(given.palette),
                   .color_seed = given.color_seed,
                   .background_color = given.background_color,
                   .overlay_alpha = fixed_point<uint8_t>(given.overlay_alpha, 255),
                   .draw_boxes = given.draw_boxes != 0,
                   .draw_ids = given.draw_ids != 0,
                   .draw_trails = given.draw_trails != 0,
                   .draw_regions = given.draw_regions != 0,
                   .mask_on = static_cast<uint8_t>(given.mask_on),
                   .mask_off = static_cast<uint8_t>(given.mask_off)};
  job->segmentation = segmentation_of(given, largest_value);
  job->tracking = {.confirm_frames = given.track_confirm, .lost_ms = given.track_lost_ms};
  frame->event_hold_ns = int64_t{given.event_hold_ms} * kNsPerMs;
  return {};
}

}  // namespace ccl::capi
