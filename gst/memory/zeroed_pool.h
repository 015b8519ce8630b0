// SPDX-License-Identifier: LGPL-2.1-or-later
/// A pool of video buffers whose memory is zero when it is allocated, so that the padding of rows, which
/// nobody writes, is the same in every run.
#pragma once

#include <gst/gst.h>

namespace cudaccl {

/// Owned by the caller. Takes memory from any allocator whose memory the host can write.
GstBufferPool* new_zeroed_pool();

}  // namespace cudaccl
