// SPDX-License-Identifier: LGPL-2.1-or-later
/// The graphs of a slot, by the memory and the settings that they were captured for.
///
/// Frames that lie on the GPU already are processed where they lie. They come from pools, so the same
/// addresses return, and a graph for each is kept.
#pragma once

#include <array>
#include <cstdint>

#include "ccl/config.h"
#include "device/graph.h"
#include "device/pipeline.h"
#include "device/stages/segment/segmenter.h"

namespace ccl::device {

class GraphCache {
 public:
  /// Frames with equal keys are the same work.
  struct Key {
    FrameBuffers frame{};
    Settings settings;
    SegmentPlan segment;

    bool operator==(const Key&) const = default;
  };

  struct Entry {
    Graph graph;
    Key key;
    uint32_t marks = 0;     ///< the stages that the graph marks, a bit for each
    uint64_t last_use = 0;  ///< number of the frame
  };

  /// The entry of this key. If there is none, capture(&entry->graph, &entry->marks) fills the entry that was
  /// not used for the longest time; if it fails, all graphs are dropped, because they may refer to memory
  /// that was released.
  template <typename Capture>
  Status find(const Key& key, Capture capture, Entry** found) {
    Entry* entry = find_captured(key);
    if (entry == nullptr) {
      entry = least_recently_used();
      if (Status status = capture(&entry->graph, &entry->marks); !status.ok()) {
        clear();
        return status;
      }
      entry->key = key;
    }
    entry->last_use = ++n_frames_;
    *found = entry;
    return {};
  }

  /// Drops all graphs.
  void clear();

 private:
  Entry* find_captured(const Key& key);
  Entry* least_recently_used();

  /// As many as pairs of a buffer of two pools that take turns.
  std::array<Entry, 64> entries_;
  uint64_t n_frames_ = 0;
};

}  // namespace ccl::device
