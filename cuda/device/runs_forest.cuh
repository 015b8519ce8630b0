// SPDX-License-Identifier: LGPL-2.1-or-later
/// The forest of slots that joins components across tiles: each slot's parent is its own or an earlier one.
#pragma once

#include "device/runs.h"

namespace ccl::device::runs {

/// A parent that other threads may be lowering.
__device__ inline Parent load(const Parent* parent) {
  return *static_cast<const volatile Parent*>(parent);
}
__device__ inline void store(Parent* parent, Parent value) {
  *static_cast<volatile Parent*>(parent) = value;
}

/// The root of a slot with this parent, as its own parent, while others unite; or a root it had. Halves the
/// path on its way: the parent of what is no root may be replaced by any of its ancestors.
__device__ inline Parent find_root(Parent* parents, uint32_t slot, Parent parent) {
  while (slot_of(parent) != slot) {
    const Parent grandparent = load(parents + slot_of(parent));
    if (grandparent != parent) {
      store(parents + slot, grandparent);
    }
    slot = slot_of(parent);
    parent = grandparent;
  }
  return parent;
}

__device__ inline Parent find_root(Parent* parents, uint32_t slot) {
  return find_root(parents, slot, load(parents + slot));
}

}  // namespace ccl::device::runs
