// SPDX-License-Identifier: LGPL-2.1-or-later
/// The palettes. Distances and hues are those of OKLab (Ottosson 2020), where equal steps look equally large.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "ccl/colors.h"

namespace ccl {

namespace {

using Palette256 = std::array<uint32_t, kPaletteSize>;

struct LinearRgb {
  double red, green, blue;

  bool in_gamut() const {
    const auto inside = [](double v) { return v >= 0 && v <= 1; };
    return inside(red) && inside(green) && inside(blue);
  }
};

/// OKLab scaled to integers, so that comparisons of distances do not depend on the last bit of a root.
struct Lab {
  int64_t lightness, a, b;
};

LinearRgb oklab_to_linear(double lightness, double a, double b) {
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

double srgb_to_linear(uint32_t v) {
  const double c = v / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

uint32_t linear_to_srgb(double v) {
  const double c = v <= 0.0031308 ? v * 12.92 : 1.055 * std::pow(v, 1 / 2.4) - 0.055;
  return static_cast<uint32_t>(std::lround(std::clamp(c, 0.0, 1.0) * 255));
}

uint32_t opaque(uint32_t red, uint32_t green, uint32_t blue) {
  return 0xff000000 | red << 16 | green << 8 | blue;
}

Lab to_lab(uint32_t rgb) {
  const double red = srgb_to_linear(rgb >> 16 & 0xff);
  const double green = srgb_to_linear(rgb >> 8 & 0xff);
  const double blue = srgb_to_linear(rgb & 0xff);
  const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  constexpr double kScale = 4096;
  return {std::lround(kScale * (0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s)),
          std::lround(kScale * (1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s)),
          std::lround(kScale * (0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s))};
}

int64_t squared_distance(const Lab& p, const Lab& q) {
  const int64_t dl = p.lightness - q.lightness;
  const int64_t da = p.a - q.a;
  const int64_t db = p.b - q.b;
  return dl * dl + da * da + db * db;
}

/// The most colourful sRGB colour of this lightness and hue with at most this chroma.
uint32_t oklch(double lightness, double chroma, double hue) {
  LinearRgb rgb = oklab_to_linear(lightness, chroma * std::cos(hue), chroma * std::sin(hue));
  while (!rgb.in_gamut() && chroma > 0) {
    chroma -= 0.005;
    rgb = oklab_to_linear(lightness, chroma * std::cos(hue), chroma * std::sin(hue));
  }
  return opaque(linear_to_srgb(rgb.red), linear_to_srgb(rgb.green), linear_to_srgb(rgb.blue));
}

/// Steps of the golden ratio around the hue circle never return to the same hue, and any few consecutive hues
/// are spread evenly. Three alternating lightnesses separate colours of similar hue.
Palette256 golden() {
  constexpr std::array kLightness = {0.72, 0.60, 0.84};
  constexpr double kChroma = 0.19;
  Palette256 colors{};
  for (uint32_t i = 0; i < kPaletteSize; ++i) {
    const double turns = i / std::numbers::phi;
    const double hue = 2 * std::numbers::pi * (turns - std::floor(turns));
    colors[i] = oklch(kLightness[i % kLightness.size()], kChroma, hue);
  }
  return colors;
}

/// Glasbey, van der Heijden, Toh, Gray 2007, "Colour displays for categorical images": each colour is
/// the one farthest from all colours before it. Black, white and grey count as taken, and dark colours are
/// excluded, so that components are visible on any background.
Palette256 glasbey() {
  constexpr int64_t kDarkest = 1900;  // OKLab lightness 0.46 in the units of Lab
  std::vector<uint32_t> candidates;
  std::vector<Lab> labs;
  for (uint32_t i = 0; i < 4096; ++i) {
    const uint32_t rgb = opaque((i >> 8) * 17, (i >> 4 & 15) * 17, (i & 15) * 17);
    if (const Lab lab = to_lab(rgb); lab.lightness >= kDarkest) {
      candidates.push_back(rgb);
      labs.push_back(lab);
    }
  }
  std::vector<int64_t> nearest(candidates.size(), std::numeric_limits<int64_t>::max());
  const auto take = [&](uint32_t rgb) {
    const Lab taken = to_lab(rgb);
    for (size_t i = 0; i < labs.size(); ++i) {
      nearest[i] = std::min(nearest[i], squared_distance(labs[i], taken));
    }
  };
  for (const uint32_t neutral : {0x000000u, 0x808080u, 0xffffffu}) {
    take(neutral);
  }
  Palette256 colors{};
  for (uint32_t& color : colors) {
    color = candidates[std::max_element(nearest.begin(), nearest.end()) - nearest.begin()];
    take(color);
  }
  return colors;
}

/// Matplotlib's viridis (Smith, van der Walt 2015) through ten of its colours.
Palette256 viridis() {
  constexpr std::array<uint32_t, 10> kStops = {0x440154, 0x482878, 0x3e4a89, 0x31688e, 0x26828e,
                                               0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};
  Palette256 colors{};
  for (uint32_t i = 0; i < kPaletteSize; ++i) {
    const uint32_t position = i * (kStops.size() - 1);
    const uint32_t stop = std::min<uint32_t>(position / (kPaletteSize - 1), kStops.size() - 2);
    const uint32_t weight = position - stop * (kPaletteSize - 1);
    const auto channel = [&](uint32_t shift) {
      const uint32_t low = kStops[stop] >> shift & 0xff;
      const uint32_t high = kStops[stop + 1] >> shift & 0xff;
      return (low * (kPaletteSize - 1 - weight) + high * weight) / (kPaletteSize - 1);
    };
    colors[i] = opaque(channel(16), channel(8), channel(0));
  }
  return colors;
}

Palette256 mono() {
  Palette256 colors{};
  colors.fill(0xffffffff);
  return colors;
}

}  // namespace

const std::array<uint32_t, kPaletteCount * kPaletteSize>& palette_colors() {
  static const auto colors = [] {
    std::array<uint32_t, kPaletteCount * kPaletteSize> all{};
    const auto place = [&all](Palette palette, const Palette256& its) {
      std::copy(its.begin(), its.end(), all.begin() + static_cast<size_t>(palette) * kPaletteSize);
    };
    place(Palette::kGolden, golden());
    place(Palette::kGlasbey, glasbey());
    place(Palette::kViridisByArea, viridis());
    place(Palette::kMono, mono());
    return all;
  }();
  return colors;
}

}  // namespace ccl
