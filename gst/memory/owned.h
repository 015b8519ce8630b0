// SPDX-License-Identifier: LGPL-2.1-or-later
/// Owning pointers to GStreamer's objects, which an exception releases, too.
#pragma once

#include <gst/gst.h>

#include <memory>

namespace cudaccl {

struct Release {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};

template <typename T>
using Owned = std::unique_ptr<T, Release>;

}  // namespace cudaccl
