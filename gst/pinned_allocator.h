// SPDX-License-Identifier: LGPL-2.1-or-later
/// Page-locked memory for buffers: the GPU copies to and from it two to three times as fast, and while the
/// host does something else. To everybody else it is system memory.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "ccl/engine.h"

namespace cudaccl {

/// The caller's. It may outlive the engine whose device this is, and so may its memory.
GstAllocator* new_pinned_allocator(std::shared_ptr<ccl::Device> device);

}  // namespace cudaccl
