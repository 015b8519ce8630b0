// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rule of separation: a component of several objects is cut into parts at its necks. Both backends take
/// the same decisions, which are here; docs/separate.md says why.
///
/// The distance of a pixel to the nearest pixel that is not of its component makes hills of objects: the
/// *height*. Neighbours are pixels of one component that are adjacent in the connectivity in use; a *link* is
/// a pair of neighbours. Each pixel belongs to the *basin* of the summit that steepest ascent leads to. Links
/// between two basins have a *saddle*, the smaller one of their heights. *Regions* are basins that were
/// joined. What is left at the end are the parts. The method is that of L. Vincent, P. Soille, "Watersheds in
/// Digital Spaces", IEEE Transactions on Pattern Analysis and Machine Intelligence 13(6), 1991, on the
/// negative height; which basins are joined is ours:
///
/// First, in rounds until one joins nothing, each region takes the link to another one that comes first in
/// the order of links. It joins over it if the neck there is wide against the region (is_wide()), or if the
/// region has fewer pixels than Filter::min_area. All regions that join in a round join at once.
///
/// Then, in rounds likewise, each region takes the link to another one with the highest score() that
/// is_one_object(). The two join if both took this link, or if one took it that is much smaller
/// (is_much_smaller()).
///
/// Of equal saddles or scores, the link with the smaller number comes first. All sums are integers and no
/// decision depends on an order in which threads work.
#pragma once

#include <cstdint>

#include "ccl/separation.h"
#include "ccl/square_root.h"

namespace ccl {

/// A squared distance is aspect² · dx² + dy². Of pixels whose component is the whole frame, or that are
/// farther from other pixels than a number of 32 bits can say:
inline constexpr uint32_t kNoSquare = 0xffffffff;

/// Steps of heights in one pixel. Heights have 16 bits: hills of more than 4,095.9 pixels are flat above.
inline constexpr uint32_t kHeightSteps = 16;
inline constexpr uint32_t kFlatHeight = 0xffff;

/// The height of a pixel with this squared distance, before smoothing: ⌊16 √square⌋.
constexpr uint16_t height_of(uint32_t square) {
  constexpr uint32_t kFlat = (kFlatHeight + 1) / kHeightSteps * ((kFlatHeight + 1) / kHeightSteps);
  return static_cast<uint16_t>(square < kFlat ? square_root(uint64_t{kHeightSteps} * kHeightSteps * square)
                                              : kFlatHeight);
}

/// A height that is not smoothed in whole pixels, rounded down, as far as 8 bits can say.
constexpr uint8_t whole_pixels(uint32_t height) {
  constexpr uint32_t kMost = 0xff;
  return static_cast<uint8_t>(height < (kMost + 1) * kHeightSteps ? height / kHeightSteps : kMost);
}

/// Smooths heights with 1-2-1 in both directions, from sums of three rows: each is left + 2 · middle + right.
/// A pixel of another component has the height 0, and one outside the frame that of the nearest one inside.
constexpr uint16_t smooth_height(uint32_t above, uint32_t middle, uint32_t below) {
  return static_cast<uint16_t>((above + 2 * middle + below + 8) >> 4);
}

/// The neighbours of pixel p that links begin with are E, SW, S, SE: the number of a link is 4 p + its
/// direction.
enum LinkDirection : uint32_t { kLinkEast, kLinkSouthWest, kLinkSouth, kLinkSouthEast, kLinkDirections };

/// Orders links: the larger, the earlier. 0 is before no link. A score is given by its bits, which are in the
/// order of positive floats.
constexpr uint64_t order_of(uint32_t saddle_or_score, uint32_t link) {
  return uint64_t{saddle_or_score} << 32 | ~link;
}

constexpr uint32_t link_of(uint64_t order) {
  return ~static_cast<uint32_t>(order);
}

/// Sums over the pixels of a region.
struct RegionSums {
  uint64_t n, x, y, xx, xy, yy;

  constexpr RegionSums operator+(const RegionSums& other) const {
    return {n + other.n, x + other.x, y + other.y, xx + other.xx, xy + other.xy, yy + other.yy};
  }
};

/// Whether a saddle is a wide neck for a region with this summit.
constexpr bool is_wide(uint32_t saddle, uint32_t summit, const Separation& separation) {
  return 1024 * uint64_t{saddle} >= uint64_t{separation.neck} * summit;
}

/// a · b, rounded. The compiler may not make one instruction of it and of the addition that follows.
constexpr double product(double a, double b) {
#if defined(__CUDA_ARCH__)
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}

/// The squared area in parts of that of the ellipse with the same second moments: 1 for an ellipse, and less
/// the farther a region is from one. A pixel is a square, hence the twelfth. All processors round alike.
constexpr double form_of(const RegionSums& sums) {
  constexpr double kSquaredFourPi = 157.91367041742973;
  constexpr double kPixelVariance = 1.0 / 12.0;
  const auto n = static_cast<double>(sums.n);
  const double mean_x = static_cast<double>(sums.x) / n;
  const double mean_y = static_cast<double>(sums.y) / n;
  const double xx = static_cast<double>(sums.xx) / n - product(mean_x, mean_x) + kPixelVariance;
  const double yy = static_cast<double>(sums.yy) / n - product(mean_y, mean_y) + kPixelVariance;
  const double xy = static_cast<double>(sums.xy) / n - product(mean_x, mean_y);
  return n * n / (kSquaredFourPi * (product(xx, yy) - product(xy, xy)));
}

/// How much two regions are one object: whether their union has as good a form as they have alone, and how
/// wide their neck is. `summit`: the lower one of both.
constexpr float score(double form_a, double form_b, double form_of_both, uint32_t saddle, uint32_t summit) {
  const double alone = form_a * form_b;
  const double alone_2 = alone * alone;
  const double alone_4 = alone_2 * alone_2;
  const double both_2 = form_of_both * form_of_both;
  return static_cast<float>(both_2 * both_2 * saddle / (summit * (alone_4 * alone_4)));
}

constexpr bool is_one_object(float score) {
  return score >= 2;
}

constexpr bool is_much_smaller(uint64_t n, uint64_t than) {
  return 16 * n <= than;
}

}  // namespace ccl
