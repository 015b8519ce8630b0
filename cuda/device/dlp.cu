// SPDX-License-Identifier: LGPL-2.1-or-later
/// DLP-GPU, distanceless label propagation: L. Cabaret, L. Lacassagne, D. Etiemble, "Distanceless label
/// propagation: an efficient direct connected component labeling algorithm for GPUs", IPTA 2017.
///
/// Every foreground pixel starts with a label of its own, so that the image of labels E is at the same time
/// the equivalence table (II.A). In a tile, a gather-scatter of minima over 2×2 windows (SR) and a
/// relabelling (R) make most of the equivalences cheaply, and a recursive union-find (RUF) finds those that
/// SR lost. Tile borders are then united by RUF in the whole image, and a last R makes every pixel point to
/// its root.
///
/// The steps are those of III.B, algorithm 5. Where we differ:
/// - Windows link equal segments rather than foreground, which admits many values; leaving out the diagonals
///   gives 4-connectivity. A diagonal whose ends straight links join anyway is left to those.
/// - Between reading labels and lowering them there is always a barrier. SR thus gathers the labels of DLP-I,
///   of which the window's first pixel has the least, and no thread's outcome hangs on another's pace.
/// - On borders, a link beside an equal one is left out: its pixels are united inside the tiles.
/// - The recursion of atomicRUF (algorithm 4) is a tail call; unite() is the loop it amounts to, as a chain
///   of labels can be as long as a spiral and must not be a stack as deep.
#include "device/check.h"
#include "device/equivalence.cuh"
#include "device/labeler.h"

namespace ccl::device {

namespace {

// Wide, because east borders are the dear ones; 5 KiB of shared memory, which never limits occupancy.
constexpr uint32_t kTileWidth = 64;
constexpr uint32_t kTileHeight = 16;
constexpr uint32_t kTilePixels = kTileWidth * kTileHeight;

// Four blocks fill a multiprocessor, so that some work while others wait at a barrier.
constexpr uint32_t kTileThreads = 512;
constexpr uint32_t kPixelsPerThread = kTilePixels / kTileThreads;

constexpr uint32_t kBorderThreads = 128;
constexpr uint32_t kRelabelThreads = 256;

/// What one block works on: E and the segments in shared memory, indices by tile rows. Each function is a
/// step for this thread's pixels; the kernel puts the barriers between them.
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

  /// Pixels outside the tile are background here.
  __device__ Window window(uint32_t i) const {
    const bool in_x = i % kTileWidth + 1 < kTileWidth;
    const bool in_y = i / kTileWidth + 1 < kTileHeight;
    return make_window<kConnectivity>(segments[i], in_x ? segments[i + 1] : 0,
                                      in_y ? segments[i + kTileWidth] : 0,
                                      in_x && in_y ? segments[i + kTileWidth + 1] : 0);
  }

  /// DLP-SR right after DLP-I: pixel i's label is i + 1 still, and the least of a window is its first one's.
  __device__ void gather_scatter() const {
    for_each_pixel([this](uint32_t, uint32_t i) {
      const Window links = window(i);
      if (links.right) {
        atomicMin(labels + i + 1, i + 1);
      }
      if (links.down) {
        atomicMin(labels + i + kTileWidth, i + 1);
      }
      if (links.diagonal) {
        atomicMin(labels + i + kTileWidth + 1, i + 1);
      }
      if (links.anti_diagonal) {
        atomicMin(labels + i + kTileWidth, i + 2);
      }
    });
  }

  /// DLP-R. Each round doubles the distance that a label leads: a full tile's labels, which SR leaves in
  /// chains as long as the tile is wide, take seven rounds and not as many steps. The whole block calls it,
  /// after a barrier; it ends with one.
  __device__ void relabel() const {
    bool changed = true;
    while (__syncthreads_or(changed)) {
      uint32_t next[kPixelsPerThread];
      changed = false;
      for_each_pixel([&](uint32_t k, uint32_t i) {
        const uint32_t label = labels[i];
        next[k] = label != 0 ? labels[label - 1] : 0;
        changed = changed || next[k] != label;
      });
      __syncthreads();
      for_each_pixel([&](uint32_t k, uint32_t i) { labels[i] = next[k]; });
    }
  }

  /// E of the four pixels of a window; 0 where the window leaves the tile, where it has no links.
  __device__ uint4 window_labels(uint32_t i) const {
    const bool in_x = i % kTileWidth + 1 < kTileWidth;
    const bool in_y = i / kTileWidth + 1 < kTileHeight;
    return {labels[i], in_x ? labels[i + 1] : 0, in_y ? labels[i + kTileWidth] : 0,
            in_x && in_y ? labels[i + kTileWidth + 1] : 0};
  }

  /// DLP-RUF of one window, by the labels it had before anyone began.
  __device__ void unite_window(uint32_t i, const uint4& e) const {
    const Window links = window(i);
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
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kTileThreads) label_tiles(SegmentSource frame, uint32_t* root_map) {
  __shared__ uint8_t segments[kTilePixels];
  __shared__ uint32_t labels[kTilePixels];
  using TileSteps = Tile<kConnectivity>;
  const TileSteps tile{segments, labels};
  const uint32_t x0 = blockIdx.x * kTileWidth;
  const uint32_t y0 = blockIdx.y * kTileHeight;
  uint4 window_labels[kPixelsPerThread];

  TileSteps::for_each_pixel([&](uint32_t, uint32_t i) {  // DLP-I
    const uint8_t segment = frame.segment_or_background(x0 + i % kTileWidth, y0 + i / kTileWidth);
    segments[i] = segment;
    labels[i] = segment != 0 ? i + 1 : 0;
  });
  __syncthreads();
  tile.gather_scatter();
  tile.relabel();
  TileSteps::for_each_pixel([&](uint32_t k, uint32_t i) { window_labels[k] = tile.window_labels(i); });
  __syncthreads();
  TileSteps::for_each_pixel([&](uint32_t k, uint32_t i) { tile.unite_window(i, window_labels[k]); });
  tile.relabel();
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
  if (x < frame.width) {
    merge_south<kConnectivity>(
        frame, kTileWidth, x, (blockIdx.y + 1) * kTileHeight - 1,
        [labels](uint32_t p, uint32_t q) { unite(labels, load(labels + p), load(labels + q)); });
  }
}

/// Step 2b: DLP-RUF on the last columns of tiles; blockIdx.y counts the borders.
template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kBorderThreads) merge_east_borders(SegmentSource frame, uint32_t* labels) {
  const uint32_t y = blockIdx.x * kBorderThreads + threadIdx.x;
  if (y < frame.height) {
    merge_east<kConnectivity>(
        frame, kTileHeight, (blockIdx.y + 1) * kTileWidth - 1, y,
        [labels](uint32_t p, uint32_t q) { unite(labels, load(labels + p), load(labels + q)); });
  }
}

/// Step 3: DLP-R on the whole image.
__global__ void __launch_bounds__(kRelabelThreads) relabel(uint32_t n_pixels, uint32_t* labels) {
  const uint32_t pixel = blockIdx.x * kRelabelThreads + threadIdx.x;
  if (pixel < n_pixels) {
    compress(labels, pixel);
  }
}

/// Algorithm 5.
template <Connectivity kConnectivity>
Status run(const SegmentSource& frame, uint32_t* root_map, cudaStream_t stream) {
  const dim3 tiles(blocks_for(frame.width, kTileWidth), blocks_for(frame.height, kTileHeight));
  label_tiles<kConnectivity><<<tiles, kTileThreads, 0, stream>>>(frame, root_map);
  CCL_RETURN_IF_ERROR(check_launch("dlp label_tiles"));
  if (tiles.y > 1) {
    const dim3 blocks(blocks_for(frame.width, kBorderThreads), tiles.y - 1);
    merge_south_borders<kConnectivity><<<blocks, kBorderThreads, 0, stream>>>(frame, root_map);
    CCL_RETURN_IF_ERROR(check_launch("dlp merge_south_borders"));
  }
  if (tiles.x > 1) {
    const dim3 blocks(blocks_for(frame.height, kBorderThreads), tiles.x - 1);
    merge_east_borders<kConnectivity><<<blocks, kBorderThreads, 0, stream>>>(frame, root_map);
    CCL_RETURN_IF_ERROR(check_launch("dlp merge_east_borders"));
  }
  const uint32_t n_pixels = frame.width * frame.height;
  relabel<<<blocks_for(n_pixels, kRelabelThreads), kRelabelThreads, 0, stream>>>(n_pixels, root_map);
  return check_launch("dlp relabel");
}

class Dlp final : public Labeler {
 public:
  Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map,
               cudaStream_t stream) override {
    return connectivity == Connectivity::k8 ? run<Connectivity::k8>(frame, root_map, stream)
                                            : run<Connectivity::k4>(frame, root_map, stream);
  }
};

}  // namespace

std::unique_ptr<Labeler> make_dlp() {
  return std::make_unique<Dlp>();
}

}  // namespace ccl::device
