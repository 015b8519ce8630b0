// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tracks guide how a component that shows several of them is cut: the second source of parts of separation
/// (ccl/parts.h is the first). It asks what the tracks expect, before the frame is labelled.
///
/// A track can guide if it is proven and was seen in one of the last frames. It is a *member* of the
/// component that has most of its predicted box, if that is enough of the smaller one of both. A component
/// with more members than parts by its shape is cut between them: each pixel goes to the member whose
/// predicted ellipse is the nearest one. All others are cut by their shape, and so is a crowd of too many.
///
/// Parts are connected: pixels of one member that do not touch are several parts.
#pragma once

#include <cstdint>

#include "track/share.h"

namespace ccl::track {

/// A member has this part of its area, or of the component's if that is smaller, in its predicted box.
inline constexpr uint64_t kMemberNumerator = 3;
inline constexpr uint64_t kMemberDenominator = 10;
/// A member was seen in one of so many frames.
inline constexpr uint32_t kMemberFrames = 3;
inline constexpr uint32_t kMostMembers = 16;

/// Parts have colours (host/runs/part_source.h). These are not those of parts by shape:
inline constexpr uint32_t kFirstMemberColor = 240;
static_assert(kFirstMemberColor + kMostMembers - 1 <= 255);

constexpr bool can_guide(const TrackState& track) {
  return (track.flags & CCL_TRACK_CONFIRMED) != 0 && track.proven_us >= kProofUs &&
         track.n_missed < kMemberFrames;
}

/// The box of the whole object in the frame to come.
constexpr Box next_box(const TrackState& track, uint32_t duration_us) {
  TrackState next = track;
  next.place = moved_place(track, duration_us);
  return whole_box(next);
}

/// Pixels of a box that are looked at: at most kMostSamples in a row and in a column.
struct Samples {
  static constexpr uint32_t kMost = 32;

  uint32_t x, y;      ///< of the first one
  uint32_t step;      ///< pixels
  uint32_t n_x, n_y;  ///< 0: the box is outside the frame

  constexpr uint32_t size() const { return n_x * n_y; }
  constexpr uint32_t x_of(uint32_t i) const { return x + i % n_x * step; }
  constexpr uint32_t y_of(uint32_t i) const { return y + i / n_x * step; }
  /// Pixels that each of them stands for.
  constexpr uint64_t pixels() const { return uint64_t{step} * step; }
};

/// The centres of the pixels are in the box and in the frame.
constexpr Samples samples_of(const Box& box, uint32_t width, uint32_t height) {
  const auto first_pixel = [](int32_t edge, uint32_t extent) {
    const int32_t pixel = (edge + kUnit - 1) >> kLog2Unit;
    const auto last = static_cast<int32_t>(extent);
    return static_cast<uint32_t>(pixel < 0 ? 0 : pixel > last ? last : pixel);
  };
  const uint32_t left = first_pixel(box.left, width);
  const uint32_t top = first_pixel(box.top, height);
  const uint32_t right = first_pixel(box.right, width);
  const uint32_t bottom = first_pixel(box.bottom, height);
  if (left >= right || top >= bottom) {
    return {0, 0, 1, 0, 0};
  }
  const uint32_t extent = right - left > bottom - top ? right - left : bottom - top;
  const uint32_t step = (extent + Samples::kMost - 1) / Samples::kMost;
  // Each is in the middle of what it stands for, as far as that is in the box.
  const auto first = [step](uint32_t begin, uint32_t end) {
    return begin + (step / 2 < end - begin ? step / 2 : end - begin - 1);
  };
  const uint32_t x = first(left, right);
  const uint32_t y = first(top, bottom);
  return {x, y, step, (right - x + step - 1) / step, (bottom - y + step - 1) / step};
}

/// Orders the components in the box of a track: the larger, the better. `first`: the first sample in it.
constexpr uint64_t order_of_member(uint32_t n_samples, uint32_t first) {
  return uint64_t{n_samples} << 32 | ~first;
}

constexpr bool is_member(const TrackState& track, const Samples& samples, uint32_t n_samples,
                         uint64_t component_area) {
  const uint64_t area = track.area < component_area ? track.area : component_area;
  return n_samples * samples.pixels() * kMemberDenominator >= area * kMemberNumerator;
}

/// The members of a component, at most kMostMembers, by their age.
struct Members {
  uint32_t n = 0;
  uint32_t list[kMostMembers] = {};

  constexpr void add(uint32_t track) {
    uint32_t k = n++;
    for (; k > 0 && list[k - 1] > track; --k) {
      list[k] = list[k - 1];
    }
    list[k] = track;
  }
};

/// Where a member is expected, as an ellipse in its box.
struct Ellipse {
  static constexpr uint32_t kLog2Radius = 12;  ///< a distance of one radius is 1 << kLog2Radius

  Place middle;
  uint32_t x_scale, y_scale;

  constexpr uint64_t squared_distance(uint32_t x, uint32_t y) const {
    const uint64_t u = scaled(static_cast<int64_t>(x) * kUnit - middle.x, x_scale);
    const uint64_t v = scaled(static_cast<int64_t>(y) * kUnit - middle.y, y_scale);
    return u * u + v * v;
  }

 private:
  static constexpr uint64_t scaled(int64_t way, uint32_t scale) {
    return (static_cast<uint64_t>(magnitude(way)) * scale) >> kLog2Radius;
  }
};

constexpr Ellipse ellipse_in(const Box& box) {
  const auto scale = [](int32_t extent) {
    return (1u << 2 * Ellipse::kLog2Radius) / static_cast<uint32_t>(larger(extent / 2, kHalfUnit));
  };
  return {{box.left + box.width() / 2, box.top + box.height() / 2}, scale(box.width()), scale(box.height())};
}

}  // namespace ccl::track
