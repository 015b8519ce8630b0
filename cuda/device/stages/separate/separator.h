// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that separates objects that touch: rule in ccl/parts.h.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/config.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/stages/separate/distance.h"
#include "device/stages/separate/guide.h"
#include "device/stages/separate/region_table.h"

namespace ccl::device {

class Separator {
 public:
  /// Takes the memory for frames with these settings, and that of the guide, which may be null. What was
  /// taken is kept.
  Status prepare(const Settings& settings, uint32_t width, uint32_t height, Guide* guide);

  /// Enqueues the change of the root map of components to that of their parts.
  Status run(const Settings& settings, uint32_t* root_map, cudaStream_t stream);

  /// Enqueues the writing of parts as values; see join_to_values(). `guide`: tracks that guide the cuts, for
  /// which prepare() took memory; or null. Roots: RootMap or Mask.
  template <typename RootsOf>
  Status run(const Settings& settings, const RootsOf& roots, size_t pitch, uint8_t* values, Guide* guide,
             cudaStream_t stream);

 private:
  template <typename RootsOf>
  Status find_basins(const Settings& settings, const RootsOf& roots, cudaStream_t stream);
  RegionTable table() const;
  size_t max_basins(const Settings& settings) const;

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  DistanceTransform distance_;
  DeviceArray<uint16_t> raw_heights_;
  DeviceArray<uint16_t> heights_;
  DeviceArray<uint32_t> basins_;
  DeviceArray<uint32_t> links_;
  DeviceArray<BasinLink> expanded_;
  DeviceArray<SeparationCounts> counts_;
  DeviceArray<uint32_t> arrivals_;
  // Per basin.
  size_t n_basins_ = 0;
  DeviceArray<RegionSums> sums_;
  DeviceArray<uint64_t> best_;
  DeviceArray<uint32_t> words_;  ///< the table's arrays of words
};

}  // namespace ccl::device
