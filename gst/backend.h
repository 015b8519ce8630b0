// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which engine labels, and how its failures are told.
#pragma once

#include <gst/gst.h>

#include <memory>

#include "ccl/engine.h"
#include "cuda_context.h"
#include "properties.h"

namespace cudaccl {

/// The engine that the properties ask for. BackendChoice::kAuto takes the CPU where there is no usable GPU
/// and says so once in a message; kCuda fails there. A GPU engine works in `context` if
/// it suits, and must not outlive it.
ccl::Status make_engine(GstElement* element, const Properties& properties, const CudaContext& context,
                        std::unique_ptr<ccl::Engine>* engine);

/// Posts an element error for a status that is not ok.
void post_error(GstElement* element, const ccl::Status& status);

}  // namespace cudaccl
