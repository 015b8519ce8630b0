// SPDX-License-Identifier: LGPL-2.1-or-later
/// Where the records of a frame's components go.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/counts.h"
#include "device/runs/kernel_settings.h"

namespace ccl::device::runs {

/// Which record a component's sums go to. What each emission does with FrameCounts and its own arrays:
///
///     emission    resets first            counts                     writes, for each component
///     kNone       nothing                 nothing                    nothing
///     kByLabel    nothing                 n_labels, n_components     records[label − 1] if the table has it
///     kAppended   n_components, is_kept   n_labels, n_components     if kept: next record, bit in is_kept
///                 n_removed (*)           n_removed (*)              (*) with a full filter
///     kMarks      n_removed (*)           n_labels, n_removed (*)    index_or_mark[label − 1]: its mark
///     kSelected   nothing                 n_labels                   records[index_or_mark[label − 1]]
enum class Emission : uint8_t {
  kNone,      ///< maps only
  kByLabel,   ///< no filter
  kAppended,  ///< with a filter; RecordOrder sorts the records
  kMarks,     ///< the first pass of a frame with Filter::top_n, or that overflows the table
  kSelected,  ///< the second pass
};

constexpr bool counts_labels(Emission emission) {
  return emission != Emission::kNone;
}
/// Whether all components are kept, so that n_components is n_labels.
constexpr bool counts_all_as_kept(Emission emission) {
  return emission == Emission::kByLabel;
}
/// Whether what a full filter removes is counted.
constexpr bool counts_removed(Emission emission) {
  return emission == Emission::kAppended || emission == Emission::kMarks;
}
constexpr bool appends(Emission emission) {
  return emission == Emission::kAppended;
}

/// An emission with its settings and arrays.
struct Emitter {
  Emission emission;
  KernelSettings settings;
  uint32_t max_components;
  CclComponent* records;
  FrameCounts* counts;
  uint32_t max_labels;      ///< that a frame may have
  uint32_t* is_kept;        ///< a bit per label
  uint32_t* index_or_mark;  ///< per label
};

}  // namespace ccl::device::runs
