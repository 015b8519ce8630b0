// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/draw/font.h"

#include <algorithm>
#include <cstddef>

#include "ccl/config.h"

namespace ccl::draw {

namespace {

constexpr uint32_t kGridHeight = 8;  ///< of a capital letter
constexpr uint32_t kGridDepth = 10;  ///< the lowest point
constexpr uint32_t kGridGap = 2;     ///< between glyphs
constexpr uint32_t kCurvePieces = 8;

/// A font of our own, in the manner of lettering by hand with a round pen: few strokes, open shapes, and no
/// two digits alike.
constexpr Glyph kGlyphs[] = {
    {'0', 4, "20e04246e828a80602a020"},
    {'1', 4, "123038"},
    {'2', 4, "02a020e042e4260848"},
    {'3', 4, "02a020e042e424 1424e446e828a806"},
    {'4', 4, "38300646"},
    {'5', 4, "400004b323e34546e828b807"},
    {'6', 4, "30a20506a828e84645e323a305"},
    {'7', 4, "004018"},
    {'8', 4, "24a402a020e042e424a406a828e846e424"},
    {'9', 4, "18e64342e020a00203a525e543"},
    {'A', 4, "082048 1636"},
    {'B', 4, "0008 0020e042e42404 24e446e82808"},
    {'C', 4, "41d020a00206a828d847"},
    {'D', 4, "0818e84543e0100008"},
    {'E', 4, "40000848 0434"},
    {'F', 4, "400008 0434"},
    {'G', 4, "42e020a00206a828e8464424"},
    {'H', 4, "0008 4048 0444"},
    {'I', 0, "0008"},
    {'J', 4, "4046e828a806"},
    {'K', 4, "0008 4004 1348"},
    {'L', 4, "000848"},
    {'M', 6, "0800356068"},
    {'N', 4, "08004840"},
    {'O', 5, "2030f05256f83828a80602a020"},
    {'P', 4, "080020e042e42404"},
    {'Q', 5, "2030f05256f83828a80602a020 3658"},
    {'R', 4, "080020e042e42404 2448"},
    {'S', 4, "42e020a002a424e446e828a806"},
    {'T', 4, "0040 2028"},
    {'U', 4, "0006a828e84640"},
    {'V', 4, "002840"},
    {'W', 6, "0018325860"},
    {'X', 4, "0048 4008"},
    {'Y', 4, "002440 2428"},
    {'Z', 4, "00400848"},
    {'a', 4, "4348 45e323a30506a828e846"},
    {'b', 4, "0008 05a323e34546e828a806"},
    {'c', 4, "44d323a30506a828d847"},
    {'d', 4, "4048 45e323a30506a828e846"},
    {'e', 4, "064645e323a30506a828d847"},
    {'f', 3, "30b01218 0333"},
    {'g', 4, "4348eA2A1A 45e323a30506a828e846"},
    {'h', 4, "0008 05a323e34548"},
    {'i', 0, "0308 01"},
    {'j', 2, "2328cA0A 21"},
    {'k', 3, "0008 3306 1538"},
    {'l', 1, "0007a818"},
    {'m', 6, "0308 05a3d33538 35d3g36568"},
    {'n', 4, "0308 05a323e34548"},
    {'o', 4, "23e34546e828a80605a323"},
    {'p', 4, "030A 05a323e34546e828a806"},
    {'q', 4, "434A 45e323a30506a828e846"},
    {'r', 3, "0308 05a32333"},
    {'s', 4, "44d323a304a5e647e828b807"},
    {'t', 3, "1116b838 0333"},
    {'u', 4, "0306a828e846 4348"},
    {'v', 4, "032843"},
    {'w', 6, "0328344863"},
    {'x', 4, "0348 4308"},
    {'y', 4, "0328 431A"},
    {'z', 4, "03430848"},
    {' ', 2, ""},
    {'.', 0, "08"},
    {',', 1, "180A"},
    {':', 0, "04 08"},
    {'-', 3, "0535"},
    {'_', 4, "0949"},
    {'/', 4, "4008"},
    {'+', 4, "2327 0545"},
    {'=', 4, "0444 0646"},
    {'#', 4, "1018 3038 0242 0646"},
    {'\'', 0, "0002"},
    {'"', 2, "0002 2022"},
    {'&', 4, "4812b020d032d314a506a828e845"},
    {'%', 4, "4008 01 47"},
    {'*', 2, "0224 2204 1115"},
    {'(', 2, "20a204a628"},
    {')', 2, "00c224c608"},
    {'[', 2, "20000828"},
    {']', 2, "00202808"},
    {'<', 4, "420548"},
    {'>', 4, "024508"},
    {'!', 0, "0005 08"},
    {'?', 4, "02a020e042e424 2425 28"},
};

constexpr Glyph kMissing = {'\0', 4, "0040480800"};

constexpr uint32_t round_up(uint32_t value, uint32_t unit) {
  return (value + unit - 1) / unit;
}

/// Grid units as 1/16 pixel, rounded to nearest.
int32_t scaled(uint32_t units, uint32_t height) {
  return static_cast<int32_t>((units * height * kSubpixels + kGridHeight / 2) / kGridHeight);
}

/// The text's rim, on each side of a glyph's grid, whole pixels.
int32_t margin_of(const Scale& scale) {
  return static_cast<int32_t>(round_up(scale.text.rim, kDistanceUnit)) + 1;
}

uint32_t text_width(uint32_t units, const Scale& scale) {
  return round_up(units * scale.text_height, kGridHeight) + 2 * static_cast<uint32_t>(margin_of(scale));
}

/// Follows the points of one stroke of a glyph.
class Tracer {
 public:
  Tracer(uint32_t height, const Place& origin, std::vector<Stroke>* path)
      : height_(height), origin_(origin), path_(path) {}

  void follow(std::string_view points) {
    size_t n_on_line = 0;
    for (size_t i = 0; i + 1 < points.size(); i += 2) {
      const bool is_control = points[i] >= 'a';
      const uint32_t x = static_cast<uint32_t>(points[i] - (is_control ? 'a' : '0'));
      const uint32_t y =
          static_cast<uint32_t>(points[i + 1] >= 'A' ? points[i + 1] - 'A' + 10 : points[i + 1] - '0');
      const Place place = {origin_.x + scaled(x, height_), origin_.y + scaled(y, height_)};
      if (is_control) {
        if (has_control_) {
          curve_to({(control_.x + place.x) / 2, (control_.y + place.y) / 2});
        }
        control_ = place;
        has_control_ = true;
      } else if (n_on_line++ == 0) {
        at_ = place;
      } else if (has_control_) {
        curve_to(place);
      } else {
        line_to(place);
      }
    }
    if (points.size() == 2) {
      line_to(at_);  // a dot
    }
  }

 private:
  void line_to(const Place& place) {
    path_->push_back(make_stroke(at_, place));
    at_ = place;
  }

  void curve_to(const Place& end) {
    const Place start = at_;
    constexpr auto n = static_cast<int32_t>(kCurvePieces);
    for (int32_t i = 1; i <= n; ++i) {
      const int32_t j = n - i;
      const auto blend = [&](int32_t a, int32_t b, int32_t c) {
        return (j * j * a + 2 * i * j * b + i * i * c) / (n * n);
      };
      line_to({blend(start.x, control_.x, end.x), blend(start.y, control_.y, end.y)});
    }
    has_control_ = false;
  }

  uint32_t height_;
  Place origin_;
  std::vector<Stroke>* path_;
  Place at_ = {};
  Place control_ = {};
  bool has_control_ = false;
};

/// The next character of `utf8`, which is shortened by it. A byte that begins none is one by itself.
char32_t take_character(std::string_view* utf8) {
  constexpr char32_t kNone = 0xfffd;
  const auto first = static_cast<uint8_t>(utf8->front());
  const size_t length = first < 0x80         ? 1
                        : first >> 5 == 0x6  ? 2
                        : first >> 4 == 0xe  ? 3
                        : first >> 3 == 0x1e ? 4
                                             : 1;
  char32_t character = first < 0x80 ? first : kNone;
  size_t n_read = 1;
  while (n_read < length && n_read < utf8->size() && (static_cast<uint8_t>((*utf8)[n_read]) & 0xc0) == 0x80) {
    ++n_read;
  }
  utf8->remove_prefix(n_read);
  return character;
}

}  // namespace

const Glyph& find_glyph(char32_t character) {
  const auto* found = std::find_if(std::begin(kGlyphs), std::end(kGlyphs), [character](const Glyph& glyph) {
    return static_cast<char32_t>(static_cast<unsigned char>(glyph.character)) == character;
  });
  return found != std::end(kGlyphs) ? *found : kMissing;
}

std::vector<Stroke> trace(const Glyph& glyph, uint32_t height, const Place& origin) {
  std::vector<Stroke> path;
  std::string_view rest = glyph.strokes;
  while (!rest.empty()) {
    const std::string_view points = rest.substr(0, rest.find(' '));
    Tracer(height, origin, &path).follow(points);
    rest.remove_prefix(std::min(rest.size(), points.size() + 1));
  }
  return path;
}

DigitFont::DigitFont(const Scale& scale)
    : width_(text_width(find_glyph('0').width, scale)),
      height_(scale.text_height + 2 * static_cast<uint32_t>(margin_of(scale))),
      advance_(round_up((find_glyph('0').width + kGridGap) * scale.text_height, kGridHeight)),
      coverage_(size_t{2} * kDigits * width_ * height_) {
  uint8_t* next = coverage_.data();
  const Place origin = {margin_of(scale) * kSubpixels, margin_of(scale) * kSubpixels};
  for (uint32_t digit = 0; digit < kDigits; ++digit) {
    const std::vector<Stroke> path = trace(find_glyph('0' + digit), scale.text_height, origin);
    for (uint32_t y = 0; y < height_; ++y) {
      for (uint32_t x = 0; x < width_; ++x) {
        Coverage pixel;
        for (const Stroke& stroke : path) {
          pixel.add(coverage_at(distance(stroke, static_cast<int32_t>(x), static_cast<int32_t>(y)),
                                scale.text, 255));
        }
        *next++ = static_cast<uint8_t>(pixel.line);
        *next++ = static_cast<uint8_t>(pixel.rim);
      }
    }
  }
}

TextLine::TextLine(std::string_view utf8, const Scale& scale)
    : text_height_(scale.text_height), margin_(margin_of(scale)) {
  uint32_t units = 0;
  // Text that is wider than any frame begins at the left edge of its frame, so the rest of it is not seen.
  while (!utf8.empty() && units * scale.text_height <= kMaxDimension * kGridHeight) {
    glyphs_.push_back(&find_glyph(take_character(&utf8)));
    units += glyphs_.back()->width + kGridGap;
  }
  width_ = text_width(units > 0 ? units - kGridGap : 0, scale);
  height_ = round_up(kGridDepth * scale.text_height, kGridHeight) + 2 * static_cast<uint32_t>(margin_);
}

std::vector<Stroke> TextLine::trace(int32_t x, int32_t y) const {
  std::vector<Stroke> path;
  uint32_t units = 0;
  for (const Glyph* glyph : glyphs_) {
    const Place origin = {(x + margin_) * kSubpixels + scaled(units, text_height_),
                          (y + margin_) * kSubpixels};
    const std::vector<Stroke> strokes = draw::trace(*glyph, text_height_, origin);
    path.insert(path.end(), strokes.begin(), strokes.end());
    units += glyph->width + kGridGap;
  }
  return path;
}

}  // namespace ccl::draw
