// SPDX-License-Identifier: LGPL-2.1-or-later
/// Records in the pixels of another frame that shows the same picture: moved, cut off, mirrored, rotated by
/// quarters, scaled. No GStreamer here.
///
/// Places of edges between pixels are exact: integers, or ratios of integers that are rounded outwards once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ccl/component.h"
#include "ccl/grey.h"
#include "ccl/polygon.h"
#include "ccl/track.h"

namespace cudaccl {

/// A rectangle of pixels. It may reach outside of its frame.
struct PixelRectangle {
  int32_t x, y, width, height;

  bool operator==(const PixelRectangle&) const = default;
};

/// Where a frame's picture lies in another frame. The edges of `from` become those of `to`.
struct PictureMap {
  uint32_t old_width, old_height;  ///< frame of the records
  uint32_t width, height;          ///< new frame
  PixelRectangle from;             ///< of the old frame; what is outside of it is not shown
  PixelRectangle to;               ///< of the new frame; what is outside of the frame is not shown
  bool swaps_axes = false;         ///< columns of the old frame become rows of the new one
  bool flips_x = false;  ///< the leftmost column of `to` was the last one (row, if axes are swapped)
  bool flips_y = false;
};

/// The records of one frame.
struct FrameRecords {
  std::vector<CclComponent> components = {};
  std::vector<CclTrack> tracks = {};  ///< CclTrack::component is an index of `components`
  std::vector<CclEvent> events = {};
  std::vector<CclGrey> grey = {};         ///< of each component, or of none
  std::vector<CclPolygon> polygons = {};  ///< CclPolygon::first is an index of `vertices`
  std::vector<CclVertex> vertices = {};
};

/// The map of a whole frame to a whole frame of another size.
PictureMap scale_map(uint32_t old_width, uint32_t old_height, uint32_t width, uint32_t height);

/// Takes over from a matrix which axes it swaps and mirrors. A point (x, y) becomes
/// (m[0][0]·x + m[0][1]·y + m[0][2], m[1][0]·x + m[1][1]·y + m[1][2]), from the corner of `from` to that of
/// `to`; it may mean corners or centres of pixels. False if the matrix does anything else than to fill `to`
/// with `from`, such as a rotation by less than a quarter, or a perspective.
bool take_matrix(const float (&matrix)[3][3], PictureMap* map);

/// Whether sizes are such that no calculation can overflow, and no rectangle is empty.
bool is_usable(const PictureMap& map);

/// Whether both frames have the same pixels in the same places.
bool is_same(const PictureMap& map);

/// The records in the new frame; `map` is usable. Components and tracks whose box is not shown at all are
/// removed. Boxes are cut off where they are not shown: then a component has CCL_COMPONENT_CUT, and its other
/// fields are those of the whole component. If pixels change their size, components have
/// CCL_COMPONENT_SCALED. Polygons are those of the whole component, too: their vertices may be outside the
/// frame. Grey statistics keep the values of the source. Labels, ids, zones and types of events stay, and so
/// does the order of records. The new frame's border counts as touched where the picture ends.
FrameRecords map_records(const PictureMap& map, const FrameRecords& records);

}  // namespace cudaccl
