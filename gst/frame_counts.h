// SPDX-License-Identifier: LGPL-2.1-or-later
/// The counts of a frame that applications can read. A new one is a row here.
#pragma once

#include <gst/gst.h>

#include "ccl/engine.h"

namespace cudaccl {

/// A count in the frame's message and, summed over all frames, in `stats`.
struct FrameCount {
  const char* message_field;  ///< null: the message has no such field
  const char* stats_field;
  GType type;  ///< in the message: G_TYPE_UINT or G_TYPE_BOOLEAN; in `stats` all are G_TYPE_UINT64
  guint (*value)(const ccl::FrameResult&);
};

template <ccl::FilterCondition condition>
guint n_removed_by(const ccl::FrameResult& result) {
  return result.counts.n_removed[condition];
}

inline constexpr FrameCount kFrameCounts[] = {
    {"n-components", "components", G_TYPE_UINT, [](const auto& r) -> guint { return r.counts.n_components; }},
    {"overflow", "overflow", G_TYPE_BOOLEAN, [](const auto& r) -> guint { return r.overflow; }},
    {"level", "levels", G_TYPE_UINT, [](const auto& r) -> guint { return r.counts.level; }},
    {"relearning", "relearning", G_TYPE_BOOLEAN, [](const auto& r) -> guint { return r.counts.relearning; }},
    {nullptr, "removed-by-min-area", G_TYPE_UINT, n_removed_by<ccl::kMinArea>},
    {nullptr, "removed-by-max-area", G_TYPE_UINT, n_removed_by<ccl::kMaxArea>},
    {nullptr, "removed-by-min-width", G_TYPE_UINT, n_removed_by<ccl::kMinWidth>},
    {nullptr, "removed-by-min-height", G_TYPE_UINT, n_removed_by<ccl::kMinHeight>},
    {nullptr, "removed-by-max-width", G_TYPE_UINT, n_removed_by<ccl::kMaxWidth>},
    {nullptr, "removed-by-max-height", G_TYPE_UINT, n_removed_by<ccl::kMaxHeight>},
    {nullptr, "removed-by-clear-border", G_TYPE_UINT, n_removed_by<ccl::kClearBorder>},
    {nullptr, "removed-by-min-extent", G_TYPE_UINT, n_removed_by<ccl::kMinExtent>},
    {nullptr, "removed-by-min-circularity", G_TYPE_UINT, n_removed_by<ccl::kMinCircularity>},
    {nullptr, "removed-by-max-eccentricity", G_TYPE_UINT, n_removed_by<ccl::kMaxEccentricity>},
    {nullptr, "removed-by-top-n", G_TYPE_UINT, n_removed_by<ccl::kTopN>},
};

}  // namespace cudaccl
