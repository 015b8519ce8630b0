// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element's answers to queries, and its latency.
#pragma once

#include <gst/gst.h>

#include <optional>

#include "element/private.h"

namespace cudaccl {

/// The latency added by frames in flight.
GstClockTime latency_of(const Private& priv);

/// Posts a LATENCY message unless the latency is the same as before.
void report_latency_change(GstCudaCcl* self, GstClockTime before);

/// TRUE or FALSE if that is the answer, nothing if the base class has it.
std::optional<gboolean> answer(GstCudaCcl* self, GstPadDirection direction, GstQuery* query);

}  // namespace cudaccl
