// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is drawn of each track, on both backends: its id as a caption, and its trail.
///
/// The table of a frame follows from the table of the frame before and from the frame's track records, and
/// nothing in it changes later. So frames in flight may draw from their own tables in any order.
///
/// A trail joins places of the anchor: the bottom centre of the box, where an object that stands on the
/// ground touches it. The trail is then the object's path on the ground, and the place does not change with
/// the shape of the object, as a centroid does. The default anchor of zones is the same.
#pragma once

#include <cstdint>

#include "ccl/colors.h"
#include "ccl/config.h"
#include "ccl/draw/font.h"
#include "ccl/draw/scale.h"
#include "ccl/draw/stroke.h"
#include "ccl/track.h"

namespace ccl::draw {

inline constexpr uint32_t kTrailPoints = 32;
inline constexpr uint32_t kTrailStrokes = kTrailPoints - 1;

/// Between points of a trail, in nanoseconds: a trail shows two seconds, at any rate of frames.
inline constexpr int64_t kTrailStep = 2'000'000'000 / kTrailStrokes;

/// A place in half pixels, which the middle of any box is.
struct TrailPoint {
  uint16_t x;
  uint16_t y;

  bool operator==(const TrailPoint&) const = default;
};

/// Where a track was, the newest point first. Points that there are not yet equal the oldest one.
struct Trail {
  uint32_t id;
  uint32_t reserved;  ///< 0: equal trails have equal bytes
  int64_t step_time;  ///< since which points[0] moves with the track
  TrailPoint points[kTrailPoints];
};
static_assert(sizeof(Trail) == 16 + 4 * kTrailPoints);

constexpr uint16_t half_pixels(uint32_t twice) {
  constexpr uint32_t kMost = 0xffff;  // half a pixel before the border of the widest frame
  return static_cast<uint16_t>(twice < kMost ? twice : kMost);
}

constexpr TrailPoint anchor_of(const CclTrack& track) {
  return {half_pixels(2u * track.x + track.width), half_pixels(2u * (track.y + track.height))};
}

/// The first trail in ascending order of ids whose id is not less; `count` if there is none.
constexpr uint32_t find_trail(const Trail* trails, uint32_t count, uint32_t id) {
  uint32_t begin = 0;
  uint32_t end = count;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (trails[middle].id < id) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// How a trail continues in a frame.
struct TrailStep {
  const Trail* before;  ///< the track's trail in the frame before; null: it begins
  TrailPoint anchor;
  bool moves;  ///< points[0] is the anchor. A predicted place may be wrong, so it gets no point
  /// Steps that are over: all points become older by so many. points[0] is a new one, and for those between
  /// the place is not known.
  uint32_t n_over;
  int64_t step_time;

  constexpr TrailPoint point(uint32_t i) const {
    if (before == nullptr || (i == 0 && moves)) {
      return anchor;
    }
    return before->points[i > n_over ? i - n_over : 0];
  }
};

/// `trails` are those of the frame before.
constexpr TrailStep trail_step(const Trail* trails, uint32_t count, const CclTrack& track) {
  const uint32_t index = find_trail(trails, count, track.id);
  const TrailPoint anchor = anchor_of(track);
  if (index == count || trails[index].id != track.id) {
    return {nullptr, anchor, true, 0, track.last_time};
  }
  const Trail& before = trails[index];
  if ((track.flags & CCL_TRACK_PREDICTED) != 0) {
    return {&before, anchor, false, 0, before.step_time};
  }
  const int64_t since = track.last_time - before.step_time;
  if (since < 0) {  // another clock began
    return {&before, anchor, true, 1, track.last_time};
  }
  if (since >= kTrailPoints * kTrailStep) {
    return {&before, anchor, true, kTrailPoints, track.last_time};
  }
  const auto n_over = static_cast<uint32_t>(since / kTrailStep);
  return {&before, anchor, true, n_over, before.step_time + n_over * kTrailStep};
}

constexpr Place place_of(const TrailPoint& point) {
  constexpr int32_t kUnit = kSubpixels / 2;
  return {point.x * kUnit, point.y * kUnit};
}

/// Whether the part of a trail between points i and i + 1 is drawn. A dot is not, unless it is the first:
/// the part before it ends there, and is as visible.
constexpr bool is_drawn(uint32_t i, const TrailPoint& newer, const TrailPoint& older) {
  return i == 0 || newer != older;
}

constexpr Stroke trail_stroke(const TrailPoint& newer, const TrailPoint& older) {
  return make_stroke(place_of(newer), place_of(older));
}

/// How visible that part is, of 255: trails fade with age.
constexpr uint32_t trail_strength(uint32_t i, uint32_t strength) {
  return part_of((kTrailStrokes - i) * 255 / kTrailStrokes, strength);
}

/// How a track is drawn in a frame.
struct DrawnTrack {
  PixelBox trail;    ///< all pixels that it may touch; empty if it is not drawn
  PixelBox caption;  ///< where the caption is; empty if it is not drawn
  uint32_t id;
  uint32_t color;     ///< of the trail, packed
  uint32_t strength;  ///< of both, of 255
  uint32_t reserved;  ///< 0: tables of equal frames have equal bytes
};
static_assert(sizeof(DrawnTrack) == 48);

/// What the tracks of a frame are drawn with.
struct TrackStyle {
  uint32_t width;
  uint32_t height;
  PixelLayout layout;
  Palette palette;
  uint32_t color_seed;
  bool draws_ids;
  bool draws_trails;
  Scale scale;
  DigitCells digits;

  constexpr PixelBox frame() const {
    return {0, 0, static_cast<int32_t>(width), static_cast<int32_t>(height)};
  }
};

/// A track that was not seen in the frame is drawn half as visible: its place is an estimate.
inline constexpr uint32_t kPredictedStrength = 128;

/// Only confirmed tracks are drawn: all others may be noise.
constexpr uint32_t strength_of(const CclTrack& track) {
  if ((track.flags & CCL_TRACK_CONFIRMED) == 0) {
    return 0;
  }
  return (track.flags & CCL_TRACK_PREDICTED) != 0 ? kPredictedStrength : 255;
}

constexpr uint32_t count_digits(uint32_t id) {
  uint32_t count = 1;
  for (; id >= 10; id /= 10) {
    ++count;
  }
  return count;
}

/// Above the box, at its left; inside the frame as far as it fits, from the left and from the top.
constexpr PixelBox caption_box(const CclTrack& track, const TrackStyle& style) {
  const auto width =
      static_cast<int32_t>(style.digits.width + (count_digits(track.id) - 1) * style.digits.advance);
  const auto height = static_cast<int32_t>(style.digits.height);
  const auto place = [](int32_t wanted, int32_t size, uint32_t frame) {
    const int32_t last = static_cast<int32_t>(frame) - size;
    const int32_t at = wanted < last ? wanted : last;
    return at > 0 ? at : 0;
  };
  const int32_t x = place(track.x, width, style.width);
  const int32_t y = place(int32_t{track.y} - height, height, style.height);
  return PixelBox{x, y, x + width, y + height}.cut(style.frame());
}

/// The colour of a track: that of a component with its id. Where colours follow areas, that of its box.
constexpr uint32_t color_index_of(const CclTrack& track, const TrackStyle& style) {
  const uint32_t n_pixels = style.width * style.height;
  const uint32_t area = uint32_t{track.width} * track.height;
  return color_index(style, track.id, area < 1 ? 1 : area < n_pixels ? area : n_pixels, n_pixels);
}

/// The pixels that a trail may touch, from the least and the largest coordinates of its points.
constexpr PixelBox trail_box(const TrailPoint& least, const TrailPoint& most, const TrackStyle& style) {
  return box_of(place_of(least), place_of(most), style.scale.trail).cut(style.frame());
}

/// `color` is of the palette, and `least` and `most` as above.
constexpr DrawnTrack draw_track(const CclTrack& track, const TrackStyle& style, uint32_t color,
                                const TrailPoint& least, const TrailPoint& most) {
  const uint32_t strength = strength_of(track);
  constexpr PixelBox kEmpty = {0, 0, 0, 0};
  return {.trail = strength > 0 && style.draws_trails ? trail_box(least, most, style) : kEmpty,
          .caption = strength > 0 && style.draws_ids ? caption_box(track, style) : kEmpty,
          .id = track.id,
          .color = pack(color, style.layout),
          .strength = strength,
          .reserved = 0};
}

/// The coverage of a caption's pixel, relative to the caption's top left.
constexpr Coverage caption_coverage(const DrawnTrack& track, const DigitCells& cells, uint32_t x,
                                    uint32_t y) {
  const uint32_t n_digits = count_digits(track.id);
  Coverage coverage;
  // The last cell that begins at or before x, and the one before it, may cover the pixel.
  uint32_t cell = x / cells.advance;
  for (uint32_t i = 0; i < 2; ++i, --cell) {
    const uint32_t column = x - cell * cells.advance;
    if (cell < n_digits && column < cells.width) {
      uint32_t digit = track.id;
      for (uint32_t right = n_digits - 1; right > cell; --right) {
        digit /= 10;
      }
      const uint8_t* at = cells.coverage + 2 * ((digit % kDigits * cells.height + y) * cells.width + column);
      coverage.add({part_of(at[0], track.strength), part_of(at[1], track.strength)});
    }
    if (cell == 0) {
      break;
    }
  }
  return coverage;
}

}  // namespace ccl::draw
