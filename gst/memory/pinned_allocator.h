// SPDX-License-Identifier: LGPL-2.1-or-later
/// Page-locked memory for buffers. The GPU copies to and from it two to three times as fast, and the host
/// does not wait meanwhile. For other elements it is system memory.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "ccl/engine.h"

namespace cudaccl {

/// Owned by the caller. The allocator and its memory may outlive the engine of the device.
GstAllocator* new_pinned_allocator(std::shared_ptr<ccl::Device> device);

}  // namespace cudaccl
