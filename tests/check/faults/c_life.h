// SPDX-License-Identifier: LGPL-2.1-or-later
/// The life of an engine of the C interface: several configurations, regions, frames in flight, refusals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cudaccl/cudaccl.hpp"
#include "sweep.h"

namespace faults {

/// Plays the life, of which sweep() lets one request after another fail.
class CLife {
 public:
  explicit CLife(uint32_t backend);

  /// From the new engine until it is freed. After a failure the engine must still work when it is configured
  /// again, with the regions that the last successful call set; else there is a second error.
  Story live();

 private:
  bool play();
  bool play_tracks();
  bool play_rules();
  bool play_motion();
  bool play_parts();
  bool make_engine();
  bool read_regions(const std::string& text);
  bool configure(const char* algorithm, uint32_t output, uint32_t planes, uint32_t max_tracks);
  bool push();
  bool pop(bool with_shapes);
  bool refuse();
  bool took(CudacclStatus status, const CudacclEngine* engine);
  void note(const CudacclResult& result);
  /// The labels of a frame with the regions that the engine has now; 0 after an error.
  uint64_t labels_now();
  void check_engine();
  void end();

  const uint32_t backend_;
  std::vector<uint8_t> image_;   ///< three frames of NV12
  std::vector<uint8_t> output_;  ///< for each slot
  std::vector<uint32_t> planes_;
  cudaccl::Input input_;
  cudaccl::Settings settings_;
  CudacclEngine* engine_ = nullptr;
  CudacclRegions* regions_ = nullptr;
  size_t n_set_ = 0;                         ///< how many calls have set regions
  std::vector<uint64_t> labels_after_sets_;  ///< by that number, found in the first life
  uint32_t n_pushed_ = 0;
  uint32_t n_popped_ = 0;
  uint32_t output_kind_ = 0;
  uint32_t plane_kinds_ = 0;
  Story story_;
};

}  // namespace faults
