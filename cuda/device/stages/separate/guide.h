// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tracks that guide how components are cut. The rules are in track/guide.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/component.h"
#include "ccl/counts.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/stages/separate/region_table.h"
#include "device/stages/track/index_map.h"
#include "track/guide.h"

namespace ccl::device {

/// Of parts that are united, one has what is the component's.
struct GuideComponent {
  uint64_t area;
  uint32_t parent;
  uint32_t n_parts;
  uint32_t first_member;  ///< the head of a list
  uint32_t n_members;
  uint32_t cut;  ///< the index of a GuideCut; track::kNone: it is cut by its shape
};

/// A component that is cut between members.
struct GuideCut {
  uint32_t first_member;  ///< the head of a list, by their age
  track::Box group;       ///< of its parts that have a record
};

/// Per track.
struct GuideMember {
  uint64_t largest;  ///< of its parts: the area, then ~ the record index
  uint32_t component;
  uint32_t next;
  uint32_t rank;
  track::Ellipse ellipse;
};

/// All pointers are device memory.
struct GuideTable {
  GuideComponent* components;  ///< per basin
  GuideMember* members;        ///< per track
  GuideCut* cuts;              ///< in any order; a cut has two members at least
  uint32_t* n_cuts;
};

/// The parts that were written: what find_origins() reads of them.
struct GuidedParts {
  const uint32_t* basins;
  const uint32_t* parts;  ///< per basin: RegionTable::regions
  const uint8_t* values;
  size_t pitch;
};

/// One per engine, beside its tracks. For each frame: set_step(), then decide() and write_parts() behind the
/// joining of basins, then find_origins() behind the map of records.
class Guide {
 public:
  void configure(const track::TrackTables& tables) { tracks_ = tables; }
  /// Takes all memory, with the first frame that is separated: later graphs of all slots have its addresses.
  Status prepare(uint32_t width, uint32_t height);

  void set_step(const track::TrackStep& step) { step_ = step; }

  /// Enqueues the decision which components are cut between tracks.
  Status decide(const RegionTable& regions, cudaStream_t stream) const;
  /// Enqueues the writing of parts as values; see join_to_values().
  Status write_parts(const RegionTable& regions, size_t pitch, uint8_t* values, cudaStream_t stream);
  /// Enqueues the writing of origins(), for the records of the newest map.
  Status find_origins(const FrameCounts* counts, const CclComponent* records, const IndexMaps& maps,
                      cudaStream_t stream) const;

  track::Origin* origins() const { return origins_.data(); }

  /// The kernel of decide(). Its last argument is the step, so that a graph can replace it for each frame.
  static const void* kernel();
  static constexpr uint32_t kArguments = 5;

 private:
  GuideTable table() const { return {components_.data(), members_.data(), cuts_.data(), n_cuts_.data()}; }

  track::TrackTables tracks_;
  track::TrackStep step_;
  GuidedParts parts_{};
  uint32_t width_ = 0;
  DeviceArray<GuideComponent> components_;
  DeviceArray<GuideMember> members_;
  DeviceArray<GuideCut> cuts_;
  DeviceArray<uint32_t> n_cuts_;
  DeviceArray<uint32_t> arrivals_;
  DeviceArray<track::Origin> origins_;
};

}  // namespace ccl::device
