// SPDX-License-Identifier: LGPL-2.1-or-later
/// Structs of the C interface: defaults, sizes of other versions, and refusals of single fields.
#include <cmath>
#include <cstring>
#include <functional>
#include <string>

#include "c_engine.h"

namespace ccl::test {

namespace {

const Image& small_image() {
  static const Image image = noise(40, 30, 1, 50, 1);
  return image;
}

TEST(CStructsTest, DefaultsAreThoseOfTheEngine) {
  const cudaccl::Config config;
  EXPECT_EQ(config.struct_size, sizeof(CudacclConfig));
  EXPECT_STREQ(config.algorithm, "auto");
  EXPECT_EQ(config.max_components, Config{}.max_components);
  EXPECT_EQ(config.slots, Config{}.slots);
  const cudaccl::Settings settings;
  EXPECT_EQ(settings.connectivity, 8u);
  EXPECT_EQ(settings.threshold, 1u);
  EXPECT_EQ(settings.local_radius, LocalThreshold{}.radius);
  EXPECT_EQ(settings.local_offset, LocalThreshold{}.offset);
  EXPECT_EQ(settings.motion_learning_ms, Motion{}.learning_ms);
  EXPECT_EQ(settings.motion_max_change, 0.625);
  EXPECT_EQ(settings.max_area, UINT32_MAX);
  EXPECT_EQ(settings.max_eccentricity, 1);
  EXPECT_EQ(settings.features, uint32_t{CUDACCL_FEATURE_ALL});
  EXPECT_EQ(settings.track_confirm, Tracking{}.confirm_frames);
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
  for (const size_t size : {size_t{0}, sizeof(CudacclSettings) - 1, SIZE_MAX}) {
    c.settings.struct_size = size;
    EXPECT_EQ(c.run(), CUDACCL_INVALID_ARGUMENT);
    EXPECT_TRUE(says(c.error(), "cudaccl_settings_init"));
  }
  cudaccl_settings_init(&c.settings, sizeof c.settings);
  c.result.struct_size = 0;
  EXPECT_EQ(c.run(), CUDACCL_INVALID_ARGUMENT);
  EXPECT_TRUE(says(c.error(), "cudaccl_result_init"));
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

struct BadField {
  const char* name;  ///< in the message
  std::function<void(CEngine*)> break_it;
};

void PrintTo(const BadField& field, std::ostream* out) {
  *out << field.name;
}

template <typename T>
std::function<void(CEngine*)> set(T CudacclSettings::*field, T value) {
  return [=](CEngine* c) { c->settings.*field = value; };
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
    {"connectivity", set(&CudacclSettings::connectivity, 6u)},
    {"foreground", set(&CudacclSettings::foreground, 5u)},
    {"threshold", set(&CudacclSettings::threshold, 256u)},
    {"threshold_low", set(&CudacclSettings::threshold_low, 256u)},
    {"invert", set(&CudacclSettings::invert, 2u)},
    {"local_radius", set(&CudacclSettings::local_radius, 0u)},
    {"local_radius", set(&CudacclSettings::local_radius, 256u + 15)},
    {"local_offset", set(&CudacclSettings::local_offset, -256)},
    {"local_deviation", set(&CudacclSettings::local_deviation, double{NAN})},
    {"background_model", set(&CudacclSettings::background_model, 2u)},
    {"motion_sensitivity", set(&CudacclSettings::motion_sensitivity, 101u)},
    {"motion_max_change", set(&CudacclSettings::motion_max_change, 1.01)},
    {"open_radius", set(&CudacclSettings::open_radius, 9u)},
    {"close_radius", set(&CudacclSettings::close_radius, 256u)},
    {"morphology_shape", set(&CudacclSettings::morphology_shape, 2u)},
    {"clear_border", set(&CudacclSettings::clear_border, 2u)},
    {"min_extent", set(&CudacclSettings::min_extent, -0.1)},
    {"min_circularity", set(&CudacclSettings::min_circularity, 2.0)},
    {"max_eccentricity", set(&CudacclSettings::max_eccentricity, -1.0)},
    {"features", set(&CudacclSettings::features, 8u)},
    {"palette", set(&CudacclSettings::palette, 4u)},
    {"overlay_alpha", set(&CudacclSettings::overlay_alpha, 1.5)},
    {"draw_boxes", set(&CudacclSettings::draw_boxes, 255u)},
    {"mask_on", set(&CudacclSettings::mask_on, 256u)},
    {"track_confirm", set(&CudacclSettings::track_confirm, 0u)},
    {"CudacclSettings::reserved", set(&CudacclSettings::reserved, 1u)},
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
  const cudaccl::Engine engine(c_options());
  const BadConfig cases[] = {
      {"0×8", &CudacclConfig::width, 0},
      {"8×32769", &CudacclConfig::height, 32769},
      {"output", &CudacclConfig::output, 7},
      {"order", &CudacclConfig::order, 4},
      {"max_components", &CudacclConfig::max_components, 0},
      {"tracks", &CudacclConfig::max_tracks, 16385},
      {"planes", &CudacclConfig::planes, 4},
      {"slots", &CudacclConfig::slots, 0},
      {"slots", &CudacclConfig::slots, 65},
      {"input_memory", &CudacclConfig::input_memory, 2},
      {"output_memory", &CudacclConfig::output_memory, 2},
      {"threads", &CudacclConfig::threads, 257},
      {"reserved", &CudacclConfig::reserved, 1},
  };
  for (const BadConfig& bad : cases) {
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
