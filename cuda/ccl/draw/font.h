// SPDX-License-Identifier: LGPL-2.1-or-later
/// A small font of strokes, and its digits as pixels for one size of text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ccl/draw/scale.h"
#include "ccl/draw/stroke.h"

namespace ccl::draw {

/// A glyph in cells of the font's grid: a capital letter is 8 high.
struct Glyph {
  char character;
  uint8_t width;
  /// Strokes, separated by spaces, of points of two characters. The first is x: a digit for a point of the
  /// line, a letter ('a' for 0) for a control point of a quadratic curve. Between two control points lies a
  /// point of the line, in their middle. The second is y downwards, hexadecimal: 0 is the top of capital
  /// letters, 3 that of small ones, 8 the base line, A the lowest. One point is a dot.
  std::string_view strokes;
};

/// The glyph of a character; of any that the font lacks, which is all beyond ASCII, an empty box.
const Glyph& find_glyph(char32_t character);

/// The path of a glyph whose capital letters are `height` pixels high. `origin` is the top left of its grid.
std::vector<Stroke> trace(const Glyph& glyph, uint32_t height, const Place& origin);

/// The coverage of digits, as both backends read it. Cells are equally wide and lie side by side with
/// overlap: rims reach into the cells beside.
struct DigitCells {
  const uint8_t* coverage;  ///< for each digit, row and column: line, then rim
  uint32_t width;           ///< of a cell, pixels
  uint32_t height;
  uint32_t advance;  ///< pixels from one cell to the next, at least half of the width
};

inline constexpr uint32_t kDigits = 10;

/// The digits of one size of text, immutable.
class DigitFont {
 public:
  explicit DigitFont(const Scale& scale);

  /// Valid as long as the font.
  DigitCells cells() const { return {coverage_.data(), width_, height_, advance_}; }
  /// What DigitCells::coverage points to.
  const std::vector<uint8_t>& coverage() const { return coverage_; }

 private:
  uint32_t width_;
  uint32_t height_;
  uint32_t advance_;
  std::vector<uint8_t> coverage_;
};

/// A line of text as one path, from any UTF-8; bytes that are none are shown as characters that the font
/// lacks. Text that is wider than any frame ends behind it.
class TextLine {
 public:
  TextLine(std::string_view utf8, const Scale& scale);

  /// Pixels, with the rim on all sides.
  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }

  /// Its strokes, if its top left pixel is (x, y).
  std::vector<Stroke> trace(int32_t x, int32_t y) const;

 private:
  std::vector<const Glyph*> glyphs_;
  uint32_t text_height_;
  int32_t margin_;
  uint32_t width_;
  uint32_t height_;
};

}  // namespace ccl::draw
