// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/holes.h"

#include <algorithm>

#include "host/memory.h"
#include "host/stages/row_strips.h"

namespace ccl::host {

namespace {

/// The area of components that touch the frame's border, larger than any hole to fill.
constexpr uint32_t kOutside = std::numeric_limits<uint32_t>::max();

/// Sets the bits of columns begin..end − 1.
void set_bits(uint32_t begin, uint32_t end, uint64_t* row) {
  const uint32_t first = begin / kBitsPerWord;
  const uint32_t last = (end - 1) / kBitsPerWord;
  const uint64_t from_begin = ~uint64_t{0} << (begin % kBitsPerWord);
  const uint64_t to_end = ~uint64_t{0} >> (kBitsPerWord - 1 - (end - 1) % kBitsPerWord);
  if (first == last) {
    row[first] |= from_begin & to_end;
    return;
  }
  row[first] |= from_begin;
  std::fill(row + first + 1, row + last, ~uint64_t{0});
  row[last] |= to_end;
}

}  // namespace

HoleFiller::HoleFiller(uint32_t width, uint32_t height, ThreadPool& pool, const Kernels& kernels)
    : pool_(pool),
      table_(width, height, count_strips(height, pool.n_threads())),
      merger_(table_),
      marks_(uninitialized<uint32_t>(table_.n_local_labels())),
      labeler_(kernels, table_, marks_.get()) {}

void HoleFiller::fill(const Morphology& morphology, Connectivity connectivity, BitImage* bits,
                      BitImage* complement) {
  label(hole_connectivity(connectivity), *bits, complement);
  keep_border_components();
  mark_holes(morphology);
  for_each_strip([&](const Strip& strip) { fill_strip(strip, bits); });
}

template <typename Work>
void HoleFiller::for_each_strip(Work work) {
  pool_.parallel_for(static_cast<uint32_t>(table_.strips().size()),
                     [&](uint32_t i) { work(table_.strips()[i]); });
}

/// Labels the background, and adds up the areas of its components.
void HoleFiller::label(Connectivity connectivity, const BitImage& bits, BitImage* complement) {
  const FrameNeeds needs{.connectivity = connectivity,
                         .pairs = false,
                         .values = false,
                         .areas = true,
                         .marks = true,
                         .sums = false,
                         .moments = false,
                         .shapes = false};
  for_each_strip([&](Strip& strip) {
    for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
      uint64_t* out = complement->row(y);
      std::transform(bits.row(y), bits.row(y) + bits.n_words(), out, [](uint64_t word) { return ~word; });
      out[bits.n_words() - 1] &= bits.last_word_mask();
    }
    labeler_.label({.image = {}, .rule = kBitRule, .bits = complement}, needs, strip);
    merger_.open_borders(strip);
  });
  for (const Strip& strip : table_.strips()) {
    if (strip.index > 0) {
      labeler_.merge_upper_border(needs, strip, merger_.parents());
    }
  }
  merger_.merge();
  merger_.merge_areas(marks_.get());
}

/// Gives the area kOutside to components that touch the frame's border.
void HoleFiller::keep_border_components() {
  const auto keep = [this](uint32_t run) {
    const uint32_t label = table_.label()[run];
    marks_[label] = kOutside;
  };
  for (uint32_t y = 0; y < table_.height(); ++y) {
    const RowRuns row = table_.row(y);
    if (row.begin == row.end) {
      continue;
    }
    if (y == 0 || y + 1 == table_.height()) {
      for (uint32_t run = row.begin; run < row.end; ++run) {
        keep(run);
      }
    } else {
      if (table_.begin()[row.begin] == 0) {
        keep(row.begin);
      }
      if (table_.end()[row.end - 1] == table_.width()) {
        keep(row.end - 1);
      }
    }
  }
  for (const Strip& strip : table_.strips()) {
    for (const uint32_t part : merger_.parts(strip)) {
      if (marks_[part] == kOutside) {
        marks_[merger_.root(part)] = kOutside;
      }
    }
  }
}

/// Makes marks of areas.
void HoleFiller::mark_holes(const Morphology& morphology) {
  for_each_strip([&](const Strip& strip) {
    std::for_each(marks_.get() + strip.first_label, marks_.get() + strip.first_label + strip.n_labels,
                  [&](uint32_t& mark) { mark = fills_hole(morphology, mark, mark == kOutside) ? 1 : 0; });
  });
  merger_.copy_to_parts(marks_.get());
}

void HoleFiller::fill_strip(const Strip& strip, BitImage* bits) const {
  for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
    const RowRuns row = table_.row(y);
    for (uint32_t run = row.begin; run < row.end; ++run) {
      if (marks_[table_.label()[run]] != 0) {
        set_bits(table_.begin()[run], table_.end()[run], bits->row(y));
      }
    }
  }
}

}  // namespace ccl::host
