/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * What may change from frame to frame: settings, and regions. Include cudaccl/cudaccl.h, which has the rules
 * of structs.
 */
#ifndef CUDACCL_SETTINGS_H
#define CUDACCL_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  CUDACCL_FOREGROUND_BINARY = 0, /**< value ≥ threshold */
  CUDACCL_FOREGROUND_VALUES = 1, /**< each value but 0; only equal values connect. 8 bits of luma */
  CUDACCL_FOREGROUND_OTSU = 2,   /**< value ≥ the level that Otsu's method finds for the frame */
  CUDACCL_FOREGROUND_LOCAL = 3,  /**< value ≥ a threshold that follows from the pixels around it */
  CUDACCL_FOREGROUND_MOTION = 4  /**< differs from the background that the engine learns */
};

enum {
  CUDACCL_MODEL_SIGMA_DELTA = 0, /**< Manzanera, Richefeu 2007 */
  CUDACCL_MODEL_MIXTURE = 1      /**< mixture of Gaussians: Zivkovic 2004 */
};

/** The structuring element of a radius r. */
enum {
  CUDACCL_ELEMENT_SQUARE = 0, /**< |dx| ≤ r and |dy| ≤ r */
  CUDACCL_ELEMENT_CROSS = 1   /**< those with dx = 0 or dy = 0 */
};

enum {
  CUDACCL_PALETTE_GOLDEN = 0,
  CUDACCL_PALETTE_GLASBEY = 1,
  CUDACCL_PALETTE_VIRIDIS_BY_AREA = 2,
  CUDACCL_PALETTE_MONO = 3
};

/** What takes time and can be left out. Fields of records are then 0. */
enum {
  CUDACCL_FEATURE_MOMENTS = 1u << 0,
  CUDACCL_FEATURE_PERIMETER = 1u << 1,
  CUDACCL_FEATURE_EULER = 1u << 2,
  CUDACCL_FEATURE_ALL = (1u << 3) - 1, /**< all fields of records */
  /* What cudaccl_engine_shapes() has beside the records. */
  CUDACCL_FEATURE_GREY = 1u << 3,      /**< statistics of the source's values */
  CUDACCL_FEATURE_RECTANGLE = 1u << 4, /**< the rectangle of the smallest area */
  CUDACCL_FEATURE_HULL = 1u << 5,      /**< the convex hull */
  CUDACCL_FEATURE_CONTOUR = 1u << 6,   /**< the outline and the holes */
  CUDACCL_FEATURE_INRADIUS = 1u << 7   /**< the largest circle inside */
};

/** docs/properties.md has the range and the default of each; docs/foreground.md, docs/filters.md and
 * docs/tracking.md describe them: the element has properties of the same names. What is no number is 0 or 1.
 * On the GPU, a change takes the host tens of microseconds once. */
typedef struct CudacclSettings {
  size_t struct_size;
  uint32_t connectivity; /**< 4 or 8 */

  /* Which pixels are foreground. */
  uint32_t foreground;         /**< CUDACCL_FOREGROUND_* */
  uint32_t threshold;          /**< binary; at most the largest value of a pixel */
  uint32_t threshold_low;      /**< binary: hysteresis; 0: none */
  uint32_t invert;             /**< binary, otsu, local: value < threshold instead */
  uint32_t local_radius;       /**< pixels */
  int32_t local_offset;        /**< grey levels */
  uint32_t background_model;   /**< motion: CUDACCL_MODEL_* */
  uint32_t motion_sensitivity; /**< higher finds weaker contrasts, and more noise */
  uint32_t motion_shadows;     /**< cast shadows are background, where they can be distinguished */
  uint32_t motion_learning_ms; /**< what stays for so long is background, if not sooner */
  uint32_t motion_warm_up_ms;  /**< after a reset; nothing is foreground in it */
  double local_deviation;      /**< k of Sauvola and Pietikäinen 2000; 0: the mean */
  double motion_max_change;    /**< part of the background that may change at once */
  uint32_t open_radius;
  uint32_t close_radius;
  uint32_t morphology_shape; /**< CUDACCL_ELEMENT_* */
  uint32_t fill_holes;       /**< holes of at most so many pixels are filled */

  /* Which components are kept. The others have no record and are painted as background. */
  uint32_t min_area; /**< pixels */
  uint32_t max_area;
  uint32_t min_width; /**< of the box */
  uint32_t min_height;
  uint32_t max_width; /**< 0: no limit */
  uint32_t max_height;
  uint32_t clear_border;  /**< none that touches the frame's border */
  uint32_t top_n;         /**< only the largest; 0: no limit */
  double min_extent;      /**< of area / (width · height) */
  double min_circularity; /**< of 16 · area / perimeter² */
  double max_eccentricity;

  /* How they are painted. */
  double overlay_alpha;      /**< weight of the component's colour over the input */
  uint32_t palette;          /**< CUDACCL_PALETTE_* */
  uint32_t color_seed;       /**< other colours for the same labels */
  uint32_t background_color; /**< 0xAARRGGBB */
  uint32_t draw_boxes;       /**< in colorized and overlay, as all that is drawn */
  uint32_t draw_ids;         /**< of confirmed tracks */
  uint32_t draw_trails;
  uint32_t draw_regions; /**< those of cudaccl_engine_set_regions() */
  uint32_t mask_on;
  uint32_t mask_off;

  uint32_t features; /**< what is measured: CUDACCL_FEATURE_* bits */

  /* How they are followed, with CudacclConfig::max_tracks. */
  uint32_t track_confirm; /**< frames in which a track must be seen before it is confirmed */
  uint32_t track_lost_ms; /**< a track that is not seen for longer ends */
  uint32_t event_hold_ms; /**< the event `stopped` is made after this time without a component */
  uint32_t reserved;      /**< 0 */

  /* Objects that touch, since version 2; see docs/separate.md. */
  double separate;          /**< components are cut where they are narrower than this part; 0: off */
  uint32_t separate_aspect; /**< how many times as high as wide objects are */
  uint32_t reserved_2;      /**< 0 */
} CudacclSettings;

/* ---- Regions ---- */

/** A point. */
typedef struct CudacclPoint {
  double x, y;
} CudacclPoint;

/** A closed polygon of at least 3 points, with at most 10000 in all polygons together; the last one is joined
 * to the first one. It may cross itself: a point is inside if a ray from it crosses the outline an odd number
 * of times. */
typedef struct CudacclPolygon {
  const char* name; /**< UTF-8, is drawn; NULL: none. A zone needs one of its own */
  const CudacclPoint* points;
  size_t n_points;
} CudacclPolygon;

/** The point of a track that is in a zone, or crosses a line. */
enum {
  CUDACCL_ANCHOR_BOTTOM = 0,  /**< the middle of the lowest row of its box */
  CUDACCL_ANCHOR_CENTROID = 1 /**< its place */
};

/** CudacclZone::crowd of a zone that is never crowded. */
#define CUDACCL_NO_CROWD 0xffffffffu

/** The margin that people and vehicles need: what stands at a line or an edge does not count again and again.
 */
#define CUDACCL_DEFAULT_MARGIN 0.25

/** A part of the frame in which tracks are counted. */
typedef struct CudacclZone {
  CudacclPolygon polygon;
  uint32_t anchor;  /**< CUDACCL_ANCHOR_* */
  uint32_t crowd;   /**< the zone is crowded with more tracks than this, at most 1000000; CUDACCL_NO_CROWD */
  int64_t dwell_ns; /**< time after which a track has dwelled, at most 1000000 s; 0: never */
  /** How far from the edge a track must be before it is inside or outside, in sizes of the track, at most 10;
   * a size is the mean of width and height of its box. 0: at once. */
  double margin;
} CudacclZone;

/** A line that tracks cross. */
typedef struct CudacclLine {
  const char* name; /**< UTF-8; each line has a name of its own */
  CudacclPoint from, to;
  uint32_t anchor;   /**< CUDACCL_ANCHOR_* */
  uint32_t reserved; /**< 0 */
  double margin;     /**< as in CudacclZone: how far from the line before it is crossed */
} CudacclLine;

/** See docs/regions.md. */
typedef struct CudacclRegions {
  size_t struct_size;
  /** 1, the default: points are fractions of the frame's width and height; 0: pixels, (0, 0) is the corner of
   *  the first one. Coordinates lie within ±1000000. */
  uint32_t is_relative;
  uint32_t reserved; /**< 0 */
  /** A pixel counts if it is in one of `include`, or `include` is empty, and in none of `exclude`. With
   *  CUDACCL_FOREGROUND_VALUES all pixels count. At most 1000 each. */
  const CudacclPolygon* include;
  size_t n_include;
  const CudacclPolygon* exclude;
  size_t n_exclude;
  const CudacclZone* zones; /**< for events, at most 32 */
  size_t n_zones;
  const CudacclLine* lines; /**< for events, at most 32 */
  size_t n_lines;
} CudacclRegions;

#ifdef __cplusplus
}
#endif

#endif /* CUDACCL_SETTINGS_H */
