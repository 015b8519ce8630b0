// SPDX-License-Identifier: LGPL-2.1-or-later
/// First step of the run-based pipeline: a block packs a tile to bits, numbers its runs, and finds the
/// tile's components.
///
/// Which runs of neighbouring rows touch follows from the bits of both, a word at a time, and each link
/// between two runs is one bit. One link of a run makes its parent, with no atomics, which gives a forest
/// that is flattened by pointer jumping. Further links go to a list, and their trees are united.
#pragma once

#include "device/runs_pack.cuh"
#include "device/runs_tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

template <bool kValues>
__device__ void pack_tile(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  auto* bits = reinterpret_cast<uint16_t*>(tile.bits);
  auto* starts = reinterpret_cast<uint16_t*>(tile.starts);
  const uint32_t n_chunks = tiles.rows * kRowChunks;
#pragma unroll 4
  for (uint32_t i = threadIdx.x; i < n_chunks; i += blockDim.x) {
    const Chunk chunk =
        pack_chunk<kValues>(tiles, place.x + i % kRowChunks * kChunk, place.y + i / kRowChunks);
    bits[i] = static_cast<uint16_t>(chunk.bits);
    starts[i] = static_cast<uint16_t>(chunk.bits & ~chunk.joins);
  }
  for (uint32_t word = threadIdx.x; word < kMaxRunWords; word += blockDim.x) {
    tile.is_root[word] = 0;
    tile.is_shared[word] = 0;
  }
}

/// Numbers the runs, a thread those of consecutive words.
template <bool kValues>
__device__ void number_runs(const Tiles& tiles, Tile<kValues>& tile) {
  const uint32_t n_words = tiles.rows * kRowWords;
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
  if (threadIdx.x == 0) {
    tile.n_runs = n_runs;
    tile.n_links = 0;
  }
}

__device__ inline uint32_t lowest_bit(uint32_t bits) {
  return bits & (~bits + 1);
}

/// Links between the runs of a word and those of the row above, each as a bit of the run below.
struct RowLinks {
  uint32_t straight;  ///< to the pixel above
  uint32_t left;      ///< to the one before that; only the first pixel of a run has it
  uint32_t right;     ///< to the one after it, where a run begins
};

/// Where the pixels of a word equal those above, and whether the pixel after the word does.
struct EqualPixels {
  RowLinks bits;
  bool is_straight_after;
};

__device__ inline EqualPixels equal_pixels(const Tiles& tiles, uint32_t x, uint32_t y) {
  const uint4 own[] = {load_pixels(tiles, x, y), load_pixels(tiles, x + kChunk, y)};
  const uint4 above[] = {load_pixels(tiles, x, y - 1), load_pixels(tiles, x + kChunk, y - 1)};
  const uint32_t before = tiles.frame.segment_or_background(x - 1, y - 1);
  const uint32_t after = tiles.frame.segment_or_background(x + kWordBits, y - 1);
  const auto equal = [&own](const uint4& first, const uint4& second) {
    return equal_bytes(own[0], first) | equal_bytes(own[1], second) << kChunk;
  };
  return {{.straight = equal(above[0], above[1]),
           .left = equal(shift_up(above[0], before), shift_up(above[1], above[0].w >> 24)),
           .right = equal(shift_down(above[0], above[1].x), shift_down(above[1], after))},
          tiles.frame.segment_or_background(x + kWordBits, y) == after};
}

/// The links of a word below the tile's first row: one for each pair of runs that touch. Runs of two rows
/// touch first where one of them begins, or else at a corner.
template <bool kValues>
__device__ RowLinks row_links(const Tiles& tiles, const Place& place, Connectivity connectivity,
                              uint32_t word, const Tile<kValues>& tile) {
  const uint32_t above = word - kRowWords;
  const bool has_before = word % kRowWords > 0;
  const bool has_after = word % kRowWords + 1 < kRowWords;
  const uint32_t own = tile.bits[word];
  uint32_t straight = own & tile.bits[above];
  uint32_t left = own & (tile.bits[above] << 1 | (has_before ? tile.bits[above - 1] >> (kWordBits - 1) : 0));
  uint32_t right = own;
  uint32_t straight_after = has_after ? tile.bits[word + 1] & tile.bits[above + 1] : 0;
  if constexpr (kValues) {
    const EqualPixels equal =
        equal_pixels(tiles, place.x + word % kRowWords * kWordBits, place.y + word / kRowWords);
    straight &= equal.bits.straight;
    left &= equal.bits.left;
    right &= equal.bits.right;
    straight_after = equal.is_straight_after ? straight_after : 0;
  }
  const uint32_t starts_after = has_after ? tile.starts[above + 1] & ~straight_after : 0;
  right &= (tile.starts[above] & ~straight) >> 1 | starts_after << (kWordBits - 1);
  left &= tile.starts[word] & ~straight;
  const bool has_corners = connectivity == Connectivity::k8;
  return {.straight = straight & (tile.starts[word] | tile.starts[above]),
          .left = has_corners ? left : 0,
          .right = has_corners ? right : 0};
}

/// The runs of a word: those that begin in it, and the one that goes on from before.
struct WordRuns {
  uint32_t starts;
  uint32_t base;  ///< runs that begin before the word

  /// The run that `bit` belongs to, of `links` to this row: see RowLinks.
  __device__ uint32_t of_straight(uint32_t bit) const {
    return base + __popc(starts & (bit | (bit - 1))) - 1;
  }
  __device__ uint32_t of_left(uint32_t bit) const { return base + __popc(starts & (bit - 1)) - 1; }
  __device__ uint32_t of_right(uint32_t bit) const { return base + __popc(starts & (bit | (bit - 1))); }
};

template <bool kValues>
__device__ WordRuns word_runs(const Tile<kValues>& tile, uint32_t word) {
  return {tile.starts[word], tile.base[word]};
}

/// Takes a link of each run that begins in the word out of `links`, and calls visit(run, above) with it;
/// `above` is `run` if there is none.
template <typename Visit>
__device__ void take_first_links(const WordRuns& own, const WordRuns& above, RowLinks* links, Visit visit) {
  uint32_t run = own.base;
  for (uint32_t rest = own.starts; rest != 0; ++run) {
    const uint32_t start = lowest_bit(rest);
    rest ^= start;
    const uint32_t span = lowest_bit(rest) - start;  // up to the next run
    const uint32_t first = lowest_bit((links->straight | links->right) & span);
    uint32_t parent = run;
    if ((links->left & start) != 0) {
      parent = above.of_left(start);
    } else if ((links->straight & first) != 0) {
      parent = above.of_straight(first);
      links->straight ^= first;
    } else if (first != 0) {
      parent = above.of_right(first);
      links->right ^= first;
    }
    visit(run, parent);
  }
  links->left = 0;
}

/// Calls visit(above, below) for each of the links, none of which may be to the left.
template <typename Visit>
__device__ void for_each_link(const WordRuns& own, const WordRuns& above, const RowLinks& links,
                              Visit visit) {
  for (uint32_t rest = links.straight; rest != 0; rest &= rest - 1) {
    visit(above.of_straight(lowest_bit(rest)), own.of_straight(lowest_bit(rest)));
  }
  for (uint32_t rest = links.right; rest != 0; rest &= rest - 1) {
    visit(above.of_right(lowest_bit(rest)), own.of_straight(lowest_bit(rest)));
  }
}

/// Further links, each as its run above and the one below, in the room that the tile's runs leave.
struct LinkList {
  uint32_t* links;
  uint32_t capacity;

  static constexpr uint32_t kRunBits = 16;

  static __device__ uint32_t make(uint32_t above, uint32_t below) { return above << kRunBits | below; }
  static __device__ uint32_t above(uint32_t link) { return link >> kRunBits; }
  static __device__ uint32_t below(uint32_t link) { return link % (1u << kRunBits); }
};

template <bool kValues>
__device__ LinkList link_list(Tile<kValues>& tile) {
  uint32_t* first = tile.parent() + tile.n_runs;
  return {first, static_cast<uint32_t>(tile.after_runs + kAfterRunsWords - first)};
}

/// Rows whose links always have room.
inline constexpr uint32_t kListedRows = kAfterRunsWords / (2 * kTileWidth);

/// Links the runs of these rows to those above: visit(run, parent) gets a parent for each run, itself if
/// there is none; further links are listed, and counted also where there is no room.
template <bool kValues, typename Visit>
__device__ void link_rows(const Tiles& tiles, const Place& place, Connectivity connectivity,
                          uint32_t first_row, uint32_t end_row, Tile<kValues>& tile, Visit visit) {
  const LinkList list = link_list(tile);
  for (uint32_t first = first_row * kRowWords; first < end_row * kRowWords; first += blockDim.x) {
    const uint32_t word = first + threadIdx.x;
    WordRuns own{};
    WordRuns above{};
    RowLinks links{};
    if (word < end_row * kRowWords) {
      own = word_runs(tile, word);
      if (word >= kRowWords) {
        above = word_runs(tile, word - kRowWords);
        links = row_links(tiles, place, connectivity, word, tile);
      }
    }
    take_first_links(own, above, &links, visit);
    const uint32_t n = __popc(links.straight) + __popc(links.right);
    if (__any_sync(kAllLanes, n != 0) == 0) {
      continue;
    }
    const uint32_t before = warp_exclusive_sum(n);
    uint32_t at = 0;
    if (threadIdx.x % kWarpSize == kWarpSize - 1) {
      at = atomicAdd(&tile.n_links, before + n);
    }
    at = __shfl_sync(kAllLanes, at, kWarpSize - 1) + before;
    for_each_link(own, above, links, [&](uint32_t run_above, uint32_t run_below) {
      if (at < list.capacity) {
        list.links[at] = LinkList::make(run_above, run_below);
      }
      ++at;
    });
  }
}

/// Reads something for each run, and then writes something for each, with a barrier between and after, for as
/// many runs at a time as threads have registers to spare for what was read. `read(run, &value)` returns
/// whether it met what it looks for; the result is whether any did.
template <typename Read, typename Write>
__device__ bool read_then_write(uint32_t n_runs, Read read, Write write) {
  constexpr uint32_t kBatch = 8;
  bool is_any = false;
  for (uint32_t first = 0; first < n_runs; first += kBatch * blockDim.x) {
    uint32_t value[kBatch];
    bool is_met = false;
#pragma unroll
    for (uint32_t i = 0; i < kBatch; ++i) {
      if (first + i * blockDim.x >= n_runs) {
        break;  // most tiles have few
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

/// Points every run at its root. In a round all climb by some steps, as one costs less than a barrier.
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

/// Joins two trees while others do. What a node was linked to is not lost: it is united in its place.
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

/// Unites the trees of the links that are listed.
template <bool kValues>
__device__ void unite_listed(Tile<kValues>& tile) {
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

/// Unites the trees of all further links, some rows at a time where there was no room for all.
template <bool kValues>
__device__ void unite_links(const Tiles& tiles, const Place& place, Connectivity connectivity,
                            Tile<kValues>& tile) {
  if (tile.n_links <= link_list(tile).capacity) {
    unite_listed(tile);
    return;
  }
  for (uint32_t row = 0; row < tiles.rows; row += kListedRows) {
    __syncthreads();
    if (threadIdx.x == 0) {
      tile.n_links = 0;
    }
    __syncthreads();
    link_rows(tiles, place, connectivity, row, min(row + kListedRows, tiles.rows), tile,
              [](uint32_t, uint32_t) {});
    __syncthreads();
    unite_listed(tile);
  }
}

/// From parents to runs with roots; marks the roots.
template <bool kValues>
__device__ void mark_roots(const Tiles& tiles, Tile<kValues>& tile) {
  for (uint32_t word = threadIdx.x; word < tiles.rows * kRowWords; word += blockDim.x) {
    const uint32_t base = tile.base[word];
    uint64_t roots = 0;
    uint32_t run = base;
    for (uint32_t rest = tile.starts[word]; rest != 0; rest &= rest - 1, ++run) {
      const uint32_t root = tile.parent()[run];
      roots |= uint64_t{root == run} << (base % kWordBits + run - base);
      tile.run[run] = TileRun::make(word * kWordBits + __ffs(static_cast<int>(rest)) - 1, root);
    }
    if (static_cast<uint32_t>(roots) != 0) {
      atomicOr(tile.is_root + base / kWordBits, static_cast<uint32_t>(roots));
    }
    if (roots >> kWordBits != 0) {
      atomicOr(tile.is_root + base / kWordBits + 1, static_cast<uint32_t>(roots >> kWordBits));
    }
  }
}

/// Marks the roots of components at borders that the tile shares with others.
template <bool kValues>
__device__ void mark_shared(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  for_each_border_pixel(tiles, place, [&](uint32_t row, uint32_t column, uint16_t*) {
    // A run along a border is met where it begins, at least.
    if (tile.is_start(row, column) || (column == kTileWidth - 1 && tile.is_foreground(row, column))) {
      const uint32_t root = tile.run[tile.runs_up_to(row, column) - 1].root();
      atomicOr(tile.is_shared + root / kWordBits, 1u << root % kWordBits);
    }
  });
}

/// Numbers components and slots in the order of their roots.
template <bool kValues>
__device__ void number_roots(Tile<kValues>& tile) {
  const uint32_t word = threadIdx.x;
  const bool has_word = word * kWordBits < tile.n_runs;
  const uint32_t roots = has_word ? __popc(tile.is_root[word]) : 0;
  const uint32_t slots = has_word ? __popc(tile.is_shared[word]) : 0;
  uint32_t total = 0;
  const uint32_t base = block_exclusive_sum(roots | slots << 16, tile.warp_sums, &total);
  if (word < kMaxRunWords) {
    tile.root_base[word] = static_cast<uint16_t>(base);
    tile.tables.slot_base[word] = static_cast<uint16_t>(base >> 16);
  }
  if (word == 0) {
    tile.n_components = total & 0xffff;
    tile.n_slots = total >> 16;
  }
}

/// Finds the components of the block's tile.
template <bool kValues>
__device__ void label_tile(const Tiles& tiles, const Place& place, Connectivity connectivity,
                           Tile<kValues>& tile) {
  pack_tile(tiles, place, tile);
  __syncthreads();
  number_runs(tiles, tile);
  __syncthreads();
  link_rows(tiles, place, connectivity, 0, tiles.rows, tile,
            [&](uint32_t run, uint32_t parent) { tile.parent()[run] = parent; });
  __syncthreads();
  point_at_roots(tile.n_runs, tile.parent());
  if (tile.n_links > 0) {
    unite_links(tiles, place, connectivity, tile);
    point_at_roots(tile.n_runs, tile.parent());
  }
  mark_roots(tiles, tile);
  __syncthreads();
  mark_shared(tiles, place, tile);
  __syncthreads();
  number_roots(tile);
  __syncthreads();
}

}  // namespace ccl::device::runs
