// SPDX-License-Identifier: LGPL-2.1-or-later
/// The GPU's pipelines read a bit image as they read the pixels that it was made from.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "compare.h"
#include "device/pipeline.h"
#include "device_bits.h"
#include "fixture.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

using device::DeviceArray;

/// What a pipeline made of a frame.
struct PipelineResult {
  FrameCounts counts;
  std::vector<CclComponent> records;
  std::vector<uint32_t> root_map;
  std::vector<uint32_t> labels;
  std::vector<uint8_t> pixels;

  bool operator==(const PipelineResult& other) const {
    return counts == other.counts && root_map == other.root_map && labels == other.labels &&
           pixels == other.pixels && records.size() == other.records.size() &&
           std::memcmp(records.data(), other.records.data(), records.size() * sizeof(CclComponent)) == 0;
  }
};

class PipelineBitsTest : public DeviceTest {
 protected:
  /// Runs a frame: its pixels with the rule of `settings`, or instead of them `bits` with kBitRule.
  Status run(const Config& config, const AlgorithmInfo& algorithm, const Image& image, Settings settings,
             const Bits* bits, PipelineResult* result, const Bits* strong = nullptr) {
    const size_t n_pixels = size_t{config.width} * config.height;
    const size_t n_bytes = n_pixels * bytes_per_pixel(config.output);
    DeviceArray<uint8_t> input;
    DeviceArray<uint8_t> output;
    DeviceArray<CclComponent> records;
    DeviceArray<FrameCounts> counts;
    DeviceArray<uint32_t> device_bits;
    DeviceArray<uint32_t> strong_bits;
    CCL_RETURN_IF_ERROR(upload(image.memory, &input));
    CCL_RETURN_IF_ERROR(upload(std::vector<uint8_t>(n_bytes), &output));
    CCL_RETURN_IF_ERROR(records.allocate(config.max_components));
    CCL_RETURN_IF_ERROR(upload(std::vector<FrameCounts>(1), &counts));
    device::FrameBuffers frame{input.data() + image.offset, image.stride, output.data(), records.data(),
                               counts.data()};
    if (bits != nullptr) {
      CCL_RETURN_IF_ERROR(upload(*bits, &device_bits));
      frame.bits = device_bits.data();
      settings.rule = kBitRule;
    }
    if (strong != nullptr) {
      CCL_RETURN_IF_ERROR(upload(*strong, &strong_bits));
      frame.strong_bits = strong_bits.data();
    }
    std::unique_ptr<device::Pipeline> pipeline;
    CCL_RETURN_IF_ERROR(device::make_pipeline(config, algorithm, &pipeline));
    CCL_RETURN_IF_ERROR(pipeline->prepare(settings, frame));
    CCL_RETURN_IF_ERROR(pipeline->enqueue(settings, frame, stream_.get(), nullptr));
    result->root_map.resize(n_pixels);
    result->labels.resize(n_pixels);
    CCL_RETURN_IF_ERROR(pipeline->enqueue_maps(settings, frame, result->root_map.data(),
                                               result->labels.data(), stream_.get()));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    std::vector<FrameCounts> host_counts;
    CCL_RETURN_IF_ERROR(download(counts, 1, &host_counts));
    result->counts = host_counts[0];
    result->counts.n_iterations = 0;  // differs between runs
    const bool overflows = result->counts.n_components > config.max_components;
    if (overflows && pipeline->defers_overflow()) {
      CCL_RETURN_IF_ERROR(pipeline->enqueue_overflow(settings, frame, stream_.get()));
      CCL_RETURN_IF_ERROR(stream_.synchronize());
    }
    CCL_RETURN_IF_ERROR(
        download(records, overflows ? config.max_components : result->counts.n_components, &result->records));
    return download(output, n_bytes, &result->pixels);
  }

  /// Whether the bits of `image` at a threshold give what its pixels give. Its pixels and kBitRule would give
  /// something else.
  testing::AssertionResult reads_bits(const Config& config, const AlgorithmInfo& algorithm,
                                      const Image& image, Settings settings) {
    settings.rule = {.foreground = Foreground::kBinary, .threshold = 128, .invert = false};
    const Bits bits = bits_where(image.width, image.height, [&](uint32_t x, uint32_t y) {
      return settings.rule.segment(image.at(x, y)) != 0;
    });
    PipelineResult want;
    PipelineResult got;
    for (const auto& [from, result] : {std::pair{static_cast<const Bits*>(nullptr), &want}, {&bits, &got}}) {
      if (const Status status = run(config, algorithm, image, settings, from, result); !status.ok()) {
        return testing::AssertionFailure() << status.message();
      }
    }
    if (got == want) {
      return testing::AssertionSuccess();
    }
    return testing::AssertionFailure()
           << algorithm.nick << ", " << image.name << ": " << testing::PrintToString(got.counts)
           << " instead of " << testing::PrintToString(want.counts) << "; equal are labels "
           << (got.labels == want.labels) << ", roots " << (got.root_map == want.root_map) << ", pixels "
           << (got.pixels == want.pixels);
  }

  static Config config_of(const Image& image, Output output, uint32_t max_components = 1u << 16) {
    Config config;
    config.width = image.width;
    config.height = image.height;
    config.output = output;
    config.max_components = std::min(max_components, image.width * image.height);
    return config;
  }

  static const AlgorithmInfo& runs() {
    const AlgorithmInfo* found = nullptr;
    EXPECT_TRUE(resolve_algorithm(Algorithm::kRuns, Backend::kCuda, &found).ok());
    return *found;
  }
};

constexpr Output kOutputs[] = {Output::kNone,   Output::kColorized, Output::kOverlay,
                               Output::kLabels, Output::kMask,      Output::kDistance};

/// Widths around words, tiles and rows of the bit image; the rows of the input are as odd.
TEST_F(PipelineBitsTest, RunsReadsBitsOfAnySize) {
  for (const auto& [width, height] : {std::pair{1u, 1u},
                                      {1u, 70u},
                                      {31u, 5u},
                                      {32u, 32u},
                                      {33u, 40u},
                                      {97u, 65u},
                                      {127u, 33u},
                                      {128u, 64u},
                                      {129u, 31u},
                                      {160u, 100u},
                                      {257u, 129u},
                                      {640u, 480u},
                                      {1001u, 333u}}) {
    for (const Image& image : {grey_noise(width, height, 1), spread(grey_noise(width, height, 2), 3, 5)}) {
      for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
        for (const uint32_t features : {0u, uint32_t{kAllFeatures}}) {
          for (const Output output : kOutputs) {
            ASSERT_TRUE(reads_bits(config_of(image, output), runs(), image,
                                   {.connectivity = connectivity, .features = features}));
          }
        }
      }
    }
  }
}

TEST_F(PipelineBitsTest, RunsReadsBitsWithFiltersAndFullTables) {
  const Image image = grey_noise(397, 301, 3);
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    for (const Output output : kOutputs) {
      for (const uint32_t max_components : {100u, 1u << 16}) {
        ASSERT_TRUE(reads_bits(config_of(image, output, max_components), runs(), image,
                               {.connectivity = connectivity, .filter = {.min_area = 3, .max_area = 20}}));
        ASSERT_TRUE(reads_bits(config_of(image, output, max_components), runs(), image,
                               {.connectivity = connectivity}));
      }
    }
  }
}

/// Resident tiles, wide tiles and, on most GPUs, parked tiles; rows of whole chunks and others. The last word
/// of the widest rows has pixels and padding.
TEST_F(PipelineBitsTest, RunsReadsBitsOfLargeFrames) {
  for (const auto& [width, height] :
       {std::pair{1920u, 1080u}, {4112u, 1100u}, {4100u, 1100u}, {4112u, 2300u}, {4099u, 2300u}}) {
    const Image image = random_levels(width, height, 2, std::vector<uint8_t>{1, 127, 128, 255}, 4);
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const uint32_t features : {0u, uint32_t{kAllFeatures}}) {
        for (const Output output : {Output::kNone, Output::kColorized}) {
          ASSERT_TRUE(reads_bits(config_of(image, output, 1u << 20), runs(), image,
                                 {.connectivity = connectivity, .features = features}));
        }
      }
    }
  }
}

TEST_F(PipelineBitsTest, LabelersReadUnpackedBits) {
  for (const AlgorithmInfo& labeler : labelers()) {
    for (const Image& image :
         {grey_noise(1, 1, 4), spread(grey_noise(131, 67, 5), 1, 2), grey_noise(320, 96, 6)}) {
      for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
        for (const Output output : kOutputs) {
          ASSERT_TRUE(reads_bits(config_of(image, output), labeler, image, {.connectivity = connectivity}));
        }
      }
    }
  }
}

/// With hysteresis components without strong pixels have labels and nothing else; the filter and the size of
/// the table apply to the others. The largest frame has parked tiles on most GPUs.
TEST_F(PipelineBitsTest, ComponentsWithoutStrongPixelsAreNotKept) {
  constexpr Filter kFilter{.min_area = 2, .max_area = 900};
  for (const auto& [width, height] : {std::pair{1u, 1u}, {131u, 67u}, {640u, 333u}, {4099u, 2300u}}) {
    const Image image = noise(width, height, 1, 40, 11);
    const Image strong = noise(width, height, 1, 4, 12);  // some lie outside the foreground
    const Bits bits = bits_of(image);
    const Bits strong_bits = bits_of(strong);
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      const Settings settings{.connectivity = connectivity, .filter = kFilter};
      ExpectedFrame want = expect_labels(image, settings);
      std::vector<bool> is_strong(want.n_labels + size_t{1});
      for (size_t i = 0; i < want.labels.size(); ++i) {
        is_strong[want.labels[i]] = is_strong[want.labels[i]] || strong.memory[i] != 0;
      }
      std::vector<uint32_t> kept;
      for (uint32_t label = 1; label <= want.n_labels; ++label) {
        if (is_strong[label] && kFilter.keeps({.area = want.areas[label]})) {
          kept.push_back(label);
        }
      }
      for (const uint32_t max_components : {5u, 1u << 20}) {
        const Config config = config_of(image, Output::kMask, max_components);
        const std::vector<uint32_t> selected = largest_labels(kept, want.areas, config.max_components);
        std::vector<ExpectedRecord> records;
        for (const ExpectedRecord& record : expect_records(want, settings, want.n_labels)) {
          if (std::binary_search(selected.begin(), selected.end(), record.integers.label)) {
            records.push_back(record);
          }
        }
        PipelineResult got;
        const Status status = run(config, runs(), image, settings, &bits, &got, &strong_bits);
        ASSERT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(got.counts.n_labels, want.n_labels);
        EXPECT_EQ(got.counts.n_components, kept.size());
        ASSERT_TRUE(same_map(got.labels, want.labels, image, "label"));
        ASSERT_TRUE(same_map(got.root_map, want.root_map, image, "root"));
        ASSERT_TRUE(same_records(got.records, records)) << image.name;
        for (size_t i = 0; i < got.pixels.size(); ++i) {
          const bool is_kept = std::binary_search(kept.begin(), kept.end(), want.labels[i]);
          ASSERT_EQ(got.pixels[i], is_kept ? 255 : 0) << image.name << ", pixel " << i;
        }
      }
    }
  }
}

}  // namespace

}  // namespace ccl::test
