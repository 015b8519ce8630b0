// SPDX-License-Identifier: LGPL-2.1-or-later
/// The properties that decide how the foreground is found; properties.h has the table.
#pragma once

#include <gst/gst.h>

#include "ccl/segment.h"

namespace cudaccl {

/// How pixels become foreground. Which rule does it is in ccl::Settings::rule.
struct ForegroundProperties {
  /**
   * GstCudaCcl:threshold:
   *
   * With `foreground=binary` a pixel is foreground if its value is at least the threshold. 0 chooses the
   * threshold by the sink format: 1 in GRAY8 and GRAY16_LE, mid-grey in luma (126 in 16..235, 128 in 0..255,
   * times 4 with 10 bits). Values above 255 need a sink format of more bits: others refuse them.
   *
   * Since: 0.1
   */
  guint threshold = 0;

  /**
   * GstCudaCcl:threshold-low:
   *
   * With `foreground=binary` and without #GstCudaCcl:invert: hysteresis. Pixels connect if their value is at
   * least this one, and a component is kept if one of its pixels reaches #GstCudaCcl:threshold. 0: no
   * hysteresis. With #GstCudaCcl:invert the two thresholds change roles: pixels connect below
   * #GstCudaCcl:threshold, and a component needs a pixel below this one.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:local-radius:
   *
   * With `foreground=local` the threshold of a pixel follows from the square of 2 × radius + 1 pixels around
   * it.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:local-offset:
   *
   * With `foreground=local` a pixel is foreground if its value is at least the local threshold less this
   * offset.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:background-model:
   *
   * With `foreground=motion`: what a pixel's background is made of. `sigma-delta` has one value with its
   * variation, `mixture` several values with their weights.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:motion-sensitivity:
   *
   * With `foreground=motion`: higher finds weaker contrasts, and more noise.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:motion-shadows:
   *
   * With `foreground=motion`: cast shadows are background, where the model can distinguish them. Chroma makes
   * this easier.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:open-radius:
   *
   * Opens the foreground, which removes what is smaller than the structuring element of this radius: erosion,
   * then dilation. Not with `foreground=values`.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:close-radius:
   *
   * Closes the foreground, which fills gaps that are smaller than the structuring element of this radius:
   * dilation, then erosion, after #GstCudaCcl:open-radius. Not with `foreground=values`.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:morphology-shape:
   *
   * The structuring element of #GstCudaCcl:open-radius and #GstCudaCcl:close-radius.
   *
   * Since: 0.1
   */
  /**
   * GstCudaCcl:fill-holes:
   *
   * Holes of at most this many pixels become foreground, after #GstCudaCcl:close-radius. Not with
   * `foreground=values`.
   *
   * Since: 0.1
   */
  ccl::Segmentation segmentation;  // less wide_threshold and the four below: FramePath fills these in

  /**
   * GstCudaCcl:local-deviation:
   *
   * With `foreground=local`: 0 takes the mean of the window as the local threshold; else it is the weight k
   * of the standard deviation in the threshold of Sauvola and Pietikäinen 2000, 0.2 to 0.5 for documents.
   *
   * Since: 0.1
   */
  gdouble local_deviation = 0;

  /**
   * GstCudaCcl:motion-learning-time:
   *
   * With `foreground=motion`: nanoseconds after which what stays is background. Time is that of the buffers,
   * so dropped frames do not slow learning. Whole milliseconds count.
   *
   * Since: 0.1
   */
  guint64 motion_learning_time = 20 * GST_SECOND;

  /**
   * GstCudaCcl:motion-warm-up:
   *
   * With `foreground=motion`: nanoseconds of fast learning after a reset, in which nothing is foreground.
   *
   * Since: 0.1
   */
  guint64 motion_warm_up = 1 * GST_SECOND;

  /**
   * GstCudaCcl:motion-max-change:
   *
   * With `foreground=motion`: the part of the frame that may change at once. More is a change of light or a
   * moved camera: the model learns again.
   *
   * Since: 0.1
   */
  gdouble motion_max_change = gdouble{ccl::Motion{}.max_change} / ccl::kOne;
};

}  // namespace cudaccl
