// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tracks that guide how components are cut. The rules are in track/guide.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ccl/component.h"
#include "host/stages/kept_runs.h"
#include "host/stages/separate/hills.h"
#include "host/stages/separate/regions.h"
#include "host/stages/track.h"
#include "track/guide.h"

namespace ccl::host {

class Guide {
 public:
  /// Takes all memory that frames need.
  Guide(uint32_t width, uint32_t height, uint32_t max_tracks);

  /// Decides how the components of a frame are cut. Returns false if by their shape alone.
  bool decide(const Hills& hills, const Regions& regions, const ExpectedTracks& tracks);

  /// Writes the colours of the parts in a row.
  void paint(const Regions& regions, uint32_t y, uint8_t* row) const;

  /// After decide() returned true, for the components of the frame that was painted: writes what each of the
  /// `n_records` is. `colors`: as painted, dense.
  void find_origins(const Hills& hills, const Regions& regions, const uint8_t* colors, const KeptRuns& runs,
                    std::span<const CclComponent> records, track::Origin* origins);

 private:
  /// Of parts that are united, the one with the smallest number has what is the component's.
  struct Component {
    uint32_t parent;
    uint32_t n_parts = 0;
    uint64_t area = 0;
    uint32_t first_member = track::kNone;  ///< the head of a list
    uint32_t n_members = 0;
    uint32_t n_samples = 0;  ///< in the box of the track that is looked at
    uint32_t first_sample = 0;
    bool has_record = false;
    track::Box group = {};
    bool is_cut = false;  ///< between its members
  };
  struct Member {
    uint32_t component;
    uint32_t next;
    uint32_t rank;
    uint32_t largest;  ///< the record of its largest part
    track::Ellipse ellipse;
  };

  void unite_parts(const Hills& hills, const Regions& regions);
  void find_members(const Hills& hills, const Regions& regions, const ExpectedTracks& tracks);
  void find_component(const Hills& hills, const Regions& regions, const ExpectedTracks& tracks, uint32_t i);
  void choose_members(Component* component);
  uint32_t find(uint32_t part);
  uint32_t component_of(uint32_t part) const { return components_[part].parent; }
  uint32_t member_of(uint32_t part, uint8_t color) const;
  uint8_t color_of(const Component& component, uint32_t x, uint32_t y) const;

  uint32_t width_;
  uint32_t height_;
  std::unique_ptr<Component[]> components_;  ///< per part
  std::unique_ptr<Member[]> members_;        ///< per track
  std::vector<uint32_t> guides_;             ///< tracks that are members
  std::vector<uint32_t> touched_;            ///< components in the box of a track
};

}  // namespace ccl::host
