// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which frame of which element a report is about.
#pragma once

#include <gst/gst.h>

#include "report/time_of_day.h"

namespace cudaccl {

/// What metadata and messages say about where they come from.
struct FrameIdentity {
  const gchar* source;       ///< the property `meta-name` if it is set, else the element's name; never null
  guint64 number;            ///< frames that this element labelled before, since READY→PAUSED
  const gchar* object_type;  ///< the property `object-type`; empty if it is not set, never null
  const gchar* backend;      ///< where it was labelled: `cpu` or `cuda`; never null
  TimeOfDay time;            ///< when it was captured
};

}  // namespace cudaccl
