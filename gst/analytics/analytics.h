// SPDX-License-Identifier: LGPL-2.1-or-later
/// The part that needs GStreamer's analytics library, 1.24 or newer.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analytics/instance_mask.h"
#include "analytics/sightings.h"
#include "ccl/component.h"
#include "ccl/status.h"
#include "ccl/track.h"
#include "metadata/frame_identity.h"

namespace cudaccl {

/// True in a build with the library.
bool has_analytics();
/// True in a build with 1.26 or newer, which has masks and rotated boxes.
bool has_segmentation();

/// GStreamer keeps a byte for each pair of entries of a GstAnalyticsRelationMeta, and a detection has two
/// entries, or three with its track. So more detections take hundreds of megabytes and seconds a frame.
inline constexpr size_t kMaxDetections = 1024;

/// What Analytics::attach() says about a frame. It points to the caller's data.
struct AnalyticsFrame {
  FrameIdentity identity;
  std::span<const CclComponent> objects;  ///< the largest first
  size_t max_objects;                     ///< which `objects` has at most
  std::span<const CclTrack> tracks;       ///< by ascending id; empty without tracks
  bool has_detections;                    ///< `metadata=analytics`
  bool has_rotation;                      ///< `metadata=oriented`: detections of components with moments
  LabelImage labels;                      ///< for a mask of the objects; no labels, no mask
  gint mask_x, mask_y;                    ///< where the mask lies in the picture
};

/// Puts the objects of frames into the GstAnalyticsRelationMeta of their buffers. It keeps its memory from
/// frame to frame.
class Analytics {
 public:
  /// A stream begins, or has ended: forgets its tracks, and gives the memory of masks back.
  void clear() {
    sightings_.clear();
    mask_.clear();
  }
  /// Gives the memory of masks back.
  void clear_masks() { mask_.clear(); }
  /// All tracks of the next frame, by ascending id.
  void count(std::span<const CclTrack> tracks) { sightings_.count(tracks); }

  /// Adds to the buffer's GstAnalyticsRelationMeta, in place of what the same source has added before, as
  /// docs/metadata.md describes it: for each of the kMaxDetections largest objects a detection, which
  /// contains its key and relates to its track; and a mask, which relates to the detections. Only where
  /// has_analytics(). kOutOfMemory.
  ccl::Status attach(GstBuffer* buffer, const AnalyticsFrame& frame);

 private:
  struct Writer;

  Sightings sightings_;
  InstanceMask mask_;
  std::vector<uint32_t> track_entries_;  ///< 1 + the entry of tracks[i], 0 if there is none yet
  std::vector<uint32_t> detections_;     ///< the entry of objects[i], if it has one
  std::vector<uint32_t> keys_;           ///< quark of objects[i]
  std::vector<uint32_t> classes_;        ///< of regions
  std::vector<uint32_t> region_ids_;
  std::vector<float> levels_;
};

}  // namespace cudaccl
