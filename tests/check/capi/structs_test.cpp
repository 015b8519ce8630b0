// SPDX-License-Identifier: LGPL-2.1-or-later
/// Structs of the C interface: defaults, sizes of other versions, and refusals of single fields.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <type_traits>

#include "c_engine.h"
#include "ccl/setting.h"

namespace ccl::test {

namespace {

const Image& small_image() {
  static const Image image = noise(40, 30, 1, 50, 1);
  return image;
}

/// The fields of version 1, offset and name, and the first byte behind them.
constexpr const char* kLayoutOfSettings =
    "8 connectivity\n"
    "12 foreground\n"
    "16 threshold\n"
    "20 threshold_low\n"
    "24 invert\n"
    "28 local_radius\n"
    "32 local_offset\n"
    "36 background_model\n"
    "40 motion_sensitivity\n"
    "44 motion_shadows\n"
    "48 motion_learning_ms\n"
    "52 motion_warm_up_ms\n"
    "56 local_deviation\n"
    "64 motion_max_change\n"
    "72 open_radius\n"
    "76 close_radius\n"
    "80 morphology_shape\n"
    "84 fill_holes\n"
    "88 min_area\n"
    "92 max_area\n"
    "96 min_width\n"
    "100 min_height\n"
    "104 max_width\n"
    "108 max_height\n"
    "112 clear_border\n"
    "116 top_n\n"
    "120 min_extent\n"
    "128 min_circularity\n"
    "136 max_eccentricity\n"
    "144 overlay_alpha\n"
    "152 palette\n"
    "156 color_seed\n"
    "160 background_color\n"
    "164 draw_boxes\n"
    "168 draw_ids\n"
    "172 draw_trails\n"
    "176 draw_regions\n"
    "180 mask_on\n"
    "184 mask_off\n"
    "188 features\n"
    "192 track_confirm\n"
    "196 track_lost_ms\n"
    "200 event_hold_ms\n";
constexpr size_t kFirstSettingsSize = 208;
static_assert(CUDACCL_API_VERSION == 1 ? sizeof(CudacclSettings) == kFirstSettingsSize
                                       : sizeof(CudacclSettings) > kFirstSettingsSize,
              "a version with new fields has another number");

/// Fields of version 1 of the other structs: the last ones, and those before `reserved`. A field that is put
/// before them moves them, and programs of version 1 would write it. The elements of arrays never grow.
#define FIELD_STAYS_AT(Struct, field, offset) \
  static_assert(offsetof(Struct, field) == (offset), #Struct "::" #field " moved")
FIELD_STAYS_AT(CudacclAlgorithmInfo, on_cuda, 28);
FIELD_STAYS_AT(CudacclDeviceInfo, memory, 272);
FIELD_STAYS_AT(CudacclEngineOptions, context, 16);
FIELD_STAYS_AT(CudacclConfig, threads, 56);
FIELD_STAYS_AT(CudacclRegions, is_relative, 8);
FIELD_STAYS_AT(CudacclRegions, n_lines, 72);
FIELD_STAYS_AT(CudacclInput, range, 72);
FIELD_STAYS_AT(CudacclInput, stream, 80);
FIELD_STAYS_AT(CudacclOutput, memory, 24);
FIELD_STAYS_AT(CudacclOutput, stream, 32);
FIELD_STAYS_AT(CudacclPlane, memory, 24);
FIELD_STAYS_AT(CudacclPlane, stream, 32);
FIELD_STAYS_AT(CudacclFrame, reset_tracks, 60);
FIELD_STAYS_AT(CudacclResult, relearning, 32);
FIELD_STAYS_AT(CudacclResult, download_us, 156);
FIELD_STAYS_AT(CudacclShapes, truncated, 56);
#undef FIELD_STAYS_AT
static_assert(sizeof(CudacclPoint) == 16 && sizeof(CudacclPolygon) == 24 && sizeof(CudacclZone) == 48 &&
              sizeof(CudacclLine) == 56);

TEST(CStructsTest, DefaultsAreThoseOfTheEngine) {
  const cudaccl::Config config;
  EXPECT_EQ(config.struct_size, sizeof(CudacclConfig));
  EXPECT_STREQ(config.algorithm, "auto");
  EXPECT_EQ(config.max_components, Config{}.max_components);
  EXPECT_EQ(config.slots, Config{}.slots);
  const cudaccl::Settings settings;
  EXPECT_EQ(settings.connectivity, 8u);
  EXPECT_EQ(settings.features, uint32_t{CUDACCL_FEATURE_ALL});
  EXPECT_EQ(settings.palette, uint32_t{CUDACCL_PALETTE_GOLDEN});
  EXPECT_EQ(settings.event_hold_ms, 2000u);
  EXPECT_EQ(cudaccl::EngineOptions().device_id, -1);
  EXPECT_EQ(cudaccl::Frame().time, CUDACCL_NO_TIME);
  EXPECT_EQ(cudaccl::Regions().is_relative, 1u);
}

/// A struct of a later version: the library initialises, and accepts, fields that it does not know.
struct LaterConfig {
  CudacclConfig known;
  uint64_t unknown;
};

TEST(CStructsTest, FieldsOfLaterVersionsMayBeZero) {
  LaterConfig config;
  std::memset(&config, 0xa5, sizeof config);
  cudaccl_config_init(&config.known, sizeof config);
  EXPECT_EQ(config.known.struct_size, sizeof config);
  EXPECT_EQ(config.unknown, 0u);
  config.known.width = config.known.height = 8;
  const cudaccl::Engine engine(c_options());
  EXPECT_EQ(cudaccl_engine_configure(engine.get(), &config.known), CUDACCL_OK);
  config.unknown = 1;
  EXPECT_EQ(cudaccl_engine_configure(engine.get(), &config.known), CUDACCL_UNSUPPORTED);
  EXPECT_TRUE(says(cudaccl_last_error(engine.get()), "CudacclConfig"));
}

TEST(CStructsTest, AResultOfALaterVersionIsWrittenAsFarAsItIsKnown) {
  struct {
    CudacclResult known;
    uint64_t unknown;
  } result;
  cudaccl_result_init(&result.known, sizeof result);
  result.unknown = 7;
  CEngine c(small_image());
  ASSERT_EQ(cudaccl_engine_run(c.engine.get(), &c.frame, &result.known), CUDACCL_OK);
  EXPECT_EQ(result.known.struct_size, sizeof result);
  EXPECT_GT(result.known.n_records, 0u);
  EXPECT_EQ(result.unknown, 7u);
}

TEST(CStructsTest, StructsThatWereNotInitialisedAreRefused) {
  CEngine c(small_image());
  for (const size_t size : {size_t{0}, kFirstSettingsSize - 1, SIZE_MAX}) {
    c.settings.struct_size = size;
    EXPECT_TRUE(c.refuses("cudaccl_settings_init"));
  }
  cudaccl_settings_init(&c.settings, sizeof c.settings);
  c.result.struct_size = 0;
  EXPECT_TRUE(c.refuses("cudaccl_result_init"));
  cudaccl_result_init(&c.result, sizeof c.result);
  EXPECT_EQ(c.run(), CUDACCL_OK) << c.error();
}

TEST(CStructsTest, InitFunctionsTakeAnySizeAndNull) {
  cudaccl_config_init(nullptr, sizeof(CudacclConfig));
  CudacclConfig config;
  config.struct_size = 3;
  cudaccl_config_init(&config, 2);
  EXPECT_EQ(config.struct_size, 3u);
  config.width = 5;
  cudaccl_config_init(&config, offsetof(CudacclConfig, width));
  EXPECT_EQ(config.struct_size, offsetof(CudacclConfig, width));
  EXPECT_EQ(config.width, 5u) << "behind the end of the struct";
}

/// The struct of a program that was compiled with version 1: no field moves, and new ones lie behind.
TEST(CStructsTest, FieldsOfSettingsStayWhereTheyAre) {
  std::map<size_t, std::string> fields;
#define CCL_SETTING(id, member, kind, initial, when, text) fields[offsetof(CudacclSettings, id)] = #id;
#define CCL_REAL(id, member, one, initial, text) fields[offsetof(CudacclSettings, id)] = #id;
#define CCL_TIME(id, field, member, least, largest, initial, text) \
  fields[offsetof(CudacclSettings, field)] = #field;
#define CCL_FIELD(id, member, kind, initial, text) fields[offsetof(CudacclSettings, id)] = #id;
#include "ccl/settings.def"
  std::string layout;
  for (const auto& [offset, name] : fields) {
    layout += offset < kFirstSettingsSize ? std::to_string(offset) + " " + name + "\n" : "";
  }
  EXPECT_EQ(layout, kLayoutOfSettings);
}

/// Each value outside of the range of its row is refused by its name.
TEST(CStructsTest, ValuesOutsideOfTheirRangesAreRefused) {
  CEngine c(small_image());
  const auto expect_refusal = [&](const char* name, auto CudacclSettings::*field, auto value) {
    const cudaccl::Settings good;
    c.settings.*field = static_cast<std::remove_reference_t<decltype(c.settings.*field)>>(value);
    EXPECT_EQ(c.run(), CUDACCL_INVALID_ARGUMENT) << name << " " << value;
    EXPECT_TRUE(says(c.error(), name));
    c.settings.*field = good.*field;
    EXPECT_EQ(c.run(), CUDACCL_OK) << c.error();
  };
  using namespace kind;
  const auto expect_range = [&](const char* name, auto CudacclSettings::*field, auto kind) {
    using Kind = decltype(kind);
    if constexpr (std::is_same_v<Kind, Int> || std::is_same_v<Kind, UInt>) {
      if (int64_t{kind.least} > std::numeric_limits<decltype(kind.least)>::min()) {
        expect_refusal(name, field, int64_t{kind.least} - 1);
      }
      if (int64_t{kind.largest} < std::numeric_limits<decltype(kind.largest)>::max()) {
        expect_refusal(name, field, int64_t{kind.largest} + 1);
      }
    } else {
      expect_refusal(name, field, std::is_same_v<Kind, Bool> ? 2u : 1000u);
    }
  };
#define CCL_SETTING(id, member, kind, initial, when, text) expect_range(#id, &CudacclSettings::id, kind);
#define CCL_REAL(id, member, one, initial, text)          \
  for (const double value : {-0.01, 1.01, double{NAN}}) { \
    expect_refusal(#id, &CudacclSettings::id, value);     \
  }
#define CCL_TIME(id, field, member, least, largest, initial, text) \
  expect_range(#field, &CudacclSettings::field, UInt(least, largest));
#define CCL_FIELD(id, member, kind, initial, text) expect_range(#id, &CudacclSettings::id, kind);
#include "ccl/settings.def"
}

struct BadField {
  const char* name;  ///< in the message
  std::function<void(CEngine*)> break_it;
};

void PrintTo(const BadField& field, std::ostream* out) {
  *out << field.name;
}

template <typename T>
std::function<void(CEngine*)> set(T CudacclInput::*field, T value) {
  return [=](CEngine* c) { c->input.*field = value; };
}

class CBadFieldTest : public testing::TestWithParam<BadField> {};

TEST_P(CBadFieldTest, IsRefusedByName) {
  CEngine c(small_image());
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  GetParam().break_it(&c);
  EXPECT_EQ(c.run(), CUDACCL_INVALID_ARGUMENT);
  EXPECT_TRUE(says(c.error(), GetParam().name));
}

const BadField kBadFields[] = {
    {"CudacclSettings::reserved", [](CEngine* c) { c->settings.reserved = 1; }},
    {"threshold", [](CEngine* c) { c->settings.threshold = 256; }},  // of 8 bits
    {"threshold_low", [](CEngine* c) { c->settings.threshold_low = 256; }},
    {"CudacclInput::format", set(&CudacclInput::format, 8u)},
    {"CudacclInput::memory", set(&CudacclInput::memory, 2u)},
    {"CudacclInput::matrix", set(&CudacclInput::matrix, 3u)},
    {"CudacclInput::range", set(&CudacclInput::range, 3u)},
    {"CudacclInput::bits",
     [](CEngine* c) {
       c->input.format = CUDACCL_FORMAT_GRAY16;
       c->input.bits = 17;
     }},
    {"plane 0", [](CEngine* c) { c->input.planes[0] = nullptr; }},
    {"plane 0", [](CEngine* c) { c->input.strides[0] = 39; }},
    {"the end of memory", [](CEngine* c) { c->input.strides[0] = ~size_t{63}; }},
    {"plane 1", set(&CudacclInput::format, uint32_t{CUDACCL_FORMAT_NV12})},
    {"odd",
     [](CEngine* c) {
       c->input.format = CUDACCL_FORMAT_GRAY16;
       c->input.strides[0] = 81;
     }},
    {"limited",
     [](CEngine* c) {
       c->input.format = CUDACCL_FORMAT_RGB;
       c->input.range = CUDACCL_RANGE_LIMITED;
     }},
    {"CudacclInput is NULL", [](CEngine* c) { c->frame.input = nullptr; }},
    {"reset_tracks", [](CEngine* c) { c->frame.reset_tracks = 2; }},
};
INSTANTIATE_TEST_SUITE_P(Fields, CBadFieldTest, testing::ValuesIn(kBadFields));

struct BadConfig {
  const char* name;
  uint32_t CudacclConfig::*field;
  uint32_t value;
};

TEST(CStructsTest, BadConfigurationsAreRefusedByName) {
  using namespace kind;
  const cudaccl::Engine engine(c_options());
  const BadConfig cases[] = {
      {"0×8", &CudacclConfig::width, 0},
      {"8×32769", &CudacclConfig::height, 32769},
      {"output", &CudacclConfig::output, 9},
      {"order", &CudacclConfig::order, 4},
      {"max_components", &CudacclConfig::max_components, 0},
      {"planes", &CudacclConfig::planes, 8},
      {"slots", &CudacclConfig::slots, 0},
      {"slots", &CudacclConfig::slots, 65},
      {"input_memory", &CudacclConfig::input_memory, 2},
      {"output_memory", &CudacclConfig::output_memory, 2},
      {"batch", &CudacclConfig::batch, 129},
#define CCL_CONFIG(id, kind, initial, when, text) {#id, &CudacclConfig::id, (kind).largest + 1},
#include "ccl/settings.def"
  };
  for (const BadConfig& bad : cases) {
    if (bad.field == &CudacclConfig::max_components && bad.value != 0) {
      continue;  // a table of records may have any length
    }
    cudaccl::Config config = c_config(8, 8);
    config.*bad.field = bad.value;
    EXPECT_EQ(cudaccl_engine_configure(engine.get(), &config), CUDACCL_INVALID_ARGUMENT) << bad.name;
    EXPECT_TRUE(says(cudaccl_last_error(engine.get()), bad.name));
  }
  cudaccl::Config config = c_config(8, 8);
  config.algorithm = "magic";
  EXPECT_EQ(cudaccl_engine_configure(engine.get(), &config), CUDACCL_INVALID_ARGUMENT);
  EXPECT_TRUE(says(cudaccl_last_error(engine.get()), "runs"));
}

}  // namespace

}  // namespace ccl::test
