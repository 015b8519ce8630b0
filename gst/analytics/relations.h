// SPDX-License-Identifier: LGPL-2.1-or-later
/// The one GstAnalyticsRelationMeta of a buffer, which all elements share. Only where has_analytics().
#pragma once

#include <cstdint>
#include <string>

#include "analytics/gst_analytics.h"

namespace cudaccl {

/// GLib keeps names until the process ends, and the memory for n of them grows with n². For so many it is
/// 12 MiB.
inline constexpr uint32_t kMaxNamedLabel = 65535;

/// The name of a record in analytics: SOURCE#LABEL, from the `source` of its GstCudaCclMeta and its `label`.
/// SOURCE#0, which names no record, if the label is above kMaxNamedLabel.
std::string record_key(const std::string& source, uint32_t label);

/// How many entries, and how many bytes for them, are to be added.
struct RelationRoom {
  gsize entries;
  gsize bytes;
};

/// The meta of the buffer without what this source has added before, and with room for more; null if nothing
/// is left and no room is asked for. The library cannot remove an entry, and takes a new matrix of relations
/// whenever it needs room for a few more, so what stays is moved into a new meta.
GstAnalyticsRelationMeta* renew_relations(GstBuffer* buffer, const std::string& source, RelationRoom room);

}  // namespace cudaccl
