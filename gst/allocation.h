// SPDX-License-Identifier: LGPL-2.1-or-later
/// Buffer pools, agreed on with the neighbours. Where a GPU labels they are of CUDA memory or page-locked.
/// `depth` is how many frames stay in flight.
#pragma once

#include <gst/video/video.h>

#include "backend.h"

namespace cudaccl {

/// Answers upstream: strides and crop rectangles of any kind are welcome, and on a GPU here is a pool.
void propose_allocation(GstQuery* query, Backend* backend, guint depth);

/// Adds that pool alone, whose frames have padded rows only if the query has GstVideoMeta. False if there is
/// none to add.
bool propose_pool(GstQuery* query, Backend* backend, guint depth);

/// Changes downstream's answer for upstream, whose buffers go through: more of them are in use.
void propose_downstreams_allocation(GstQuery* query, guint depth);

/// Makes the query's first pool one that gives frames of its caps: downstream's if it takes our
/// configuration, else our own. FALSE when the caps are not video or no pool can be configured.
gboolean decide_allocation(GstQuery* query, Backend* backend, guint depth);

/// No pool: buffers go through as they are.
void decide_no_allocation(GstQuery* query);

}  // namespace cudaccl
