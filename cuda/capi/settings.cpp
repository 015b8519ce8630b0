// SPDX-License-Identifier: LGPL-2.1-or-later
/// Configuration and settings.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "capi/convert.h"
#include "ccl/choices.h"
#include "ccl/parts.h"

namespace ccl::capi {

namespace {

using namespace kind;

/// Enumerations have the engine's values.
static_assert(CUDACCL_OUTPUT_NONE == static_cast<int>(Output::kNone));
static_assert(CUDACCL_OUTPUT_COLORIZED == static_cast<int>(Output::kColorized));
static_assert(CUDACCL_OUTPUT_OVERLAY == static_cast<int>(Output::kOverlay));
static_assert(CUDACCL_OUTPUT_LABELS16 == static_cast<int>(Output::kLabels));
static_assert(CUDACCL_OUTPUT_MASK == static_cast<int>(Output::kMask));
static_assert(CUDACCL_OUTPUT_BACKGROUND == static_cast<int>(Output::kBackground));
static_assert(CUDACCL_OUTPUT_FOREGROUND == static_cast<int>(Output::kForeground));
static_assert(CUDACCL_OUTPUT_DISTANCE == static_cast<int>(Output::kDistance));
static_assert(CUDACCL_OUTPUT_DISTANCE8 == static_cast<int>(Output::kDistance8));
static_assert(CUDACCL_PLANE_LABELS == int{kLabelPlane});
static_assert(CUDACCL_PLANE_IDS == int{kIdPlane});
static_assert(CUDACCL_PLANE_DISTANCES == int{kDistancePlane});
static_assert(CUDACCL_NO_DISTANCE == kNoSquare);
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
static_assert(CUDACCL_FEATURE_GREY == int{kFeatureGrey});
static_assert(CUDACCL_FEATURE_RECTANGLE == int{kFeatureRectangle});
static_assert(CUDACCL_FEATURE_HULL == int{kFeatureHull});
static_assert(CUDACCL_FEATURE_CONTOUR == int{kFeatureContour});
static_assert(CUDACCL_FEATURE_INRADIUS == int{kFeatureInradius});

constexpr PixelLayout kLayouts[] = {{0, 1, 2, 3}, {2, 1, 0, 3}, {1, 2, 3, 0}, {3, 2, 1, 0}};
static_assert(CUDACCL_ORDER_RGBA == 0 && CUDACCL_ORDER_BGRA == 1 && CUDACCL_ORDER_ARGB == 2 &&
              CUDACCL_ORDER_ABGR == 3);

constexpr int64_t kNsPerMs = 1'000'000;

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g", value);
  return text;
}

/// A value of each kind of a row.
Status check(const char* name, uint32_t value, Bool) {
  return check_range(name, value, 0, 1);
}

Status check(const char* name, int32_t value, Int range) {
  return check_range(name, value, range.least, range.largest);
}

Status check(const char* name, uint32_t value, UInt range) {
  return check_range(name, value, range.least, range.largest);
}

Status check(const char* name, uint32_t value, Enum kind) {
  const auto is_of_type = [&](const Choice& choice) { return choice.type == kind.type; };
  if (std::any_of(std::begin(kLibraryChoices), std::end(kLibraryChoices),
                  [&](const Choice& choice) { return is_of_type(choice) && choice.value == value; })) {
    return {};
  }
  std::set<uint32_t> values;
  for (const Choice& choice : kLibraryChoices) {
    if (is_of_type(choice)) {
      values.insert(choice.value);
    }
  }
  std::string possible;
  for (const uint32_t each : values) {
    possible += (possible.empty() ? "" : ", ") + std::to_string(each);
  }
  return refuse(std::string(name) + " is " + std::to_string(value) + "; possible are " + possible);
}

Status check(const char* name, uint32_t value, Flags kind) {
  uint32_t all = 0;
  for (const Choice& choice : kLibraryChoices) {
    all |= choice.type == kind.type ? choice.value : 0;
  }
  return check_range(name, value, 0, all);
}

/// What the members of settings.def belong to.
struct Target {
  Settings& settings;
  Segmentation& segmentation;
  Tracking& tracking;
  uint32_t threshold = 0;
  uint32_t event_hold_ms = 0;
};

template <typename Member, typename Value>
void assign(Member* member, Value value) {
  *member = static_cast<Member>(value);
}

Status set_thresholds(const CudacclSettings& given, uint32_t largest_value, FrameJob* job) {
  if (given.foreground != CUDACCL_FOREGROUND_BINARY) {
    job->segmentation.threshold_low = 0;
    return {};
  }
  CCL_RETURN_IF_ERROR(check_range("threshold", given.threshold, 0, largest_value));
  CCL_RETURN_IF_ERROR(check_range("threshold_low", given.threshold_low, 0, largest_value));
  job->segmentation.wide_threshold = static_cast<uint16_t>(largest_value > 255 ? given.threshold : 0);
  return {};
}

// A field without a row would have no default, no range and no effect.
// NOLINTBEGIN(bugprone-macro-parentheses): terms of a sum
constexpr size_t kBytesOfRows = sizeof(CudacclSettings::struct_size)
#define CCL_SETTING(id, member, kind, initial, when, text) +sizeof(CudacclSettings::id)
#define CCL_REAL(id, member, one, initial, text) +sizeof(CudacclSettings::id)
#define CCL_TIME(id, field, member, least, largest, initial, text) +sizeof(CudacclSettings::field)
#define CCL_FIELD(id, member, kind, initial, text) +sizeof(CudacclSettings::id)
#define CCL_RESERVED(id) +sizeof(CudacclSettings::id)
#include "ccl/settings.def"
    ;
/// Those that convert() assigns by name are width, height, output, order, planes, slots, the kinds of memory
/// and batch.
constexpr size_t kBytesOfConfig =
    sizeof(CudacclConfig::struct_size) + sizeof(CudacclConfig::algorithm) + 9 * sizeof(uint32_t)
#define CCL_CONFIG(id, kind, initial, when, text) +sizeof(CudacclConfig::id)
#include "ccl/settings.def"
    ;
// NOLINTEND(bugprone-macro-parentheses)
static_assert(kBytesOfRows == sizeof(CudacclSettings), "a field has no row in settings.def");
static_assert(kBytesOfConfig == sizeof(CudacclConfig),
              "a field has no row in settings.def, and no line in convert()");

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
  CCL_RETURN_IF_ERROR(check_range("output", given.output, 0, CUDACCL_OUTPUT_DISTANCE8));
  CCL_RETURN_IF_ERROR(check_range("order", given.order, 0, CUDACCL_ORDER_ABGR));
  CCL_RETURN_IF_ERROR(check_range("input_memory", given.input_memory, 0, CUDACCL_MEMORY_DEVICE));
  CCL_RETURN_IF_ERROR(check_range("output_memory", given.output_memory, 0, CUDACCL_MEMORY_DEVICE));
  CCL_RETURN_IF_ERROR(check_range("slots", given.slots, 1, kMaxSlots));
  CCL_RETURN_IF_ERROR(check_range("planes", given.planes, 0,
                                  CUDACCL_PLANE_LABELS | CUDACCL_PLANE_IDS | CUDACCL_PLANE_DISTANCES));
  CCL_RETURN_IF_ERROR(check_range("batch", given.batch, 0, kMaxBatch));
  *config = {.width = given.width,
             .height = given.height,
             .output = static_cast<Output>(given.output),
             .layout = kLayouts[given.order],
             .planes = given.planes,
             .slots = given.slots,
             .batch = std::max(given.batch, 1u),
             .input_memory = static_cast<Memory>(given.input_memory),
             .output_memory = static_cast<Memory>(given.output_memory)};
#define CCL_CONFIG(id, kind, initial, when, text) config->id = given.id;
#include "ccl/settings.def"
  return find_algorithm(given.algorithm, &config->algorithm);
}

Status convert(const CudacclSettings& given, uint32_t largest_value, FrameJob* job, FrameOptions* options) {
  job->settings = {};
  job->segmentation = {};
  Target target{job->settings, job->segmentation, job->tracking};
#define CCL_SETTING(id, member, kind, initial, when, text) \
  CCL_RETURN_IF_ERROR(check(#id, given.id, kind));         \
  assign(&target.member, given.id);
#define CCL_REAL(id, member, one, initial, text)         \
  CCL_RETURN_IF_ERROR(check_range(#id, given.id, 0, 1)); \
  assign(&target.member, fixed_point(given.id, one));
#define CCL_TIME(id, field, member, least, largest, initial, text)       \
  CCL_RETURN_IF_ERROR(check_range(#field, given.field, least, largest)); \
  target.member = given.field;
#define CCL_FIELD(id, member, kind, initial, text) CCL_SETTING(id, member, kind, initial, , text)
#define CCL_RESERVED(id) CCL_RETURN_IF_ERROR(check_range("CudacclSettings::" #id, given.id, 0, 0));
#include "ccl/settings.def"
  job->settings.rule.threshold = static_cast<uint8_t>(std::min<uint32_t>(target.threshold, 255));
  options->event_hold_ns = int64_t{target.event_hold_ms} * kNsPerMs;
  return set_thresholds(given, largest_value, job);
}

}  // namespace ccl::capi
