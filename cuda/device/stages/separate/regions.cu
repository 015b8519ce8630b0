// SPDX-License-Identifier: LGPL-2.1-or-later
/// One kernel joins basins in rounds of three steps: regions choose links, those that are to be joined are
/// united, and the sums of each united region are added up. Between the steps all threads wait for each
/// other: those of one block, where a frame has few links, otherwise those of all blocks.
#include "device/stages/separate/regions.h"

#include "device/check.h"
#include "device/grid_barrier.cuh"
#include "device/launch.cuh"
#include "track/guide.h"

namespace ccl::device {

namespace {

constexpr uint32_t kJoinThreads = 1024;
constexpr uint32_t kMostBlocks = 128;
constexpr uint32_t kColors = track::kFirstMemberColor - 1;
constexpr uint32_t kMostRounds = 10000;           ///< no frame is known that needs a thousandth of them
constexpr uint32_t kLinksOfBlock = kJoinThreads;  ///< for more, all blocks work

/// Threads that work together: those of one block.
struct Block {
  __device__ uint32_t begin() const { return threadIdx.x; }
  __device__ uint32_t step() const { return kJoinThreads; }
  __device__ void wait() const { __syncthreads(); }
};

/// Those of all blocks.
struct Grid {
  GridBarrier barrier;

  __device__ uint32_t begin() const { return blockIdx.x * kJoinThreads + threadIdx.x; }
  __device__ uint32_t step() const { return gridDim.x * kJoinThreads; }
  __device__ void wait() const { barrier.wait(barrier.arrive()); }
};

/// A link, and the regions that it connects at the start of a round.
struct Link {
  uint32_t number;
  uint32_t saddle;
  uint32_t a, b;
};

/// What a region asks before it joins another one over a link.
struct OverSaddles {
  Separation separation;
  uint32_t min_area;

  __device__ uint32_t rank(const RegionTable&, const Link& link) const { return link.saddle; }
  __device__ bool joins(const RegionTable& table, const Link& link, bool is_of_a, bool is_of_b) const {
    return (is_of_a && joins(table, link.a, link.saddle)) || (is_of_b && joins(table, link.b, link.saddle));
  }
  __device__ bool joins(const RegionTable& table, uint32_t region, uint32_t saddle) const {
    return is_wide(saddle, table.summits[region], separation) || table.sums[region].n < min_area;
  }
};

struct ByForm {
  /// 0 if the two regions are not one object.
  __device__ uint32_t rank(const RegionTable& table, const Link& link) const {
    const RegionSums a = table.sums[link.a];
    const RegionSums b = table.sums[link.b];
    const float rating = score(form_of(a), form_of(b), form_of(a + b), link.saddle,
                               min(table.summits[link.a], table.summits[link.b]));
    return is_one_object(rating) ? __float_as_uint(rating) : 0;
  }
  __device__ bool joins(const RegionTable& table, const Link& link, bool is_of_a, bool is_of_b) const {
    const uint64_t n_a = table.sums[link.a].n;
    const uint64_t n_b = table.sums[link.b].n;
    return (is_of_a && (is_of_b || is_much_smaller(n_a, n_b))) || (is_of_b && is_much_smaller(n_b, n_a));
  }
};

/// The basins of a link.
__device__ BasinLink expand(const RegionTable& table, uint32_t number) {
  const uint32_t offsets[] = {1u, table.width - 1, table.width, table.width + 1};
  const uint32_t from = number / kLinkDirections;
  const uint32_t to = from + offsets[number % kLinkDirections];
  const uint32_t saddle = min(table.heights[from], table.heights[to]);
  return {number, saddle, table.basins[from] & ~kIsBasin, table.basins[to] & ~kIsBasin};
}

template <typename Team>
class Rounds {
 public:
  __device__ Rounds(const RegionTable& table, const Team& team)
      : table_(table), team_(team), n_links_(table.counts->n_links), n_basins_(table.counts->n_basins) {}

  /// Looks up once what every round needs of the links, as far as there is room.
  __device__ void expand_links() const {
    for (uint32_t i = team_.begin(); i < min(n_links_, table_.n_expanded); i += team_.step()) {
      table_.expanded[i] = expand(table_, table_.links[i]);
    }
  }

  /// Rounds, until one joins nothing.
  template <typename Rule>
  __device__ void run(const Rule& rule) {
    uint32_t n_joined = 0;
    do {
      choose(rule);
      team_.wait();
      unite(rule);
      team_.wait();
      n_joined = table_.counts->n_joined[round_];
      add_up(n_joined);
      round_ = (round_ + 1) % 3;
      team_.wait();
    } while (n_joined != 0);
  }

  /// The roots of parts.
  __device__ void write_roots() const {
    for_each_basin(
        [&](uint32_t basin) { table_.joined[basin] = 1 + table_.first_pixels[table_.regions[basin]]; });
  }

  /// Chooses a colour for each part at random, and another one for the smaller of two that touch and have the
  /// same, until there are none: nearly always at once, because there are more colours than parts around one.
  __device__ void write_colors() {
    uint32_t* colors = table_.joined;
    for_each_basin([&](uint32_t basin) { colors[basin] = random_color(basin, 0); });
    team_.wait();
    uint32_t n_equal = 0;
    uint32_t n_rounds = 0;
    do {
      for_each_link([&](const Link& link) {
        if (colors[link.a] == colors[link.b]) {
          table_.best[gives_way(link.a, link.b) ? link.a : link.b] = 1;
          atomicAdd(table_.counts->n_joined + round_, 1);
        }
      });
      team_.wait();
      n_equal = table_.counts->n_joined[round_];
      if (++n_rounds == kMostRounds) {
        __trap();
      }
      if (n_equal != 0) {
        for_each_basin([&](uint32_t basin) {
          if (table_.best[basin] != 0) {
            table_.best[basin] = 0;
            colors[basin] = random_color(basin, n_rounds);
          }
        });
      }
      if (team_.begin() == 0) {
        table_.counts->n_joined[(round_ + 1) % 3] = 0;
      }
      round_ = (round_ + 1) % 3;
      team_.wait();
    } while (n_equal != 0);
    for_each_basin([&](uint32_t basin) { colors[basin] = colors[table_.regions[basin]]; });
  }

 private:
  /// Calls visit(link) for all links between different regions.
  template <typename Visit>
  __device__ void for_each_link(Visit visit) const {
    for (uint32_t i = team_.begin(); i < n_links_; i += team_.step()) {
      const BasinLink link = i < table_.n_expanded ? table_.expanded[i] : expand(table_, table_.links[i]);
      const uint32_t a = table_.regions[link.a];
      const uint32_t b = table_.regions[link.b];
      if (a != b) {
        visit(Link{link.number, link.saddle, a, b});
      }
    }
  }

  template <typename Visit>
  __device__ void for_each_basin(Visit visit) const {
    for (uint32_t basin = team_.begin(); basin < n_basins_; basin += team_.step()) {
      visit(basin);
    }
  }

  /// Whether a part chooses another colour when another part that it touches has the same: the smaller one.
  __device__ bool gives_way(uint32_t part, uint32_t other) const {
    const uint64_t n = table_.sums[part].n;
    const uint64_t n_other = table_.sums[other].n;
    return n != n_other ? n < n_other : part < other;
  }

  static __device__ uint32_t random_color(uint32_t part, uint32_t n_rounds) {
    const uint32_t mixed = (part * 0x9e3779b1u ^ n_rounds * 0xc2b2ae3du) * 0x85ebca6bu;
    return 1 + (mixed >> 8) % kColors;
  }

  template <typename Rule>
  __device__ void choose(const Rule& rule) const {
    for_each_link([&](const Link& link) {
      const uint32_t rank = rule.rank(table_, link);
      if (rank != 0) {
        offer(link.a, order_of(rank, link.number));
        offer(link.b, order_of(rank, link.number));
      }
    });
  }

  __device__ void offer(uint32_t region, uint64_t order) const {
    atomicMax(reinterpret_cast<unsigned long long*>(table_.best + region),
              static_cast<unsigned long long>(order));
  }

  __device__ bool is_of(uint32_t region, const Link& link) const {
    const uint64_t best = table_.best[region];
    return best != 0 && link_of(best) == link.number;
  }

  template <typename Rule>
  __device__ void unite(const Rule& rule) const {
    for_each_link([&](const Link& link) {
      const bool is_of_a = is_of(link.a, link);
      const bool is_of_b = is_of(link.b, link);
      if ((is_of_a || is_of_b) && rule.joins(table_, link, is_of_a, is_of_b)) {
        unite(link.a, link.b);
      }
    });
  }

  /// The larger one of two roots joins the smaller one.
  __device__ void unite(uint32_t a, uint32_t b) const {
    while (true) {
      a = find(a);
      b = find(b);
      if (a == b) {
        return;
      }
      const uint32_t part = max(a, b);
      if (atomicCAS(table_.parents + part, part, min(a, b)) == part) {
        table_.joined[atomicAdd(table_.counts->n_joined + round_, 1)] = part;
        return;
      }
    }
  }

  __device__ uint32_t find(uint32_t basin) const {
    const volatile uint32_t* parents = table_.parents;
    while (parents[basin] != basin) {
      basin = parents[basin];
    }
    return basin;
  }

  /// Adds the regions that joined to those that they joined, and prepares the next round.
  __device__ void add_up(uint32_t n_joined) const {
    for (uint32_t i = team_.begin(); i < n_joined; i += team_.step()) {
      const uint32_t part = table_.joined[i];
      const uint32_t region = find(part);
      const RegionSums sums = table_.sums[part];
      RegionSums* to = table_.sums + region;
      add(&to->n, sums.n);
      add(&to->x, sums.x);
      add(&to->y, sums.y);
      add(&to->xx, sums.xx);
      add(&to->xy, sums.xy);
      add(&to->yy, sums.yy);
      atomicMax(table_.summits + region, table_.summits[part]);
      atomicMin(table_.first_pixels + region, table_.first_pixels[part]);
    }
    for_each_basin([&](uint32_t basin) {
      table_.best[basin] = 0;
      table_.regions[basin] = find(basin);
    });
    if (team_.begin() == 0) {
      table_.counts->n_joined[(round_ + 1) % 3] = 0;
    }
  }

  static __device__ void add(uint64_t* sum, uint64_t value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
  }

  RegionTable table_;
  Team team_;
  uint32_t n_links_;
  uint32_t n_basins_;
  uint32_t round_ = 0;
};

template <typename Team>
__device__ void join(const RegionTable& table, const Team& team, const OverSaddles& over_saddles,
                     bool colors) {
  Rounds<Team> rounds(table, team);
  rounds.expand_links();
  rounds.run(over_saddles);
  rounds.run(ByForm{});
  colors ? rounds.write_colors() : rounds.write_roots();
}

__global__ void __launch_bounds__(kJoinThreads)
    join_basins(RegionTable table, OverSaddles over_saddles, bool colors, uint32_t* arrivals) {
  const uint32_t n_links = table.counts->n_links;
  if (n_links > kLinksOfBlock) {
    join(table, Grid{GridBarrier(arrivals)}, over_saddles, colors);
  } else if (n_links > 0 && blockIdx.x == 0) {
    join(table, Block{}, over_saddles, colors);
  }
}

__global__ void __launch_bounds__(kBlockThreads) write_roots(RegionTable table, uint32_t* root_map) {
  const uint32_t pixel = blockIdx.x * kBlockThreads + threadIdx.x;
  if (table.counts->n_links == 0 || pixel >= table.width * table.height) {
    return;
  }
  const uint32_t basin = table.basins[pixel];
  if (basin != kNoBasin) {
    root_map[pixel] = table.joined[basin & ~kIsBasin];
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    write_values(RegionTable table, size_t pitch, uint8_t* values) {
  constexpr uint32_t kWordPixels = sizeof(uint32_t);
  const uint32_t x = (blockIdx.x * kBlockThreads + threadIdx.x) * kWordPixels;
  if (x >= table.width) {
    return;
  }
  const bool is_cut = table.counts->n_links != 0;
  uint32_t word = 0;
  for (uint32_t i = 0; i < min(kWordPixels, table.width - x); ++i) {
    const uint32_t basin = table.basins[blockIdx.y * table.width + x + i];
    const uint32_t value = basin == kNoBasin ? 0 : is_cut ? table.joined[basin & ~kIsBasin] : 1;
    word |= value << 8 * i;
  }
  *reinterpret_cast<uint32_t*>(values + blockIdx.y * pitch + x) = word;
}

Status join(const RegionTable& table, const Settings& settings, bool colors, uint32_t* arrivals,
            cudaStream_t stream) {
  return launch_resident("join_basins", join_basins, kMostBlocks, kJoinThreads, stream, table,
                         OverSaddles{settings.separation, settings.filter.min_area}, colors, arrivals);
}

}  // namespace

Status join_to_roots(const RegionTable& table, const Settings& settings, uint32_t* arrivals,
                     uint32_t* root_map, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(join(table, settings, /*colors=*/false, arrivals, stream));
  return launch("write_roots", write_roots, blocks_for(table.width * table.height, kBlockThreads),
                kBlockThreads, stream, table, root_map);
}

Status join_to_colors(const RegionTable& table, const Settings& settings, uint32_t* arrivals,
                      cudaStream_t stream) {
  return join(table, settings, /*colors=*/true, arrivals, stream);
}

Status join_to_values(const RegionTable& table, const Settings& settings, uint32_t* arrivals, size_t pitch,
                      uint8_t* values, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(join_to_colors(table, settings, arrivals, stream));
  return launch("write_values", write_values, dim3(blocks_for(table.width, 4 * kBlockThreads), table.height),
                kBlockThreads, stream, table, pitch, values);
}

}  // namespace ccl::device
