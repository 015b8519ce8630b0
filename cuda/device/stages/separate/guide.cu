// SPDX-License-Identifier: LGPL-2.1-or-later
/// One kernel decides, in steps between which all blocks wait for each other: parts are united to components,
/// each track that can guide looks for its component, and each component that has members chooses among them.
#include "device/stages/separate/guide.h"

#include "device/check.h"
#include "device/grid_barrier.cuh"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

using track::kNone;

constexpr uint32_t kGuideBlocks = 128;
constexpr uint32_t kGuideThreads = 256;

/// The components in the box of a track.
struct BoxTable {
  static constexpr uint32_t kSize = 2 * track::Samples::kMost * track::Samples::kMost;

  uint32_t components[kSize];  ///< kNone: empty
  uint32_t n[kSize];
  uint32_t first[kSize];
  unsigned long long best;

  __device__ void clear() {
    for (uint32_t i = threadIdx.x; i < kSize; i += blockDim.x) {
      components[i] = kNone;
      n[i] = 0;
      first[i] = kNone;
    }
    if (threadIdx.x == 0) {
      best = 0;
    }
  }

  /// There are no more components than samples, so there is always room.
  __device__ void add(uint32_t component, uint32_t sample) {
    for (uint32_t place = component * 0x9e3779b1u % kSize;; place = (place + 1) % kSize) {
      const uint32_t old = atomicCAS(components + place, kNone, component);
      if (old == kNone || old == component) {
        atomicAdd(n + place, 1);
        atomicMin(first + place, sample);
        return;
      }
    }
  }

  __device__ unsigned long long order(uint32_t place) const {
    return n[place] != 0 ? track::order_of_member(n[place], first[place]) : 0;
  }
};

struct Decision {
  RegionTable regions;
  GuideTable guide;

  static __device__ uint32_t begin() { return blockIdx.x * kGuideThreads + threadIdx.x; }
  static __device__ uint32_t step() { return gridDim.x * kGuideThreads; }

  __device__ uint32_t n_basins() const { return regions.counts->n_basins; }

  __device__ void clear(uint32_t n_tracks) const {
    for (uint32_t basin = begin(); basin < n_basins(); basin += step()) {
      guide.components[basin] = {
          .area = 0, .parent = basin, .n_parts = 0, .first_member = kNone, .n_members = 0, .cut = kNone};
    }
    for (uint32_t i = begin(); i < n_tracks; i += step()) {
      guide.members[i].component = kNone;
      guide.members[i].largest = 0;
    }
    if (begin() == 0) {
      *guide.n_cuts = 0;
    }
  }

  __device__ uint32_t find(uint32_t part) const {
    for (;;) {
      const uint32_t parent = *const_cast<volatile uint32_t*>(&guide.components[part].parent);
      if (parent == part) {
        return part;
      }
      part = parent;
    }
  }

  __device__ void unite(uint32_t a, uint32_t b) const {
    for (;;) {
      a = find(a);
      b = find(b);
      if (a == b) {
        return;
      }
      const uint32_t high = max(a, b);
      if (atomicCAS(&guide.components[high].parent, high, min(a, b)) == high) {
        return;
      }
    }
  }

  __device__ void unite_parts() const {
    const uint32_t n_links = regions.counts->n_links;
    const uint32_t offsets[] = {1u, regions.width - 1, regions.width, regions.width + 1};
    for (uint32_t k = begin(); k < n_links; k += step()) {
      const uint32_t number = regions.links[k];
      const uint32_t from = number / kLinkDirections;
      const uint32_t to = from + offsets[number % kLinkDirections];
      const uint32_t a = part_at(from);
      const uint32_t b = part_at(to);
      if (a != b) {
        unite(a, b);
      }
    }
  }

  __device__ uint32_t part_at(uint32_t pixel) const {
    return regions.regions[regions.basins[pixel] & ~kIsBasin];
  }

  /// Lets each part point to its component at once.
  __device__ void measure_components() const {
    for (uint32_t basin = begin(); basin < n_basins(); basin += step()) {
      if (regions.regions[basin] != basin) {
        continue;
      }
      const uint32_t root = find(basin);
      if (root != basin) {
        *const_cast<volatile uint32_t*>(&guide.components[basin].parent) = root;
      }
      atomicAdd(&guide.components[root].n_parts, 1);
      atomicAdd(reinterpret_cast<unsigned long long*>(&guide.components[root].area),
                static_cast<unsigned long long>(regions.sums[basin].n));
    }
  }

  /// Makes a track a member of the component that has most of its box, if that is enough. By all threads of a
  /// block.
  __device__ void find_component(uint32_t i, const track::TrackState& track, uint32_t duration_us,
                                 BoxTable* found) const {
    const track::Box box = track::next_box(track, duration_us);
    const track::Samples samples = track::samples_of(box, regions.width, regions.height);
    found->clear();
    __syncthreads();
    for (uint32_t k = threadIdx.x; k < samples.size(); k += kGuideThreads) {
      const uint32_t pixel = samples.y_of(k) * regions.width + samples.x_of(k);
      if (regions.basins[pixel] != kNoBasin) {
        found->add(guide.components[part_at(pixel)].parent, k);
      }
    }
    __syncthreads();
    for (uint32_t place = threadIdx.x; place < BoxTable::kSize; place += kGuideThreads) {
      if (const unsigned long long order = found->order(place); order != 0) {
        atomicMax(&found->best, order);
      }
    }
    __syncthreads();
    for (uint32_t place = threadIdx.x; place < BoxTable::kSize; place += kGuideThreads) {
      const unsigned long long order = found->order(place);
      if (order == 0 || order != found->best) {
        continue;
      }
      const uint32_t c = found->components[place];
      GuideComponent& component = guide.components[c];
      if (track::is_member(track, samples, found->n[place], component.area)) {
        GuideMember& member = guide.members[i];
        member.component = c;
        member.ellipse = track::ellipse_in(box);
        member.next = atomicExch(&component.first_member, i);
        atomicAdd(&component.n_members, 1);
      }
    }
    __syncthreads();
  }

  /// Decides whether a component is cut, and makes a list of the members between which it is.
  __device__ void choose_members(GuideComponent* component) const {
    if (component->n_members > track::kMostMembers || component->n_members <= component->n_parts) {
      return;
    }
    track::Members members;
    for (uint32_t i = component->first_member; i != kNone; i = guide.members[i].next) {
      members.add(i);
    }
    uint32_t next = kNone;
    for (uint32_t rank = members.n; rank-- > 0;) {
      const uint32_t i = members.list[rank];
      guide.members[i].rank = rank;
      guide.members[i].next = next;
      next = i;
    }
    component->cut = atomicAdd(guide.n_cuts, 1);
    guide.cuts[component->cut] = {next, {INT32_MAX, INT32_MAX, INT32_MIN, INT32_MIN}};
  }
};

__global__ void __launch_bounds__(kGuideThreads)
    decide_cuts(RegionTable regions, GuideTable guide, track::TrackTables tracks, uint32_t* arrivals,
                track::TrackStep step) {
  __shared__ BoxTable found;
  const Decision decision{regions, guide};
  const GridBarrier barrier(arrivals);
  const auto wait = [&] { barrier.wait(barrier.arrive()); };
  const track::TrackState* states = tracks.tracks_of(tracks.header->parity);
  const uint32_t n_tracks = step.resets != 0 ? 0 : tracks.header->n_tracks;
  decision.clear(n_tracks);
  wait();
  decision.unite_parts();
  wait();
  decision.measure_components();
  wait();
  for (uint32_t i = blockIdx.x; i < n_tracks; i += gridDim.x) {
    if (track::can_guide(states[i])) {
      decision.find_component(i, states[i], step.duration_us, &found);
    }
  }
  wait();
  for (uint32_t i = Decision::begin(); i < n_tracks; i += Decision::step()) {
    const uint32_t component = guide.members[i].component;
    if (component != kNone && guide.components[component].first_member == i) {
      decision.choose_members(&guide.components[component]);
    }
  }
}

/// What the pixels of a basin show.
struct PartColors {
  const RegionTable& regions;
  const GuideTable& guide;
  bool is_cut_by_shape;

  __device__ uint32_t at(uint32_t basin, uint32_t x, uint32_t y) const {
    if (basin == kNoBasin) {
      return 0;
    }
    const uint32_t part = regions.regions[basin & ~kIsBasin];
    const uint32_t cut = guide.components[guide.components[part].parent].cut;
    if (cut == kNone) {
      return is_cut_by_shape ? regions.joined[basin & ~kIsBasin] : 1;
    }
    uint64_t nearest = UINT64_MAX;
    uint32_t rank = 0;
    for (uint32_t i = guide.cuts[cut].first_member; i != kNone; i = guide.members[i].next) {
      const uint64_t distance = guide.members[i].ellipse.squared_distance(x, y);
      if (distance < nearest) {
        nearest = distance;
        rank = guide.members[i].rank;
      }
    }
    return track::kFirstMemberColor + rank;
  }
};

__global__ void __launch_bounds__(kBlockThreads)
    write_guided_values(RegionTable regions, GuideTable guide, size_t pitch, uint8_t* values) {
  constexpr uint32_t kWordPixels = sizeof(uint32_t);
  const uint32_t x = (blockIdx.x * kBlockThreads + threadIdx.x) * kWordPixels;
  if (x >= regions.width) {
    return;
  }
  const PartColors colors{regions, guide, regions.counts->n_links != 0};
  uint32_t word = 0;
  for (uint32_t i = 0; i < min(kWordPixels, regions.width - x); ++i) {
    word |= colors.at(regions.basins[blockIdx.y * regions.width + x + i], x + i, blockIdx.y) << 8 * i;
  }
  *reinterpret_cast<uint32_t*>(values + blockIdx.y * pitch + x) = word;
}

struct OriginJob {
  uint32_t width;
  GuideTable guide;
  GuidedParts parts;
  const FrameCounts* counts;
  const CclComponent* records;
  IndexMaps maps;
  track::Origin* origins;

  __device__ uint32_t n_records() const {
    return counts->n_components <= maps.max_components ? counts->n_components : 0;
  }

  /// The first pixel of a record's component, by a warp.
  __device__ uint32_t first_pixel(uint32_t c) const {
    const IndexMaps::Cell* map = maps.map(*maps.written);
    const CclComponent& record = records[c];
    const uint32_t row = record.y * width;
    for (uint32_t x = record.x;; x += kWarpSize) {
      const uint32_t at = x + threadIdx.x % kWarpSize;
      const bool is_found = at < width && map[row + at] == c + 1;
      if (const uint32_t lanes = __ballot_sync(kAllLanes, is_found); lanes != 0) {
        return row + x + static_cast<uint32_t>(__ffs(static_cast<int>(lanes))) - 1;
      }
    }
  }

  /// Writes for which member a component was cut.
  __device__ void find(uint32_t c, uint32_t pixel) const {
    track::Origin origin;
    const uint32_t part = parts.parts[parts.basins[pixel] & ~kIsBasin];
    const uint32_t of_component = guide.components[guide.components[part].parent].cut;
    if (of_component != kNone) {
      GuideCut& cut = guide.cuts[of_component];
      const uint32_t value = parts.values[pixel / width * parts.pitch + pixel % width];
      uint32_t i = cut.first_member;
      while (guide.members[i].rank != value - track::kFirstMemberColor) {
        i = guide.members[i].next;
      }
      origin.track = i;
      const track::Box box = track::part_of(records[c]).box;
      atomicMin(&cut.group.left, box.left);
      atomicMin(&cut.group.top, box.top);
      atomicMax(&cut.group.right, box.right);
      atomicMax(&cut.group.bottom, box.bottom);
      atomicMax(reinterpret_cast<unsigned long long*>(&guide.members[i].largest), order(c));
    }
    origins[c] = origin;
  }

  __device__ unsigned long long order(uint32_t c) const {
    return static_cast<unsigned long long>(records[c].area) << 32 | static_cast<uint32_t>(~c);
  }
};

__global__ void __launch_bounds__(kBlockThreads) find_members_of(OriginJob job) {
  const uint32_t n_records = job.n_records();
  const bool is_cut = *job.guide.n_cuts != 0;
  const uint32_t first = (blockIdx.x * kBlockThreads + threadIdx.x) / kWarpSize;
  for (uint32_t c = first; c < n_records; c += gridDim.x * kBlockThreads / kWarpSize) {
    if (!is_cut) {
      if (threadIdx.x % kWarpSize == 0) {
        job.origins[c] = {};
      }
      continue;
    }
    const uint32_t pixel = job.first_pixel(c);
    if (threadIdx.x % kWarpSize == 0) {
      job.find(c, pixel);
    }
  }
}

/// Completes origins when all are known.
__global__ void __launch_bounds__(kBlockThreads) complete_origins(OriginJob job) {
  const uint32_t n_records = *job.guide.n_cuts != 0 ? job.n_records() : 0;
  for (uint32_t c = blockIdx.x * kBlockThreads + threadIdx.x; c < n_records; c += gridDim.x * kBlockThreads) {
    track::Origin& origin = job.origins[c];
    if (origin.track != kNone) {
      const GuideMember& member = job.guide.members[origin.track];
      origin.group = job.guide.cuts[job.guide.components[member.component].cut].group;
      origin.is_main = member.largest == job.order(c) ? 1 : 0;
    }
  }
}

}  // namespace

/// Of two neighbours of a component at most one is a summit, in either connectivity.
Status Guide::prepare(uint32_t width, uint32_t height) {
  if (components_.data() != nullptr) {
    return {};
  }
  CCL_RETURN_IF_ERROR(members_.allocate(tracks_.sizes.max_tracks));
  CCL_RETURN_IF_ERROR(cuts_.allocate(tracks_.sizes.max_tracks));
  CCL_RETURN_IF_ERROR(n_cuts_.allocate(1));
  CCL_RETURN_IF_ERROR(arrivals_.allocate(1));
  CCL_RETURN_IF_ERROR(origins_.allocate(tracks_.sizes.max_components));
  Stream stream;
  CCL_RETURN_IF_ERROR(stream.create());
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(arrivals_.data(), 0, sizeof(uint32_t), stream.get()),
                            "cudaMemsetAsync of the arrivals"));
  CCL_RETURN_IF_ERROR(stream.synchronize());
  return components_.allocate((size_t{width} * height + 1) / 2);
}

Status Guide::decide(const RegionTable& regions, cudaStream_t stream) const {
  return launch_resident("decide_cuts", decide_cuts, kGuideBlocks, kGuideThreads, stream, regions, table(),
                         tracks_, arrivals_.data(), step_);
}

const void* Guide::kernel() {
  return reinterpret_cast<const void*>(decide_cuts);
}

Status Guide::write_parts(const RegionTable& regions, size_t pitch, uint8_t* values, cudaStream_t stream) {
  parts_ = {regions.basins, regions.regions, values, pitch};
  width_ = regions.width;
  return launch("write_guided_values", write_guided_values,
                dim3(blocks_for(regions.width, 4 * kBlockThreads), regions.height), kBlockThreads, stream,
                regions, table(), pitch, values);
}

Status Guide::find_origins(const FrameCounts* counts, const CclComponent* records, const IndexMaps& maps,
                           cudaStream_t stream) const {
  const OriginJob job{width_, table(), parts_, counts, records, maps, origins_.data()};
  CCL_RETURN_IF_ERROR(launch("find_members_of", find_members_of, kGuideBlocks, kBlockThreads, stream, job));
  return launch("complete_origins", complete_origins, kGuideBlocks, kBlockThreads, stream, job);
}

}  // namespace ccl::device
