// SPDX-License-Identifier: LGPL-2.1-or-later
/// Variants of labelers that experiments compare. The element uses the default ones.
#pragma once

#include <cstdint>
#include <memory>

#include "host/labelers/labeler.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// How labels spread in an iteration of neighbor propagation, by the names of Cabaret et al. 2017.
enum class Propagation {
  kElementary,       ///< EP: by one pixel, on the threads of the pool
  kForward,          ///< F: one forward scan, one thread
  kForwardBackward,  ///< FB: a forward and a backward scan, one thread; the default
};

/// Neighbor propagation (neighbor_propagation.cpp). It is slow where labels have a long way. `pool` must
/// outlive the labeler.
std::unique_ptr<Labeler> make_neighbor_propagation(uint32_t width, uint32_t height, Propagation propagation,
                                                   ThreadPool& pool);

}  // namespace ccl::host
