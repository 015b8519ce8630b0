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
  uint32_t is_cut;        ///< 1: between members
  uint32_t first_of_cut;  ///< then the head of a list of those, by their age
  track::Box group;
};

/// Per track.
struct GuideMember {
  uint64_t largest;  ///< of its parts: the area, then ~ the record index
  uint32_t component;
  uint32_t next;
  uint32_t rank;
  uint32_t share;
  track::Ellipse ellipse;
};

/// All pointers are device memory.
struct GuideTable {
  GuideComponent* components;  ///< per basin
  GuideMember* members;        ///< per track
  uint32_t* n_cut;             ///< components that are cut between members
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
  /// Takes memory that lasts.
  Status configure(const track::TrackTables& tables);
  /// Takes the memory for frames with so many basins. What was taken is kept.
  Status prepare(size_t n_basins);

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
  GuideTable table() const { return {components_.data(), members_.data(), n_cut_.data()}; }

  track::TrackTables tracks_;
  track::TrackStep step_;
  GuidedParts parts_{};
  uint32_t width_ = 0;
  size_t n_basins_ = 0;
  DeviceArray<GuideComponent> components_;
  DeviceArray<GuideMember> members_;
  DeviceArray<uint32_t> n_cut_;
  DeviceArray<uint32_t> arrivals_;
  DeviceArray<track::Origin> origins_;
};

}  // namespace ccl::device
