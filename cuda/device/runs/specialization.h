// SPDX-License-Identifier: LGPL-2.1-or-later
/// What kernels assume of a frame. A block runs through a kernel once and waits for many of its instructions,
/// so the frequent cases have kernels without the instructions that they do not need.
#pragma once

#include "device/runs/emission.h"
#include "device/runs/paint_rule.h"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

enum class Specialization : uint8_t {
  kParked,    ///< more tiles than blocks: a block parks a tile in device memory while it processes another
  kGeneral,   ///< a block for each tile, as for the next three
  kRecords,   ///< records of all components, no pixels
  kColors,    ///< records of all components, and their colours
  kFiltered,  ///< a full filter
  kFilteredParked,  ///< the same, with more tiles than blocks
};

inline constexpr Specialization kSpecializations[] = {
    Specialization::kParked, Specialization::kGeneral,  Specialization::kRecords,
    Specialization::kColors, Specialization::kFiltered, Specialization::kFilteredParked};

constexpr bool has_resident_tiles(Specialization specialization) {
  return specialization != Specialization::kParked && specialization != Specialization::kFilteredParked;
}

/// Whether a kernel applies all conditions of a filter, and counts what they remove. The others apply the
/// limits of the area only. Filter::top_n is no condition of one component: the stages of published labelers
/// apply it.
constexpr bool has_full_filter(Specialization specialization) {
  return specialization == Specialization::kFiltered || specialization == Specialization::kFilteredParked;
}

/// Whether a kernel assumes, in addition to resident tiles: rows of whole chunks, aligned unless a bit
/// image is read, a filter that keeps all components, and one paint mode whose values do not depend on areas.
constexpr bool is_plain(Specialization specialization) {
  return specialization == Specialization::kRecords || specialization == Specialization::kColors;
}

constexpr PaintMode paint_mode_of(Specialization plain) {
  return plain == Specialization::kRecords ? PaintMode::kNone : PaintMode::kColor;
}

/// The kernel for a frame. Maps show all components, so they need no filter.
constexpr Specialization specialization_of(const Tiles& tiles, bool has_bits, uint32_t n_blocks,
                                           const Emitter& emitter, const PaintRule& rule,
                                           bool is_full_filter) {
  const bool is_filtered = is_full_filter && emitter.emission != Emission::kNone;
  if (tiles.count() > n_blocks) {
    return is_filtered ? Specialization::kFilteredParked : Specialization::kParked;
  }
  if (is_filtered) {
    return Specialization::kFiltered;
  }
  if ((!has_bits && !tiles.is_aligned) || !tiles.has_whole_chunks || emitter.emission != Emission::kByLabel ||
      rule.needs_areas) {
    return Specialization::kGeneral;
  }
  for (const Specialization plain : {Specialization::kRecords, Specialization::kColors}) {
    if (rule.mode == paint_mode_of(plain)) {
      return plain;
    }
  }
  return Specialization::kGeneral;
}

/// Makes the assumptions of specialization_of() constants for the compiler.
template <Specialization kSpecialization>
constexpr void assume(Tiles& tiles, Emitter& emitter, PaintRule& rule) {
  if constexpr (is_plain(kSpecialization)) {
    tiles.is_aligned = true;
    tiles.has_whole_chunks = true;
    emitter.emission = Emission::kByLabel;
    emitter.settings.limits = kNoLimits;
    rule.settings = emitter.settings;
    rule.needs_areas = false;
    rule.mode = paint_mode_of(kSpecialization);
  }
}

}  // namespace ccl::device::runs
