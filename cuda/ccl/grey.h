/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The grey record: statistics of the source's pixels in one component of one frame.
 *
 * Plain C, 32 bytes, no padding, native byte order, the same on every platform and backend. The values are
 * those that thresholds read: the luma of the source, 0..255, or with all of its bits if it has more than 8.
 * Counts are exact integers. Reals are computed from exact integer sums by a few correctly rounded
 * operations, so the CPU and the GPU give identical bits.
 */
#ifndef CCL_GREY_H
#define CCL_GREY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Grey statistics of one connected component. */
typedef struct CclGrey {
  /** Sum of the values. */
  uint64_t sum;
  /** CclComponent::label of the component. */
  uint32_t label;
  /** The smallest and the largest value. */
  uint16_t min, max;
  /** Mean of the values. */
  float mean;
  /** Mean of the squared differences from the mean. */
  float variance;
  /** Centroid in pixels, each pixel weighted with its value; that of the CclComponent if all values are 0. */
  float cx, cy;
} CclGrey;

#ifdef __cplusplus
}
static_assert(sizeof(CclGrey) == 32, "the grey record is 32 bytes");
#endif

#endif /* CCL_GREY_H */
