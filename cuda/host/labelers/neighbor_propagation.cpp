// SPDX-License-Identifier: LGPL-2.1-or-later
/// Neighbor propagation, the iterative algorithms that direct ones are compared with: section I.B of
/// L. Cabaret, L. Lacassagne, D. Etiemble, "Distanceless label propagation: an efficient direct
/// connected component labeling algorithm for GPUs", IPTA 2017, names three of them. The first one is that of
/// section V of V. M. A. Oliveira, R. A. Lotufo, "A study on connected components labeling algorithms using
/// GPUs", SIBGRAPI 2010.
///
/// Every foreground pixel starts with a different label. An iteration gives each pixel the smallest label
/// around it (min⁺). The last iteration changes nothing. So the number of iterations is the number of steps
/// that the label of a component's first pixel needs, plus one:
/// - EP, embarrassingly parallel, reads one image of labels and writes another. A label moves one pixel per
///   iteration, in a 3×3 mask, and all threads share the work.
/// - F, pixel-recursive with a forward scan, has one image only: in one iteration, a label moves as far as it
/// can
///   in raster order.
/// - FB has a forward scan with the forward mask, then a backward scan with the backward mask (fig. 3;
/// Haralick
///   1981): a label moves as far as it can in both directions.
///
/// Where we differ:
/// - F's mask is 3×3. With only the forward mask of fig. 3, a label would never move left or up, and the
/// second
///   arm of a U would keep another label.
/// - "Foreground" becomes "has the pixel's segment", so that equal values connect too. The masks of
///   4-connectivity have no diagonals.
#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "host/labelers/forms.h"
#include "host/stages/row_chunks.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

/// The neighbours in a mask: those before the pixel in raster order, those after it, or both.
enum class Mask { kForward, kBackward, kAround };

/// min⁺ over a mask. `segment` and `label` point to the pixel's entries. A neighbour's label is read only if
/// its segment matches, which never happens outside the frame.
template <Connectivity kConnectivity, Mask kMask>
uint32_t least_label(const SegmentSource& image, const uint8_t* segment, const uint32_t* label) {
  constexpr bool kDiagonals = kConnectivity == Connectivity::k8;
  const auto stride = static_cast<std::ptrdiff_t>(image.stride);
  const auto width = static_cast<std::ptrdiff_t>(image.width);
  uint32_t least = *label;
  const auto meet = [&](std::ptrdiff_t x, std::ptrdiff_t y) {
    if (segment[y * stride + x] == *segment) {
      least = std::min(least, label[y * width + x]);
    }
  };
  // `row` is −1 for the neighbours before the pixel, 1 for those after it.
  const auto meet_side = [&](std::ptrdiff_t row) {
    meet(0, row);
    meet(row, 0);
    if constexpr (kDiagonals) {
      meet(-1, row);
      meet(1, row);
    }
  };
  if constexpr (kMask != Mask::kBackward) {
    meet_side(-1);
  }
  if constexpr (kMask != Mask::kForward) {
    meet_side(1);
  }
  return least;
}

class NeighborPropagation final : public Labeler {
 public:
  NeighborPropagation(uint32_t width, uint32_t height, Propagation propagation, ThreadPool& pool)
      : propagation_(propagation), pool_(pool) {
    if (propagation == Propagation::kElementary) {
      second_ = std::make_unique_for_overwrite<uint32_t[]>(size_t{width} * height);
    }
  }

  void label(const SegmentSource& image, Connectivity connectivity, uint32_t* root_map) override {
    initialize(image, root_map);
    if (connectivity == Connectivity::k8) {
      iterate<Connectivity::k8>(image, root_map);
    } else {
      iterate<Connectivity::k4>(image, root_map);
    }
  }

  uint32_t iterations() const override { return n_iterations_; }

 private:
  static void initialize(const SegmentSource& image, uint32_t* labels);
  template <Connectivity kConnectivity>
  void iterate(const SegmentSource& image, uint32_t* labels);
  template <Connectivity kConnectivity>
  bool propagate_elementary(const SegmentSource& image, const uint32_t* from, uint32_t* to) const;
  template <Connectivity kConnectivity, Mask kMask>
  static bool scan_forward(const SegmentSource& image, uint32_t* labels);
  template <Connectivity kConnectivity>
  static bool scan_backward(const SegmentSource& image, uint32_t* labels);

  Propagation propagation_;
  ThreadPool& pool_;
  std::unique_ptr<uint32_t[]> second_;  ///< EP's other image of labels
  uint32_t n_iterations_ = 0;
};

void NeighborPropagation::initialize(const SegmentSource& image, uint32_t* labels) {
  uint32_t pixel = 0;
  for (uint32_t y = 0; y < image.height; ++y) {
    const uint8_t* segments = image.row(y);
    for (uint32_t x = 0; x < image.width; ++x, ++pixel) {
      labels[pixel] = segments[x] != 0 ? pixel + 1 : 0;
    }
  }
}

template <Connectivity kConnectivity>
void NeighborPropagation::iterate(const SegmentSource& image, uint32_t* labels) {
  uint32_t* from = labels;
  uint32_t* to = second_.get();
  n_iterations_ = 0;
  bool has_changed = true;
  while (has_changed) {
    switch (propagation_) {
      case Propagation::kElementary:
        // After the last iteration both images are equal, so `labels` has the result in any case.
        has_changed = propagate_elementary<kConnectivity>(image, from, to);
        std::swap(from, to);
        break;
      case Propagation::kForward:
        has_changed = scan_forward<kConnectivity, Mask::kAround>(image, labels);
        break;
      case Propagation::kForwardBackward: {
        const bool forward = scan_forward<kConnectivity, Mask::kForward>(image, labels);
        has_changed = scan_backward<kConnectivity>(image, labels) || forward;
        break;
      }
    }
    ++n_iterations_;
  }
}

template <Connectivity kConnectivity>
bool NeighborPropagation::propagate_elementary(const SegmentSource& image, const uint32_t* from,
                                               uint32_t* to) const {
  std::atomic<bool> has_changed = false;
  pool_.parallel_for(count_row_chunks(image.height), [&](uint32_t chunk) {
    bool changes = false;
    for (uint32_t y = chunk * kRowsPerChunk; y < std::min(image.height, (chunk + 1) * kRowsPerChunk); ++y) {
      const uint8_t* segments = image.row(y);
      size_t pixel = size_t{y} * image.width;
      for (uint32_t x = 0; x < image.width; ++x, ++pixel) {
        to[pixel] = segments[x] == 0
                        ? 0
                        : least_label<kConnectivity, Mask::kAround>(image, segments + x, from + pixel);
        changes = changes || to[pixel] != from[pixel];
      }
    }
    if (changes) {
      has_changed.store(true, std::memory_order_relaxed);
    }
  });
  return has_changed.load(std::memory_order_relaxed);
}

template <Connectivity kConnectivity, Mask kMask>
bool NeighborPropagation::scan_forward(const SegmentSource& image, uint32_t* labels) {
  bool has_changed = false;
  uint32_t* label = labels;
  for (uint32_t y = 0; y < image.height; ++y) {
    const uint8_t* segments = image.row(y);
    for (uint32_t x = 0; x < image.width; ++x, ++label) {
      if (segments[x] != 0) {
        const uint32_t least = least_label<kConnectivity, kMask>(image, segments + x, label);
        has_changed = has_changed || least != *label;
        *label = least;
      }
    }
  }
  return has_changed;
}

template <Connectivity kConnectivity>
bool NeighborPropagation::scan_backward(const SegmentSource& image, uint32_t* labels) {
  bool has_changed = false;
  uint32_t* label = labels + size_t{image.width} * image.height;
  for (uint32_t y = image.height; y-- > 0;) {
    const uint8_t* segments = image.row(y);
    for (uint32_t x = image.width; x-- > 0;) {
      --label;
      if (segments[x] != 0) {
        const uint32_t least = least_label<kConnectivity, Mask::kBackward>(image, segments + x, label);
        has_changed = has_changed || least != *label;
        *label = least;
      }
    }
  }
  return has_changed;
}

}  // namespace

std::unique_ptr<Labeler> make_neighbor_propagation(uint32_t width, uint32_t height, Propagation propagation,
                                                   ThreadPool& pool) {
  return std::make_unique<NeighborPropagation>(width, height, propagation, pool);
}

std::unique_ptr<Labeler> make_neighbor_propagation(uint32_t width, uint32_t height, ThreadPool& pool) {
  return make_neighbor_propagation(width, height, Propagation::kForwardBackward, pool);
}

}  // namespace ccl::host
