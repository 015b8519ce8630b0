// SPDX-License-Identifier: LGPL-2.1-or-later
/// Images that are difficult for labelers: every small mask, noise, and shapes whose parts meet late.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ccl::test {

/// 8-bit pixels, the rows `stride` bytes apart, the first of them `offset` bytes into the memory. Nothing
/// follows the last pixel of the last row, so a read behind it leaves the memory.
struct Image {
  std::string name;  ///< for messages: what it shows, and how to make it again
  uint32_t width = 0;
  uint32_t height = 0;
  size_t stride = 0;
  size_t offset = 0;
  std::vector<uint8_t> memory;

  const uint8_t* pixels() const { return memory.data() + offset; }
  uint8_t at(uint32_t x, uint32_t y) const { return memory[offset + y * stride + x]; }
  uint8_t& at(uint32_t x, uint32_t y) { return memory[offset + y * stride + x]; }
};

/// `name` followed by the size.
Image plain(const std::string& name, uint32_t width, uint32_t height, uint8_t value = 0);

/// What is foreground in the binary images.
inline constexpr uint8_t kForeground = 255;

/// Foreground wherever `is_foreground(x, y)`. The name is followed by the size.
template <typename Predicate>
Image drawn(const std::string& name, uint32_t width, uint32_t height, Predicate is_foreground) {
  Image image = plain(name, width, height);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      image.at(x, y) = is_foreground(x, y) ? kForeground : 0;
    }
  }
  return image;
}

/// A picture from text: '.' is 0, '#' is 255, a digit is itself. Rows of equal length.
Image picture(const std::vector<std::string>& rows);

/// The same pixels in rows `padding` bytes apart, from `offset` on, with random bytes in between.
Image spread(const Image& image, size_t offset, size_t padding);

/// Pixel i in raster order takes states[digit i of `number`], in a number system of as many digits as there
/// are states. With two states, `number` is a bit mask.
void write_pattern(Image* image, uint32_t x0, uint32_t y0, uint32_t width, uint32_t height,
                   std::span<const uint8_t> states, uint64_t number);

/// How many patterns there are of this size.
uint64_t count_patterns(uint32_t width, uint32_t height, size_t n_states);

/// All patterns of one size side by side, one pixel of background between them. states[0] is background.
Image all_patterns(uint32_t width, uint32_t height, std::span<const uint8_t> states);

/// Every size (width, height) of at most `n_pixels` pixels.
std::vector<std::pair<uint32_t, uint32_t>> sizes_up_to(uint32_t n_pixels);

/// Blocks of granularity × granularity pixels, each foreground with a chance of `density` percent.
Image noise(uint32_t width, uint32_t height, uint32_t granularity, uint32_t density, uint32_t seed);

/// Blocks of granularity × granularity pixels, each of one of the `levels`.
Image random_levels(uint32_t width, uint32_t height, uint32_t granularity, std::span<const uint8_t> levels,
                    uint32_t seed);

/// Every pixel any of the 256 values.
Image grey_noise(uint32_t width, uint32_t height, uint32_t seed);

/// Discs, thrown over each other.
Image blobs(uint32_t width, uint32_t height, uint32_t seed);

/// Ellipses of many sizes, `aspect` times as high as wide, so close that many touch or overlap a little; some
/// have ragged edges or a hole.
Image touching_ellipses(uint32_t width, uint32_t height, uint32_t aspect, uint32_t seed);

/// A line one pixel wide that winds inwards, one pixel apart from itself.
Image spiral(uint32_t width, uint32_t height);

/// A line one pixel wide that runs back and forth, row after row.
Image serpentine(uint32_t width, uint32_t height);

/// Slow ramps: broad bands of equal values.
Image gradient(uint32_t width, uint32_t height);

/// The foreground cut into tiles of three values, the background left.
Image split_foreground(const Image& image);

/// The background made a segment of its own: value 3 around 9.
Image two_segments(const Image& image);

/// Full, empty, lines, checkerboards, combs, rings, cups, stripes, spirals, blobs, in 0 and 255.
std::vector<Image> adversarial_set(uint32_t width, uint32_t height);

/// The adversarial set in several values, and images of many.
std::vector<Image> value_set(uint32_t width, uint32_t height);

}  // namespace ccl::test
