// SPDX-License-Identifier: LGPL-2.1-or-later
/// The forest of slots that joins components across tiles: each slot's parent is its own or an earlier
/// one.
#pragma once

#include "device/runs/tiles.h"

namespace ccl::device::runs {

/// A parent that other threads may be lowering.
__device__ inline Parent load(const Parent* parent) {
  return *static_cast<const volatile Parent*>(parent);
}
__device__ inline void store(Parent* parent, Parent value) {
  *static_cast<volatile Parent*>(parent) = value;
}

/// Tells a label, which is never 0, to those who wait for it.
__device__ inline void tell_label(uint32_t* to, uint32_t label) {
  *static_cast<volatile uint32_t*>(to) = label;
}
__device__ inline uint32_t wait_for_label(const uint32_t* from) {
  uint32_t label = *static_cast<const volatile uint32_t*>(from);
  while (label == 0) {
    __nanosleep(20);
    label = *static_cast<const volatile uint32_t*>(from);
  }
  return label;
}

/// Halves a path: the parent of what is no root may be replaced by any of its ancestors.
__device__ inline void shorten(Parent* parents, uint32_t slot, Parent parent, Parent grandparent) {
  if (slot_of(parent) != slot && grandparent != parent) {
    store(parents + slot, grandparent);
  }
}

/// The root of a slot, as its own parent; while others unite, or a root it had.
__device__ inline Parent find_root(Parent* parents, uint32_t slot) {
  Parent parent = load(parents + slot);
  while (slot_of(parent) != slot) {
    const Parent grandparent = load(parents + slot_of(parent));
    shorten(parents, slot, parent, grandparent);
    slot = slot_of(parent);
    parent = grandparent;
  }
  return parent;
}

}  // namespace ccl::device::runs
