// SPDX-License-Identifier: LGPL-2.1-or-later
/// How long a thread polls for an event. Apart from memory.h, which all kernels include: <chrono> takes long
/// to compile.
#pragma once

#include <chrono>

#include "device/memory.h"

namespace ccl::device {

/// Whether the event has occurred, or a failure that synchronize() reports.
bool has_ended(const Event& event);

/// Waits for the event: polls for so long, then sleeps.
Status synchronize(const Event& event, std::chrono::microseconds polled);

}  // namespace ccl::device
