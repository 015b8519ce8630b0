// SPDX-License-Identifier: LGPL-2.1-or-later
/// What every GPU labeler takes and gives, and how each is made.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/config.h"
#include "ccl/status.h"

namespace ccl::device {

/// A frame in device memory, seen through its ForegroundRule: one segment per pixel, 0 for background.
/// Two pixels connect iff they are adjacent and their segments are equal and not 0, which covers both
/// foreground rules. The caller owns the pixels.
struct SegmentSource {
  const uint8_t* pixels;  ///< device memory
  size_t pitch;           ///< bytes from one row's start to the next one's, at least width
  uint32_t width;
  uint32_t height;
  ForegroundRule rule;

  constexpr uint8_t segment(uint32_t x, uint32_t y) const { return rule.segment(pixels[y * pitch + x]); }
  /// The same, and background outside the frame.
  constexpr uint8_t segment_or_background(uint32_t x, uint32_t y) const {
    return x < width && y < height ? segment(x, y) : 0;
  }
};

/// Finds the components of a frame. A labeler has no memory of its own.
class Labeler {
 public:
  virtual ~Labeler() = default;

  /// How much device memory label() needs besides the root map. Those that iterate need some.
  virtual size_t workspace_bytes(uint32_t /*width*/, uint32_t /*height*/) const { return 0; }

  /// Enqueues on `stream` the writing of width × height dense values to `root_map` in device memory: 0
  /// for background, else 1 + the smallest raster index of the pixel's component. `workspace` is
  /// workspace_bytes() of device memory as cudaMalloc() aligns it, in any state, for this frame alone
  /// until the stream is done with it. A labeler that repeats its steps over the whole frame until nothing
  /// changes also writes how many turns that took to `n_iterations` in device memory; the others leave it
  /// as it is.
  virtual Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map,
                       void* workspace, uint32_t* n_iterations, cudaStream_t stream) = 0;
};

/// The labeler that resolve_algorithm() gave for the GPU, of those below.
std::unique_ptr<Labeler> make_labeler(Algorithm algorithm);

/// Block-based Komura equivalence (block_equivalence.cu).
std::unique_ptr<Labeler> make_block_equivalence();

enum class DlpForm {
  kWhole,
  kWithoutScatter,  ///< without SR and the first R, which are optional; slower, for comparison
};

/// Distanceless label propagation (dlp.cu).
std::unique_ptr<Labeler> make_dlp(DlpForm form = DlpForm::kWhole);

struct LabelEquivalenceForm {
  static constexpr uint32_t kMostThreads = 512;

  uint32_t threads = 256;   ///< of a block, at most kMostThreads
  bool with_sizes = false;  ///< counts the pixels of each component besides
};

/// Label equivalence, iterated on the device (label_equivalence.cu).
std::unique_ptr<Labeler> make_label_equivalence(const LabelEquivalenceForm& form = {});

/// Where label equivalence with sizes leaves them in its workspace: (height + 2) rows of width + 2
/// values, the frame's pixels inside; a component's size at its first pixel, 0 elsewhere.
const uint32_t* label_equivalence_sizes(const void* workspace, uint32_t width, uint32_t height);

/// Label equivalence with two label images (label_equivalence_2.cu).
std::unique_ptr<Labeler> make_label_equivalence_2();

/// Neighbour propagation (neighbor_propagation.cu).
std::unique_ptr<Labeler> make_neighbor_propagation();

/// Row-col unification (row_col_unify.cu).
std::unique_ptr<Labeler> make_row_col_unify();

/// Tiles merged in a hierarchy (tile_merge.cu).
std::unique_ptr<Labeler> make_tile_merge();

/// Union-find with local and global merge (union_find.cu).
std::unique_ptr<Labeler> make_union_find();

}  // namespace ccl::device
