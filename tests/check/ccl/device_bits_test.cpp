// SPDX-License-Identifier: LGPL-2.1-or-later
/// The GPU's pipelines read a bit image as they read the pixels that it was made from, and the kernels of the
/// segment stage that work on bits do what their definitions say.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ccl/segment.h"
#include "ccl/segment/morphology.h"
#include "compare.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/stages/segment/components.h"
#include "device/stages/segment/morphology.h"
#include "fixture.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

using device::check;
using device::DeviceArray;

using Bits = std::vector<uint32_t>;

/// A bit image of the pixels for which is_foreground(x, y) is true.
template <typename Predicate>
Bits bits_where(uint32_t width, uint32_t height, Predicate is_foreground) {
  const uint32_t row_words = bit_row_words(width);
  Bits bits(size_t{row_words} * height);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      bits[size_t{y} * row_words + x / 32] |= uint32_t{is_foreground(x, y)} << x % 32;
    }
  }
  return bits;
}

Bits bits_of(const Image& image) {
  return bits_where(image.width, image.height, [&](uint32_t x, uint32_t y) { return image.at(x, y) != 0; });
}

/// Whether two bit images of a size are equal, padding too.
testing::AssertionResult same_bits(const Bits& got, const Bits& want, uint32_t width) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] != want[i]) {
      const size_t row_words = bit_row_words(width);
      return testing::AssertionFailure() << "word " << i % row_words << " of row " << i / row_words << " is "
                                         << std::hex << got[i] << " instead of " << want[i];
    }
  }
  return testing::AssertionSuccess();
}

template <typename T>
Status upload(const std::vector<T>& from, DeviceArray<T>* to) {
  CCL_RETURN_IF_ERROR(to->allocate(from.size()));
  CCL_RETURN_IF_ERROR(
      check(cudaMemcpy(to->data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
            "cudaMemcpy to the GPU"));
  // Streams of the tests do not wait for the default stream, and the copy may still be under way.
  return check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

template <typename T>
Status download(const DeviceArray<T>& from, size_t count, std::vector<T>* to) {
  to->resize(count);
  return check(cudaMemcpy(to->data(), from.data(), count * sizeof(T), cudaMemcpyDeviceToHost),
               "cudaMemcpy from the GPU");
}

class DeviceBitsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() != Backend::kCuda) {
      GTEST_SKIP() << "of the GPU only";
    }
    if (const Status status = make_engine(&engine_); !status.ok()) {
      GTEST_SKIP() << status.message();
    }
    ASSERT_TRUE(stream_.create().ok());
  }

  std::unique_ptr<Engine> engine_;  ///< keeps the context
  device::Stream stream_;
};

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

class PipelineBitsTest : public DeviceBitsTest {
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

constexpr Output kOutputs[] = {Output::kNone, Output::kColorized, Output::kOverlay, Output::kLabels,
                               Output::kMask};

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

class BitKernelsTest : public DeviceBitsTest {
 protected:
  /// Images with shapes that survive radii of different sizes, of any size.
  static std::vector<Image> images_of(uint32_t width, uint32_t height) {
    return {noise(width, height, 1, 90, 1), noise(width, height, 7, 60, 2), noise(width, height, 20, 50, 3),
            blobs(width, height, 4), plain("full", width, height, kForeground)};
  }

  Status morph(const Morphology& morphology, const Image& image, const Bits* regions, const uint32_t* cleared,
               bool is_in_place, Bits* result) {
    const Bits bits = bits_of(image);
    DeviceArray<uint32_t> from;
    DeviceArray<uint32_t> to;
    DeviceArray<uint32_t> mask;
    DeviceArray<uint32_t> is_cleared;
    CCL_RETURN_IF_ERROR(upload(bits, &from));
    CCL_RETURN_IF_ERROR(upload(Bits(bits.size(), 0x5a5a5a5a), &to));
    device::BitMasks masks;
    if (regions != nullptr) {
      CCL_RETURN_IF_ERROR(upload(*regions, &mask));
      masks.regions = mask.data();
    }
    if (cleared != nullptr) {
      CCL_RETURN_IF_ERROR(upload(Bits{*cleared}, &is_cleared));
      masks.is_cleared = is_cleared.data();
    }
    CCL_RETURN_IF_ERROR(device::open_and_close(morphology, from.data(), image.width, image.height, masks,
                                               is_in_place ? from.data() : to.data(), stream_.get()));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    return download(is_in_place ? from : to, bits.size(), result);
  }
};

/// An erosion or a dilation from its definition.
Image apply(const Image& image, Element element, int32_t radius, bool is_erosion) {
  Image result = image;
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      bool is_found = false;  // a pixel that decides
      for (int32_t dy = -radius; dy <= radius && !is_found; ++dy) {
        for (int32_t dx = -radius; dx <= radius && !is_found; ++dx) {
          const uint32_t u = x + dx;
          const uint32_t v = y + dy;
          is_found = is_in_element(element, radius, dx, dy) && u < image.width && v < image.height &&
                     (image.at(u, v) == 0) == is_erosion;
        }
      }
      result.at(x, y) = is_found == is_erosion ? 0 : kForeground;
    }
  }
  return result;
}

/// Opening, then closing, from their definitions.
Bits expect_morphology(const Image& image, const Morphology& morphology) {
  Image result = apply(image, morphology.element, morphology.open_radius, true);
  result = apply(result, morphology.element, morphology.open_radius, false);
  result = apply(result, morphology.element, morphology.close_radius, false);
  return bits_of(apply(result, morphology.element, morphology.close_radius, true));
}

TEST_F(BitKernelsTest, OpeningAndClosing) {
  for (const auto& [width, height] : {std::pair{1u, 1u},
                                      {3u, 2u},
                                      {33u, 7u},
                                      {5u, 120u},
                                      {128u, 48u},
                                      {191u, 50u},
                                      {192u, 97u},
                                      {193u, 49u},
                                      {400u, 145u}}) {
    for (const Image& image : images_of(width, height)) {
      for (const Element element : {Element::kSquare, Element::kCross}) {
        for (const auto& [open, close] :
             {std::pair{1, 0}, {0, 1}, {1, 1}, {2, 1}, {3, 3}, {0, 8}, {8, 0}, {4, 7}, {8, 8}}) {
          const Morphology morphology{.open_radius = static_cast<uint8_t>(open),
                                      .close_radius = static_cast<uint8_t>(close),
                                      .element = element};
          Bits got;
          ASSERT_TRUE(morph(morphology, image, nullptr, nullptr, false, &got).ok());
          ASSERT_TRUE(same_bits(got, expect_morphology(image, morphology), width))
              << image.name << ", open " << open << ", close " << close << ", cross "
              << (element == Element::kCross);
        }
      }
    }
  }
}

TEST_F(BitKernelsTest, OpeningAndClosingOfAnHdFrame) {
  const Morphology morphology{.open_radius = 3, .close_radius = 3};
  const Image image = noise(1920, 1080, 6, 55, 5);
  Bits got;
  ASSERT_TRUE(morph(morphology, image, nullptr, nullptr, false, &got).ok());
  ASSERT_TRUE(same_bits(got, expect_morphology(image, morphology), image.width));
}

TEST_F(BitKernelsTest, RegionsAndClearing) {
  constexpr uint32_t kNotCleared = 0;
  constexpr uint32_t kCleared = 7;
  const Image image = noise(205, 99, 5, 60, 6);
  const Bits regions = bits_of(noise(205, 99, 9, 50, 7));
  for (const uint8_t radius : {0, 2}) {
    const Morphology morphology{.open_radius = radius, .close_radius = radius};
    const Bits open = expect_morphology(image, morphology);
    for (const Bits* mask : {static_cast<const Bits*>(nullptr), &regions}) {
      for (const uint32_t* cleared : {static_cast<const uint32_t*>(nullptr), &kNotCleared, &kCleared}) {
        Bits want(open.size());
        for (size_t i = 0; i < want.size() && cleared != &kCleared; ++i) {
          want[i] = open[i] & (mask != nullptr ? (*mask)[i] : 0xffffffff);
        }
        for (const bool is_in_place : {false, true}) {
          if (is_in_place && radius > 0) {
            continue;  // not allowed
          }
          Bits got;
          ASSERT_TRUE(morph(morphology, image, mask, cleared, is_in_place, &got).ok());
          ASSERT_TRUE(same_bits(got, want, image.width))
              << uint32_t{radius} << (mask != nullptr) << is_in_place;
        }
      }
    }
  }
}

class BitComponentsTest : public BitKernelsTest {
 protected:
  /// Uploads bits, lets `change` change them, and downloads them.
  Status change(const Image& image, const std::function<Status(uint32_t*)>& change, Bits* result) {
    DeviceArray<uint32_t> bits;
    CCL_RETURN_IF_ERROR(upload(bits_of(image), &bits));
    CCL_RETURN_IF_ERROR(change(bits.data()));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    return download(bits, size_t{bit_row_words(image.width)} * image.height, result);
  }

  static bool touches_border(const Box& box, const Image& image) {
    return box.x == 0 || box.y == 0 || box.x + box.width == image.width || box.y + box.height == image.height;
  }

  /// Foreground and the holes to fill.
  static Bits expect_filled(const Image& image, const Morphology& morphology, Connectivity connectivity) {
    const Image background = drawn("background", image.width, image.height,
                                   [&](uint32_t x, uint32_t y) { return image.at(x, y) == 0; });
    const ExpectedFrame holes = expect_labels(background, {.connectivity = hole_connectivity(connectivity)});
    return bits_where(image.width, image.height, [&](uint32_t x, uint32_t y) {
      const uint32_t label = holes.labels[size_t{y} * image.width + x];
      return label == 0 ||
             fills_hole(morphology, holes.areas[label], touches_border(holes.boxes[label], image));
    });
  }

  /// Calls visit(image, components) for images of many sizes; the last one is so large that tiles are parked
  /// on most GPUs.
  template <typename Visit>
  void for_each_image(Visit visit) {
    for (const auto& [width, height] :
         {std::pair{1u, 1u}, {5u, 3u}, {33u, 40u}, {131u, 67u}, {256u, 128u}, {517u, 203u}, {4099u, 2300u}}) {
      device::BitComponents components;
      ASSERT_TRUE(components.configure(width, height, stream_.get()).ok());
      const bool is_large = width > 1000;
      for (const Image& image :
           is_large ? std::vector<Image>{noise(width, height, 1, 60, 8)} : images_of(width, height)) {
        visit(image, components);
        if (HasFatalFailure()) {
          return;
        }
      }
      if (!is_large) {
        for (const Image& image : adversarial_set(width, height)) {
          visit(image, components);
          if (HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
};

TEST_F(BitComponentsTest, FillsHoles) {
  for_each_image([&](const Image& image, device::BitComponents& components) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const uint32_t max_area : {1u, 9u, 0xffffffffu}) {
        const Bits want = expect_filled(image, {.fill_holes = max_area}, connectivity);
        Bits got;
        ASSERT_TRUE(change(
                        image,
                        [&](uint32_t* bits) {
                          return components.fill_holes(bits, max_area, connectivity, nullptr, stream_.get());
                        },
                        &got)
                        .ok());
        ASSERT_TRUE(same_bits(got, want, image.width)) << image.name << ", up to " << max_area;
      }
    }
  });
}

TEST_F(BitComponentsTest, FillsHolesBeforeRegions) {
  const Image image = noise(205, 99, 1, 70, 9);
  const Bits regions = bits_of(noise(205, 99, 9, 50, 10));
  DeviceArray<uint32_t> mask;
  ASSERT_TRUE(upload(regions, &mask).ok());
  device::BitComponents components;
  ASSERT_TRUE(components.configure(image.width, image.height, stream_.get()).ok());
  Bits want = expect_filled(image, {.fill_holes = 5}, Connectivity::k8);
  for (size_t i = 0; i < want.size(); ++i) {
    want[i] &= regions[i];
  }
  Bits got;
  ASSERT_TRUE(change(
                  image,
                  [&](uint32_t* bits) {
                    return components.fill_holes(bits, 5, Connectivity::k8, mask.data(), stream_.get());
                  },
                  &got)
                  .ok());
  ASSERT_TRUE(same_bits(got, want, image.width));
}

}  // namespace

}  // namespace ccl::test
