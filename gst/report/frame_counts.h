// SPDX-License-Identifier: LGPL-2.1-or-later
/// The counts of a frame that applications can read, except what the filter removed: `stats` has that per
/// condition, see ccl::kFilterConditionNames. A new one is a row here.
#pragma once

#include <gst/gst.h>

#include "ccl/engine.h"

namespace cudaccl {

/// A count in the frame's message and, summed over all frames, in `stats`.
struct FrameCount {
  const char* message_field;
  const char* stats_field;
  GType type;  ///< in the message: G_TYPE_UINT or G_TYPE_BOOLEAN; in `stats` all are G_TYPE_UINT64
  guint (*value)(const ccl::FrameResult&);
};

inline constexpr FrameCount kFrameCounts[] = {
    {"n-components", "components", G_TYPE_UINT, [](const auto& r) -> guint { return r.counts.n_components; }},
    {"overflow", "overflow", G_TYPE_BOOLEAN, [](const auto& r) -> guint { return r.overflow; }},
    {"level", "levels", G_TYPE_UINT, [](const auto& r) -> guint { return r.counts.level; }},
    {"relearning", "relearning", G_TYPE_BOOLEAN, [](const auto& r) -> guint { return r.counts.relearning; }},
};

}  // namespace cudaccl
