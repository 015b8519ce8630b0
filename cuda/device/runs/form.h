// SPDX-License-Identifier: LGPL-2.1-or-later
/// What kernels assume of a frame. A block runs through a kernel once and waits for many of its instructions,
/// so the frequent cases have kernels without the instructions that they do not need. A form is here because
/// its frames are more than 2 % slower without it; tests/benchmarks/NOTES.md has by how much.
#pragma once

#include "device/runs/emission.h"
#include "device/runs/paint_rule.h"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

enum class Form : uint8_t {
  kParked,    ///< more tiles than blocks: a block parks a tile in device memory while it processes another
  kGeneral,   ///< a block for each tile, as for the next two
  kPixels,    ///< records of all components and their colours, or no pixels; from a frame of pixels
  kBits,      ///< the same, from a bit image
  kFiltered,  ///< a full filter, and a block for each tile
  kFilteredParked,  ///< a full filter, and more tiles than blocks
};

inline constexpr Form kForms[] = {Form::kParked, Form::kGeneral,  Form::kPixels,
                                  Form::kBits,   Form::kFiltered, Form::kFilteredParked};

constexpr bool has_resident_tiles(Form form) {
  return form != Form::kParked && form != Form::kFilteredParked;
}

/// Whether a kernel applies all conditions of a filter, and counts what they remove. The others apply the
/// limits of the area only: the arithmetic of the other conditions takes registers from all components.
/// Filter::top_n is no condition of one component: see FullFilter::chosen.
constexpr bool has_full_filter(Form form) {
  return form == Form::kFiltered || form == Form::kFilteredParked;
}

/// Whether a kernel assumes, in addition to resident tiles: rows of whole chunks, aligned unless a bit image
/// is read, a filter that keeps all components, and colours that do not depend on areas, or no pixels.
constexpr bool is_plain(Form form) {
  return form == Form::kPixels || form == Form::kBits;
}

/// The form for a frame. Maps show all components, so they need no filter. Frames of values have no bit
/// image.
constexpr Form form_of(const Tiles& tiles, bool has_bits, uint32_t n_blocks, const Emitter& emitter,
                       const PaintRule& rule, bool is_full_filter) {
  const bool is_filtered = is_full_filter && emitter.emission != Emission::kNone;
  if (tiles.count() > n_blocks) {
    return is_filtered ? Form::kFilteredParked : Form::kParked;
  }
  if (is_filtered) {
    return Form::kFiltered;
  }
  const bool is_plain_frame = tiles.has_whole_chunks && (has_bits || tiles.is_aligned);
  const bool is_plain_result = emitter.emission == Emission::kByLabel && !rule.needs_areas &&
                               (rule.mode == PaintMode::kNone || rule.mode == PaintMode::kColor);
  if (!is_plain_frame || !is_plain_result) {
    return Form::kGeneral;
  }
  return has_bits ? Form::kBits : Form::kPixels;
}

/// Makes the assumptions of form_of() constants for the compiler.
template <Form kForm>
constexpr void assume(Tiles& tiles, Emitter& emitter, PaintRule& rule) {
  if constexpr (is_plain(kForm)) {
    tiles.is_aligned = true;
    tiles.has_whole_chunks = true;
    emitter.emission = Emission::kByLabel;
    emitter.settings.limits = kNoLimits;
    rule.settings = emitter.settings;
    rule.needs_areas = false;
    rule.mode = rule.mode == PaintMode::kNone ? PaintMode::kNone : PaintMode::kColor;
  }
}

}  // namespace ccl::device::runs
