// SPDX-License-Identifier: LGPL-2.1-or-later
/// A pipeline with a frame's device memory.
#pragma once

#include <memory>

#include "device/memory.h"
#include "subject.h"

namespace ccl::bench {

/// Timed on `stream`, which must outlive it.
Status make_pipeline_subject(const Config& config, const device::Stream& stream,
                             std::unique_ptr<Subject>* subject);

}  // namespace ccl::bench
