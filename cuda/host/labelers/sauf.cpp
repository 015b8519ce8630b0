// SPDX-License-Identifier: LGPL-2.1-or-later
/// SAUF, scan plus array-based union-find: K. Wu, E. Otoo, K. Suzuki, "Optimizing two-pass
/// connected-component labeling algorithms", Pattern Analysis and Applications 12, 2009.
///
/// A first scan gives each pixel e a provisional label from its neighbours a b c d in the forward mask
///
///     a b c
///     d e
///
/// by a decision tree that reads as few of them as possible. Labels of one component are united in an array
/// whose entries always point to smaller labels. One pass over that array flattens it, and a second scan
/// replaces the provisional labels.
///
/// Where we differ:
/// - "b is an object pixel" becomes "b has e's segment". The tree stays right with many segments: it assumes
///   only that equal segments that touch are already connected.
/// - For 4-connectivity the tree has b and d only.
/// - Provisional labels are created in raster order and the smallest one is the root, so a root's label was
///   created at the first pixel of its component. Flattening therefore writes that pixel's raster index
///   instead of consecutive labels, and the root map needs no further pass.
#include <algorithm>
#include <memory>

#include "host/labelers/first_scan.h"
#include "host/labelers/labeler.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

class Sauf final : public Labeler {
 public:
  Sauf(uint32_t width, uint32_t height)
      : parent_(std::make_unique_for_overwrite<uint32_t[]>(size_t{width} * height + 1)),
        first_pixel_(std::make_unique_for_overwrite<uint32_t[]>(size_t{width} * height + 1)) {}

  void label(const SegmentSource& image, Connectivity connectivity, uint32_t* root_map) override {
    if (connectivity == Connectivity::k8) {
      scan<Connectivity::k8>(image, root_map);
    } else {
      scan<Connectivity::k4>(image, root_map);
    }
    flatten();
    relabel(image, root_map);
  }

 private:
  template <Connectivity kConnectivity>
  void scan(const SegmentSource& image, uint32_t* labels);
  template <Connectivity kConnectivity>
  uint32_t decide(const uint8_t* e, size_t stride, const uint32_t* label, uint32_t width);

  uint32_t new_label(uint32_t first_pixel);
  uint32_t find_root(uint32_t label) const;
  void set_root(uint32_t label, uint32_t root);
  uint32_t unite(uint32_t i, uint32_t j);
  void flatten();
  void relabel(const SegmentSource& image, uint32_t* labels) const;

  std::unique_ptr<uint32_t[]> parent_;       ///< the paper's array P; a root is its own parent
  std::unique_ptr<uint32_t[]> first_pixel_;  ///< 1 + raster index of the pixel at which a label was created
  uint32_t n_labels_ = 0;
};

template <Connectivity kConnectivity>
void Sauf::scan(const SegmentSource& image, uint32_t* labels) {
  n_labels_ = 0;
  first_scan(
      image, labels,
      [&](const uint8_t* e, const uint32_t* label) {
        return decide<kConnectivity>(e, image.stride, label, image.width);
      },
      [this](uint32_t first_pixel) { return new_label(first_pixel); });
}

/// The decision tree: returns the label that e takes from its neighbours, or 0 if none has e's segment. A
/// neighbour's label is read only if its segment matches, which never happens outside the frame.
template <Connectivity kConnectivity>
uint32_t Sauf::decide(const uint8_t* e, size_t stride, const uint32_t* label, uint32_t width) {
  const uint8_t segment = *e;
  const uint8_t* b = e - stride;
  const uint32_t* above = label - width;
  const bool has_d = e[-1] == segment;
  if constexpr (kConnectivity == Connectivity::k4) {
    if (*b != segment) {
      return has_d ? label[-1] : 0;
    }
    return has_d ? unite(above[0], label[-1]) : above[0];
  } else {
    if (*b == segment) {
      return above[0];
    }
    if (b[1] == segment) {
      if (b[-1] == segment) {
        return unite(above[1], above[-1]);
      }
      return has_d ? unite(above[1], label[-1]) : above[1];
    }
    if (b[-1] == segment) {
      return above[-1];
    }
    return has_d ? label[-1] : 0;
  }
}

uint32_t Sauf::new_label(uint32_t first_pixel) {
  ++n_labels_;
  parent_[n_labels_] = n_labels_;
  first_pixel_[n_labels_] = first_pixel;
  return n_labels_;
}

uint32_t Sauf::find_root(uint32_t label) const {
  while (parent_[label] < label) {
    label = parent_[label];
  }
  return label;
}

void Sauf::set_root(uint32_t label, uint32_t root) {
  while (parent_[label] < label) {
    const uint32_t next = parent_[label];
    parent_[label] = root;
    label = next;
  }
  parent_[label] = root;
}

uint32_t Sauf::unite(uint32_t i, uint32_t j) {
  if (i == j) {
    return i;
  }
  const uint32_t root = std::min(find_root(i), find_root(j));
  set_root(i, root);
  set_root(j, root);
  return root;
}

void Sauf::flatten() {
  for (uint32_t label = 1; label <= n_labels_; ++label) {
    // From here on parent_ holds root map values: a smaller label's entry is already final.
    parent_[label] = parent_[label] < label ? parent_[parent_[label]] : first_pixel_[label];
  }
}

void Sauf::relabel(const SegmentSource& image, uint32_t* labels) const {
  parent_[0] = 0;
  const size_t n_pixels = size_t{image.width} * image.height;
  for (size_t pixel = 0; pixel < n_pixels; ++pixel) {
    labels[pixel] = parent_[labels[pixel]];
  }
}

}  // namespace

std::unique_ptr<Labeler> make_sauf(uint32_t width, uint32_t height, ThreadPool& /*pool*/) {
  return std::make_unique<Sauf>(width, height);
}

}  // namespace ccl::host
