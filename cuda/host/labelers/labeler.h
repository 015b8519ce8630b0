// SPDX-License-Identifier: LGPL-2.1-or-later
/// What every CPU labeler takes and gives, and how each is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/config.h"

namespace ccl::host {

class ThreadPool;

/// A frame after its ForegroundRule: one segment per pixel, 0 for background. Two pixels connect iff they
/// are adjacent and their segments are equal and not 0, which covers both foreground rules.
///
/// Around the frame lies a border of at least one zero byte on every side, so that a foreground pixel may
/// be compared with any of its eight neighbours: those outside never match.
struct SegmentImage {
  const uint8_t* pixels;  ///< of the frame's first pixel, inside the border
  size_t stride;          ///< bytes from one row's start to the next one's, at least width + 2
  uint32_t width;
  uint32_t height;

  const uint8_t* row(uint32_t y) const { return pixels + y * stride; }
};

/// Finds the components of a frame. A labeler is made for one frame size and takes all its memory then.
class Labeler {
 public:
  virtual ~Labeler() = default;

  /// Writes width × height dense values: 0 for background, else 1 + the smallest raster index of the
  /// pixel's component. `image` must have the size the labeler was made for.
  virtual void label(const SegmentImage& image, Connectivity connectivity, uint32_t* root_map) = 0;

  /// Of an iterative labeler: how many iterations the last label() took, that which changed nothing included.
  /// 0 for all others.
  virtual uint32_t iterations() const { return 0; }
};

/// The labeler that resolve_algorithm() gave for the CPU, of those below.
std::unique_ptr<Labeler> make_labeler(Algorithm algorithm, uint32_t width, uint32_t height, ThreadPool& pool);

/// Scan array-based union-find (sauf.cpp): one thread.
std::unique_ptr<Labeler> make_sauf(uint32_t width, uint32_t height);

/// Di Stefano and Bulgarelli's class array (stefano_bulgarelli.cpp): one thread, slow on noise.
std::unique_ptr<Labeler> make_stefano_bulgarelli(uint32_t width, uint32_t height);

/// Distanceless label propagation (dlp.cpp) on the threads of `pool`, which must outlive the labeler.
std::unique_ptr<Labeler> make_dlp(uint32_t width, uint32_t height, ThreadPool& pool);

/// Two-row scan and Rem's union-find with splicing (hcs2_aremsp.cpp) on the threads of `pool`, which must
/// outlive the labeler.
std::unique_ptr<Labeler> make_hcs2_aremsp(uint32_t width, uint32_t height, ThreadPool& pool);

/// How labels spread in an iteration of neighbor propagation, by the names of Cabaret et al. 2017.
enum class Propagation {
  kElementary,       ///< EP: a pixel further, on the threads of the pool
  kForward,          ///< F: one forward scan, one thread
  kForwardBackward,  ///< FB: a forward and a backward scan, one thread
};

/// Neighbor propagation (neighbor_propagation.cpp): slow where labels have far to go. `pool` must outlive the
/// labeler.
std::unique_ptr<Labeler> make_neighbor_propagation(uint32_t width, uint32_t height, Propagation propagation,
                                                   ThreadPool& pool);

}  // namespace ccl::host
