// SPDX-License-Identifier: LGPL-2.1-or-later
/// HCS2 + ARemSP, the pixel-based CPU algorithm that the paper of DLP-GPU compares with: S. Gupta, D.
/// Palsetia, M. A. Patwary, A. Agrawal, A. Choudhary, "A new parallel algorithm for two-pass connected
/// component labeling", IPDPS Workshops 2014 (AREMSP and, with threads, PAREMSP), on the scan of L. He, Y.
/// Chao, K. Suzuki.
///
/// The first scan takes two rows at a time and gives each pair of pixels e g provisional labels from the
/// neighbours that were visited before,
///
///     a b c
///     d e
///     f g
///
/// by a decision tree that reads as few of them as possible. Labels of one component
/// are united by Rem's algorithm with splicing. One pass over the labels flattens their
/// trees, and a second scan replaces them.
///
/// Threads work as in PAREMSP, which Cabaret et al. run on four cores: each thread has a row chunk, with an
/// even number of rows, and a separate range of labels. When all chunks are scanned, pixels on both sides of
/// a chunk's edge are united. With one thread this is AREMSP.
///
/// Where we differ:
/// - "b is an object pixel" becomes "b has e's segment"; and g has another label than e if its segment is
///   another one. The tree stays right with many segments: it only assumes that equal segments that touch are
///   already connected.
/// - For 4-connectivity the tree has b and d for e, e and f for g.
/// - Labels are not created in raster order: e may take its label from f, in the row below. So each label
///   keeps its first pixel, and flattening finds the first pixel of each component.
/// - At the edges of chunks, an atomic minimum replaces PAREMSP's locks on roots.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "host/labelers/labeler.h"
#include "host/thread_pool.h"
#include "host/unite.h"

namespace ccl::host {

namespace {

/// Rem's algorithm with splicing while other threads do it too. A label that another thread wrote to the
/// larger label's entry is either kept there or united next. Relaxed, because the pool orders one step before
/// the next.
void unite_atomically(uint32_t* parent, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t larger = std::max(a, b);
    const uint32_t smaller = std::min(a, b);
    std::atomic_ref entry(parent[larger]);
    uint32_t old = entry.load(std::memory_order_relaxed);
    while (old > smaller && !entry.compare_exchange_weak(old, smaller, std::memory_order_relaxed)) {
    }
    if (old == larger) {
      return;  // it was a root
    }
    a = old;
    b = smaller;
  }
}

/// Rows y0..y1 − 1 of the frame and the labels that were created in them.
struct Chunk {
  uint32_t y0 = 0;
  uint32_t y1 = 0;
  uint32_t first_label = 0;
  uint32_t end_label = 0;  ///< one past the last label created
};

class Hcs2Aremsp final : public Labeler {
 public:
  Hcs2Aremsp(uint32_t width, uint32_t height, ThreadPool& pool);

  void label(const SegmentSource& image, Connectivity connectivity, uint32_t* root_map) override {
    if (connectivity == Connectivity::k8) {
      run<Connectivity::k8>(image, root_map);
    } else {
      run<Connectivity::k4>(image, root_map);
    }
  }

 private:
  /// The mask at a pair of pixels: pointers to segments and labels of three rows, at the pair's column.
  /// Labels of pixels outside the frame or the chunk are never read, because their segments never match.
  struct Mask {
    const uint8_t* above;  ///< b
    const uint8_t* upper;  ///< e
    const uint8_t* lower;  ///< g
    const uint32_t* above_labels;
    uint32_t* upper_labels;
    uint32_t* lower_labels;
  };

  template <Connectivity kConnectivity>
  void run(const SegmentSource& image, uint32_t* labels);
  template <Connectivity kConnectivity>
  void scan(const SegmentSource& image, Chunk* chunk, uint32_t* labels);
  template <Connectivity kConnectivity>
  uint32_t decide_upper(const Mask& mask, uint32_t pixel);
  template <Connectivity kConnectivity>
  uint32_t decide_lower(const Mask& mask);
  template <Connectivity kConnectivity>
  void merge_across_edge(const SegmentSource& image, const Chunk& chunk, const uint32_t* labels);
  void flatten();
  void relabel(const SegmentSource& image, const Chunk& chunk, uint32_t* labels) const;

  uint32_t new_label(Chunk* chunk, uint32_t pixel) {
    const uint32_t label = chunk->end_label++;
    parent_[label] = label;
    first_pixel_[label] = pixel + 1;
    return label;
  }

  ThreadPool& pool_;
  std::vector<Chunk> chunks_;
  std::unique_ptr<uint8_t[]> blank_segments_;  ///< the row above a chunk; it never matches
  std::unique_ptr<uint32_t[]> spare_labels_;   ///< the row below the last one, if the number of rows is odd
  std::unique_ptr<uint32_t[]> parent_;         ///< the paper's array p; a root is its own parent
  std::unique_ptr<uint32_t[]> first_pixel_;    ///< per label: 1 + the smallest raster index of its pixels
};

Hcs2Aremsp::Hcs2Aremsp(uint32_t width, uint32_t height, ThreadPool& pool)
    : pool_(pool),
      blank_segments_(std::make_unique<uint8_t[]>(size_t{width} + 2)),
      spare_labels_(std::make_unique_for_overwrite<uint32_t[]>(width)),
      parent_(std::make_unique_for_overwrite<uint32_t[]>(size_t{width} * height + 1)),
      first_pixel_(std::make_unique_for_overwrite<uint32_t[]>(size_t{width} * height + 1)) {
  const uint32_t n_pairs = (height + 1) / 2;
  const uint32_t n_chunks = std::min(pool.n_threads(), n_pairs);
  for (uint32_t i = 0; i < n_chunks; ++i) {
    const auto row = [&](uint32_t chunk) {
      return std::min(height, static_cast<uint32_t>(uint64_t{n_pairs} * chunk / n_chunks) * 2);
    };
    chunks_.push_back({.y0 = row(i), .y1 = row(i + 1), .first_label = row(i) * width + 1});
  }
}

template <Connectivity kConnectivity>
void Hcs2Aremsp::run(const SegmentSource& image, uint32_t* labels) {
  const auto n_chunks = static_cast<uint32_t>(chunks_.size());
  pool_.parallel_for(n_chunks, [&](uint32_t i) { scan<kConnectivity>(image, &chunks_[i], labels); });
  pool_.parallel_for(n_chunks - 1,
                     [&](uint32_t i) { merge_across_edge<kConnectivity>(image, chunks_[i + 1], labels); });
  flatten();
  pool_.parallel_for(n_chunks, [&](uint32_t i) { relabel(image, chunks_[i], labels); });
}

template <Connectivity kConnectivity>
void Hcs2Aremsp::scan(const SegmentSource& image, Chunk* chunk, uint32_t* labels) {
  chunk->end_label = chunk->first_label;
  for (uint32_t y = chunk->y0; y < chunk->y1; y += 2) {
    const uint32_t first = y * image.width;
    Mask mask{.above = y == chunk->y0 ? blank_segments_.get() + 1 : image.row(y) - image.stride,
              .upper = image.row(y),
              .lower = image.row(y) + image.stride,
              .above_labels = labels + first - image.width,
              .upper_labels = labels + first,
              .lower_labels = y + 1 < chunk->y1 ? labels + first + image.width : spare_labels_.get()};
    for (uint32_t x = 0; x < image.width; ++x) {
      uint32_t upper = 0;
      if (*mask.upper != 0) {
        upper = decide_upper<kConnectivity>(mask, first + x);
        upper = upper != 0 ? upper : new_label(chunk, first + x);
      }
      *mask.upper_labels = upper;
      uint32_t lower = 0;
      if (*mask.lower != 0) {
        lower = decide_lower<kConnectivity>(mask);
        lower = lower != 0 ? lower : new_label(chunk, first + image.width + x);
      }
      *mask.lower_labels = lower;
      ++mask.above, ++mask.upper, ++mask.lower;
      ++mask.above_labels, ++mask.upper_labels, ++mask.lower_labels;
    }
  }
}

/// The decision tree for e, at raster index `pixel`: returns the label it takes, or 0 if no neighbour has its
/// segment. It unites e only with neighbours that are not yet connected: b connects a and c; d connects a, b
/// and f.
template <Connectivity kConnectivity>
uint32_t Hcs2Aremsp::decide_upper(const Mask& mask, uint32_t pixel) {
  const uint8_t segment = *mask.upper;
  const bool has_b = *mask.above == segment;
  const bool has_d = mask.upper[-1] == segment;
  const auto join = [this](uint32_t label, uint32_t other) {
    unite(parent_.get(), label, other);
    return label;
  };
  if constexpr (kConnectivity == Connectivity::k4) {
    if (has_b) {
      return has_d ? join(*mask.above_labels, mask.upper_labels[-1]) : *mask.above_labels;
    }
    return has_d ? mask.upper_labels[-1] : 0;
  } else {
    const auto has_c = [&] { return mask.above[1] == segment; };
    if (has_d) {
      const uint32_t label = mask.upper_labels[-1];
      return !has_b && has_c() ? join(label, mask.above_labels[1]) : label;
    }
    const bool has_f = mask.lower[-1] == segment;
    if (has_b) {
      return has_f ? join(*mask.above_labels, mask.lower_labels[-1]) : *mask.above_labels;
    }
    uint32_t label = 0;
    if (has_f) {
      label = mask.lower_labels[-1];
      first_pixel_[label] = std::min(first_pixel_[label], pixel + 1);
    }
    if (mask.above[-1] == segment) {
      label = label != 0 ? join(label, mask.above_labels[-1]) : mask.above_labels[-1];
    }
    if (has_c()) {
      label = label != 0 ? join(label, mask.above_labels[1]) : mask.above_labels[1];
    }
    return label;
  }
}

/// The same for g, after e has its label.
template <Connectivity kConnectivity>
uint32_t Hcs2Aremsp::decide_lower(const Mask& mask) {
  const uint8_t segment = *mask.lower;
  const bool has_d = mask.upper[-1] == segment;
  const bool has_f = mask.lower[-1] == segment;
  if (*mask.upper == segment) {
    if (kConnectivity == Connectivity::k4 && has_f && !has_d) {
      unite(parent_.get(), *mask.upper_labels, mask.lower_labels[-1]);
    }
    return *mask.upper_labels;
  }
  if (kConnectivity == Connectivity::k8 && has_d) {
    return mask.upper_labels[-1];
  }
  return has_f ? mask.lower_labels[-1] : 0;
}

/// Unites the first row of a chunk with the last row of the chunk above.
template <Connectivity kConnectivity>
void Hcs2Aremsp::merge_across_edge(const SegmentSource& image, const Chunk& chunk, const uint32_t* labels) {
  const uint8_t* e = image.row(chunk.y0);
  const uint8_t* b = e - image.stride;
  const uint32_t* label = labels + size_t{chunk.y0} * image.width;
  const uint32_t* above = label - image.width;
  for (uint32_t x = 0; x < image.width; ++x) {
    if (e[x] == 0) {
      continue;
    }
    if (b[x] == e[x]) {
      unite_atomically(parent_.get(), label[x], above[x]);
    } else if constexpr (kConnectivity == Connectivity::k8) {
      if (b[static_cast<std::ptrdiff_t>(x) - 1] == e[x]) {
        unite_atomically(parent_.get(), label[x], above[x - 1]);
      }
      if (b[x + 1] == e[x]) {
        unite_atomically(parent_.get(), label[x], above[x + 1]);
      }
    }
  }
}

void Hcs2Aremsp::flatten() {
  for (const Chunk& chunk : chunks_) {
    for (uint32_t label = chunk.first_label; label < chunk.end_label; ++label) {
      const uint32_t root = parent_[parent_[label]];  // a smaller label's entry is already final
      parent_[label] = root;
      first_pixel_[root] = std::min(first_pixel_[root], first_pixel_[label]);
    }
  }
}

void Hcs2Aremsp::relabel(const SegmentSource& image, const Chunk& chunk, uint32_t* labels) const {
  uint32_t* const end = labels + size_t{chunk.y1} * image.width;
  for (uint32_t* label = labels + size_t{chunk.y0} * image.width; label != end; ++label) {
    *label = *label != 0 ? first_pixel_[parent_[*label]] : 0;
  }
}

}  // namespace

std::unique_ptr<Labeler> make_hcs2_aremsp(uint32_t width, uint32_t height, ThreadPool& pool) {
  return std::make_unique<Hcs2Aremsp>(width, height, pool);
}

}  // namespace ccl::host
