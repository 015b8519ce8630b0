/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The component record: what cudaccl reports about one connected component of one frame.
 *
 * Plain C, 64 bytes, no padding, native byte order, the same on every platform and backend. Counts are
 * exact integers. Reals are computed from exact integer sums by a few correctly rounded operations, so the
 * CPU and the GPU give identical bits. `numpy.frombuffer` reads an array of records without a binding (see
 * README).
 */
#ifndef CCL_COMPONENT_H
#define CCL_COMPONENT_H

#include <math.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Version of the layout below. It changes when a field moves or changes its meaning. */
#define CCL_COMPONENT_LAYOUT_VERSION 1u

/** Bits of CclComponent::flags. */
enum {
  /** The bounding box touches the frame's border: the object may continue outside. */
  CCL_COMPONENT_TOUCHES_BORDER = 1u << 0,
  /** With tracking: its track is in its first frame. */
  CCL_COMPONENT_NEWBORN = 1u << 1,
  /** With tracking: it shows several tracks; `id` is that of the largest. */
  CCL_COMPONENT_MERGED = 1u << 2,
  /** With tracking: one of several components that show one track. */
  CCL_COMPONENT_SPLIT = 1u << 3,
  /** The frame was scaled after labelling. Its geometry was scaled too and is no longer exact. */
  CCL_COMPONENT_SCALED = 1u << 5,
  /** The frame was cropped after labelling, and a part of the box is outside. The box is cut off; all other
   *  fields are those of the whole component, in pixels of the cropped frame. */
  CCL_COMPONENT_CUT = 1u << 6
};

/** One connected component. */
typedef struct CclComponent {
  /** Canonical label in this frame: 1..n in the raster order of each component's first pixel. */
  uint32_t label;
  /** With tracking the id of its track (CclTrack), 0 if it has none; else equal to `label`. */
  uint32_t id;
  /** Number of pixels. */
  uint32_t area;
  /** Bounding box: left and top pixel, and extent in pixels. */
  uint32_t x, y, width, height;
  /** Centroid in pixels; the centre of the frame's first pixel is (0, 0). */
  float cx, cy;
  /** Central second moments divided by the area, px² (0 without the `moments` feature). */
  float mxx, mxy, myy;
  /** Pixel edges between the component and everything else, including the frame's outside
   *  (0 without the `perimeter` feature). */
  uint32_t perimeter;
  /** Euler number for the connectivity in use: 1 − holes (0 without the `euler` feature). */
  int32_t euler;
  /** CCL_COMPONENT_* bits. */
  uint16_t flags;
  /** The segment's pixel value with `foreground=values`, else 255. */
  uint16_t value;
  /** With tracking the frames since the first one of its track; else 0. */
  uint32_t age;
} CclComponent;

/** Angle from the x axis to the component's major axis, radians in (−π/2, π/2], y pointing down. */
static inline double ccl_component_orientation(const CclComponent* c) {
  return 0.5 * atan2(2.0 * c->mxy, (double)c->mxx - c->myy);
}

/** The larger (sign = 1) or smaller (sign = −1) eigenvalue of the matrix of second moments, px². */
static inline double ccl_component_moment_eigenvalue(const CclComponent* c, int sign) {
  const double mean = ((double)c->mxx + c->myy) / 2.0;
  const double root = hypot(((double)c->mxx - c->myy) / 2.0, c->mxy);
  const double value = mean + sign * root;
  return value > 0.0 ? value : 0.0;
}

/** Length in pixels of the major axis of the ellipse with the same second moments. */
static inline double ccl_component_major_axis(const CclComponent* c) {
  return 4.0 * sqrt(ccl_component_moment_eigenvalue(c, 1));
}

/** Length in pixels of the minor axis of the ellipse with the same second moments. */
static inline double ccl_component_minor_axis(const CclComponent* c) {
  return 4.0 * sqrt(ccl_component_moment_eigenvalue(c, -1));
}

/** Eccentricity of that ellipse: 0 for a circle, towards 1 for a line. */
static inline double ccl_component_eccentricity(const CclComponent* c) {
  const double large = ccl_component_moment_eigenvalue(c, 1);
  return large > 0.0 ? sqrt(1.0 - ccl_component_moment_eigenvalue(c, -1) / large) : 0.0;
}

#ifdef __cplusplus
}
static_assert(sizeof(CclComponent) == 64, "the component record is 64 bytes");
#endif

#endif /* CCL_COMPONENT_H */
