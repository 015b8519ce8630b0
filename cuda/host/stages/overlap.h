// SPDX-License-Identifier: LGPL-2.1-or-later
/// Counts the pixels that components of two frames have in common.
#pragma once

#include <cstdint>
#include <memory>

#include "host/stages/kept_runs.h"
#include "track/tables.h"

namespace ccl::host {

class OverlapCounter {
 public:
  /// Takes all memory for frames of this height.
  OverlapCounter(uint32_t height, const track::TrackSizes& sizes);

  /// Counts the overlaps of two frames. `n_current` is the number of records of the current one. False if
  /// there are more pairs than TrackSizes::max_overlaps(); then the overlaps are of no use.
  bool count(const KeptRuns& previous, const KeptRuns& current, uint32_t n_current);

  /// In the order in which their first pixels are in the frame. Valid until the next call.
  const track::Overlap* overlaps() const { return overlaps_.get(); }
  uint32_t n_overlaps() const { return n_overlaps_; }

 private:
  /// The overlaps of a component of the current frame. Without initial values: long tables are not filled in
  /// advance, as KeptRuns.
  struct Pairs {
    uint32_t last;           ///< the one that was counted last
    uint32_t last_previous;  ///< its component of the frame before
    uint32_t first;          ///< the head of a list of at most kListed overlaps
    uint32_t n_listed;
  };
  static constexpr Pairs kNoPairs{track::kNone, track::kNone, track::kNone, 0};

  /// Most components overlap a few of the other frame, which are found in a list. Further ones are found in a
  /// hash table.
  static constexpr uint32_t kListed = 8;

  void clear(uint32_t n_current);
  bool add_row(const KeptRuns& previous, const KeptRuns& current, uint32_t y, uint32_t n_rows);
  bool add(uint32_t previous, uint32_t current, uint32_t n_pixels);
  uint32_t* find_slot(uint32_t previous, uint32_t current);

  uint32_t height_;
  uint32_t max_overlaps_;
  uint32_t slot_bits_;
  uint32_t n_overlaps_ = 0;
  uint32_t n_hashed_ = 0;
  std::unique_ptr<track::Overlap[]> overlaps_;
  std::unique_ptr<Pairs[]> pairs_of_;    ///< per component of the current frame
  std::unique_ptr<uint32_t[]> next_of_;  ///< per overlap in a list: the next one; kNone
  std::unique_ptr<uint32_t[]> slots_;    ///< with open addressing: 1 + an overlap, or 0
  std::unique_ptr<uint32_t*[]> hashed_;  ///< the slots that are used
};

}  // namespace ccl::host
