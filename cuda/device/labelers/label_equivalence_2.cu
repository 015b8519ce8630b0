// SPDX-License-Identifier: LGPL-2.1-or-later
/// Label equivalence with two label images: K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph
/// component labelling with GPUs and CUDA", Parallel Computing 36(12), 2010, as described by V. M. A.
/// Oliveira, R. A. Lotufo, "A study on connected components labeling algorithms using GPUs", SIBGRAPI
/// 2010, section VI.
///
/// The image L1 contains each pixel's label, the image L2 the label that each label is equivalent to. An
/// iteration writes the smallest label around the pixels of a label to L2 (phase 1), compresses the paths of
/// L1's roots in L2 (phase 2), and replaces each label in L1 by the root that L2 contains for it (phase 3).
/// The iterations end when nothing changes (phase 4).
///
/// Where we differ:
/// - All iterations are one kernel, see iterate.cuh. Phase 1 already shows whether anything changes, so the
///   last iteration ends after it.
/// - In phase 2, threads on the same path double each other's steps.
/// - 8-connectivity and any number of segments, in addition to the paper's 4-connected binary images.
#include <memory>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/iterate.cuh"
#include "device/labelers/labeler_of.h"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kResidentBlocks = kMultiprocessorThreads / kThreads;

/// Both images contain 1 + a raster index per pixel, 0 for background. The entry of label e is at index e
/// − 1.
template <Connectivity kConnectivity>
struct LabelImages {
  SegmentSource frame;
  uint32_t* l1;
  uint32_t* l2;

  __device__ uint32_t index(uint32_t x, uint32_t y) const { return y * frame.width + x; }

  /// Phase 0: start labels.
  __device__ void init() const {
    for_each_pixel(frame.width, frame.height, [this](uint32_t x, uint32_t y) {
      const uint32_t i = index(x, y);
      l1[i] = l2[i] = frame.segment(x, y) != 0 ? i + 1 : 0;
    });
  }

  /// Phase 1. Returns whether anything changed.
  __device__ bool verify_neighbourhood() const {
    bool changed = false;
    for_each_pixel(frame.width, frame.height, [&](uint32_t x, uint32_t y) {
      const uint32_t own = l1[index(x, y)];
      if (own == 0) {
        return;
      }
      const uint32_t smallest =
          smallest_label_around<kConnectivity>(frame, x, y, own, [this](uint32_t nx, uint32_t ny) {
            return nx < frame.width && ny < frame.height ? l1[index(nx, ny)] : 0;
          });
      if (smallest < own) {
        if (smallest < load(l2 + own - 1)) {
          atomicMin(l2 + own - 1, smallest);
        }
        changed = true;
      }
    });
    return changed;
  }

  /// Phase 2 (algorithm 3).
  __device__ void compress_roots() const {
    for_each_index(
        frame.width * frame.height, [this](uint32_t i) { return l1[i]; },
        [this](uint32_t i, uint32_t label) {
          if (label == i + 1) {
            compress(l2, i, load(l2 + i));
          }
        });
  }

  /// Phase 3. Most labels do not change and are not written.
  __device__ void find_new_labels() const {
    struct Labels {
      uint32_t before, after;
    };
    for_each_index(
        frame.width * frame.height,
        [this](uint32_t i) {
          const uint32_t label = l1[i];
          return Labels{label, label != 0 ? l2[label - 1] : 0};
        },
        [this](uint32_t i, const Labels& labels) {
          if (labels.after != labels.before) {
            l1[i] = labels.after;
          }
        });
  }
};

/// All blocks must be resident.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kThreads, kResidentBlocks)
    label_by_two_images(LabelImages<kConnectivity> images, Indicator* indicator, uint32_t* n_iterations) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  iterate(
      indicator, n_iterations, [&] { images.init(); },
      [&](uint32_t n) {
        if (n > 0) {
          images.compress_roots();
          grid.sync();
          images.find_new_labels();
          grid.sync();
        }
        return images.verify_neighbourhood();
      });
}

/// Launches the kernel. L1 is the root map.
template <Connectivity kConnectivity>
struct LabelEquivalence2 {
  size_t workspace_bytes(uint32_t width, uint32_t height) const {
    return sizeof(Indicator) + size_t{width} * height * sizeof(uint32_t);
  }

  Status run(const SegmentSource& frame, uint32_t* root_map, void* workspace, uint32_t* n_iterations,
             cudaStream_t stream) const {
    auto* indicator = static_cast<Indicator*>(workspace);
    const LabelImages<kConnectivity> images{frame, root_map, reinterpret_cast<uint32_t*>(indicator + 1)};
    return launch_resident("label-equivalence-2 label_by_two_images", label_by_two_images<kConnectivity>,
                           blocks_for(frame.width * frame.height, kThreads), kThreads, stream, images,
                           indicator, n_iterations);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_label_equivalence_2() {
  return std::make_unique<IteratingLabelerOf<LabelEquivalence2>>();
}

}  // namespace ccl::device
