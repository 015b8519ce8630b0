// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames through the C interface: every kind of pixels, labels and settings.
#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "c_engine.h"
#include "compare.h"
#include "oracle.h"
#include "plane_runner.h"
#include "separation.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 61;
constexpr uint32_t kHeight = 47;

std::vector<CclComponent> records_of(const CudacclResult& result) {
  return {result.records, result.records + result.n_records};
}

bool are_equal(const std::vector<CclComponent>& a, const std::vector<CclComponent>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(CclComponent)) == 0);
}

TEST(CFramesTest, LabelsAndRecordsAreThoseOfTheOracle) {
  const Image image = spread(noise(kWidth, kHeight, 1, 45, 3), 5, 7);
  for (const uint32_t connectivity : {4u, 8u}) {
    cudaccl::Config config = c_config(kWidth, kHeight);
    config.planes = CUDACCL_PLANE_LABELS;
    CEngine c(image, config);
    std::vector<uint32_t> labels(kWidth * kHeight, 99);
    cudaccl::Plane plane;
    plane.values = labels.data();
    c.frame.labels = &plane;
    c.settings.connectivity = connectivity;
    ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
    const Settings settings = {.connectivity = static_cast<Connectivity>(connectivity)};
    const ExpectedFrame expected = expect_labels(image, settings);
    EXPECT_EQ(labels, expected.labels);
    EXPECT_EQ(c.result.n_labels, expected.n_labels);
    EXPECT_EQ(c.result.n_components, expected.n_labels);
    ASSERT_EQ(c.result.n_records, expected.n_labels);
    for (uint32_t i = 0; i < expected.n_labels; ++i) {
      EXPECT_EQ(c.result.records[i].label, i + 1);
      EXPECT_EQ(c.result.records[i].area, expected.areas[i + 1]);
    }
  }
}

/// A plane of the caller, with padding between its rows.
struct PaddedPlane : PaddedRows<uint32_t> {
  PaddedPlane() : PaddedRows(kWidth, kHeight) {
    plane.values = data();
    plane.stride = stride();
  }
  PaddedPlane(const PaddedPlane&) = delete;
  PaddedPlane& operator=(const PaddedPlane&) = delete;

  cudaccl::Plane plane;
};

TEST(CFramesTest, PlanesAreFilteredAndIdsAreThoseOfTheRecords) {
  const Image image = spread(noise(kWidth, kHeight, 1, 45, 3), 5, 7);
  cudaccl::Config config = c_config(kWidth, kHeight);
  config.planes = CUDACCL_PLANE_LABELS | CUDACCL_PLANE_IDS;
  config.max_tracks = 64;
  CEngine c(image, config);
  PaddedPlane labels;
  PaddedPlane ids;
  c.frame.labels = &labels.plane;
  c.frame.ids = &ids.plane;
  c.settings.min_area = 6;
  std::map<uint32_t, uint32_t> ids_of_labels = {{0, 0}};
  for (const int64_t time : {0, 40'000'000}) {
    c.frame.time = time;
    c.frame.reset_tracks = time > 0 ? 1 : 0;  // so that ids are not labels
    ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  }
  for (const CclComponent& record : records_of(c.result)) {
    EXPECT_NE(record.id, record.label);
    ids_of_labels[record.label] = record.id;
  }
  ASSERT_GT(c.result.n_records, 1u);
  ASSERT_LT(c.result.n_records, c.result.n_labels) << "the filter removes some";
  std::vector<uint32_t> expected = expect_labels(image, {}).labels;
  std::vector<uint32_t> expected_ids;
  for (uint32_t& label : expected) {
    label = ids_of_labels.count(label) > 0 ? label : 0;
    expected_ids.push_back(ids_of_labels.at(label));
  }
  EXPECT_EQ(labels.dense(), expected);
  EXPECT_EQ(ids.dense(), expected_ids);
}

TEST(CFramesTest, DistancesAreThoseOfTheEngine) {
  const Image image = spread(noise(kWidth, kHeight, 4, 60, 3), 5, 7);
  cudaccl::Config config = c_config(kWidth, kHeight);
  config.planes = CUDACCL_PLANE_DISTANCES;
  config.output = CUDACCL_OUTPUT_DISTANCE;
  CEngine c(image, config);
  c.settings.separate_aspect = 2;
  std::vector<uint16_t> pixels(kWidth * kHeight);
  cudaccl::Output output;
  output.pixels = pixels.data();
  output.stride = kWidth * cudaccl_bytes_per_pixel(CUDACCL_OUTPUT_DISTANCE);
  c.frame.output = &output;
  EXPECT_TRUE(c.refuses("no plane of distances"));
  PaddedPlane distances;
  c.frame.distances = &distances.plane;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  const std::vector<uint32_t> squares = expect_squares(expect_labels(image, {}).root_map, kWidth, kHeight, 2);
  EXPECT_EQ(distances.dense(), squares);
  EXPECT_EQ(std::vector<uint32_t>(pixels.begin(), pixels.end()), expect_raw_heights(squares));
}

/// A program of version 1 has no distances in its frame.
TEST(CFramesTest, AFrameOfTheFirstVersionIsRead) {
  const Image image = noise(kWidth, kHeight, 1, 45, 3);
  CEngine c(image);
  c.frame.struct_size = offsetof(CudacclFrame, distances);
  EXPECT_EQ(c.run(), CUDACCL_OK) << c.error();
  c.frame.struct_size -= 1;
  EXPECT_EQ(c.run(), CUDACCL_INVALID_ARGUMENT);
}

TEST(CFramesTest, APlaneThatIsNotPossibleIsRefused) {
  const Image image = noise(kWidth, kHeight, 1, 45, 3);
  cudaccl::Config config = c_config(kWidth, kHeight);
  config.planes = CUDACCL_PLANE_LABELS | CUDACCL_PLANE_IDS;
  CEngine c(image, config);
  EXPECT_TRUE(c.refuses("no plane of labels"));
  std::vector<uint32_t> labels(kWidth * kHeight);
  cudaccl::Plane plane;
  c.frame.labels = &plane;
  EXPECT_TRUE(c.refuses("no plane of ids"));
  PaddedPlane ids;
  c.frame.ids = &ids.plane;
  EXPECT_TRUE(c.refuses("the plane of labels has no pixels"));
  plane.values = labels.data();
  plane.stride = kWidth * 4 - 4;
  EXPECT_TRUE(c.refuses("bytes for rows of"));
  plane.stride = kWidth * 4 + 2;
  EXPECT_TRUE(c.refuses("the plane of labels has a stride that is no multiple of 4 bytes"));
  plane.values = reinterpret_cast<uint32_t*>(reinterpret_cast<uint8_t*>(labels.data()) + 1);
  EXPECT_TRUE(c.refuses("the plane of labels has an address that is no multiple of 4 bytes"));
  plane.values = labels.data();
  plane.stride = ~size_t{63};
  EXPECT_TRUE(c.refuses("the plane of labels has a stride"));
  plane.stride = 0;
  plane.memory = 2;
  EXPECT_TRUE(c.refuses("CudacclPlane::memory"));
  if (c_backend() == CUDACCL_BACKEND_CPU) {
    plane.memory = CUDACCL_MEMORY_DEVICE;
    EXPECT_TRUE(c.refuses("GPU's memory"));
  }
  plane.memory = CUDACCL_MEMORY_HOST;
  EXPECT_EQ(c.run(), CUDACCL_OK) << c.error();
}

/// The records of the image in 8-bit grey with this threshold.
std::vector<CclComponent> grey_records(const Image& image, uint32_t threshold) {
  CEngine c(image);
  c.settings.threshold = threshold;
  EXPECT_EQ(c.run(), CUDACCL_OK) << c.error();
  return records_of(c.result);
}

TEST(CFramesTest, BooleansAre0And1) {
  const Image image = noise(kWidth, kHeight, 1, 45, 4);
  Image booleans = image;
  for (uint8_t& value : booleans.memory) {
    value = value != 0 ? 1 : 0;
  }
  EXPECT_GT(grey_records(image, 1).size(), 10u);
  EXPECT_TRUE(are_equal(grey_records(booleans, 1), grey_records(image, 1)));
}

TEST(CFramesTest, Gray16HasItsOwnThreshold) {
  const Image image = grey_noise(kWidth, kHeight, 5);
  std::vector<uint16_t> words(kWidth * kHeight);
  for (uint32_t i = 0; i < words.size(); ++i) {
    words[i] = static_cast<uint16_t>(image.pixels()[i] << 4);
  }
  CEngine c(image);
  c.input.format = CUDACCL_FORMAT_GRAY16;
  c.input.planes[0] = words.data();
  c.input.strides[0] = kWidth * 2;
  for (const uint32_t threshold : {1u, 7u, 100u, 255u}) {
    c.settings.threshold = threshold << 4;
    ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
    EXPECT_TRUE(are_equal(records_of(c.result), grey_records(image, threshold))) << threshold;
  }
  // All but 0, however small, are foreground by default.
  c.settings.threshold = 1;
  std::fill(words.begin(), words.end(), uint16_t{0});
  words[3] = 1;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(c.result.n_records, 1u);
  c.input.bits = 12;
  c.settings.threshold = 4096;
  EXPECT_EQ(c.run(), CUDACCL_INVALID_ARGUMENT);
}

struct RgbFormat {
  uint32_t format;
  size_t step;
  size_t red, green, blue;
};

TEST(CFramesTest, RgbHasTheLumaOfItsStandard) {
  const RgbFormat formats[] = {{CUDACCL_FORMAT_RGB, 3, 0, 1, 2},
                               {CUDACCL_FORMAT_BGR, 3, 2, 1, 0},
                               {CUDACCL_FORMAT_RGBA, 4, 0, 1, 2},
                               {CUDACCL_FORMAT_BGRA, 4, 2, 1, 0}};
  const Image shape = plain("rgb", 3, 1);
  for (const RgbFormat& format : formats) {
    // Of pure red, green and blue: luma is 255 times the weight, rounded.
    std::vector<uint8_t> pixels(3 * format.step);
    pixels[format.red] = pixels[format.step + format.green] = pixels[2 * format.step + format.blue] = 255;
    CEngine c(shape);
    c.input.format = format.format;
    c.input.planes[0] = pixels.data();
    c.input.strides[0] = pixels.size();
    const uint32_t weights[][3] = {{54, 182, 18}, {76, 150, 29}, {67, 173, 15}};
    for (uint32_t matrix = 0; matrix < 3; ++matrix) {
      c.input.matrix = matrix;
      for (uint32_t channel = 0; channel < 3; ++channel) {
        const uint32_t luma = weights[matrix][channel];
        c.settings.threshold = luma;
        ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
        const auto at_luma = records_of(c.result);
        c.settings.threshold = luma + 1;
        ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
        EXPECT_NE(at_luma.size() + 10 * at_luma.at(0).area,
                  c.result.n_records + (c.result.n_records > 0 ? 10 * c.result.records[0].area : 0))
            << "format " << format.format << " matrix " << matrix << " channel " << channel;
      }
    }
  }
}

/// Red in the overlay, where U and V lie, and in which order.
TEST(CFramesTest, ChromaIsFoundInBothLayouts) {
  const Image grey = plain("grey", 5, 3, 128);
  const std::vector<uint8_t> u(9, 90);
  const std::vector<uint8_t> v(9, 240);
  std::vector<uint8_t> uv(18);
  for (size_t i = 0; i < 9; ++i) {
    uv[2 * i] = u[i];
    uv[2 * i + 1] = v[i];
  }
  cudaccl::Config config = c_config(5, 3);
  config.output = CUDACCL_OUTPUT_OVERLAY;
  CEngine c(grey, config);
  c.settings.overlay_alpha = 0;
  std::vector<uint8_t> pixels(5 * 3 * 4);
  cudaccl::Output output;
  output.pixels = pixels.data();
  output.stride = 20;
  c.frame.output = &output;
  c.input.format = CUDACCL_FORMAT_NV12;
  c.input.planes[1] = uv.data();
  c.input.strides[1] = 6;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  const std::vector<uint8_t> of_nv12 = pixels;
  EXPECT_GT(pixels[0], 200) << "red";
  EXPECT_LT(pixels[1], 100) << "green";
  c.input.format = CUDACCL_FORMAT_I420;
  c.input.planes[1] = u.data();
  c.input.planes[2] = v.data();
  c.input.strides[1] = c.input.strides[2] = 3;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(pixels, of_nv12);
  c.input.range = CUDACCL_RANGE_FULL;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_NE(pixels, of_nv12);
  c.input.strides[2] = 4;
  EXPECT_EQ(c.run(), CUDACCL_INVALID_ARGUMENT);
}

/// Every setting has the effect that it has on the engine.
TEST(CFramesTest, SettingsAreThoseOfTheEngine) {
  const Image image = grey_noise(kWidth, kHeight, 9);
  cudaccl::Config config = c_config(kWidth, kHeight);
  config.output = CUDACCL_OUTPUT_COLORIZED;
  config.order = CUDACCL_ORDER_BGRA;
  config.max_components = 5;
  CEngine c(image, config);
  c.settings.threshold = 150;
  c.settings.invert = 1;
  c.settings.connectivity = 4;
  c.settings.min_area = 8;
  c.settings.min_extent = 0.4;
  c.settings.top_n = 9;
  c.settings.features = CUDACCL_FEATURE_EULER;
  c.settings.palette = CUDACCL_PALETTE_GLASBEY;
  c.settings.color_seed = 3;
  c.settings.background_color = 0xff102030;
  c.settings.draw_boxes = 1;
  c.settings.open_radius = 1;
  c.settings.morphology_shape = CUDACCL_ELEMENT_CROSS;
  std::vector<uint8_t> pixels(kWidth * kHeight * 4);
  cudaccl::Output output;
  output.pixels = pixels.data();
  output.stride = kWidth * 4;
  c.frame.output = &output;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();

  FrameRunner engine;
  engine.config = {.output = ccl::Output::kColorized, .layout = {2, 1, 0, 3}, .max_components = 5};
  engine.segmentation.morphology = {.open_radius = 1, .element = Element::kCross};
  const ccl::Settings settings = {.connectivity = Connectivity::k4,
                                  .rule = {.threshold = 150, .invert = true},
                                  .filter = {.min_area = 8, .min_extent = 26214, .top_n = 9},
                                  .features = kFeatureEuler,
                                  .palette = Palette::kGlasbey,
                                  .color_seed = 3,
                                  .background_color = 0xff102030,
                                  .draw_boxes = true};
  const Outcome& want = engine.run(image, settings);
  EXPECT_EQ(pixels, want.pixels);
  EXPECT_TRUE(are_equal(records_of(c.result), want.records));
  EXPECT_EQ(c.result.overflow, want.overflow ? 1u : 0u);
  ASSERT_EQ(c.result.n_filters, size_t{kFilterConditions});
  EXPECT_TRUE(std::equal(c.result.n_removed, c.result.n_removed + kFilterConditions, want.counts.n_removed));
  EXPECT_GT(c.result.n_removed[kMinArea], 0u);
  EXPECT_GT(c.result.n_removed[kTopN], 0u);
}

TEST(CFramesTest, OtsuReportsItsLevel) {
  Image image = plain("two levels", 10, 10, 50);
  for (uint32_t x = 0; x < 10; ++x) {
    image.at(x, 4) = 200;
  }
  CEngine c(image);
  c.settings.foreground = CUDACCL_FOREGROUND_OTSU;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(c.result.n_components, 1u);
  EXPECT_GT(c.result.level, 50u);
  EXPECT_LE(c.result.level, 200u);
}

}  // namespace

}  // namespace ccl::test
