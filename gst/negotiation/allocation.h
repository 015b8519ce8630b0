// SPDX-License-Identifier: LGPL-2.1-or-later
/// Buffer pools, negotiated with the neighbours. On a GPU their memory is CUDA memory or page-locked. `depth`
/// is the number of frames that stay in flight.
#pragma once

#include <gst/video/video.h>

#include "element/backend.h"

namespace cudaccl {

/// Answers upstream's ALLOCATION query: any strides and crop rectangles are accepted, and on a GPU a pool is
/// offered.
void propose_allocation(GstQuery* query, Backend* backend, guint depth);

/// Answers upstream's ALLOCATION query for passthrough. Downstream gets upstream's buffers, so it answers the
/// query, of which `src_pad` is the source pad. Its pools must be larger, because frames stay in flight; if
/// it offers none, a pool on a GPU is offered.
bool forward_allocation(GstQuery* query, GstPad* src_pad, Backend* backend, guint depth);

/// Makes the query's first pool one that gives frames of its caps: downstream's pool if it accepts our
/// configuration, else our own. FALSE if the caps are not video or no pool can be configured.
gboolean decide_allocation(GstQuery* query, Backend* backend, guint depth);

/// Decides for no pool, because passthrough allocates no buffers.
void decide_no_allocation(GstQuery* query);

}  // namespace cudaccl
