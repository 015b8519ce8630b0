// SPDX-License-Identifier: LGPL-2.1-or-later
/// Label equivalence: O. Kalentev, A. Rai, S. Kemnitz, R. Schneider, "Connected component labeling on a
/// 2D grid using CUDA", Journal of Parallel and Distributed Computing 71(4), 2011, section 2.2 and
/// appendix A.
///
/// Every foreground pixel begins with its own address as label, so that labels are references into the
/// image of labels. Scanning gives the pixel that a label refers to the smallest label around, analysis
/// follows the references to their end, and both take turns until scanning changes nothing. Padding
/// spares scanning all tests for edges, and it needs no atomics: what one thread overwrites of
/// another's, the next turn finds again, as entries only ever get smaller.
///
/// Where we differ:
/// - All turns are one kernel, see iterate.cuh, and a block sets the indicator IsNotDone once for all its
///   pixels. Scanning stores a label only where it is smaller than the one it would replace: all pixels
///   of a large component would stand in line for the word of its root.
/// - The padded image is the labeler's workspace, and a last step copies labels without padding to the
///   root map. The paper's image comes in the label array; ours is read where segments are needed.
/// - 8-connectivity and any number of segments, besides the paper's 4-connected binary images.
#include <memory>

#include "device/labelers/equivalence.cuh"
#include "device/labelers/forms.h"
#include "device/labelers/iterate.cuh"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

/// Blocks of the largest size on a multiprocessor, which they fill.
constexpr uint32_t kResidentBlocks = kMultiprocessorThreads / LabelEquivalenceForm::kMostThreads;

/// The image of labels with a background pixel on every side. A label is the address of a pixel in it;
/// the first pixel is padding, so that 0 can be background.
struct PaddedLabels {
  SegmentSource frame;
  uint32_t* labels;
  uint32_t* sizes;  ///< pixels that a label stands for; of the form with sizes

  __host__ __device__ static size_t count(uint32_t width, uint32_t height) {
    return size_t{width + 2} * (height + 2);
  }
  __device__ uint32_t pitch() const { return frame.width + 2; }
  __device__ uint32_t address(uint32_t x, uint32_t y) const { return (y + 1) * pitch() + x + 1; }
  /// As the shared functions want it: label e's entry is table()[e − 1].
  __device__ uint32_t* table() const { return labels + 1; }

  /// Listing 1, padding included.
  template <bool kWithSizes>
  __device__ void init() const {
    for_each_pixel(frame.width + 2, frame.height + 2, [this](uint32_t column, uint32_t row) {
      const uint32_t at = row * pitch() + column;
      // Left of and above the frame, these wrap around and are outside as well.
      labels[at] = frame.segment_or_background(column - 1, row - 1) != 0 ? at : 0;
      if constexpr (kWithSizes) {
        sizes[at] = labels[at] != 0 ? 1 : 0;
      }
    });
  }

  /// The smallest label among those of a pixel's neighbours that it is linked to, and its own. The
  /// first-level cache, which the barrier before emptied, may answer: a label that has changed since
  /// was as good, and the change is an indication that there is another turn.
  template <Connectivity kConnectivity>
  __device__ uint32_t least_around(uint32_t x, uint32_t y, uint32_t own) const {
    const bool is_binary = frame.rule.foreground == Foreground::kBinary;
    const uint8_t segment = is_binary ? 0 : frame.segment(x, y);
    uint32_t least = own;
#pragma unroll
    for (int32_t dy = -1; dy <= 1; ++dy) {
#pragma unroll
      for (int32_t dx = -1; dx <= 1; ++dx) {
        if ((dx == 0 && dy == 0) || (kConnectivity == Connectivity::k4 && dx != 0 && dy != 0)) {
          continue;
        }
        const uint32_t label = __ldca(labels + address(x + dx, y + dy));
        if (label != 0 && label < least && (is_binary || frame.segment(x + dx, y + dy) == segment)) {
          least = label;
        }
      }
    }
    return least;
  }

  /// Listing 3; whether anything changed.
  template <Connectivity kConnectivity>
  __device__ bool scan() const {
    bool changed = false;
    for_each_pixel(frame.width, frame.height, [&](uint32_t x, uint32_t y) {
      const uint32_t own = load(labels + address(x, y));
      if (own == 0) {
        return;
      }
      if (const uint32_t least = least_around<kConnectivity>(x, y, own); least < own) {
        if (least < load(labels + own)) {
          store(labels + own, least);
        }
        changed = true;
      }
    });
    return changed;
  }

  /// Listing 2, and listing 4 with sizes: what a label stood for goes to the root it is hung under, which
  /// gives away nothing itself before the next turn.
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

  /// Addresses become 1 + raster indices.
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
    label_by_equivalence(PaddedLabels image, Indicator* indicator, uint32_t* n_turns, uint32_t* root_map) {
  iterate(
      indicator, n_turns, [&] { image.template init<kWithSizes>(); },
      [&](uint32_t turn) {
        if (turn > 0) {
          image.template analyse<kWithSizes>();
          cooperative_groups::this_grid().sync();
        }
        return image.template scan<kConnectivity>();
      });
  image.write(root_map);
}

class LabelEquivalence final : public Labeler {
 public:
  explicit LabelEquivalence(const LabelEquivalenceForm& form) : form_(form) {}

  size_t workspace_bytes(uint32_t width, uint32_t height) const override {
    const size_t n_arrays = form_.with_sizes ? 2 : 1;
    return sizeof(Indicator) + n_arrays * PaddedLabels::count(width, height) * sizeof(uint32_t);
  }

  Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map, void* workspace,
               uint32_t* n_iterations, cudaStream_t stream) override {
    const bool is_8 = connectivity == Connectivity::k8;
    const auto kernel = form_.with_sizes ? (is_8 ? label_by_equivalence<Connectivity::k8, true>
                                                 : label_by_equivalence<Connectivity::k4, true>)
                                         : (is_8 ? label_by_equivalence<Connectivity::k8, false>
                                                 : label_by_equivalence<Connectivity::k4, false>);
    auto* indicator = static_cast<Indicator*>(workspace);
    auto* labels = reinterpret_cast<uint32_t*>(indicator + 1);
    const PaddedLabels image{frame, labels, labels + PaddedLabels::count(frame.width, frame.height)};
    return launch_resident("label-equivalence label_by_equivalence", kernel,
                           blocks_for(frame.width * frame.height, form_.threads), form_.threads, stream,
                           image, indicator, n_iterations, root_map);
  }

 private:
  LabelEquivalenceForm form_;
};

}  // namespace

std::unique_ptr<Labeler> make_label_equivalence(const LabelEquivalenceForm& form) {
  return std::make_unique<LabelEquivalence>(form);
}

std::unique_ptr<Labeler> make_label_equivalence() {
  return make_label_equivalence(LabelEquivalenceForm{});
}

const uint32_t* label_equivalence_sizes(const void* workspace, uint32_t width, uint32_t height) {
  const auto* labels = reinterpret_cast<const uint32_t*>(static_cast<const Indicator*>(workspace) + 1);
  return labels + PaddedLabels::count(width, height);
}

}  // namespace ccl::device
