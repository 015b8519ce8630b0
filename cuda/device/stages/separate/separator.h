// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that separates objects that touch: rule in ccl/parts.h.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
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
  /// Which pixels a summit is compared with. That limits how many there are.
  enum Neighbours { kEight, kFour, kOfOneValue, kNeighboursCount };

  static Neighbours neighbours_of(const Settings& settings);
  size_t max_basins(Neighbours neighbours) const;
  RegionTable table(const Settings& settings) const;

  struct BasinArrays {
    size_t n = 0;
    DeviceArray<RegionSums> sums;
    DeviceArray<uint64_t> best;
    DeviceArray<uint32_t> words;  ///< the table's arrays of words
  };

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
  /// Each is taken when it is needed, and kept, because graphs refer to it.
  std::array<BasinArrays, kNeighboursCount> arrays_;
};

}  // namespace ccl::device
