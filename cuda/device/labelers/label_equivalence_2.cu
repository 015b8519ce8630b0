// SPDX-License-Identifier: LGPL-2.1-or-later
/// Label equivalence with two label images: K. A. Hawick, A. Leist, D. P. Playne, "Parallel graph
/// component labelling with GPUs and CUDA", Parallel Computing 36(12), 2010, as V. M. A. Oliveira and
/// R. A. Lotufo tell it in "A study on connected components labeling algorithms using GPUs", SIBGRAPI
/// 2010, section VI.
///
/// The first image L1 has each pixel's label, the second one L2 what a label is equivalent to. A turn
/// writes to L2 the smallest label around the pixels that have a label, follows the equivalences of
/// L1's roots to their ends, and gives every pixel of L1 the end that its label has come to, until
/// nothing changes.
///
/// Where we differ:
/// - All turns are one kernel, see iterate.cuh. Whether anything changes is known after the first phase,
///   so the last turn ends there.
/// - Following the equivalences of the roots, threads on one path double each other's steps.
/// - 8-connectivity and any number of segments, besides the paper's 4-connected binary images.
#include <memory>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/iterate.cuh"
#include "device/labelers/labeler.h"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kResidentBlocks = kMultiprocessorThreads / kThreads;

/// Both have 1 + a raster index per pixel, 0 for background. Label e's entry is the one with index e −
/// 1.
template <Connectivity kConnectivity>
struct LabelImages {
  SegmentSource frame;
  uint32_t* l1;
  uint32_t* l2;

  __device__ uint32_t index(uint32_t x, uint32_t y) const { return y * frame.width + x; }

  /// Phase 0.
  __device__ void init() const {
    for_each_pixel(frame.width, frame.height, [this](uint32_t x, uint32_t y) {
      const uint32_t i = index(x, y);
      l1[i] = l2[i] = frame.segment(x, y) != 0 ? i + 1 : 0;
    });
  }

  /// The smallest label among those of the pixel's linked neighbours, and its own.
  __device__ uint32_t least_around(uint32_t x0, uint32_t y0, uint32_t own) const {
    const bool is_binary = frame.rule.foreground == Foreground::kBinary;
    const uint8_t segment = is_binary ? 0 : frame.segment(x0, y0);
    uint32_t least = own;
#pragma unroll
    for (int32_t dy = -1; dy <= 1; ++dy) {
#pragma unroll
      for (int32_t dx = -1; dx <= 1; ++dx) {
        if ((dx == 0 && dy == 0) || (kConnectivity == Connectivity::k4 && dx != 0 && dy != 0)) {
          continue;
        }
        const uint32_t x = x0 + dx;
        const uint32_t y = y0 + dy;
        const uint32_t label = x < frame.width && y < frame.height ? l1[index(x, y)] : 0;
        if (label != 0 && label < least && (is_binary || frame.segment(x, y) == segment)) {
          least = label;
        }
      }
    }
    return least;
  }

  /// Phase 1; whether anything changed.
  __device__ bool verify_neighbourhood() const {
    bool changed = false;
    for_each_pixel(frame.width, frame.height, [&](uint32_t x, uint32_t y) {
      const uint32_t own = l1[index(x, y)];
      if (own == 0) {
        return;
      }
      if (const uint32_t least = least_around(x, y, own); least < own) {
        if (least < load(l2 + own - 1)) {
          atomicMin(l2 + own - 1, least);
        }
        changed = true;
      }
    });
    return changed;
  }

  /// Phase 2, algorithm 3.
  __device__ void compress_roots() const {
    for_each_index(
        frame.width * frame.height, [this](uint32_t i) { return l1[i]; },
        [this](uint32_t i, uint32_t label) {
          if (label == i + 1) {
            compress(l2, i, load(l2 + i));
          }
        });
  }

  /// Phase 3. Most labels stay as they are, and are not written again.
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
    label_by_two_images(LabelImages<kConnectivity> images, Indicator* indicator, uint32_t* n_turns) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  iterate(
      indicator, n_turns, [&] { images.init(); },
      [&](uint32_t turn) {
        if (turn > 0) {
          images.compress_roots();
          grid.sync();
          images.find_new_labels();
          grid.sync();
        }
        return images.verify_neighbourhood();
      });
}

template <Connectivity kConnectivity>
struct LabelEquivalence2 {
  static size_t workspace_bytes(uint32_t width, uint32_t height) {
    return sizeof(Indicator) + size_t{width} * height * sizeof(uint32_t);
  }

  static Status run(const SegmentSource& frame, uint32_t* root_map, void* workspace, uint32_t* n_iterations,
                    cudaStream_t stream) {
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
