// SPDX-License-Identifier: LGPL-2.1-or-later
/// The colours of the caps in the engine's integers.
#pragma once

#include <gst/video/video.h>

#include "ccl/config.h"
#include "ccl/segment/luma.h"

namespace cudaccl {

/// The matrix from luma and chroma of these caps to RGB.
ccl::ColorMatrix color_matrix(const GstVideoInfo& info);

/// Sets the weights of the luma of RGB pixels of these caps: those of BT.709, unless the caps have the
/// primaries of another standard.
void set_luma_weights(const GstVideoInfo& info, ccl::SourcePixels* source);

}  // namespace cudaccl
