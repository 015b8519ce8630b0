// SPDX-License-Identifier: LGPL-2.1-or-later
/// DLP, distanceless label propagation, on the cores of a CPU: L. Cabaret, L. Lacassagne, D. Etiemble,
/// "Distanceless label propagation: an efficient direct connected component labeling algorithm for GPUs",
/// IPTA 2017.
///
/// Every foreground pixel starts with the label 1 + its raster index, so that the image of labels E is also
/// the equivalence table: label e's entry is E[e − 1] (II.A). Each tile is labelled alone, by a
/// gather-scatter of minima (SR), which is fast but loses some equivalences, and by a recursive union-find
/// (RUF), which finds the lost ones. Tile borders are then united with an atomic minimum, and relabelling (R)
/// makes every pixel point to its root.
///
/// The steps are those of III.B, algorithm 5. Where we differ:
/// - A thread has a large tile, not one pixel. So nothing inside a tile is atomic, and labels are those of
/// the
///   whole image: no translation of local labels is needed.
/// - In a tile, the mask is the forward mask (fig. 3), in raster order. It skips a neighbour that is adjacent
/// to
///   a matching neighbour, because these two are already connected. It compares segments instead of
///   foreground, so that equal values connect. Without the diagonals it gives 4-connectivity.
/// - The recursions of RUF and atomicRUF are tail calls. They are loops here, since a chain of labels can be
/// as
///   long as a spiral, and the stack must not grow with it.
#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <utility>

#include "host/labelers/labeler.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

// A tile of labels fills a 32 KiB first-level cache. It is wide because east borders are the expensive ones.
constexpr uint32_t kTileWidth = 256;
constexpr uint32_t kTileHeight = 32;

/// Columns x0..x1 − 1 and rows y0..y1 − 1 of the frame.
struct Tile {
  uint32_t x0, y0, x1, y1;
};

uint32_t load(uint32_t& entry) {
  return std::atomic_ref(entry).load(std::memory_order_relaxed);
}

/// Lowers `entry` to `value` if that is less, and returns the old entry. Relaxed: no other memory depends on
/// an entry, and the pool orders one step of the algorithm before the next.
uint32_t atomic_min(uint32_t& entry, uint32_t value) {
  std::atomic_ref shared(entry);
  uint32_t old = shared.load(std::memory_order_relaxed);
  while (old > value && !shared.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
  return old;
}

/// Algorithm 3: unites the trees of labels e and ε.
void ruf(uint32_t* labels, uint32_t e, uint32_t epsilon) {
  while (e != epsilon) {
    if (e < epsilon) {
      std::swap(e, epsilon);
    }
    uint32_t& entry = labels[e - 1];
    const uint32_t old = entry;
    entry = std::min(old, epsilon);
    if (old == e) {
      return;  // e was a root
    }
    e = old;  // e now has the smaller one of old and ε, and the other one must still be united with it
  }
}

/// Algorithm 4: the same while other threads do it too. A label that another thread wrote to e's entry is
/// either kept there or united next, so no equivalence is lost. The larger one of both labels decreases with
/// every iteration, so the loop ends.
void atomic_ruf(uint32_t* labels, uint32_t e, uint32_t epsilon) {
  while (e != epsilon) {
    if (e < epsilon) {
      std::swap(e, epsilon);
    }
    const uint32_t old = atomic_min(labels[e - 1], epsilon);
    if (old == e) {
      return;
    }
    e = old;
  }
}

/// The steps of one frame; E is `labels`.
template <Connectivity kConnectivity>
class Steps {
 public:
  Steps(const SegmentSource& image, uint32_t* labels) : image_(image), labels_(labels) {}

  /// DLP-I: a different label for every foreground pixel.
  void initialize(const Tile& tile) const {
    for (uint32_t y = tile.y0; y < tile.y1; ++y) {
      const uint8_t* segments = image_.row(y);
      for (uint32_t x = tile.x0; x < tile.x1; ++x) {
        const uint32_t pixel = index(x, y);
        labels_[pixel] = segments[x] != 0 ? pixel + 1 : 0;
      }
    }
  }

  /// DLP-SR (algorithms 1 and 2): gathers the least label of the mask and scatters it to all its labels.
  void gather_scatter(const Tile& tile) const {
    for_each_foreground_pixel(tile, [this, &tile](uint32_t x, uint32_t y) {
      std::array<uint32_t, 3> mask{labels_[index(x, y)]};
      uint32_t n = 1;
      for_each_predecessor(tile, x, y, [&](uint32_t neighbor) { mask[n++] = labels_[neighbor]; });
      const uint32_t epsilon = *std::min_element(mask.begin(), mask.begin() + n);
      labels_[index(x, y)] = epsilon;
      for (uint32_t i = 0; i < n; ++i) {
        uint32_t& root = labels_[mask[i] - 1];  // SetRoot
        root = std::min(root, epsilon);
      }
    });
  }

  /// DLP-R inside a tile. No label is larger than its pixel's first label, so in raster order the entry of a
  /// label is relabelled before and is a root.
  void relabel(const Tile& tile) const {
    for_each_foreground_pixel(tile, [this](uint32_t x, uint32_t y) {
      uint32_t& label = labels_[index(x, y)];
      label = labels_[label - 1];
    });
  }

  /// DLP-RUF inside a tile: finds the equivalences that DLP-SR overwrote.
  void unite(const Tile& tile) const {
    for_each_foreground_pixel(tile, [this, &tile](uint32_t x, uint32_t y) {
      for_each_predecessor(tile, x, y,
                           [&](uint32_t neighbor) { ruf(labels_, labels_[index(x, y)], labels_[neighbor]); });
    });
  }

  /// Step 2a: unites the tile's last row with the row below it, corners included.
  void merge_south(const Tile& tile) const {
    const uint32_t y = tile.y1 - 1;
    const uint8_t* segments = image_.row(y);
    const uint8_t* below = segments + image_.stride;
    for (uint32_t x = tile.x0; x < tile.x1; ++x) {
      if (segments[x] != 0) {
        const std::array<bool, 3> match = matches(segments[x], below + x, 1);
        merge_across(index(x, y), index(x, y) + image_.width, 1, match);
      }
    }
  }

  /// Step 2b: unites the tile's last column with the column right of it.
  void merge_east(const Tile& tile) const {
    const uint32_t x = tile.x1 - 1;
    for (uint32_t y = tile.y0; y < tile.y1; ++y) {
      const uint8_t* segment = image_.row(y) + x;
      if (*segment != 0) {
        const std::array<bool, 3> match = matches(*segment, segment + 1, image_.stride);
        merge_across(index(x, y), index(x, y) + 1, image_.width, match);
      }
    }
  }

  /// Step 3, DLP-R on the whole image. Labels lead to entries in tiles of other threads, which may replace
  /// them by their roots at the same time. Both values lead to the root.
  void relabel_globally(const Tile& tile) const {
    for_each_foreground_pixel(tile, [this](uint32_t x, uint32_t y) {
      uint32_t& entry = labels_[index(x, y)];
      const uint32_t label = load(entry);
      uint32_t root = label;
      for (uint32_t next = load(labels_[root - 1]); next != root; next = load(labels_[root - 1])) {
        root = next;
      }
      if (root != label) {
        std::atomic_ref(entry).store(root, std::memory_order_relaxed);
      }
    });
  }

 private:
  uint32_t index(uint32_t x, uint32_t y) const { return y * image_.width + x; }

  template <typename Visit>
  void for_each_foreground_pixel(const Tile& tile, Visit visit) const {
    for (uint32_t y = tile.y0; y < tile.y1; ++y) {
      const uint8_t* segments = image_.row(y);
      for (uint32_t x = tile.x0; x < tile.x1; ++x) {
        if (segments[x] != 0) {
          visit(x, y);
        }
      }
    }
  }

  /// Visits the neighbours of the forward mask that are in the tile and in the pixel's segment, and skips
  /// those that are adjacent to a visited one. At most two are visited.
  template <typename Visit>
  void for_each_predecessor(const Tile& tile, uint32_t x, uint32_t y, Visit visit) const {
    const uint8_t* segment = image_.row(y) + x;
    const uint8_t* above = segment - image_.stride;
    const uint32_t pixel = index(x, y);
    const bool left = x > tile.x0 && segment[-1] == *segment;
    const bool up = y > tile.y0 && *above == *segment;
    if (up) {
      visit(pixel - image_.width);
    }
    if constexpr (kConnectivity == Connectivity::k4) {
      if (left) {
        visit(pixel - 1);
      }
    } else if (!up) {
      if (y > tile.y0 && x + 1 < tile.x1 && above[1] == *segment) {
        visit(pixel - image_.width + 1);
      }
      if (left) {
        visit(pixel - 1);
      } else if (y > tile.y0 && x > tile.x0 && above[-1] == *segment) {
        visit(pixel - image_.width - 1);
      }
    }
  }

  /// Whether the three neighbours across a border have this segment: the straight one is the second.
  static std::array<bool, 3> matches(uint8_t segment, const uint8_t* across, size_t step) {
    return {*(across - step) == segment, *across == segment, across[step] == segment};
  }

  /// Unites a pixel with its neighbours across a border. The straight neighbour connects the diagonal ones.
  void merge_across(uint32_t pixel, uint32_t across, uint32_t step, const std::array<bool, 3>& match) const {
    const auto merge = [this, pixel](uint32_t neighbor) {
      atomic_ruf(labels_, load(labels_[pixel]), load(labels_[neighbor]));
    };
    if (match[1]) {
      merge(across);
      return;
    }
    if constexpr (kConnectivity == Connectivity::k8) {
      if (match[0]) {
        merge(across - step);
      }
      if (match[2]) {
        merge(across + step);
      }
    }
  }

  const SegmentSource& image_;
  uint32_t* labels_;
};

class Dlp final : public Labeler {
 public:
  Dlp(uint32_t width, uint32_t height, ThreadPool& pool)
      : width_(width),
        height_(height),
        n_columns_((width + kTileWidth - 1) / kTileWidth),
        n_tiles_(n_columns_ * ((height + kTileHeight - 1) / kTileHeight)),
        pool_(pool) {}

  void label(const SegmentSource& image, Connectivity connectivity, uint32_t* root_map) override {
    if (connectivity == Connectivity::k8) {
      run(Steps<Connectivity::k8>(image, root_map));
    } else {
      run(Steps<Connectivity::k4>(image, root_map));
    }
  }

 private:
  /// Algorithm 5.
  template <typename FrameSteps>
  void run(const FrameSteps& steps) const {
    for_each_tile([&steps](const Tile& tile) {
      steps.initialize(tile);
      steps.gather_scatter(tile);
      steps.relabel(tile);
      steps.unite(tile);
      steps.relabel(tile);
    });
    for_each_tile([&steps](const Tile& tile) { steps.merge_south(tile); });
    for_each_tile([&steps](const Tile& tile) { steps.merge_east(tile); });
    for_each_tile([&steps](const Tile& tile) { steps.relabel_globally(tile); });
  }

  template <typename Visit>
  void for_each_tile(Visit visit) const {
    pool_.parallel_for(n_tiles_, [this, &visit](uint32_t i) {
      const uint32_t x = i % n_columns_ * kTileWidth;
      const uint32_t y = i / n_columns_ * kTileHeight;
      visit(Tile{x, y, std::min(x + kTileWidth, width_), std::min(y + kTileHeight, height_)});
    });
  }

  uint32_t width_;
  uint32_t height_;
  uint32_t n_columns_;
  uint32_t n_tiles_;
  ThreadPool& pool_;
};

}  // namespace

std::unique_ptr<Labeler> make_dlp(uint32_t width, uint32_t height, ThreadPool& pool) {
  return std::make_unique<Dlp>(width, height, pool);
}

}  // namespace ccl::host
