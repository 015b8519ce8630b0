// SPDX-License-Identifier: LGPL-2.1-or-later
/// Pools of buffers for which there may be no memory.
#pragma once

#include <gst/gst.h>

namespace cudaccl {

/// Lets the pool give buffers. If there is not enough memory for those that it begins with, it keeps none:
/// GStreamer leaves those that it made in a pool that does not start, and does not free them with it.
inline bool activate_pool(GstBufferPool* pool) {
  const bool is_active = gst_buffer_pool_set_active(pool, TRUE) != FALSE;
  if (!is_active) {
    GST_BUFFER_POOL_GET_CLASS(pool)->stop(pool);
  }
  return is_active;
}

}  // namespace cudaccl
