// SPDX-License-Identifier: LGPL-2.1-or-later
/// DLP-GPU, distanceless label propagation: L. Cabaret, L. Lacassagne, D. Etiemble, "Distanceless label
/// propagation: an efficient direct connected component labeling algorithm for GPUs", IPTA 2017.
///
/// Every foreground pixel starts with a label of its own (DLP-I), so that the image of labels E is also the
/// equivalence table. In a tile, a gather and scatter of minima over 2×2 windows (DLP-SR) and a relabelling
/// (DLP-R) resolve most equivalences at low cost, and a recursive union-find (DLP-RUF) resolves the rest.
/// DLP-RUF then unites the borders of tiles in the whole image, and a last DLP-R changes every label to its
/// root.
///
/// Where we differ (the steps are those of section III.B, algorithm 5):
/// - Windows link equal segments instead of foreground, which allows many values; without diagonals they give
///   4-connectivity. A diagonal is left out if straight links join its ends.
/// - Immediately after DLP-I all labels are known, so DLP-SR needs no scatter: each pixel gathers the label
///   that its windows would scatter to it. There is a barrier between reading labels and lowering them, so
///   that the result of a thread does not depend on the speed of another one.
/// - DLP-RUF leaves out a window that unites the same two labels as the window beside or above it. On borders
///   it leaves out a link beside an equal one, because their pixels are united inside the tiles. If several
///   links of a warp join the same two trees there, one of them is united.
/// - The recursion of atomicRUF (algorithm 4) is a tail call, which is a loop here: a chain of
///   labels can be as long as a spiral, and a stack must not be as deep.
#include <memory>

#include "device/labelers/compress.cuh"
#include "device/labelers/equivalence.cuh"
#include "device/labelers/forms.h"
#include "device/labelers/labeler_of.h"
#include "device/labelers/links.cuh"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

// Tiles are wide because east borders are the expensive ones. Their 5 KiB of shared memory never limit
// occupancy.
constexpr uint32_t kTileWidth = 64;
constexpr uint32_t kTileHeight = 16;
constexpr uint32_t kTilePixels = kTileWidth * kTileHeight;

// Several blocks fill a multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileThreads = 512;
constexpr uint32_t kPixelsPerThread = kTilePixels / kTileThreads;

/// atomicRUF (algorithm 4): unites the trees of labels a and b of a tile while other threads unite too. The
/// entry that atomicMin() replaces is united next, so no equivalence is lost; the larger label shrinks with
/// every pass, so the loop ends. No thread may change entries without atomics meanwhile. It is made for
/// shared memory and short paths.
__device__ inline void atomic_ruf(uint32_t* table, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t larger = max(a, b);
    const uint32_t smaller = min(a, b);
    const uint32_t old = atomicMin(table + larger - 1, smaller);
    if (old == larger) {
      return;  // it was a root
    }
    a = old;
    b = smaller;
  }
}

/// The tile of a block: the segments and E in shared memory, in raster order. Each function is a step for
/// this thread's pixels or for one of them. Barriers between the steps are in the kernel.
template <Connectivity kConnectivity>
struct Tile {
  const uint8_t* segments;
  uint32_t* labels;

  template <typename Visit>
  __device__ static void for_each_pixel(Visit visit) {
#pragma unroll
    for (uint32_t k = 0; k < kPixelsPerThread; ++k) {
      visit(k, threadIdx.x + k * kTileThreads);
    }
  }

  /// A segment of the tile; background outside it, where x and y may be by one.
  __device__ uint8_t segment(uint32_t x, uint32_t y) const {
    return x < kTileWidth && y < kTileHeight ? segments[y * kTileWidth + x] : 0;
  }

  /// DLP-I and DLP-SR: the label of pixel i after both. After DLP-I every label is 1 + the pixel's index, so
  /// each window of pixel i scatters the label of its first linked pixel. The minimum of these is the label
  /// of the first pixel in raster order that a window links to i.
  __device__ uint32_t gather(uint32_t i) const {
    const uint32_t x = i % kTileWidth;
    const uint32_t y = i / kTileWidth;
    const uint8_t own = segments[i];
    if (own == 0) {
      return 0;
    }
    const uint8_t left = segment(x - 1, y);
    const uint8_t up = segment(x, y - 1);
    if (make_window<kConnectivity>(segment(x - 1, y - 1), up, left, own).diagonal) {
      return i - kTileWidth;
    }
    if (up == own) {
      return i - kTileWidth + 1;
    }
    if (make_window<kConnectivity>(up, segment(x + 1, y - 1), own, segment(x + 1, y)).anti_diagonal) {
      return i - kTileWidth + 2;
    }
    return left == own ? i : i + 1;
  }

  /// DLP-R. In a full tile, DLP-SR leaves chains as long as the tile's width; flatten() needs seven rounds
  /// for them. The whole block calls this function; it begins and ends with a barrier.
  __device__ void relabel() const {
    uint32_t roots[kPixelsPerThread];
    __syncthreads();
    flatten(labels, threadIdx.x, kTileThreads, roots);
  }

  /// The labels of a window's pixels; 0 outside the tile, where the window has no links.
  __device__ uint4 window_labels(uint32_t i) const {
    const bool in_x = i % kTileWidth + 1 < kTileWidth;
    const bool in_y = i / kTileWidth + 1 < kTileHeight;
    return {labels[i], in_x ? labels[i + 1] : 0, in_y ? labels[i + kTileWidth] : 0,
            in_x && in_y ? labels[i + kTileWidth + 1] : 0};
  }

  /// The links of a window that DLP-RUF has to unite: their labels `e` are different, and the window above or
  /// to the left does not unite the same two labels.
  __device__ Window unions(uint32_t i, const uint4& e) const {
    const uint32_t x = i % kTileWidth;
    const uint32_t y = i / kTileWidth;
    Window links =
        make_window<kConnectivity>(segments[i], segment(x + 1, y), segment(x, y + 1), segment(x + 1, y + 1));
    links.right = links.right && e.x != e.y &&
                  !(y > 0 && labels[i - kTileWidth] == e.x && labels[i - kTileWidth + 1] == e.y);
    links.down =
        links.down && e.x != e.z && !(x > 0 && labels[i - 1] == e.x && labels[i + kTileWidth - 1] == e.z);
    links.diagonal = links.diagonal && e.x != e.w;
    links.anti_diagonal = links.anti_diagonal && e.y != e.z;
    return links;
  }

  /// DLP-RUF of one window. `e` are the labels that its pixels had before any thread began to unite.
  __device__ void unite_window(const Window& links, const uint4& e) const {
    if (links.right) {
      atomic_ruf(labels, e.x, e.y);
    }
    if (links.down) {
      atomic_ruf(labels, e.x, e.z);
    }
    if (links.diagonal) {
      atomic_ruf(labels, e.x, e.w);
    }
    if (links.anti_diagonal) {
      atomic_ruf(labels, e.y, e.z);
    }
  }
};

/// Step 1: labels a tile and writes the labels as labels of the frame.
template <Connectivity kConnectivity, DlpForm kForm>
__global__ void __launch_bounds__(kTileThreads) label_tiles(SegmentSource frame, uint32_t* root_map) {
  __shared__ uint8_t segments[kTilePixels];
  __shared__ uint32_t labels[kTilePixels];
  using TileSteps = Tile<kConnectivity>;
  const TileSteps tile{segments, labels};
  const uint32_t x0 = blockIdx.x * kTileWidth;
  const uint32_t y0 = blockIdx.y * kTileHeight;
  uint4 window_labels[kPixelsPerThread];
  Window unions[kPixelsPerThread];
  bool remains = false;

  allow_next_kernel();
  TileSteps::for_each_pixel([&](uint32_t, uint32_t i) {
    segments[i] = frame.segment_or_background(x0 + i % kTileWidth, y0 + i / kTileWidth);
  });
  __syncthreads();
  if constexpr (kForm == DlpForm::kWhole) {
    TileSteps::for_each_pixel([&](uint32_t, uint32_t i) { labels[i] = tile.gather(i); });
    tile.relabel();
  } else {
    TileSteps::for_each_pixel([&](uint32_t, uint32_t i) { labels[i] = segments[i] != 0 ? i + 1 : 0; });
    __syncthreads();
  }
  TileSteps::for_each_pixel([&](uint32_t k, uint32_t i) {
    window_labels[k] = tile.window_labels(i);
    unions[k] = tile.unions(i, window_labels[k]);
    remains = remains || unions[k].right || unions[k].down || unions[k].diagonal || unions[k].anti_diagonal;
  });
  if (__syncthreads_or(remains)) {
    TileSteps::for_each_pixel([&](uint32_t k, uint32_t) { tile.unite_window(unions[k], window_labels[k]); });
    tile.relabel();
  }
  TileSteps::for_each_pixel([&](uint32_t, uint32_t i) {
    const uint32_t x = x0 + i % kTileWidth;
    const uint32_t y = y0 + i / kTileWidth;
    if (x < frame.width && y < frame.height) {
      const uint32_t root = labels[i] - 1;
      const uint32_t global = (y0 + root / kTileWidth) * frame.width + x0 + root % kTileWidth + 1;
      root_map[y * frame.width + x] = labels[i] != 0 ? global : 0;
    }
  });
}

/// Step 2a: DLP-RUF on the south borders of tiles; blockIdx.y is the border.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads) merge_south_borders(SegmentSource frame, uint32_t* labels) {
  const uint32_t x = blockIdx.x * kBorderThreads + threadIdx.x;
  const uint32_t y = (blockIdx.y + 1) * kTileHeight - 1;
  const BorderLinks links =
      x < frame.width ? links_south<kConnectivity>(frame, kTileWidth, x, y) : BorderLinks{};
  wait_for_previous_kernel();
  unite_links(labels, links);
}

/// Step 2b: DLP-RUF on the east borders of tiles; blockIdx.y is the border.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads) merge_east_borders(SegmentSource frame, uint32_t* labels) {
  const uint32_t x = (blockIdx.y + 1) * kTileWidth - 1;
  const uint32_t y = blockIdx.x * kBorderThreads + threadIdx.x;
  const BorderLinks links =
      y < frame.height ? links_east<kConnectivity>(frame, kTileHeight, x, y) : BorderLinks{};
  wait_for_previous_kernel();
  unite_links(labels, links);
}

/// Launches the three steps (algorithm 5).
template <Connectivity kConnectivity>
struct Dlp {
  DlpForm form;

  Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) const {
    const auto label = form == DlpForm::kWhole ? label_tiles<kConnectivity, DlpForm::kWhole>
                                               : label_tiles<kConnectivity, DlpForm::kWithoutScatter>;
    const dim3 tiles(blocks_for(frame.width, kTileWidth), blocks_for(frame.height, kTileHeight));
    const dim3 south(blocks_for(frame.width, kBorderThreads), tiles.y - 1);
    const dim3 east(blocks_for(frame.height, kBorderThreads), tiles.x - 1);
    CCL_RETURN_IF_ERROR(launch("dlp label_tiles", label, tiles, kTileThreads, stream, frame, root_map));
    CCL_RETURN_IF_ERROR(launch_overlapped("dlp merge_south_borders", merge_south_borders<kConnectivity>,
                                          south, kBorderThreads, stream, frame, root_map));
    CCL_RETURN_IF_ERROR(launch_overlapped("dlp merge_east_borders", merge_east_borders<kConnectivity>, east,
                                          kBorderThreads, stream, frame, root_map));
    return launch_compress_all("dlp compress_all", frame, root_map, stream);  // step 3
  }
};

}  // namespace

std::unique_ptr<Labeler> make_dlp(DlpForm form) {
  return std::make_unique<LabelerOf<Dlp, DlpForm>>(form);
}

std::unique_ptr<Labeler> make_dlp() {
  return make_dlp(DlpForm::kWhole);
}

}  // namespace ccl::device
