// SPDX-License-Identifier: LGPL-2.1-or-later
/// Records, tracks and events as rows of CSV: the flat form of docs/json.md.
#pragma once

#include "cudaccl/gstcudacclmeta.h"

namespace examples {

/// A table appends the rows of a frame to `text`.
struct RecordTable {
  const char* columns;
  void (*append)(const GstCudaCclInfo& info, GstClockTime running_time, GString* text);
};

extern const RecordTable kComponentTable;
extern const RecordTable kTrackTable;
extern const RecordTable kEventTable;

}  // namespace examples
