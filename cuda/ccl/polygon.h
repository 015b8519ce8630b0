/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The polygon record: an outline of one component of one frame, or the largest circle in it, in a table of
 * vertices that all share.
 *
 * Plain C, no padding, native byte order. Vertices lie at corners of pixels: the frame's first pixel has its
 * corners at (0, 0), (1, 0), (1, 1) and (0, 1), so a component of one pixel is a square of side 1. A centroid
 * of CclComponent, for which the centre of that pixel is (0, 0), is (cx + 0.5, cy + 0.5) here. y points down.
 */
#ifndef CCL_POLYGON_H
#define CCL_POLYGON_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A point in pixels. Corners of pixels are exact: they are integers. */
typedef struct CclVertex {
  float x, y;
} CclVertex;

/** CclPolygon::kind. On the screen, holes run counterclockwise and all other polygons clockwise. */
enum {
  /** The rectangle of the smallest area, in any direction: four vertices, of which the first two lie along an
   *  edge of the hull. Of several, that along the first edge of the hull. */
  CCL_POLYGON_RECTANGLE = 1,
  /** The convex hull of the pixels' corners: no three vertices in a line, the first one is the uppermost, and
   * of these the leftmost. */
  CCL_POLYGON_HULL = 2,
  /** The outer boundary along edges of pixels: a vertex where it changes direction, the first one as above.
   * The component is on its right side. With 8-connectivity it passes twice through a corner where pixels
   * touch. */
  CCL_POLYGON_OUTLINE = 3,
  /** The boundary of a hole, likewise; the component is on its right side, too. */
  CCL_POLYGON_HOLE = 4,
  /** The largest circle in the component, which is no polygon: two vertices, its centre and the point of it
   * to the right of the centre. The centre is that of the pixel with the largest distance D to the nearest
   * pixel centre of the frame that is not of the component, of equal ones the first in raster order. The
   * radius is D − 0.5. A component that is the whole frame has none. */
  CCL_POLYGON_CIRCLE = 5
};

/** One polygon. It is closed: the last vertex is joined to the first one. A circle is not. */
typedef struct CclPolygon {
  /** CclComponent::label and CclComponent::id of the component. */
  uint32_t label, id;
  /** CCL_POLYGON_*. */
  uint32_t kind;
  /** Index of the first vertex, and their number. */
  uint32_t first, n_vertices;
} CclPolygon;

/** Length of the side of a rectangle from its first vertex to the second one, pixels. */
static inline double ccl_rectangle_width(const CclVertex* v) {
  return hypot((double)v[1].x - v[0].x, (double)v[1].y - v[0].y);
}

/** Length of the other side of a rectangle, pixels. */
static inline double ccl_rectangle_height(const CclVertex* v) {
  return hypot((double)v[2].x - v[1].x, (double)v[2].y - v[1].y);
}

/** Angle from the x axis to the first side of a rectangle, radians in (−π, π], clockwise on the screen. */
static inline double ccl_rectangle_angle(const CclVertex* v) {
  return atan2((double)v[1].y - v[0].y, (double)v[1].x - v[0].x);
}

/** Radius of a circle, pixels. */
static inline double ccl_circle_radius(const CclVertex* v) {
  return hypot((double)v[1].x - v[0].x, (double)v[1].y - v[0].y);
}

#ifdef __cplusplus
}
static_assert(sizeof(CclVertex) == 8, "the vertex is 8 bytes");
static_assert(sizeof(CclPolygon) == 20, "the polygon record is 20 bytes");
#endif

#endif /* CCL_POLYGON_H */
