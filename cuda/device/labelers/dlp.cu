// SPDX-License-Identifier: LGPL-2.1-or-later
/// DLP-GPU, distanceless label propagation: L. Cabaret, L. Lacassagne, D. Etiemble, "Distanceless label
/// propagation: an efficient direct connected component labeling algorithm for GPUs", IPTA 2017.
///
/// Every foreground pixel starts with a label of its own, so that the image of labels E is at the same
/// time the equivalence table (II.A). In a tile, a gather-scatter of minima over 2×2 windows (SR) and a
/// relabelling (R) make most of the equivalences cheaply, and a recursive union-find (RUF) finds those
/// that SR lost. Tile borders are then united by RUF in the whole image, and a last R makes every pixel
/// point to its root.
///
/// The steps are those of III.B, algorithm 5. Where we differ:
/// - Windows link equal segments rather than foreground, which admits many values; leaving out the
///   diagonals gives 4-connectivity. A diagonal whose ends straight links join anyway is left to those.
/// - Right after DLP-I all labels are known, so that SR needs no scatter: each pixel gathers what the
///   windows that it is in would give it. Between reading labels and lowering them there is always a
///   barrier, so that no thread's outcome hangs on another's pace.
/// - RUF leaves out windows that unite the same two labels as the one beside or above them and, on
///   borders, links beside an equal one, whose pixels are united inside the tiles. Of a warp's links there
///   that join the same two trees one is united.
/// - The recursion of atomicRUF (algorithm 4) is a tail call; unite() is the loop it amounts to, as a
///   chain of labels can be as long as a spiral and must not be a stack as deep.
#include <memory>

#include "device/labelers/compress.cuh"
#include "device/labelers/equivalence.cuh"
#include "device/labelers/forms.h"
#include "device/labelers/links.cuh"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

// Wide, because east borders are the dear ones; 5 KiB of shared memory, which never limits occupancy.
constexpr uint32_t kTileWidth = 64;
constexpr uint32_t kTileHeight = 16;
constexpr uint32_t kTilePixels = kTileWidth * kTileHeight;

// Several blocks fill a multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileThreads = 512;
constexpr uint32_t kPixelsPerThread = kTilePixels / kTileThreads;

/// What one block works on: E and the segments in shared memory, indices by tile rows. Each function is
/// a step for this thread's pixels; the kernel puts the barriers between them.
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

  /// A segment of the tile, background outside it; x and y may be off by one to either side.
  __device__ uint8_t segment(uint32_t x, uint32_t y) const {
    return x < kTileWidth && y < kTileHeight ? segments[y * kTileWidth + x] : 0;
  }

  /// DLP-I and, right after it, DLP-SR: the label that pixel i is left with. Every pixel's label is 1 +
  /// its index still, so the windows that i is in are known to scatter their first linked pixel's, and
  /// the least of these is that of the first pixel in raster order that a window links to i.
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

  /// DLP-R. A full tile's labels, which SR leaves in chains as long as the tile is wide, take seven rounds of
  /// flatten() and not as many steps. The whole block calls it; it begins and ends with a barrier.
  __device__ void relabel() const {
    uint32_t roots[kPixelsPerThread];
    __syncthreads();
    flatten(labels, threadIdx.x, kTileThreads, roots);
  }

  /// E of the pixels of a window; 0 where the window leaves the tile, where it has no links.
  __device__ uint4 window_labels(uint32_t i) const {
    const bool in_x = i % kTileWidth + 1 < kTileWidth;
    const bool in_y = i / kTileWidth + 1 < kTileHeight;
    return {labels[i], in_x ? labels[i + 1] : 0, in_y ? labels[i + kTileWidth] : 0,
            in_x && in_y ? labels[i + kTileWidth + 1] : 0};
  }

  /// The links of a window that DLP-RUF has to unite: with different labels, and not the same two
  /// labels as in the window above or to the left, which has them united then.
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

  /// DLP-RUF of one window, by the labels it had before anyone began.
  __device__ void unite_window(const Window& links, const uint4& e) const {
    if (links.right) {
      unite(labels, e.x, e.y);
    }
    if (links.down) {
      unite(labels, e.x, e.z);
    }
    if (links.diagonal) {
      unite(labels, e.x, e.w);
    }
    if (links.anti_diagonal) {
      unite(labels, e.y, e.z);
    }
  }
};

/// Step 1: labels a tile, and writes its labels as those of the frame.
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

  let_next_come();
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

/// Step 2a: DLP-RUF on the last rows of tiles; blockIdx.y counts the borders.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads) merge_south_borders(SegmentSource frame, uint32_t* labels) {
  const uint32_t x = blockIdx.x * kBorderThreads + threadIdx.x;
  const uint32_t y = (blockIdx.y + 1) * kTileHeight - 1;
  const BorderLinks links =
      x < frame.width ? links_south<kConnectivity>(frame, kTileWidth, x, y) : BorderLinks{};
  wait_for_previous();
  unite_links(labels, links);
}

/// Step 2b: DLP-RUF on the last columns of tiles; blockIdx.y counts the borders.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads) merge_east_borders(SegmentSource frame, uint32_t* labels) {
  const uint32_t x = (blockIdx.y + 1) * kTileWidth - 1;
  const uint32_t y = blockIdx.x * kBorderThreads + threadIdx.x;
  const BorderLinks links =
      y < frame.height ? links_east<kConnectivity>(frame, kTileHeight, x, y) : BorderLinks{};
  wait_for_previous();
  unite_links(labels, links);
}

/// Algorithm 5.
template <Connectivity kConnectivity, DlpForm kForm>
struct Dlp {
  static Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) {
    const dim3 tiles(blocks_for(frame.width, kTileWidth), blocks_for(frame.height, kTileHeight));
    const dim3 south(blocks_for(frame.width, kBorderThreads), tiles.y - 1);
    const dim3 east(blocks_for(frame.height, kBorderThreads), tiles.x - 1);
    CCL_RETURN_IF_ERROR(launch("dlp label_tiles", label_tiles<kConnectivity, kForm>, tiles, kTileThreads,
                               stream, frame, root_map));
    CCL_RETURN_IF_ERROR(launch_early("dlp merge_south_borders", merge_south_borders<kConnectivity>, south,
                                     kBorderThreads, stream, frame, root_map));
    CCL_RETURN_IF_ERROR(launch_early("dlp merge_east_borders", merge_east_borders<kConnectivity>, east,
                                     kBorderThreads, stream, frame, root_map));
    return launch_compress_all("dlp compress_all", frame, root_map,
                               stream);  // step 3, DLP-R on the whole image
  }
};

template <Connectivity kConnectivity>
using WholeDlp = Dlp<kConnectivity, DlpForm::kWhole>;
template <Connectivity kConnectivity>
using DlpWithoutScatter = Dlp<kConnectivity, DlpForm::kWithoutScatter>;

}  // namespace

std::unique_ptr<Labeler> make_dlp(DlpForm form) {
  if (form == DlpForm::kWithoutScatter) {
    return std::make_unique<LabelerOf<DlpWithoutScatter>>();
  }
  return std::make_unique<LabelerOf<WholeDlp>>();
}

std::unique_ptr<Labeler> make_dlp() {
  return make_dlp(DlpForm::kWhole);
}

}  // namespace ccl::device
