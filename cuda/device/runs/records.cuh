// SPDX-License-Identifier: LGPL-2.1-or-later
/// Step 6: records of components, and the paint values of components without a node.
#pragma once

#include "ccl/sums.h"
#include "device/grid_barrier.cuh"
#include "device/runs/emission.h"
#include "device/runs/forest.cuh"
#include "device/runs/measure.cuh"
#include "device/runs/number.cuh"
#include "device/runs/paint.cuh"
#include "device/runs/sums.cuh"
#include "device/runs/tile.cuh"

namespace ccl::device::runs {

/// How a block continues once tiles are merged.
struct FinishPlan {
  GridBarrier barrier;
  bool is_resident;   ///< the block has one tile, which stays in shared memory
  bool paints_first;  ///< pixels do not wait for the sums of nodes
  bool keeps_runs;    ///< nothing is painted, so the runs of the resident tile do not become paint values
  uint32_t phase;     ///< of the last barrier; once it opens, all sums are complete

  /// Waits as the calling thread alone.
  __device__ void wait_for_sums() const { barrier.wait_alone(phase); }
};

__device__ inline void store(const CclComponent& record, CclComponent* to) {
  static_assert(sizeof(CclComponent) == 4 * sizeof(uint4));
  union {
    CclComponent component;
    uint4 vectors[4];
  } u{record};
  for (uint32_t i = 0; i < 4; ++i) {
    reinterpret_cast<uint4*>(to)[i] = u.vectors[i];
  }
}

/// The value in the record of a component that has this pixel. That of binary foreground is known without
/// reading the frame.
template <RunKind kKind>
__device__ uint8_t value_of_record(const SegmentSource& frame, uint32_t x, uint32_t y) {
  if (kKind != RunKind::kValue) {
    return kBinarySegment;
  }
  return frame.rule.record_value != 0 ? frame.rule.record_value : frame.segment(x, y);
}

/// Emits one component; see Emission. `failed`: see Filter::failed_condition(); it is read with a full filter
/// only. A component that is not chosen is not kept, and has failed nothing. `kHasFeatures`: whether a
/// feature may be asked for. `make_sums()` returns the component's Sums, `make_value()` the record's value;
/// they are called only if there is a record.
template <bool kHasFeatures, typename AnyFilter, typename MakeSums, typename MakeValue>
__device__ void emit(const Emitter& emitter, const SegmentSource& frame, uint32_t label, uint32_t area,
                     bool is_kept, uint32_t failed, MakeSums make_sums, MakeValue make_value) {
  uint32_t index = kNoRecord;
  if (kIsFull<AnyFilter> && counts_removed(emitter.emission) && failed != kPassed) {
    atomicAdd(emitter.counts->n_removed + failed, 1u);
  }
  switch (emitter.emission) {
    case Emission::kNone:
      break;
    case Emission::kByLabel:
      index = label - 1;
      break;
    case Emission::kAppended:
      if (is_kept) {
        index = atomicAdd(&emitter.counts->n_components, 1u);
        atomicOr(emitter.is_kept + label / kWordBits, 1u << label % kWordBits);
      }
      break;
    case Emission::kMarks:
      emitter.index_or_mark[label - 1] = is_kept ? area : 0;
      break;
    case Emission::kSelected:
      index = emitter.index_or_mark[label - 1];
      break;
  }
  if (index < emitter.max_components) {
    store(make_component(label, area, make_value(), make_sums(), kHasFeatures ? emitter.settings.features : 0,
                         frame.width, frame.height),
          emitter.records + index);
  }
}

/// Clears what an emission counts and marks the frame's components in.
template <typename AnyFilter>
__device__ inline void reset_counts(const Emitter& emitter) {
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (appends(emitter.emission)) {
    for (uint32_t word = thread; word <= emitter.max_labels / kWordBits; word += gridDim.x * blockDim.x) {
      emitter.is_kept[word] = 0;
    }
    if (thread == 0) {
      emitter.counts->n_components = 0;
    }
  }
  if (kIsFull<AnyFilter> && counts_removed(emitter.emission) && thread < kFilterConditions) {
    emitter.counts->n_removed[thread] = 0;
  }
}

/// Emits the batch's components that have no node, and sets their paint values unless runs are kept. Or, if
/// `are_shared`, emits the components whose root node belongs to the tile, as soon as their sums are
/// complete. The same instructions do both, because they are many.
template <typename Tile, uint32_t kWords, typename AnyFilter>
__device__ void emit_components(const Tiles& tiles, const Emitter& emitter, const PaintRule& rule,
                                const AnyFilter& filter, const Place& place, const FinishPlan& plan,
                                const SumsBatch<kWords>& batch, bool are_shared, Tile& tile) {
  const uint32_t n = are_shared ? tile.n_nodes : batch.end - batch.begin;
  for (uint32_t i = are_shared ? first_node_of_thread() : threadIdx.x; i < n; i += blockDim.x) {
    const uint32_t node = place.index * tiles.max_nodes + i;
    const uint32_t root = are_shared ? tile.tables.node_run[i] : batch.components[i].root;
    if (are_shared ? tile.tables.node_root[i] != node : tile.is_root_shared(root)) {
      continue;
    }
    uint32_t label = 0;
    uint32_t x = 0;
    uint32_t y = 0;
    if (plan.keeps_runs || !are_shared) {
      const TileRun run = tile.run[root];
      label = label_of(tile.tables, root, run.row());
      x = place.x + tile.first_pixel_column(run);
      y = place.y + run.row();
    } else {
      label = tiles.node_label[node];
      const uint32_t first_pixel = first_pixel_of(tiles.parent[node]);
      y = first_pixel / tiles.frame.width;
      x = first_pixel - y * tiles.frame.width;
    }
    FrameSums<kWords> sums;
    if (are_shared) {
      plan.wait_for_sums();
      for (uint32_t word = 0; word < kWords; ++word) {
        sums[word] = *tiles.node_sum(word, node);
      }
    } else {
      to_frame(place, batch.components[i].words, sums);
    }
    const auto area = static_cast<uint32_t>(sums[TileSums::kArea]);
    uint32_t failed = kPassed;
    bool is_kept = false;
    if constexpr (kIsFull<AnyFilter>) {
      const bool is_chosen = filter.has_chosen(label, n_strong_of(sums));
      failed = is_chosen ? filter.filter.failed_condition(filter_sums(sums, y, tiles.frame)) : kPassed;
      is_kept = is_chosen && failed == kPassed;
    } else {
      is_kept = emitter.settings.limits.keeps(area);
    }
    emit<kWords == TileSums::kAllWords, AnyFilter>(
        emitter, tiles.frame, label, area, is_kept, failed, [&] { return as_sums(sums, y); },
        [&] { return value_of_record<Tile::kKind>(tiles.frame, x, y); });
    if (!are_shared && !plan.keeps_runs) {
      tile.run[root].word = value_of(rule, label, area, is_kept, y * tiles.frame.width + x);
    }
  }
}

}  // namespace ccl::device::runs
