// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/overlap.h"

#include <algorithm>
#include <bit>

namespace ccl::host {

OverlapCounter::OverlapCounter(uint32_t height, const track::TrackSizes& sizes)
    : height_(height),
      max_overlaps_(sizes.max_overlaps()),
      // At most half full, so that searches are short.
      slot_bits_(std::bit_width(2 * max_overlaps_ - 1)),
      overlaps_(std::make_unique_for_overwrite<track::Overlap[]>(max_overlaps_)),
      pairs_of_(std::make_unique_for_overwrite<Pairs[]>(sizes.max_components)),
      next_of_(std::make_unique_for_overwrite<uint32_t[]>(max_overlaps_)),
      slots_(std::make_unique<uint32_t[]>(size_t{1} << slot_bits_)),
      hashed_(std::make_unique_for_overwrite<uint32_t*[]>(max_overlaps_)) {}

void OverlapCounter::clear(uint32_t n_current) {
  std::for_each(hashed_.get(), hashed_.get() + n_hashed_, [](uint32_t* slot) { *slot = 0; });
  n_hashed_ = 0;
  n_overlaps_ = 0;
  std::fill_n(pairs_of_.get(), n_current, kNoPairs);
}

/// The slot of a pair, or the free one where it belongs.
uint32_t* OverlapCounter::find_slot(uint32_t previous, uint32_t current) {
  const uint32_t mask = (1u << slot_bits_) - 1;
  uint32_t slot = (previous * 0x9e3779b1u ^ current * 0x85ebca6bu) >> (32 - slot_bits_);
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const track::Overlap& overlap = overlaps_[slots_[slot] - 1];
    if (overlap.previous == previous && overlap.current == current) {
      break;
    }
  }
  return &slots_[slot];
}

/// False if there is no room.
bool OverlapCounter::add(uint32_t previous, uint32_t current, uint32_t n_pixels) {
  Pairs& pairs = pairs_of_[current];
  uint32_t found = pairs.first;
  while (found != track::kNone && overlaps_[found].previous != previous) {
    found = next_of_[found];
  }
  uint32_t* slot = nullptr;
  if (found == track::kNone && pairs.n_listed == kListed) {
    slot = find_slot(previous, current);
    found = *slot - 1;  // kNone if it is free
  }
  if (found != track::kNone) {
    overlaps_[found].pixels += n_pixels;
    pairs.last = found;
    pairs.last_previous = previous;
    return true;
  }
  if (n_overlaps_ == max_overlaps_) {
    return false;
  }
  overlaps_[n_overlaps_] = {previous, current, n_pixels};
  pairs.last = n_overlaps_;
  pairs.last_previous = previous;
  if (slot != nullptr) {
    *slot = n_overlaps_ + 1;
    hashed_[n_hashed_++] = slot;
  } else {
    next_of_[n_overlaps_] = pairs.first;
    pairs.first = n_overlaps_;
    ++pairs.n_listed;
  }
  ++n_overlaps_;
  return true;
}

/// Adds the overlaps of row y, which is the same in both frames for `n_rows` rows.
bool OverlapCounter::add_row(const KeptRuns& previous, const KeptRuns& current, uint32_t y, uint32_t n_rows) {
  const KeptRun* p = previous.runs() + previous.row(y).begin;
  const KeptRun* p_end = previous.runs() + previous.row(y).end;
  const KeptRun* c = current.runs() + current.row(y).begin;
  const KeptRun* c_end = current.runs() + current.row(y).end;
  while (p != p_end && c != c_end) {
    const uint32_t begin = std::max(p->x0, c->x0);
    const uint32_t end = std::min(p->x1, c->x1);
    if (begin < end) {
      // Most runs continue a pair of the row above.
      const Pairs& pairs = pairs_of_[c->record];
      if (pairs.last_previous == p->record) {
        overlaps_[pairs.last].pixels += (end - begin) * n_rows;
      } else if (!add(p->record, c->record, (end - begin) * n_rows)) {
        return false;
      }
    }
    const bool p_ends_first = p->x1 < c->x1;
    p += p_ends_first ? 1 : 0;
    c += p_ends_first ? 0 : 1;
  }
  return true;
}

bool OverlapCounter::count(const KeptRuns& previous, const KeptRuns& current, uint32_t n_current) {
  clear(n_current);
  for (uint32_t y = 0; y < height_;) {
    uint32_t end = y + 1;
    while (end < height_ && previous.row(end) == previous.row(y) && current.row(end) == current.row(y)) {
      ++end;
    }
    if (!add_row(previous, current, y, end - y)) {
      return false;
    }
    y = end;
  }
  return true;
}

}  // namespace ccl::host
