// SPDX-License-Identifier: LGPL-2.1-or-later
/// Label equivalence: O. Kalentev, A. Rai, S. Kemnitz, R. Schneider, "Connected component labeling on a
/// 2D grid using CUDA", Journal of Parallel and Distributed Computing 71(4), 2011, section 2.2 and
/// appendix A.
///
/// Every foreground pixel starts with its own address as label, so that labels are references into the image
/// of labels. Scanning lowers the label of the pixel that a label refers to, to the smallest label around;
/// analysis replaces each label by the end of its references; both are repeated until scanning changes
/// nothing. A border of background pixels (padding) saves scanning all tests for edges, and scanning needs no
/// atomics: if one thread overwrites the label of another, the next iteration finds the link again.
///
/// Where we differ:
/// - All iterations are one kernel, see iterate.cuh, and a block sets the indicator IsNotDone once for all
/// its
///   pixels. Scanning writes a label only if it is smaller than the label that it replaces, because the
///   pixels of a large component would all write to the entry of its root.
/// - The padded image is the labeler's workspace, and a last step writes the labels without padding to the
///   root map. The paper's label array contains the image at first; ours is initialised from the frame.
/// - 8-connectivity and any number of segments, in addition to the paper's 4-connected binary images.
#include <memory>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/forms.h"
#include "device/labelers/iterate.cuh"
#include "device/labelers/labeler_of.h"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

// Blocks of the largest size that fill a multiprocessor.
constexpr uint32_t kResidentBlocks = kMultiprocessorThreads / LabelEquivalenceForm::kMostThreads;

/// The image of labels with one background pixel of padding on every side. A label is the address of a pixel
/// in it; address 0 is padding, so that label 0 is background.
struct PaddedLabels {
  SegmentSource frame;
  uint32_t* labels;
  uint32_t* sizes;  ///< per address: the number of pixels that it counts for; only with sizes

  __host__ __device__ static size_t count(uint32_t width, uint32_t height) {
    return size_t{width + 2} * (height + 2);
  }
  __device__ uint32_t pitch() const { return frame.width + 2; }
  __device__ uint32_t address(uint32_t x, uint32_t y) const { return (y + 1) * pitch() + x + 1; }
  /// The labels as equivalence.cuh uses them: the entry of label e is table()[e − 1].
  __device__ uint32_t* table() const { return labels + 1; }

  /// InitLabels (listing 1), which also initialises the padding.
  template <bool kWithSizes>
  __device__ void init() const {
    for_each_pixel(frame.width + 2, frame.height + 2, [this](uint32_t column, uint32_t row) {
      const uint32_t at = row * pitch() + column;
      // Left of the frame and above it, the coordinates wrap around and are outside too.
      labels[at] = frame.segment_or_background(column - 1, row - 1) != 0 ? at : 0;
      if constexpr (kWithSizes) {
        sizes[at] = labels[at] != 0 ? 1 : 0;
      }
    });
  }

  /// Scanning (listing 3). Returns whether anything changed. Neighbours are read through the first-level
  /// cache, which the barrier before has invalidated: a label that has changed since is still correct, and
  /// its change causes another iteration.
  template <Connectivity kConnectivity>
  __device__ bool scan() const {
    bool changed = false;
    for_each_pixel(frame.width, frame.height, [&](uint32_t x, uint32_t y) {
      const uint32_t own = load(labels + address(x, y));
      if (own == 0) {
        return;
      }
      const uint32_t smallest = smallest_label_around<kConnectivity>(
          frame, x, y, own, [this](uint32_t nx, uint32_t ny) { return __ldca(labels + address(nx, ny)); });
      if (smallest < own) {
        if (smallest < load(labels + own)) {
          store(labels + own, smallest);
        }
        changed = true;
      }
    });
    return changed;
  }

  /// Analysis (listing 2), with sizes also the size calculation (listing 4): an address that is not a
  /// root adds its count to its root's. A root keeps its count until the next iteration.
  template <bool kWithSizes>
  __device__ void analyse() const {
    const auto n = static_cast<uint32_t>(count(frame.width, frame.height));
    for_each_index(
        n, [this](uint32_t at) { return load(labels + at); },
        [this](uint32_t at, uint32_t label) {
          if (label == 0) {
            return;
          }
          const uint32_t root = compress(table(), at - 1, label);
          if constexpr (kWithSizes) {
            if (root != at && sizes[at] != 0) {
              atomicAdd(sizes + root, sizes[at]);
              sizes[at] = 0;
            }
          }
        });
  }

  /// Writes the addresses as 1 + raster indices.
  __device__ void write(uint32_t* root_map) const {
    for_each_pixel(frame.width, frame.height, [&](uint32_t x, uint32_t y) {
      const uint32_t label = labels[address(x, y)];
      const uint32_t root = (label / pitch() - 1) * frame.width + label % pitch();
      root_map[y * frame.width + x] = label != 0 ? root : 0;
    });
  }
};

/// All blocks must be resident.
template <Connectivity kConnectivity, bool kWithSizes>
__global__ void __launch_bounds__(LabelEquivalenceForm::kMostThreads, kResidentBlocks)
    label_by_equivalence(PaddedLabels image, Indicator* indicator, uint32_t* n_iterations,
                         uint32_t* root_map) {
  iterate(
      indicator, n_iterations, [&] { image.template init<kWithSizes>(); },
      [&](uint32_t n) {
        if (n > 0) {
          image.template analyse<kWithSizes>();
          cooperative_groups::this_grid().sync();
        }
        return image.template scan<kConnectivity>();
      });
  image.write(root_map);
}

/// Launches the kernel of a form.
template <Connectivity kConnectivity>
struct LabelEquivalence {
  LabelEquivalenceForm form;

  size_t workspace_bytes(uint32_t width, uint32_t height) const {
    const size_t n_arrays = form.with_sizes ? 2 : 1;
    return sizeof(Indicator) + n_arrays * PaddedLabels::count(width, height) * sizeof(uint32_t);
  }

  Status run(const SegmentSource& frame, uint32_t* root_map, void* workspace, uint32_t* n_iterations,
             cudaStream_t stream) const {
    const auto kernel = form.with_sizes ? label_by_equivalence<kConnectivity, true>
                                        : label_by_equivalence<kConnectivity, false>;
    auto* indicator = static_cast<Indicator*>(workspace);
    auto* labels = reinterpret_cast<uint32_t*>(indicator + 1);
    const PaddedLabels image{frame, labels, labels + PaddedLabels::count(frame.width, frame.height)};
    return launch_resident("label-equivalence label_by_equivalence", kernel,
                           blocks_for(frame.width * frame.height, form.threads), form.threads, stream, image,
                           indicator, n_iterations, root_map);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_label_equivalence(const LabelEquivalenceForm& form) {
  return std::make_unique<IteratingLabelerOf<LabelEquivalence, LabelEquivalenceForm>>(form);
}

std::unique_ptr<Labeler> make_label_equivalence() {
  return make_label_equivalence(LabelEquivalenceForm{});
}

const uint32_t* label_equivalence_sizes(const void* workspace, uint32_t width, uint32_t height) {
  const auto* labels = reinterpret_cast<const uint32_t*>(static_cast<const Indicator*>(workspace) + 1);
  return labels + PaddedLabels::count(width, height);
}

}  // namespace ccl::device
