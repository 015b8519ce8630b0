// SPDX-License-Identifier: LGPL-2.1-or-later
/// Links between runs of neighbouring rows of a tile, found from the bits of both rows, a word at a time.
///
/// Each link between two stretches of foreground is one bit. The first link of a run sets its parent; further
/// links go to a list.
#pragma once

#include "device/runs/pack.cuh"
#include "device/runs/tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

inline constexpr uint32_t kNoRun = 0xffff;

__device__ inline uint32_t lowest_bit(uint32_t bits) {
  return bits & (~bits + 1);
}

/// Links between the runs of a band's word and the runs of the band above; each link is a bit of the lower
/// run.
struct RowLinks {
  uint32_t straight;  ///< to the column above
  uint32_t left;      ///< to the one before that
  uint32_t right;     ///< to the one after it
};

/// The part of a band's word that a thread processes. Blocks of narrow tiles have more threads than words.
template <typename Tile>
struct WordPart {
  static constexpr uint32_t kParts = Tile::kHasTops && Tile::kWidth == kNarrow ? 2 : 1;
  static constexpr uint32_t kBits = kWordBits / kParts;

  uint32_t word;
  uint32_t first;  ///< bit

  static __device__ WordPart make(uint32_t i) { return {i / kParts, i % kParts * kBits}; }
  __device__ uint32_t of(uint32_t bits) const { return bits & kAllLanes >> (kWordBits - kBits) << first; }
};

/// Iterates over the ids of the runs that begin in a part of a word.
template <typename Tile>
class NextRun {
 public:
  __device__ NextRun(const Tile& tile, WordPart<Tile> part) : run_(tile.base[part.word]) {
    const uint32_t before = tile.starts[part.word] & bits_below(part.first);
    if constexpr (Tile::kHasTops) {
      tops_ = tile.tops[part.word];
      lower_run_ = tile.lower_base[part.word] + __popc(before & ~tops_);
      run_ += __popc(before & tops_);
    } else {
      run_ += __popc(before);
    }
  }

  /// Whether the run that begins at this bit has a pixel in the upper row.
  __device__ bool is_top(uint32_t start) const { return !Tile::kHasTops || (tops_ & start) != 0; }
  __device__ uint32_t take(uint32_t start) { return is_top(start) ? run_++ : lower_run_++; }

 private:
  uint32_t run_;
  uint32_t tops_ = 0;
  uint32_t lower_run_ = 0;
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

/// The pixels of a word that begin a stretch.
template <typename Tile>
__device__ uint32_t row_starts(uint32_t word, const Tile& tile) {
  if constexpr (Tile::kKind == RunKind::kPair) {
    const uint32_t before = word % Tile::kRowWords > 0 ? tile.bits[word - 1] >> (kWordBits - 1) : 0;
    return tile.bits[word] & ~(tile.bits[word] << 1 | before);
  }
  return tile.starts[word];
}

/// The links of a word to the row above, which must belong to the tile: one for each two stretches of the two
/// rows that touch. The link is the first column that both have, where one of them begins, or else a corner.
template <typename Tile>
__device__ RowLinks row_links(const Tiles& tiles, const Place& place, Connectivity connectivity,
                              uint32_t word, const Tile& tile) {
  const uint32_t above = word - Tile::kRowWords;
  const bool has_before = word % Tile::kRowWords > 0;
  const bool has_after = word % Tile::kRowWords + 1 < Tile::kRowWords;
  const uint32_t own = tile.bits[word];
  const uint32_t starts = row_starts(word, tile);
  const uint32_t starts_above = row_starts(above, tile);
  uint32_t straight = own & tile.bits[above];
  uint32_t left = own & (tile.bits[above] << 1 | (has_before ? tile.bits[above - 1] >> (kWordBits - 1) : 0));
  uint32_t right = own;
  uint32_t straight_after = has_after ? tile.bits[word + 1] & tile.bits[above + 1] : 0;
  if constexpr (Tile::kKind == RunKind::kValue) {
    const EqualPixels equal =
        equal_pixels(tiles, place.x + word % Tile::kRowWords * kWordBits, place.y + word / Tile::kRowWords);
    straight &= equal.bits.straight;
    left &= equal.bits.left;
    right &= equal.bits.right;
    straight_after = equal.is_straight_after ? straight_after : 0;
  }
  const uint32_t starts_after = has_after ? row_starts(above + 1, tile) & ~straight_after : 0;
  right &= (starts_above & ~straight) >> 1 | starts_after << (kWordBits - 1);
  left &= starts & ~straight;
  const bool has_corners = connectivity == Connectivity::k8;
  return {.straight = straight & (starts | starts_above),
          .left = has_corners ? left : 0,
          .right = has_corners ? right : 0};
}

/// Removes the lowest of the links and returns its run above; kNoRun if there is none.
template <typename Tile>
__device__ uint32_t take_link(uint32_t band_above, uint32_t column, uint32_t among, RowLinks* links,
                              const Tile& tile) {
  const uint32_t first = lowest_bit((links->straight | links->left | links->right) & among);
  if (first == 0) {
    return kNoRun;
  }
  column += __ffs(static_cast<int>(first)) - 1;
  if ((links->straight & first) != 0) {
    links->straight ^= first;
  } else if ((links->left & first) != 0) {
    links->left ^= first;
    --column;
  } else {
    links->right ^= first;
    ++column;
  }
  return tile.run_at(band_above, column);
}

/// Further links, each as the run above and the run below, in the room behind the tile's runs.
struct LinkList {
  uint32_t* links;
  uint32_t capacity;

  static constexpr uint32_t kRunBits = 16;

  static __device__ uint32_t make(uint32_t above, uint32_t below) { return above << kRunBits | below; }
  static __device__ uint32_t above(uint32_t link) { return link >> kRunBits; }
  static __device__ uint32_t below(uint32_t link) { return link % (1u << kRunBits); }
};

template <typename Tile>
__device__ LinkList link_list(Tile& tile) {
  uint32_t* first = tile.parent() + tile.n_runs;
  return {first, static_cast<uint32_t>(tile.after_runs + Tile::kAfterRunsWords - first)};
}

/// Links the runs of these bands to the runs above. Calls visit(run, parent) for each run, with the run
/// itself if there is no link. Further links are listed; they are counted also if there is no room for them.
template <typename Tile, typename Visit>
__device__ void link_bands(const Tiles& tiles, const Place& place, Connectivity connectivity,
                           uint32_t first_band, uint32_t end_band, Tile& tile, Visit visit) {
  using Part = WordPart<Tile>;
  constexpr uint32_t kBandParts = Tile::kRowWords * Part::kParts;
  const LinkList list = link_list(tile);
  for (uint32_t first = first_band * kBandParts; first < end_band * kBandParts; first += blockDim.x) {
    const Part part = Part::make(first + threadIdx.x);
    const uint32_t band = part.word / Tile::kRowWords;
    const uint32_t column = part.word % Tile::kRowWords * kWordBits;
    RowLinks links{};
    if (band < end_band) {
      if (band > 0) {
        links = row_links(tiles, place, connectivity,
                          band * Tile::kBandRows * Tile::kRowWords + part.word % Tile::kRowWords, tile);
        links = {part.of(links.straight), part.of(links.left), part.of(links.right)};
      }
      NextRun<Tile> next_run(tile, part);
      for (uint32_t rest = part.of(tile.starts[part.word]); rest != 0;) {
        const uint32_t start = lowest_bit(rest);
        rest ^= start;
        const uint32_t run = next_run.take(start);
        const uint32_t span = lowest_bit(rest) - start;  // up to the next run
        const uint32_t above = take_link(band - 1, column, span, &links, tile);
        visit(run, above != kNoRun ? above : run);
      }
    }
    const uint32_t n = __popc(links.straight) + __popc(links.left) + __popc(links.right);
    if (__any_sync(kAllLanes, n != 0) == 0) {
      continue;
    }
    const uint32_t before = warp_exclusive_sum(n);
    uint32_t at = 0;
    if (threadIdx.x % kWarpSize == kWarpSize - 1) {
      at = atomicAdd(&tile.n_links, before + n);
    }
    at = __shfl_sync(kAllLanes, at, kWarpSize - 1) + before;
#pragma unroll 1
    for (const uint32_t end = min(at + n, list.capacity); at < end; ++at) {
      const uint32_t bit = __ffs(static_cast<int>(links.straight | links.left | links.right)) - 1;
      const uint32_t above = take_link(band - 1, column, kAllLanes, &links, tile);
      list.links[at] = LinkList::make(above, tile.run_at(band, column + bit));
    }
  }
}

}  // namespace ccl::device::runs
