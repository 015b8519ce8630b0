// SPDX-License-Identifier: LGPL-2.1-or-later
/// The time of every kernel in what is enqueued on a stream, without a hand in who enqueues it.
#pragma once

#include <functional>
#include <vector>

#include "ccl/status.h"
#include "device/memory.h"
#include "label_subject.h"

namespace ccl::bench {

/// Captures what `enqueue` puts on `stream` as a graph, which must be a chain, puts an event after each
/// of its nodes, and runs it `n_runs` times. The events take away the overlap of one kernel's end with the
/// next one's start, so the sum is more than the graph's time without them.
/// kUnsupported where the steps cannot be timed separately.
Status time_steps(const device::Stream& stream, const std::function<Status()>& enqueue, int n_runs,
                  std::vector<Step>* steps);

}  // namespace ccl::bench
