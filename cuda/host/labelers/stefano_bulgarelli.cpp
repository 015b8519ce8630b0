// SPDX-License-Identifier: LGPL-2.1-or-later
/// L. Di Stefano, A. Bulgarelli, "A simple and efficient connected components labeling algorithm",
/// International Conference on Image Analysis and Processing, 1999.
///
/// Two scans and a one-dimensional array C, where C[label] is the identifier of the label's equivalence
/// class. When two labels meet in the first scan, their classes are merged at once by rewriting C. So finding
/// a class is always one look-up, and the second scan needs C only. In return, a merge walks the array.
///
/// Cost: a merge visits all labels from the replaced class's identifier to the newest label. Noise has very
/// many labels and merges, and walks over the whole array would take a time quadratic in the number of
/// pixels. Walks from the identifier are much shorter, because in noise a class mostly meets a young one. The
/// time stays quadratic if many old classes meet late, with much noise between them.
///
/// Where we differ:
/// - A class is identified by its smallest label. No member lies below the identifier, so a merge rewrites
///   the class with the larger one and starts its walk there. Labels are created in raster order, so the
///   identifier was created at the component's first pixel, and the second scan can write that pixel's index.
/// - A neighbour counts if it has the pixel's segment, so that equal values connect too.
/// - If the pixel above matches, 8-connectivity reads no other neighbour: all touch it and are in its class.
#include <algorithm>
#include <memory>

#include "host/labelers/first_scan.h"
#include "host/labelers/labeler.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

class StefanoBulgarelli final : public Labeler {
 public:
  StefanoBulgarelli(uint32_t width, uint32_t height)
      : class_(std::make_unique_for_overwrite<uint32_t[]>(size_t{width} * height + 1)),
        first_pixel_(std::make_unique_for_overwrite<uint32_t[]>(size_t{width} * height + 1)) {}

  void label(const SegmentSource& image, Connectivity connectivity, uint32_t* root_map) override {
    if (connectivity == Connectivity::k8) {
      scan<Connectivity::k8>(image, root_map);
    } else {
      scan<Connectivity::k4>(image, root_map);
    }
    second_scan(image, root_map);
  }

 private:
  template <Connectivity kConnectivity>
  void scan(const SegmentSource& image, uint32_t* labels);
  template <Connectivity kConnectivity>
  uint32_t join_neighbors(const uint8_t* x, size_t stride, const uint32_t* label, uint32_t width);
  uint32_t new_label(uint32_t first_pixel);
  uint32_t merge(uint32_t label, uint32_t neighbor);
  void second_scan(const SegmentSource& image, uint32_t* labels) const;

  std::unique_ptr<uint32_t[]> class_;        ///< the paper's array C
  std::unique_ptr<uint32_t[]> first_pixel_;  ///< 1 + raster index of the pixel at which a label was created
  uint32_t n_labels_ = 0;
};

template <Connectivity kConnectivity>
void StefanoBulgarelli::scan(const SegmentSource& image, uint32_t* labels) {
  n_labels_ = 0;
  first_scan(
      image, labels,
      [&](const uint8_t* x, const uint32_t* label) {
        return join_neighbors<kConnectivity>(x, image.stride, label, image.width);
      },
      [this](uint32_t first_pixel) { return new_label(first_pixel); });
}

uint32_t StefanoBulgarelli::new_label(uint32_t first_pixel) {
  ++n_labels_;
  class_[n_labels_] = n_labels_;
  first_pixel_[n_labels_] = first_pixel;
  return n_labels_;
}

/// Returns the label that x takes from its neighbours, p q r above and s before it, and merges their classes.
/// Returns 0 if none has x's segment. A neighbour's label is read only if its segment matches, which never
/// happens outside the frame.
template <Connectivity kConnectivity>
uint32_t StefanoBulgarelli::join_neighbors(const uint8_t* x, size_t stride, const uint32_t* label,
                                           uint32_t width) {
  const uint8_t segment = *x;
  const uint8_t* q = x - stride;
  const uint32_t* above = label - width;
  uint32_t joined = *q == segment ? above[0] : 0;
  if constexpr (kConnectivity == Connectivity::k8) {
    if (joined != 0) {
      return joined;
    }
    joined = q[-1] == segment ? above[-1] : 0;
    joined = q[1] == segment ? merge(joined, above[1]) : joined;
  }
  return x[-1] == segment ? merge(joined, label[-1]) : joined;
}

/// Merges the classes of two labels and returns one of its labels. `label` may be 0: no label yet.
uint32_t StefanoBulgarelli::merge(uint32_t label, uint32_t neighbor) {
  if (label == 0 || class_[label] == class_[neighbor]) {
    return neighbor;
  }
  const uint32_t kept = std::min(class_[label], class_[neighbor]);
  const uint32_t replaced = std::max(class_[label], class_[neighbor]);
  // Every entry is stored, changed or not, and the end is a local variable: so compilers vectorize the loop.
  uint32_t* const end = class_.get() + n_labels_ + 1;
  for (uint32_t* member = class_.get() + replaced; member != end; ++member) {
    *member = *member == replaced ? kept : *member;
  }
  return neighbor;
}

void StefanoBulgarelli::second_scan(const SegmentSource& image, uint32_t* labels) const {
  const size_t n_pixels = size_t{image.width} * image.height;
  for (size_t pixel = 0; pixel < n_pixels; ++pixel) {
    if (labels[pixel] != 0) {
      labels[pixel] = first_pixel_[class_[labels[pixel]]];
    }
  }
}

}  // namespace

std::unique_ptr<Labeler> make_stefano_bulgarelli(uint32_t width, uint32_t height, ThreadPool& /*pool*/) {
  return std::make_unique<StefanoBulgarelli>(width, height);
}

}  // namespace ccl::host
