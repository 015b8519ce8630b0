// SPDX-License-Identifier: LGPL-2.1-or-later
/// Heights are smoothed and climbed tile by tile. Within a tile, pointers are doubled until each leads to a
/// summit or out of the tile; what leads out is followed from tile to tile, when basins are measured. Of the
/// links between two basins a tile lists the first one only, as long as its table has room.
#include "device/stages/separate/hills.h"

#include "device/check.h"
#include "device/launch.cuh"
#include "device/stages/tile_table.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kTilePixels = kMeasureTileWidth * kMeasureTileHeight;

struct Place {
  int32_t x, y;
};

/// Threads of a block go down columns of a tile: where this thread begins, if each takes every so many rows.
__device__ Place first_place() {
  return {static_cast<int32_t>(threadIdx.x % kMeasureTileWidth),
          static_cast<int32_t>(threadIdx.x / kMeasureTileWidth)};
}

/// A tile in shared memory, with a margin of kMargin pixels. Places in it may be negative.
template <typename T, int32_t kMargin>
struct TileOf {
  static constexpr int32_t kWidth = static_cast<int32_t>(kMeasureTileWidth) + 2 * kMargin;
  static constexpr int32_t kHeight = static_cast<int32_t>(kMeasureTileHeight) + 2 * kMargin;

  T values[kHeight][kWidth];

  __device__ T& at(int32_t x, int32_t y) { return values[y + kMargin][x + kMargin]; }
  __device__ T at(int32_t x, int32_t y) const { return values[y + kMargin][x + kMargin]; }

  static constexpr int32_t kRowsAtOnce = static_cast<int32_t>(kMeasureThreads / kMeasureTileWidth);
  static constexpr int32_t kRows = (kHeight + kRowsAtOnce - 1) / kRowsAtOnce;
  static constexpr int32_t kRounds = kRows + 1;
  static_assert(2 * kMargin * kHeight <= static_cast<int32_t>(kMeasureThreads));

  /// Calls visit(round, x, y) for the places of this thread: those of a column, then one of the margins
  /// beside the tile.
  template <typename Visit>
  static __device__ void for_each(Visit visit) {
    const Place place = first_place();
#pragma unroll
    for (int32_t round = 0; round < kRows; ++round) {
      const int32_t y = place.y - kMargin + round * kRowsAtOnce;
      if (y < kHeight - kMargin) {
        visit(round, place.x, y);
      }
    }
    for_margin([&](int32_t x, int32_t y) { visit(kRows, x, y); });
  }

  /// The same for the margins beside the tile only.
  template <typename Visit>
  static __device__ void for_margin(Visit visit) {
    const auto i = static_cast<int32_t>(threadIdx.x);
    const int32_t column = i / kHeight;
    if (column < 2 * kMargin) {
      visit(column < kMargin ? column - kMargin : kWidth - 3 * kMargin + column, i % kHeight - kMargin);
    }
  }

  /// Writes load(x, y) to all places. A thread loads all its values before it writes one, so that it waits
  /// for memory once.
  template <typename Load>
  __device__ void fill(Load load) {
    T loaded[kRounds];
    for_each([&](int32_t round, int32_t x, int32_t y) { loaded[round] = load(x, y); });
    for_each([&](int32_t round, int32_t x, int32_t y) { at(x, y) = loaded[round]; });
  }
};

struct Pixel {
  uint32_t x, y;
};

/// The tile of the block, in a frame of width × height pixels.
struct TilePlace {
  int32_t x, y;
  int32_t width, height;

  __device__ explicit TilePlace(const RegionTable& table)
      : x(static_cast<int32_t>(blockIdx.x * kMeasureTileWidth)),
        y(static_cast<int32_t>(blockIdx.y * kMeasureTileHeight)),
        width(static_cast<int32_t>(table.width)),
        height(static_cast<int32_t>(table.height)) {}

  __device__ bool is_inside(int32_t tile_x, int32_t tile_y) const {
    return x + tile_x >= 0 && x + tile_x < width && y + tile_y >= 0 && y + tile_y < height;
  }
  __device__ uint32_t pixel(int32_t tile_x, int32_t tile_y) const {
    return static_cast<uint32_t>(y + tile_y) * width + (x + tile_x);
  }
  /// The nearest pixel of the frame.
  __device__ Pixel nearest_pixel(int32_t tile_x, int32_t tile_y) const {
    return {static_cast<uint32_t>(min(max(x + tile_x, 0), width - 1)),
            static_cast<uint32_t>(min(max(y + tile_y, 0), height - 1))};
  }
};

__device__ bool is_in_tile(int32_t x, int32_t y) {
  return x >= 0 && x < static_cast<int32_t>(kMeasureTileWidth) && y >= 0 &&
         y < static_cast<int32_t>(kMeasureTileHeight);
}

__device__ uint32_t place_in_tile(int32_t x, int32_t y) {
  return static_cast<uint32_t>(y) * kMeasureTileWidth + x;
}

/// The roots of a tile, where components can touch; otherwise all heights but 0 that are adjacent belong to
/// one.
template <bool kCanTouch, int32_t kMargin>
struct TileRoots {
  template <typename RootAt>
  __device__ void fill(RootAt) {}
  __device__ bool are_equal(int32_t, int32_t, int32_t, int32_t) const { return true; }
};

template <int32_t kMargin>
struct TileRoots<true, kMargin> {
  TileOf<uint32_t, kMargin> roots;

  template <typename RootAt>
  __device__ void fill(RootAt root_at) {
    roots.fill(root_at);
  }
  __device__ bool are_equal(int32_t x, int32_t y, int32_t other_x, int32_t other_y) const {
    return roots.at(x, y) == roots.at(other_x, other_y);
  }
};

using RawHeights = TileOf<uint16_t, 2>;
using Heights = TileOf<uint16_t, 1>;

/// The height of a pixel, smoothed over those of its component.
template <typename Roots>
__device__ uint16_t smooth_at(const RawHeights& raw, const Roots& roots, int32_t x, int32_t y) {
  const auto height = [&](int32_t at_x, int32_t at_y) {
    return roots.are_equal(x, y, at_x, at_y) ? uint32_t{raw.at(at_x, at_y)} : 0;
  };
  const auto sum_of_row = [&](int32_t at_y) {
    return height(x - 1, at_y) + 2 * height(x, at_y) + height(x + 1, at_y);
  };
  return smooth_height(sum_of_row(y - 1), sum_of_row(y), sum_of_row(y + 1));
}

/// Calls visit(x, y, height) for the pixels of a tile and its margin of one pixel.
template <typename Visit>
__device__ void smooth_all(const RawHeights& raw, const TileRoots<true, 2>& roots, Visit visit) {
  Heights::for_each([&](int32_t, int32_t x, int32_t y) {
    visit(x, y, raw.at(x, y) != 0 ? smooth_at(raw, roots, x, y) : 0);
  });
}

/// The same: a sum of three pixels of a row serves three rows.
template <typename Visit>
__device__ void smooth_all(const RawHeights& raw, const TileRoots<false, 2>& roots, Visit visit) {
  constexpr int32_t kRows = Heights::kRows;
  const int32_t x = first_place().x;
  const int32_t first = first_place().y * kRows - 1;
  const auto sum_of_row = [&](int32_t y) {
    return uint32_t{raw.at(x - 1, y)} + 2 * raw.at(x, y) + raw.at(x + 1, y);
  };
  uint32_t above = sum_of_row(first - 1);
  uint32_t middle = sum_of_row(first);
#pragma unroll
  for (int32_t k = 0; k < kRows; ++k) {
    const int32_t y = first + k;
    if (y < Heights::kHeight - 1) {
      const uint32_t below = sum_of_row(y + 1);
      visit(x, y, raw.at(x, y) != 0 ? smooth_height(above, middle, below) : 0);
      above = middle;
      middle = below;
    }
  }
  Heights::for_margin([&](int32_t at_x, int32_t y) {
    visit(at_x, y, raw.at(at_x, y) != 0 ? smooth_at(raw, roots, at_x, y) : 0);
  });
}

/// The highest pixel of three in a row: its height, then two bits for the row and two for the column, which
/// are larger where the raster index is smaller.
__device__ uint32_t highest(uint32_t left, uint32_t middle, uint32_t right) {
  return max(max(left << 4 | 2, middle << 4 | 1), right << 4);
}

/// Calls visit(x, y, the highest neighbour of the pixel, or the pixel) for the pixels of a tile: of equal
/// heights the one with the smallest raster index. A thread goes down consecutive rows of a column.
template <typename Roots, typename Visit>
__device__ void climb_all(const Heights& heights, const Roots& roots, Connectivity connectivity,
                          Visit visit) {
  constexpr auto kRows = static_cast<int32_t>(kTilePixels / kMeasureThreads);
  const int32_t x = first_place().x;
  const int32_t first = first_place().y * kRows;
#pragma unroll
  for (int32_t y = first, k = 0; k < kRows; ++y, ++k) {
    const auto highest_of_row = [&](int32_t at_y) {
      const auto height = [&](int32_t at_x) {
        return roots.are_equal(x, y, at_x, at_y) ? uint32_t{heights.at(at_x, at_y)} : 0;
      };
      const bool has_corners = connectivity == Connectivity::k8 || at_y == y;
      return has_corners ? highest(height(x - 1), height(x), height(x + 1)) : highest(0, height(x), 0);
    };
    const uint32_t best =
        max(max(highest_of_row(y - 1) | 2 << 2, highest_of_row(y) | 1 << 2), highest_of_row(y + 1));
    visit(x, y, Place{x + 1 - static_cast<int32_t>(best & 3), y + 1 - static_cast<int32_t>(best >> 2 & 3)});
  }
}

__device__ void begin_region(const RegionTable& table, uint32_t basin, uint32_t pixel, uint32_t summit) {
  table.sums[basin] = RegionSums{};
  table.best[basin] = 0;
  table.summits[basin] = summit;
  table.first_pixels[basin] = pixel;
  table.parents[basin] = basin;
  table.regions[basin] = basin;
}

/// Writes smoothed heights, and basins as far as a tile knows them. Begins a region for each basin.
template <typename RootsOf>
__global__ void __launch_bounds__(kMeasureThreads)
    climb_tiles(RegionTable table, RootsOf roots_of, const uint16_t* raw_heights, uint16_t* heights,
                Connectivity connectivity) {
  __shared__ TileRoots<RootsOf::kCanTouch, 2> roots;
  __shared__ RawHeights raw;
  __shared__ Heights smooth;
  __shared__ uint16_t ways[kTilePixels];     // to a place in the tile
  __shared__ uint32_t targets[kTilePixels];  // where ways end: basins, or pixels of other tiles
  const TilePlace tile(table);
  raw.fill([&](int32_t x, int32_t y) {
    const Pixel pixel = tile.nearest_pixel(x, y);
    return raw_heights[pixel.y * table.width + pixel.x];
  });
  roots.fill([&](int32_t x, int32_t y) {
    const Pixel pixel = tile.nearest_pixel(x, y);
    return roots_of(pixel.x, pixel.y);
  });
  __syncthreads();
  smooth_all(raw, roots, [&](int32_t x, int32_t y, uint16_t height) {
    const bool is_inside = tile.is_inside(x, y);
    smooth.at(x, y) = is_inside ? height : 0;
    if (is_in_tile(x, y) && is_inside) {
      heights[tile.pixel(x, y)] = height;
    }
  });
  __syncthreads();
  climb_all(smooth, roots, connectivity, [&](int32_t x, int32_t y, const Place& to) {
    const uint32_t place = place_in_tile(x, y);
    ways[place] = static_cast<uint16_t>(place);
    if (smooth.at(x, y) == 0) {
      targets[place] = kNoBasin;
    } else if (to.x == x && to.y == y) {
      const uint32_t basin = atomicAdd(&table.counts->n_basins, 1);
      begin_region(table, basin, tile.pixel(x, y), smooth.at(x, y));
      targets[place] = kIsBasin | basin;
    } else if (is_in_tile(to.x, to.y)) {
      ways[place] = static_cast<uint16_t>(place_in_tile(to.x, to.y));
    } else {
      targets[place] = tile.pixel(to.x, to.y);
    }
  });
  __syncthreads();
  bool is_changed = true;  // a way of this thread; one that did not get longer never does
  do {
    constexpr uint32_t kPlaces = kTilePixels / kMeasureThreads;
    uint16_t next[kPlaces];
    if (is_changed) {
      is_changed = false;
#pragma unroll
      for (uint32_t i = 0; i < kPlaces; ++i) {
        const uint16_t way = ways[i * kMeasureThreads + threadIdx.x];
        next[i] = ways[way];
        is_changed |= next[i] != way;
      }
    }
    __syncthreads();
    if (is_changed) {
#pragma unroll
      for (uint32_t i = 0; i < kPlaces; ++i) {
        ways[i * kMeasureThreads + threadIdx.x] = next[i];
      }
    }
  } while (__syncthreads_or(is_changed) != 0);
  for_each_tile_pixel([&](uint32_t x, uint32_t y) {
    if (tile.is_inside(x, y)) {
      table.basins[tile.pixel(x, y)] = targets[ways[place_in_tile(x, y)]];
    }
  });
}

using Basins = TileOf<uint32_t, 1>;

/// Writes the basins of a tile with kIsBasin, or kNoBasin. A thread follows the ways of all its pixels at the
/// same time.
__device__ void follow_ways(const RegionTable& table, const TilePlace& tile, Basins* basins) {
  uint32_t found[Basins::kRounds];
  Basins::for_each([&](int32_t round, int32_t x, int32_t y) {
    const Pixel at = tile.nearest_pixel(x, y);
    const uint32_t basin = table.basins[at.y * table.width + at.x];
    found[round] = tile.is_inside(x, y) ? basin : kNoBasin;
  });
  bool is_open = false;
  do {
    is_open = false;
    Basins::for_each([&](int32_t round, int32_t, int32_t) {
      if ((found[round] & kIsBasin) == 0) {
        found[round] = table.basins[found[round]];
        is_open |= (found[round] & kIsBasin) == 0;
      }
    });
  } while (is_open);
  Basins::for_each([&](int32_t round, int32_t x, int32_t y) { basins->at(x, y) = found[round]; });
}

/// Sums over pixels of one tile, in coordinates of the tile.
struct TileRegion {
  uint32_t n, x, y, xx, xy, yy;
  uint32_t first_pixel;
};

__device__ void add(uint64_t* sum, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

__device__ void add_to_frame(const TileRegion& part, const TilePlace& tile, uint32_t basin,
                             const RegionTable& table) {
  RegionSums* sums = table.sums + basin;
  const uint64_t x0 = tile.x;
  const uint64_t y0 = tile.y;
  const uint64_t n = part.n;
  add(&sums->n, n);
  add(&sums->x, n * x0 + part.x);
  add(&sums->y, n * y0 + part.y);
  add(&sums->xx, n * x0 * x0 + 2 * x0 * part.x + part.xx);
  add(&sums->xy, n * x0 * y0 + x0 * part.y + y0 * part.x + part.xy);
  add(&sums->yy, n * y0 * y0 + 2 * y0 * part.y + part.yy);
  atomicMin(table.first_pixels + basin, part.first_pixel);
}

__device__ void add_to_tile(const TileRegion& run, TileRegion* part) {
  atomicAdd(&part->n, run.n);
  atomicAdd(&part->x, run.x);
  atomicAdd(&part->y, run.y);
  atomicAdd(&part->xx, run.xx);
  atomicAdd(&part->xy, run.xy);
  atomicAdd(&part->yy, run.yy);
  atomicMin(&part->first_pixel, run.first_pixel);
}

__device__ TileRegion region_of_run(uint32_t x, uint32_t y, uint32_t n, uint32_t first_pixel) {
  const uint32_t steps = n * (n - 1) / 2;
  const uint32_t squares = n * (n - 1) * (2 * n - 1) / 6;
  const uint32_t sum_x = n * x + steps;
  return {n, sum_x, n * y, n * x * x + 2 * x * steps + squares, sum_x * y, n * y * y, first_pixel};
}

/// The first link between each two basins of a tile: an open hash with a few probes.
struct TileLinks {
  static constexpr uint32_t kSize = 512;
  static constexpr uint32_t kProbes = 8;

  unsigned long long pairs[kSize];  ///< ~0: empty
  unsigned long long orders[kSize];

  __device__ void clear() {
    for (uint32_t i = threadIdx.x; i < kSize; i += kMeasureThreads) {
      pairs[i] = ~0ull;
      orders[i] = 0;
    }
  }

  /// Returns whether the table has room for the pair.
  __device__ bool add(uint32_t a, uint32_t b, uint64_t order) {
    const unsigned long long pair = static_cast<unsigned long long>(min(a, b)) << 32 | max(a, b);
    const uint32_t hash = min(a, b) * 0x9e3779b1u + max(a, b) * 0x85ebca6bu;
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      const uint32_t place = ((hash >> 16) + probe) % kSize;
      const unsigned long long old = atomicCAS(pairs + place, ~0ull, pair);
      if (old == ~0ull || old == pair) {
        atomicMax(orders + place, static_cast<unsigned long long>(order));
        return true;
      }
    }
    return false;
  }
};

__device__ void append_link(const RegionTable& table, uint32_t number) {
  table.links[atomicAdd(&table.counts->n_links, 1)] = number;
}

/// Completes basins, measures them, and lists their links.
template <typename RootsOf>
__global__ void __launch_bounds__(kMeasureThreads)
    measure_tiles(RegionTable table, RootsOf roots_of, Connectivity connectivity) {
  __shared__ Basins basins;
  __shared__ TileRoots<RootsOf::kCanTouch, 1> roots;
  __shared__ TileKeys keys;
  __shared__ TileRegion parts[TileKeys::kSize];
  __shared__ TileLinks links;
  const TilePlace tile(table);
  follow_ways(table, tile, &basins);
  roots.fill([&](int32_t x, int32_t y) {
    const Pixel at = tile.nearest_pixel(x, y);
    return roots_of(at.x, at.y);
  });
  keys.clear();
  links.clear();
  for (uint32_t i = threadIdx.x; i < TileKeys::kSize; i += kMeasureThreads) {
    parts[i] = {.first_pixel = kNoBasin};
  }
  __syncthreads();
  for_each_tile_pixel([&](uint32_t tile_x, uint32_t tile_y) {
    const auto x = static_cast<int32_t>(tile_x);
    const auto y = static_cast<int32_t>(tile_y);
    const uint32_t basin = basins.at(x, y);
    const Run run = find_run(basin);
    if (basin == kNoBasin) {
      return;
    }
    const uint32_t pixel = tile.pixel(x, y);
    table.basins[pixel] = basin;
    if (run.is_first) {
      const TileRegion of_run = region_of_run(tile_x, tile_y, run.length, pixel);
      const uint32_t place = keys.place_of(basin & ~kIsBasin);
      if (place != TileKeys::kFull) {
        add_to_tile(of_run, parts + place);
      } else {
        add_to_frame(of_run, tile, basin & ~kIsBasin, table);
      }
    }
    const auto link = [&](uint32_t direction, int32_t to_x, int32_t to_y) {
      const uint32_t to = basins.at(to_x, to_y);
      if (to == basin || to == kNoBasin || !roots.are_equal(x, y, to_x, to_y)) {
        return;
      }
      const uint32_t number = pixel * kLinkDirections + direction;
      const uint32_t saddle = min(table.heights[pixel], table.heights[tile.pixel(to_x, to_y)]);
      if (!links.add(basin, to, order_of(saddle, number))) {
        append_link(table, number);
      }
    };
    link(kLinkEast, x + 1, y);
    link(kLinkSouth, x, y + 1);
    if (connectivity == Connectivity::k8) {
      link(kLinkSouthWest, x - 1, y + 1);
      link(kLinkSouthEast, x + 1, y + 1);
    }
  });
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < TileKeys::kSize; i += kMeasureThreads) {
    if (keys.keys[i] != TileKeys::kEmpty) {
      add_to_frame(parts[i], tile, keys.keys[i], table);
    }
  }
  for (uint32_t i = threadIdx.x; i < TileLinks::kSize; i += kMeasureThreads) {
    if (links.orders[i] != 0) {
      append_link(table, link_of(links.orders[i]));
    }
  }
}

dim3 tiles_of(const RegionTable& table) {
  return dim3(blocks_for(table.width, kMeasureTileWidth), blocks_for(table.height, kMeasureTileHeight));
}

}  // namespace

template <typename RootsOf>
Status find_basins(const RegionTable& table, const RootsOf& roots, const uint16_t* raw_heights,
                   uint16_t* heights, Connectivity connectivity, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(launch("climb_tiles", climb_tiles<RootsOf>, tiles_of(table), kMeasureThreads, stream,
                             table, roots, raw_heights, heights, connectivity));
  return launch("measure_tiles", measure_tiles<RootsOf>, tiles_of(table), kMeasureThreads, stream, table,
                roots, connectivity);
}

template Status find_basins(const RegionTable&, const RootMap&, const uint16_t*, uint16_t*, Connectivity,
                            cudaStream_t);
template Status find_basins(const RegionTable&, const Mask&, const uint16_t*, uint16_t*, Connectivity,
                            cudaStream_t);

}  // namespace ccl::device
