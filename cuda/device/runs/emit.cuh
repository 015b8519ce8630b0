// SPDX-License-Identifier: LGPL-2.1-or-later
/// What becomes of a component once its label and area are known: its ink, and its record.
#pragma once

#include "ccl/colors.h"
#include "ccl/sums.h"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

__device__ inline uint32_t ink_of(const Inker& inker, uint32_t label, uint32_t area, uint32_t first_pixel) {
  const Settings& settings = inker.settings;
  if (inker.ink == Ink::kLabelMap) {
    return label;
  }
  if (inker.ink == Ink::kRootMap) {
    return first_pixel + 1;
  }
  if (!settings.filter.keeps({area})) {
    return inker.background;
  }
  if (inker.ink == Ink::kColor || inker.ink == Ink::kOverlay) {
    return pack(__ldg(inker.palettes + color_index(settings, label, area, inker.n_pixels)), inker.layout);
  }
  return inker.ink == Ink::kLabel ? min(label, kMaxPaintedLabel) : 255;
}

/// Stores a record in four pieces.
__device__ inline void store(const CclComponent& record, CclComponent* to) {
  static_assert(sizeof(CclComponent) == 4 * sizeof(uint4));
  union {
    CclComponent component;
    uint4 pieces[4];
  } u{record};
  for (uint32_t i = 0; i < 4; ++i) {
    reinterpret_cast<uint4*>(to)[i] = u.pieces[i];
  }
}

/// The segment of a component that has this pixel. What is binary need not be read from memory.
template <RunKind kKind>
__device__ uint8_t segment_of(const SegmentSource& frame, uint32_t x, uint32_t y) {
  return kKind == RunKind::kValue ? frame.segment(x, y) : kBinarySegment;
}

/// `kHasFeatures` is whether any feature may be wanted. `make_sums()` gives the component's Sums,
/// `make_value()` its segment; called only where they are needed.
template <bool kHasFeatures, typename MakeSums, typename MakeValue>
__device__ void emit(const Emitter& emitter, const SegmentSource& frame, uint32_t label, uint32_t area,
                     MakeSums make_sums, MakeValue make_value) {
  uint32_t index = kNoRecord;
  switch (emitter.emission) {
    case Emission::kNone:
      break;
    case Emission::kByLabel:
      index = label - 1;
      break;
    case Emission::kAppended:
      if (emitter.settings.filter.keeps({area})) {
        index = atomicAdd(&emitter.counts->n_components, 1u);
        atomicOr(emitter.is_left + label / kWordBits, 1u << label % kWordBits);
      }
      break;
    case Emission::kAreas:
      emitter.index_or_area[label - 1] = area;
      break;
    case Emission::kSelected:
      index = emitter.index_or_area[label - 1];
      break;
  }
  if (index < emitter.max_components) {
    store(make_component(label, area, make_value(), make_sums(), kHasFeatures ? emitter.settings.features : 0,
                         frame.width, frame.height),
          emitter.records + index);
  }
}

}  // namespace ccl::device::runs
