// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the segment stage that read pixels find the oracle's foreground, wherever rows begin in
/// memory and wherever tiles end.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "device/stages/segment/local.h"
#include "device/stages/segment/morphology.h"
#include "device/stages/segment/threshold.h"
#include "device_bits.h"
#include "images.h"
#include "segmentation.h"

namespace ccl::test {

namespace {

using device::DeviceArray;

class SegmentKernelsTest : public DeviceTest {
 protected:
  /// Whether `enqueue(plane, result)` writes the foreground of a case.
  template <typename Enqueue>
  testing::AssertionResult finds(const Image& image, const SegmentationCase& c, Enqueue enqueue) {
    const Mask mask = expect_foreground(image, c);
    const Bits want = bits_where(image.width, image.height, [&](uint32_t x, uint32_t y) {
      return mask[size_t{y} * image.width + x] != 0;
    });
    DeviceArray<uint8_t> memory;
    DeviceArray<uint32_t> result;
    Bits got;
    Status status = upload(image.memory, &memory);
    if (status.ok()) {
      status = upload(Bits(want.size(), 0x5a5a5a5a), &result);
    }
    if (status.ok()) {
      status = enqueue(
          device::segment::Plane{memory.data() + image.offset, image.stride, image.width, image.height},
          result.data());
    }
    if (status.ok()) {
      status = stream_.synchronize();
    }
    if (status.ok()) {
      status = download(result, want.size(), &got);
    }
    return status.ok() ? same_bits(got, want, image.width) << ", " << image.name
                       : testing::AssertionFailure() << status.message();
  }

  testing::AssertionResult finds_local(const Image& image, const LocalThreshold& local, bool invert) {
    const SegmentationCase c{.rule = {.foreground = Foreground::kLocal, .invert = invert},
                             .segmentation = {.local = local}};
    return finds(image, c, [&](const device::segment::Plane& plane, uint32_t* bits) {
      return device::segment::local_bits(plane, local, invert, bits, stream_.get());
    });
  }

  testing::AssertionResult finds_threshold(const Image& image, uint8_t threshold, bool invert) {
    const SegmentationCase c{
        .rule = {.foreground = Foreground::kBinary, .threshold = threshold, .invert = invert}};
    return finds(image, c, [&](const device::segment::Plane& plane, uint32_t* bits) {
      return device::segment::threshold_bits(plane, {.threshold = threshold, .invert = invert}, bits,
                                             stream_.get());
    });
  }

  testing::AssertionResult finds_morphology(const Image& image, const Morphology& morphology,
                                            const Image* regions, bool invert) {
    SegmentationCase c{.rule = {.foreground = Foreground::kBinary, .threshold = 128, .invert = invert},
                       .segmentation = {.morphology = morphology}};
    DeviceArray<uint32_t> mask;
    if (regions != nullptr) {
      c.regions = regions->memory;
      if (const Status status = upload(bits_of(*regions), &mask); !status.ok()) {
        return testing::AssertionFailure() << status.message();
      }
    }
    return finds(image, c, [&](const device::segment::Plane& plane, uint32_t* bits) {
      return device::open_and_close(morphology, plane, {.threshold = 128, .invert = invert},
                                    {.regions = mask.data()}, bits, stream_.get());
    });
  }
};

/// The image in rows that begin at multiples of 16, of four, and anywhere.
std::vector<Image> in_all_rows(const Image& image) {
  const auto padding = [&](size_t multiple) { return (multiple - image.width % multiple) % multiple; };
  return {spread(image, 0, padding(16)), spread(image, 4, padding(4)), spread(image, 0, padding(16) + 3),
          spread(image, 1, padding(16))};
}

/// Shapes with grey noise: it has 0 and 255, and levels around 128 near each other.
Image grey_shapes(uint32_t width, uint32_t height, uint32_t seed) {
  Image image = noise(width, height, 9, 55, seed);
  const Image grey = grey_noise(width, height, seed);
  for (size_t i = 0; i < image.memory.size(); ++i) {
    image.memory[i] =
        static_cast<uint8_t>(image.memory[i] != 0 ? 255 - grey.memory[i] / 2 : grey.memory[i] * 33 / 64);
  }
  return image;
}

/// Widths around words and tiles, heights around tiles, and frames smaller than the window.
TEST_F(SegmentKernelsTest, LocalThresholdOfAnySize) {
  for (const auto& [width, height] : {std::pair{1u, 1u},
                                      {3u, 2u},
                                      {31u, 15u},
                                      {33u, 16u},
                                      {130u, 17u},
                                      {224u, 33u},
                                      {225u, 8u},
                                      {451u, 40u},
                                      {1001u, 65u}}) {
    for (const Image& image : in_all_rows(grey_shapes(width, height, 1))) {
      for (const uint8_t radius : {1, 3, 15, 16, 32, 33, 127}) {
        for (const uint16_t deviation : {0, 300}) {
          for (const bool invert : {false, true}) {
            ASSERT_TRUE(finds_local(image, {.radius = radius, .offset = 5, .deviation = deviation}, invert))
                << "radius " << uint32_t{radius} << ", deviation " << deviation << ", invert " << invert;
          }
        }
      }
    }
  }
}

TEST_F(SegmentKernelsTest, LocalThresholdOfEveryRadius) {
  const Image image = spread(grey_shapes(517, 290, 2), 0, 11);
  for (uint32_t radius = 1; radius <= kMaxLocalRadius; ++radius) {
    for (const uint16_t deviation : {0, 1024}) {
      ASSERT_TRUE(finds_local(
          image, {.radius = static_cast<uint8_t>(radius), .offset = -3, .deviation = deviation}, false))
          << "radius " << radius << ", deviation " << deviation;
    }
  }
}

/// The largest sums, and sums of squares.
TEST_F(SegmentKernelsTest, LocalThresholdOfWhiteFrames) {
  for (const uint8_t radius : {15, 127}) {
    for (const uint16_t deviation : {0, 65535}) {
      for (const int16_t offset : {-1, 0}) {
        ASSERT_TRUE(finds_local(plain("white", 512, 300, 255),
                                {.radius = radius, .offset = offset, .deviation = deviation}, false));
      }
    }
  }
}

TEST_F(SegmentKernelsTest, LocalThresholdOfAnHdFrame) {
  ASSERT_TRUE(finds_local(grey_shapes(1920, 1080, 3), {.radius = 15, .offset = 10}, true));
}

TEST_F(SegmentKernelsTest, EveryThreshold) {
  const Image image = grey_noise(256, 40, 4);
  for (uint32_t threshold = 1; threshold < 256; ++threshold) {
    ASSERT_TRUE(finds_threshold(image, static_cast<uint8_t>(threshold), threshold % 2 != 0)) << threshold;
  }
}

TEST_F(SegmentKernelsTest, ThresholdThenMorphologyOfAnySize) {
  for (const auto& [width, height] :
       {std::pair{1u, 1u}, {3u, 2u}, {33u, 7u}, {5u, 120u}, {192u, 97u}, {193u, 145u}, {401u, 300u}}) {
    const Image regions = noise(width, height, 9, 50, 6);
    for (const Image& image : in_all_rows(grey_shapes(width, height, 5))) {
      for (const auto& [open, close] : {std::pair{0, 0}, {1, 0}, {0, 2}, {3, 3}, {8, 8}}) {
        for (const Element element : {Element::kSquare, Element::kCross}) {
          const Morphology morphology{.open_radius = static_cast<uint8_t>(open),
                                      .close_radius = static_cast<uint8_t>(close),
                                      .element = element};
          ASSERT_TRUE(finds_morphology(image, morphology, nullptr, false)) << open << ", " << close;
          ASSERT_TRUE(finds_morphology(image, morphology, &regions, true)) << open << ", " << close;
        }
      }
    }
  }
}

TEST_F(SegmentKernelsTest, ThresholdThenMorphologyOfAnHdFrame) {
  const Image image = grey_shapes(1920, 1080, 7);
  const Image regions = noise(1920, 1080, 90, 50, 8);
  ASSERT_TRUE(finds_morphology(image, {.open_radius = 3, .close_radius = 3}, &regions, false));
  ASSERT_TRUE(finds_morphology(image, {.open_radius = 1, .close_radius = 8}, nullptr, true));
}

}  // namespace

}  // namespace ccl::test
