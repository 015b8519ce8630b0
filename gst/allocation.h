// SPDX-License-Identifier: LGPL-2.1-or-later
/// Buffer pools, agreed on with the neighbours.
#pragma once

#include <gst/video/video.h>

namespace cudaccl {

/// Answers upstream: strides and crop rectangles of any kind are welcome.
void propose_allocation(GstQuery* query);

/// Makes the query's first pool one that gives frames of its caps: downstream's if it takes our
/// configuration, else our own. FALSE when the caps are not video or no pool can be configured.
gboolean decide_allocation(GstQuery* query);

/// No pool: buffers go through as they are.
void decide_no_allocation(GstQuery* query);

}  // namespace cudaccl
