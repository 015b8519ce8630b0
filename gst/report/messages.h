// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element messages about frames. Each has the source, the number and the times of the frame, and the
/// backend.
#pragma once

#include <gst/base/gstbasetransform.h>

#include "ccl/engine.h"
#include "cudaccl/gstcudacclmeta.h"
#include "metadata/frame_identity.h"
#include "report/track_events.h"

namespace cudaccl {

/// What posts messages.
struct MessageSource {
  GstBaseTransform* element;
  GstBuffer* buffer;  ///< whose times they have
  const FrameIdentity& frame;
};

/// Posts the message `cudaccl` with kFrameCounts. If `records` is not null, also with all fields of
/// GstCudaCclMeta.
void post_frame_message(const MessageSource& source, const ccl::FrameResult& result,
                        const GstCudaCclInfo* records);

/// Posts a message `cudaccl-event` for each event, with its fields.
void post_event_messages(const MessageSource& source, const TrackedFrame& tracked);

/// Posts the message `cudaccl-relearning`: with this frame the background model begins to learn.
void post_relearning_message(const MessageSource& source);

}  // namespace cudaccl
