// SPDX-License-Identifier: LGPL-2.1-or-later
/// A warp draws a tile of pixels: its lanes find the tracks that meet the tile, 32 at a time, and each lane
/// blends them, in their order, onto one column of pixels, which it keeps in registers. So no pixel depends
/// on the order of threads, and tiles without tracks are not read.
#include "device/stages/draw.h"

#include "device/launch.cuh"
#include "device/stages/paint.h"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

using draw::Coverage;
using draw::DrawnTrack;
using draw::PixelBox;
using draw::Stroke;
using draw::TrackStyle;
using draw::Trail;
using draw::TrailPoint;

constexpr uint32_t kWarps = kBlockThreads / kWarpSize;
constexpr uint32_t kTileRows = 8;

static_assert(draw::kTrailPoints == kWarpSize, "a lane has a point");

/// The tables of two frames that follow each other.
struct TablePair {
  const Trail* trails_before;
  const uint32_t* n_before;  ///< null: there is no frame before
  Trail* trails;
  DrawnTrack* drawn;
  uint32_t* n_tracks;
};

/// The first tracks of a frame.
struct DrawnTracks {
  const Trail* trails;
  const DrawnTrack* drawn;
  const uint32_t* n_tracks;
};

__device__ bool is_skipped(const FrameCounts* skipped, uint32_t max_components) {
  return skipped != nullptr && skipped->n_components > max_components;
}

/// A warp makes the entry of a track.
__global__ void __launch_bounds__(kBlockThreads)
    update_tracks(TrackStyle style, const uint32_t* palettes, DeviceTracks tracks, uint32_t max_tracks,
                  TablePair tables) {
  const uint32_t index = blockIdx.x * kWarps + threadIdx.x / kWarpSize;
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t n_tracks = min(*tracks.count, max_tracks);
  if (index == 0 && lane == 0) {
    *tables.n_tracks = n_tracks;
  }
  if (index >= n_tracks) {
    return;
  }
  const CclTrack& track = tracks.records[index];
  const uint32_t n_before = tables.n_before != nullptr ? *tables.n_before : 0;
  const draw::TrailStep step = trail_step(tables.trails_before, n_before, track);
  const TrailPoint point = step.point(lane);
  const TrailPoint least = {static_cast<uint16_t>(warp_min(kAllLanes, point.x)),
                            static_cast<uint16_t>(warp_min(kAllLanes, point.y))};
  const TrailPoint most = {static_cast<uint16_t>(warp_max(kAllLanes, point.x)),
                           static_cast<uint16_t>(warp_max(kAllLanes, point.y))};
  Trail& trail = tables.trails[index];
  trail.points[lane] = point;
  if (lane == 0) {
    trail.id = track.id;
    trail.reserved = 0;
    trail.step_time = step.step_time;
    tables.drawn[index] = draw_track(track, style, palettes[color_index_of(track, style)], least, most);
  }
}

/// The value that another lane has.
template <typename Value>
__device__ Value value_of(const Value& value, uint32_t lane) {
  static_assert(sizeof(Value) % sizeof(uint32_t) == 0);
  Value result;
  const auto* from = reinterpret_cast<const uint32_t*>(&value);
  auto* to = reinterpret_cast<uint32_t*>(&result);
#pragma unroll
  for (uint32_t i = 0; i < sizeof(Value) / sizeof(uint32_t); ++i) {
    to[i] = __shfl_sync(kAllLanes, from[i], lane);
  }
  return result;
}

/// A column of a tile.
class Column {
 public:
  __device__ Column(const TrackStyle& style, const PixelBox& tile, uint32_t* pixels)
      : x_(tile.x0 + static_cast<int32_t>(threadIdx.x % kWarpSize)),
        y_(tile.y0),
        n_rows_(x_ < tile.x1 ? static_cast<uint32_t>(tile.y1 - tile.y0) : 0),
        pitch_(style.width),
        rim_(pack(draw::kRimColor, style.layout)),
        at_(pixels + static_cast<size_t>(y_) * pitch_ + static_cast<size_t>(x_)) {}

  __device__ int32_t x() const { return x_; }
  __device__ int32_t y() const { return y_; }

  /// Blends a path. coverage_of(row) is the coverage of a pixel.
  template <typename CoverageOf>
  __device__ void blend_path(uint32_t color, CoverageOf coverage_of) {
    load();
#pragma unroll
    for (uint32_t row = 0; row < kTileRows; ++row) {
      if (row < n_rows_) {
        const Coverage coverage = coverage_of(row);
        if (coverage.rim > 0) {
          pixels_[row] = draw::blend_path(coverage, color, rim_, pixels_[row]);
        }
      }
    }
  }

  __device__ void store() const {
    if (is_loaded_) {
#pragma unroll
      for (uint32_t row = 0; row < kTileRows; ++row) {
        if (row < n_rows_) {
          at_[row * pitch_] = pixels_[row];
        }
      }
    }
  }

 private:
  __device__ void load() {
    if (!is_loaded_) {
      is_loaded_ = true;
#pragma unroll
      for (uint32_t row = 0; row < kTileRows; ++row) {
        pixels_[row] = row < n_rows_ ? at_[row * pitch_] : 0;
      }
    }
  }

  int32_t x_;
  int32_t y_;
  uint32_t n_rows_;
  size_t pitch_;
  uint32_t rim_;
  uint32_t* at_;
  uint32_t pixels_[kTileRows];
  bool is_loaded_ = false;
};

/// Blends the part of a trail in a tile. A lane has a stroke.
__device__ void draw_trail(const Trail& trail, const DrawnTrack& track, const draw::Pen& pen,
                           const PixelBox& tile, Column& column) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const TrailPoint newer = trail.points[lane];
  const TrailPoint older = value_of(newer, min(lane + 1, kWarpSize - 1));
  const bool is_near = lane < draw::kTrailStrokes && is_drawn(lane, newer, older) &&
                       box_of(place_of(newer), place_of(older), pen).meets(tile);
  const uint32_t near_lanes = __ballot_sync(kAllLanes, is_near);
  if (near_lanes == 0) {
    return;
  }
  const Stroke of_lane = is_near ? trail_stroke(newer, older) : Stroke{};
  Coverage coverage[kTileRows];
  for (uint32_t rest = near_lanes; rest != 0; rest &= rest - 1) {
    const uint32_t i = first_lane_of(rest);
    const Stroke stroke = value_of(of_lane, i);
    const uint32_t strength = draw::trail_strength(i, track.strength);
#pragma unroll
    for (uint32_t row = 0; row < kTileRows; ++row) {
      coverage[row].add(
          coverage_at(distance(stroke, column.x(), column.y() + static_cast<int32_t>(row)), pen, strength));
    }
  }
  column.blend_path(track.color, [&](uint32_t row) { return coverage[row]; });
}

/// Blends the part of a caption in a tile.
__device__ void draw_caption(const DrawnTrack& track, const TrackStyle& style, Column& column) {
  const PixelBox& box = track.caption;
  column.blend_path(pack(draw::kTextColor, style.layout), [&](uint32_t row) {
    const int32_t y = column.y() + static_cast<int32_t>(row);
    const bool is_inside = column.x() >= box.x0 && column.x() < box.x1 && y >= box.y0 && y < box.y1;
    return is_inside ? caption_coverage(track, style.digits, static_cast<uint32_t>(column.x() - box.x0),
                                        static_cast<uint32_t>(y - box.y0))
                     : Coverage{};
  });
}

/// Calls draw(index) for each track whose box meets the tile, in order. All lanes of the warp take part.
template <typename BoxOf, typename Draw>
__device__ void for_each_near(uint32_t n_tracks, const PixelBox& tile, BoxOf box_of, Draw draw) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  for (uint32_t first = 0; first < n_tracks; first += kWarpSize) {
    const uint32_t index = first + lane;
    const bool is_near = index < n_tracks && box_of(index).meets(tile);
    for (uint32_t rest = __ballot_sync(kAllLanes, is_near); rest != 0; rest &= rest - 1) {
      draw(first + first_lane_of(rest));
    }
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    draw_tracks(TrackStyle style, DrawnTracks tracks, const FrameCounts* skipped, uint32_t max_components,
                uint32_t* pixels) {
  if (is_skipped(skipped, max_components)) {
    return;
  }
  const auto y = static_cast<int32_t>((blockIdx.y * kWarps + threadIdx.x / kWarpSize) * kTileRows);
  const auto x = static_cast<int32_t>(blockIdx.x * kWarpSize);
  const PixelBox tile =
      PixelBox{x, y, x + static_cast<int32_t>(kWarpSize), y + static_cast<int32_t>(kTileRows)}.cut(
          style.frame());
  if (tile.is_empty()) {
    return;
  }
  const uint32_t n_tracks = *tracks.n_tracks;
  Column column(style, tile, pixels);
  if (style.draws_trails) {
    for_each_near(
        n_tracks, tile, [&](uint32_t i) { return tracks.drawn[i].trail; },
        [&](uint32_t i) { draw_trail(tracks.trails[i], tracks.drawn[i], style.scale.trail, tile, column); });
  }
  if (style.draws_ids) {
    for_each_near(
        n_tracks, tile, [&](uint32_t i) { return tracks.drawn[i].caption; },
        [&](uint32_t i) { draw_caption(tracks.drawn[i], style, column); });
  }
  column.store();
}

__global__ void __launch_bounds__(kBlockThreads)
    blend_outlines(const LayerPixel* layer, uint32_t count, PixelLayout layout, const FrameCounts* skipped,
                   uint32_t max_components, uint32_t* pixels) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i >= count || is_skipped(skipped, max_components)) {
    return;
  }
  uint32_t& pixel = pixels[layer[i].index];
  pixel = draw::blend_layer(layer[i].color, layout, pixel);
}

}  // namespace

Status DeviceOutlines::prepare(const FrameJob& job, cudaStream_t stream) {
  const OutlineLayer& layer = *job.outlines;
  if (layer.id() == id_) {
    return {};
  }
  const std::vector<LayerPixel>& pixels = layer.pixels();
  id_ = 0;
  if (pixels.size() > capacity_) {
    capacity_ = 0;
    pixels_ = {};
    CCL_RETURN_IF_ERROR(pixels_.allocate(pixels.size()));
    capacity_ = pixels.size();
  }
  count_ = static_cast<uint32_t>(pixels.size());
  if (count_ == 0) {
    id_ = layer.id();
    return {};
  }
  CCL_RETURN_IF_ERROR(check(cudaMemcpyAsync(pixels_.data(), pixels.data(), pixels.size() * sizeof(LayerPixel),
                                            cudaMemcpyHostToDevice, stream),
                            "cudaMemcpyAsync of the outlines"));
  id_ = layer.id();
  return {};
}

Status TrackDrawing::configure(const Config& config, size_t n_slots) {
  config_ = config;
  if (config.max_tracks == 0 || !has_colors(config.output)) {
    return {};
  }
  scale_ = draw::scale_for(config.height);
  CCL_RETURN_IF_ERROR(upload_font());
  CCL_RETURN_IF_ERROR(updated_.create());
  tables_.resize(n_slots + 1);
  for (Table& table : tables_) {
    CCL_RETURN_IF_ERROR(table.trails.allocate(config.max_tracks));
    CCL_RETURN_IF_ERROR(table.drawn.allocate(config.max_tracks));
    CCL_RETURN_IF_ERROR(table.n_tracks.allocate(1));
  }
  return {};
}

Status TrackDrawing::upload_font() {
  const draw::DigitFont font(scale_);
  const std::vector<uint8_t>& coverage = font.coverage();
  CCL_RETURN_IF_ERROR(digit_coverage_.allocate(coverage.size()));
  Stream stream;
  CCL_RETURN_IF_ERROR(stream.create());
  CCL_RETURN_IF_ERROR(check(cudaMemcpyAsync(digit_coverage_.data(), coverage.data(), coverage.size(),
                                            cudaMemcpyHostToDevice, stream.get()),
                            "cudaMemcpyAsync of the digits"));
  digits_ = font.cells();
  digits_.coverage = digit_coverage_.data();
  return upload_palettes(stream, &palettes_);  // which waits for both
}

draw::TrackStyle TrackDrawing::style_of(const Settings& settings) const {
  return {.width = config_.width,
          .height = config_.height,
          .layout = config_.layout,
          .palette = settings.palette,
          .color_seed = settings.color_seed,
          .draws_ids = settings.draw_ids,
          .draws_trails = settings.draw_trails,
          .scale = scale_,
          .digits = digits_};
}

bool TrackDrawing::is_active(const Settings& settings, const DeviceTracks& tracks) const {
  return (settings.draw_ids || settings.draw_trails) && tracks.records != nullptr && !tables_.empty();
}

Status TrackDrawing::update(const Settings& settings, const DeviceTracks& tracks, const Stream& stream,
                            uint32_t* table) {
  if (last_stream_ != nullptr && last_stream_ != stream.get()) {
    CCL_RETURN_IF_ERROR(check(cudaStreamWaitEvent(stream.get(), updated_.get()), "cudaStreamWaitEvent"));
  }
  const Table& before = tables_[last_];
  *table = (last_ + 1) % static_cast<uint32_t>(tables_.size());
  const Table& next = tables_[*table];
  CCL_RETURN_IF_ERROR(launch("update_tracks", update_tracks, dim3(blocks_for(config_.max_tracks, kWarps)),
                             kBlockThreads, stream.get(), style_of(settings), palettes_.data(), tracks,
                             config_.max_tracks,
                             TablePair{.trails_before = before.trails.data(),
                                       .n_before = has_before_ ? before.n_tracks.data() : nullptr,
                                       .trails = next.trails.data(),
                                       .drawn = next.drawn.data(),
                                       .n_tracks = next.n_tracks.data()}));
  last_ = *table;
  last_stream_ = stream.get();
  has_before_ = true;
  return updated_.record(stream);
}

Status TrackDrawing::draw(const Settings& settings, uint32_t table, const FrameCounts* skipped,
                          uint32_t* pixels, cudaStream_t stream) const {
  const Table& drawn = tables_[table];
  const dim3 blocks(blocks_for(config_.width, kWarpSize), blocks_for(config_.height, kTileRows * kWarps));
  return launch("draw_tracks", draw_tracks, blocks, kBlockThreads, stream, style_of(settings),
                DrawnTracks{drawn.trails.data(), drawn.drawn.data(), drawn.n_tracks.data()}, skipped,
                config_.max_components, pixels);
}

Status draw_outlines(const Config& config, const DeviceOutlines& outlines, const FrameCounts* skipped,
                     uint32_t* pixels, cudaStream_t stream) {
  return launch("blend_outlines", blend_outlines, dim3(blocks_for(outlines.count(), kBlockThreads)),
                kBlockThreads, stream, outlines.pixels(), outlines.count(), config.layout, skipped,
                config.max_components, pixels);
}

}  // namespace ccl::device
