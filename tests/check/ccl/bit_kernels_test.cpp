// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the segment stage that work on bits do what their definitions say.
#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "ccl/segment/morphology.h"
#include "device/stages/segment/components.h"
#include "device/stages/segment/morphology.h"
#include "device_bits.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

using device::DeviceArray;

class BitKernelsTest : public DeviceTest {
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

TEST_F(BitKernelsTest, EveryRadius) {
  const Image image = noise(230, 190, 12, 55, 8);
  for (const Element element : {Element::kSquare, Element::kCross}) {
    for (uint8_t radius = 1; radius <= kMaxMorphologyRadius; ++radius) {
      for (const Morphology& morphology : {Morphology{.open_radius = radius, .element = element},
                                           {.close_radius = radius, .element = element},
                                           {.open_radius = radius, .close_radius = 1, .element = element}}) {
        Bits got;
        ASSERT_TRUE(morph(morphology, image, nullptr, nullptr, false, &got).ok());
        ASSERT_TRUE(same_bits(got, expect_morphology(image, morphology), image.width))
            << uint32_t{radius} << ", cross " << (element == Element::kCross);
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
