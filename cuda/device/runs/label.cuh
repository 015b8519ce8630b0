// SPDX-License-Identifier: LGPL-2.1-or-later
/// Step 1: a block packs a tile to bits, numbers its runs, and finds the tile's components.
///
/// Runs are runs of rows, or of pairs of rows, which are half as many and in noise a third as many. The first
/// link of each run (link.cuh) makes a forest without atomics, which is flattened by pointer jumping. Then
/// the further links unite its trees.
#pragma once

#include "device/runs/link.cuh"
#include "device/runs/pack.cuh"
#include "device/runs/tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// Word `i` of the tile's part of the bit image.
template <typename Tile>
__device__ uint32_t load_tile_word(const Tiles& tiles, const uint32_t* frame_bits, const Place& place,
                                   uint32_t i) {
  return load_word(tiles, frame_bits, place.x / kWordBits + i % Tile::kRowWords,
                   place.y + i / Tile::kRowWords);
}

/// Stores the tile's part of the bit image, a word to a thread; `word` is the thread's first one.
template <typename Tile>
__device__ void store_tile(const Tiles& tiles, const uint32_t* frame_bits, const Place& place, uint32_t word,
                           Tile& tile) {
  static_assert(kWarpSize % Tile::kRowWords == 0 && kMinRows * Tile::kRowWords % kWarpSize == 0);
  const uint32_t n_words = tiles.rows * Tile::kRowWords;
  for (uint32_t i = threadIdx.x; i < n_words; i += blockDim.x) {
    const uint32_t now = word;
    if (i + blockDim.x < n_words) {
      word = load_tile_word<Tile>(tiles, frame_bits, place, i + blockDim.x);
    }
    tile.bits[i] = now;
    if constexpr (Tile::kKind == RunKind::kRow) {
      const uint32_t before = __shfl_up_sync(kAllLanes, now, 1) >> (kWordBits - 1);
      tile.starts[i] = now & ~(now << 1 | (i % Tile::kRowWords > 0 ? before : 0));
    }
  }
}

template <typename Tile>
__device__ void pack_pixels(const Tiles& tiles, const Place& place, Tile& tile) {
  auto* bits = reinterpret_cast<uint16_t*>(tile.bits);
  auto* starts = reinterpret_cast<uint16_t*>(tile.starts);
  const uint32_t n_chunks = tiles.rows * Tile::kRowChunks;
#pragma unroll(Tile::kWidth == kWide ? 4 : 2)  // as many loads at a time as a thread has chunks
  for (uint32_t i = threadIdx.x; i < n_chunks; i += blockDim.x) {
    const Chunk chunk =
        pack_chunk<Tile>(tiles, place.x + i % Tile::kRowChunks * kChunk, place.y + i / Tile::kRowChunks);
    bits[i] = static_cast<uint16_t>(chunk.bits);
    if constexpr (Tile::kKind != RunKind::kPair) {
      starts[i] = static_cast<uint16_t>(chunk.bits & ~chunk.joins);
    }
  }
}

template <typename Tile>
__device__ void pack_tile(const Tiles& tiles, const uint32_t* frame_bits, bool has_bits, const Place& place,
                          uint32_t first_word, Tile& tile) {
  if (has_bits) {
    store_tile(tiles, frame_bits, place, first_word, tile);
  } else {
    pack_pixels(tiles, place, tile);
  }
  for (uint32_t word = threadIdx.x; word < Tile::kMaxRunWords; word += blockDim.x) {
    tile.is_root[word] = 0;
    tile.is_shared[word] = 0;
  }
}

/// Numbers runs of rows; a thread numbers the runs of consecutive words.
template <typename Tile>
__device__ uint32_t number_row_runs(const Tiles& tiles, Tile& tile) {
  const uint32_t n_words = tiles.rows * Tile::kRowWords;
  const uint32_t share = (n_words + blockDim.x - 1) / blockDim.x;
  const uint32_t first = min(threadIdx.x * share, n_words);
  const uint32_t end = min(first + share, n_words);
  uint32_t n = 0;
  for (uint32_t word = first; word < end; ++word) {
    n += __popc(tile.starts[word]);
  }
  uint32_t n_runs = 0;
  uint32_t before = block_exclusive_sum(n, tile.warp_sums, &n_runs);
  for (uint32_t word = first; word < end; ++word) {
    tile.base[word] = static_cast<uint16_t>(before);
    before += __popc(tile.starts[word]);
  }
  return n_runs;
}

/// The stretches of ones in `among` that contain one of `seeds`, within the word.
__device__ inline uint32_t stretches_with(uint32_t seeds, uint32_t among) {
  uint32_t up = seeds;
  uint32_t down = seeds;
  uint32_t among_up = among;
  uint32_t among_down = among;
#pragma unroll
  for (uint32_t step = 1; step < kWordBits; step *= 2) {
    up |= among_up & up << step;
    down |= among_down & down >> step;
    among_up &= among_up << step;
    among_down &= among_down >> step;
  }
  return up | down;
}

/// The same across the words of a row, which neighbouring lanes hold. All lanes of the warp must call it.
template <typename Tile>
__device__ uint32_t stretches_in_row(uint32_t seeds, uint32_t among, uint32_t column) {
  uint32_t found = stretches_with(seeds, among);
  while (true) {
    const uint32_t before = __shfl_up_sync(kAllLanes, found, 1) >> (kWordBits - 1);
    const uint32_t after = __shfl_down_sync(kAllLanes, found, 1) << (kWordBits - 1);
    const uint32_t around = (column > 0 ? before : 0) | (column + 1 < Tile::kRowWords ? after : 0);
    const uint32_t more = around & among & ~found;
    if (__any_sync(kAllLanes, more != 0) == 0) {
      return found;
    }
    found |= stretches_with(more, among);
  }
}

/// Numbers runs of pairs of rows; a thread numbers the runs of a word. In each pair, runs with a pixel in the
/// upper row come first.
template <typename Tile>
__device__ uint32_t number_pair_runs(const Tiles& tiles, Tile& tile) {
  static_assert(Tile::kMaxBandWords <= threads_for(Tile::kWidth));
  const uint32_t word = threadIdx.x;
  const uint32_t band = word / Tile::kRowWords;
  const uint32_t column = word % Tile::kRowWords;
  const bool has_word = band * Tile::kBandRows < tiles.rows;
  const uint32_t columns = has_word ? tile.columns_of(band, column) : 0;
  const uint32_t upper = has_word ? tile.bits[band * Tile::kBandRows * Tile::kRowWords + column] : 0;
  const uint32_t before = __shfl_up_sync(kAllLanes, columns, 1) >> (kWordBits - 1);
  const uint32_t starts = columns & ~(columns << 1 | (column > 0 ? before : 0));
  const uint32_t tops = stretches_in_row<Tile>(upper, columns, column);

  // Runs with a pixel in the upper row are counted in the lower half, the others in the upper half.
  const uint32_t n = __popc(starts & tops) | __popc(starts & ~tops) << 16;
  uint32_t in_band = 0;
  uint32_t of_band = 0;
  for (uint32_t i = 0; i < Tile::kRowWords; ++i) {
    const uint32_t other =
        __shfl_sync(kAllLanes, n, threadIdx.x % kWarpSize / Tile::kRowWords * Tile::kRowWords + i);
    in_band += i < column ? other : 0;
    of_band += other;
  }
  uint32_t n_runs = 0;
  const uint32_t before_word = block_exclusive_sum((n & 0xffff) + (n >> 16), tile.warp_sums, &n_runs);
  const uint32_t before_band = before_word - (in_band & 0xffff) - (in_band >> 16);
  if (has_word) {
    tile.starts[word] = starts;
    tile.tops[word] = tops;
    tile.base[word] = static_cast<uint16_t>(before_band + (in_band & 0xffff));
    tile.lower_base[word] = static_cast<uint16_t>(before_band + (of_band & 0xffff) + (in_band >> 16));
  }
  return n_runs;
}

/// Numbers the runs in the order of their first pixels.
template <typename Tile>
__device__ void number_runs(const Tiles& tiles, Tile& tile) {
  uint32_t n_runs = 0;
  if constexpr (Tile::kKind == RunKind::kPair) {
    n_runs = number_pair_runs(tiles, tile);
  } else {
    n_runs = number_row_runs(tiles, tile);
  }
  if (threadIdx.x == 0) {
    tile.n_runs = n_runs;
    tile.n_links = 0;
  }
}

/// Calls read(run, &value) for all runs, and then write(run, value), with a barrier between and after, for as
/// many runs at a time as most tiles have. More at a time would take instructions that cost more than a
/// second round. Returns whether any read() returned true.
template <typename Read, typename Write>
__device__ bool read_then_write(uint32_t n_runs, Read read, Write write) {
  constexpr uint32_t kBatch = 2;
  bool is_any = false;
  for (uint32_t first = 0; first < n_runs; first += kBatch * blockDim.x) {
    uint32_t value[kBatch];
    bool is_met = false;
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (first + i * blockDim.x >= n_runs) {
        break;  // most tiles have few runs
      }
      if (const uint32_t run = first + i * blockDim.x + threadIdx.x; run < n_runs) {
        is_met |= read(run, &value[i]);
      }
    }
    is_any |= __syncthreads_or(is_met) != 0;
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (first + i * blockDim.x >= n_runs) {
        break;
      }
      if (const uint32_t run = first + i * blockDim.x + threadIdx.x; run < n_runs) {
        write(run, value[i]);
      }
    }
    __syncthreads();
  }
  return is_any;
}

/// Points every run at its root. In a round all runs follow several parents, because a step costs less than a
/// barrier.
__device__ inline void point_at_roots(uint32_t n_runs, uint32_t* parent) {
  constexpr uint32_t kSteps = 7;
  const auto climb = [&](uint32_t run, uint32_t* ancestor) {
    uint32_t own = parent[run];
    uint32_t next = parent[own];
#pragma unroll 1
    for (uint32_t step = 1; step < kSteps && next != own; ++step) {
      own = next;
      next = parent[own];
    }
    *ancestor = next;
    return next != own;
  };
  const auto store = [&](uint32_t run, uint32_t ancestor) { parent[run] = ancestor; };
  while (read_then_write(n_runs, climb, store)) {
  }
}

/// Joins two trees while other threads do the same. If a run had a parent already, that parent is united
/// instead.
__device__ inline void unite(uint32_t* parent, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t later = max(a, b);
    const uint32_t earlier = min(a, b);
    const uint32_t old = atomicMin(parent + later, earlier);
    if (old == later) {
      return;  // it was a root
    }
    a = old;
    b = earlier;
  }
}

/// Unites the trees of the links in the list.
template <typename Tile>
__device__ void unite_listed(Tile& tile) {
  uint32_t* parent = tile.parent();
  const uint32_t* links = link_list(tile).links;
  const auto trees_of_link = [&](uint32_t i, uint32_t* trees) {
    *trees = LinkList::make(parent[LinkList::above(links[i])], parent[LinkList::below(links[i])]);
    return true;
  };
  read_then_write(tile.n_links, trees_of_link, [&](uint32_t, uint32_t trees) {
    unite(parent, LinkList::above(trees), LinkList::below(trees));
  });
}

/// Unites the trees of all further links, some bands at a time where there was no room for all.
template <typename Tile>
__device__ void unite_links(const Tiles& tiles, const Place& place, Connectivity connectivity, Tile& tile) {
  if (tile.n_links <= link_list(tile).capacity) {
    unite_listed(tile);
    return;
  }
  constexpr uint32_t n_listed = Tile::kAfterRunsWords / (2 * Tile::kWidth);  // bands: there is room for these
  const uint32_t n_bands = tiles.rows / Tile::kBandRows;
  for (uint32_t band = 0; band < n_bands; band += n_listed) {
    __syncthreads();
    if (threadIdx.x == 0) {
      tile.n_links = 0;
    }
    __syncthreads();
    link_bands(tiles, place, connectivity, band, min(band + n_listed, n_bands), tile,
               [](uint32_t, uint32_t) {});
    __syncthreads();
    unite_listed(tile);
  }
}

/// Replaces parents by runs with their roots, and marks the roots.
template <typename Tile>
__device__ void mark_roots(const Tiles& tiles, Tile& tile) {
  using Part = WordPart<Tile>;
  for (uint32_t i = threadIdx.x; i < tiles.rows / Tile::kBandRows * Tile::kRowWords * Part::kParts;
       i += blockDim.x) {
    const Part part = Part::make(i);
    const uint32_t column = part.word % Tile::kRowWords * kWordBits;
    NextRun<Tile> next_run(tile, part);
    for (uint32_t rest = part.of(tile.starts[part.word]); rest != 0; rest &= rest - 1) {
      const uint32_t start = lowest_bit(rest);
      const uint32_t row = part.word / Tile::kRowWords * Tile::kBandRows + (next_run.is_top(start) ? 0 : 1);
      const uint32_t run = next_run.take(start);
      const uint32_t root = tile.parent()[run];
      if (root == run) {
        atomicOr(tile.is_root + run / kWordBits, 1u << run % kWordBits);
      }
      tile.run[run] = TileRun::make(row, column + __ffs(static_cast<int>(start)) - 1, root);
    }
  }
}

/// Marks the roots of components at borders that the tile shares with other tiles.
template <typename Tile>
__device__ void mark_shared(const Tiles& tiles, const Place& place, Tile& tile, BorderRoots<Tile>& roots) {
  uint32_t n = 0;
  for_each_border_pixel<Tile>(tiles, place, [&](uint32_t row, uint32_t column, uint16_t*) {
    const uint32_t root = tile.is_foreground(row, column) ? tile.root_at(row, column) : kNoRoot;
    // A run along a border is marked at its beginning at least.
    if (root != kNoRoot && (column == Tile::kWidth - 1 || !tile.joins_before(row, column))) {
      atomicOr(tile.is_shared + root / kWordBits, 1u << root % kWordBits);
    }
    roots[n++] = root;
  });
}

/// Numbers components and nodes in the order of their roots.
template <typename Tile>
__device__ void number_roots(Tile& tile) {
  const uint32_t word = threadIdx.x;
  const bool has_word = word * kWordBits < tile.n_runs;
  const uint32_t roots = has_word ? __popc(tile.is_root[word]) : 0;
  const uint32_t nodes = has_word ? __popc(tile.is_shared[word]) : 0;
  uint32_t total = 0;
  const uint32_t base = block_exclusive_sum(roots | nodes << 16, tile.warp_sums, &total);
  if (word < Tile::kMaxRunWords) {
    tile.root_base[word] = static_cast<uint16_t>(base);
    tile.tables.node_base[word] = static_cast<uint16_t>(base >> 16);
  }
  if (word == 0) {
    tile.n_components = total & 0xffff;
    tile.n_nodes = total >> 16;
  }
}

/// Finds the components of the block's tile. `first_word`: of a bit image, load_tile_word() of the thread's
/// first word.
template <typename Tile>
__device__ void label_tile(const Tiles& tiles, const uint32_t* frame_bits, bool has_bits, const Place& place,
                           uint32_t first_word, Connectivity connectivity, Tile& tile,
                           BorderRoots<Tile>& border_roots) {
  pack_tile(tiles, frame_bits, has_bits, place, first_word, tile);
  __syncthreads();
  number_runs(tiles, tile);
  __syncthreads();
  link_bands(tiles, place, connectivity, 0, tiles.rows / Tile::kBandRows, tile,
             [&](uint32_t run, uint32_t parent) { tile.parent()[run] = parent; });
  __syncthreads();
  point_at_roots(tile.n_runs, tile.parent());
  if (tile.n_links > 0) {
    unite_links(tiles, place, connectivity, tile);
    point_at_roots(tile.n_runs, tile.parent());
  }
  mark_roots(tiles, tile);
  __syncthreads();
  mark_shared(tiles, place, tile, border_roots);
  __syncthreads();
  number_roots(tile);
  __syncthreads();
}

}  // namespace ccl::device::runs
