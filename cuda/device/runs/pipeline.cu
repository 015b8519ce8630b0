// SPDX-License-Identifier: LGPL-2.1-or-later
/// Runs as nodes, from the first stage to the last. Ours; the idea of labelling runs rather than pixels
/// is that of Ronse and Devijver 1984 and He, Chao, Suzuki 2007, cutting the frame into tiles that of
/// Šťava, Beneš 2011 and Cabaret, Lacassagne, Etiemble 2017.
///
/// One kernel, a block to a tile, and a barrier across the grid between its steps. For the last of them only
/// those threads wait that make records of components at borders, when all else is done:
///
///     label     frame → bits, runs, components of each tile; slots for those at borders
///     merge     slots that meet → one component, counted where it begins
///     measure   counts → canonical labels; runs → sums of components, and of slots
///     finish    labels → inks; bits, inks → pixels; sums → records
///
/// so that atomics on device memory are few: they grow with the components at borders, not with pixels
/// or runs. Rare wishes take more: a filter two kernels that put its records in order, maps of labels
/// or roots another pass each, and a table that overflows two, because all areas must be known before
/// any record.
#include <utility>

#include "ccl/colors.h"
#include "device/check.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/runs/order.h"
#include "device/runs/tiles.h"
#include "device/stages/paint.h"
#include "device/stages/select.h"

namespace ccl::device {

namespace {

using namespace runs;

/// Tiles and the memory they lead to.
class TileMemory {
 public:
  /// Takes memory for tiles of binary frames, or of frames of values. Once only.
  Status allocate(uint32_t width, uint32_t height, bool has_values, cudaStream_t stream);

  bool has_values() const { return has_values_; }
  uint32_t n_blocks() const { return n_blocks_; }
  /// The tiles with what a frame brings.
  Tiles of(const Settings& settings, const FrameBuffers& frame) const;

 private:
  Status choose_size(uint32_t width, uint32_t height, uint32_t tile_width);

  Tiles tiles_{};
  bool has_values_ = false;
  uint32_t n_blocks_ = 0;  ///< of the kernel, at most

  DeviceArray<uint32_t> slot_label_, tile_counts_, arrivals_;
  DeviceArray<uint16_t> top_, bottom_, left_, right_;
  DeviceArray<uint8_t> row_counts_;
  DeviceArray<Parent> parent_;
  DeviceArray<uint64_t> slot_sums_;
  DeviceArray<uint4> parked_;
};

/// The lowest tiles that all have a block of their own; else the highest, with as many blocks as there can
/// be.
Status TileMemory::choose_size(uint32_t width, uint32_t height, uint32_t tile_width) {
  Tiles& t = tiles_;
  CCL_RETURN_IF_ERROR(find_residence(has_values_, tile_width, &n_blocks_));
  t.tile_width = tile_width;
  t.columns = blocks_for(width, tile_width);
  t.rows = kMinRows;
  while (t.rows < (has_values_ ? kMaxValueRows : kMaxRows) &&
         t.columns * blocks_for(height, t.rows) > n_blocks_) {
    t.rows *= 2;
  }
  t.strips = blocks_for(height, t.rows);
  return {};
}

Status TileMemory::allocate(uint32_t width, uint32_t height, bool has_values, cudaStream_t stream) {
  has_values_ = has_values;
  Tiles& t = tiles_;
  t.frame.width = width;
  t.frame.height = height;
  t.has_whole_chunks = width % kChunk == 0;
  CCL_RETURN_IF_ERROR(choose_size(width, height, kNarrow));
  const uint32_t n_narrow = n_blocks_;
  if (t.count() > n_narrow && !has_values) {
    CCL_RETURN_IF_ERROR(choose_size(width, height, kWide));
    if (n_blocks_ * kWide <= n_narrow * kNarrow) {  // some GPUs have shared memory for few or none
      CCL_RETURN_IF_ERROR(choose_size(width, height, kNarrow));
    }
  }
  if (n_blocks_ == 0) {
    return {StatusCode::kUnsupported, "runs needs more shared memory than this GPU has"};
  }
  t.max_runs = t.tile_width * t.rows / (has_values ? 1 : 2);
  t.max_slots = 2 * (t.tile_width + t.rows) / (has_values ? 1 : 2);

  const size_t n_tiles = t.count();
  const size_t n_slots = n_tiles * t.max_slots;
  const size_t n_row_pixels = size_t{t.strips} * t.columns * t.tile_width;
  const size_t n_column_pixels = size_t{t.columns} * t.strips * t.rows;
  const auto take = [](auto& array, size_t count, auto*& pointer) {
    CCL_RETURN_IF_ERROR(array.allocate(count));
    pointer = array.data();
    return Status();
  };
  CCL_RETURN_IF_ERROR(take(top_, n_row_pixels, t.top));
  CCL_RETURN_IF_ERROR(take(bottom_, n_row_pixels, t.bottom));
  CCL_RETURN_IF_ERROR(take(left_, n_column_pixels, t.left));
  CCL_RETURN_IF_ERROR(take(right_, n_column_pixels, t.right));
  CCL_RETURN_IF_ERROR(take(parent_, n_slots, t.parent));
  CCL_RETURN_IF_ERROR(take(slot_sums_, n_slots * kMaxSumWords, t.slot_sums));
  CCL_RETURN_IF_ERROR(take(slot_label_, n_slots, t.slot_label));
  CCL_RETURN_IF_ERROR(take(row_counts_, n_tiles * t.rows, t.row_counts));
  CCL_RETURN_IF_ERROR(take(tile_counts_, n_tiles, t.tile_counts));
  CCL_RETURN_IF_ERROR(take(arrivals_, 1, t.arrivals));
  if (n_tiles > n_blocks_) {
    t.parked_pieces =
        static_cast<uint32_t>(parked_bytes(has_values, t.tile_width, t.max_runs) / sizeof(uint4));
    CCL_RETURN_IF_ERROR(take(parked_, n_tiles * t.parked_pieces, t.parked));
  }
  CCL_RETURN_IF_ERROR(
      check(cudaMemsetAsync(t.arrivals, 0, sizeof(uint32_t), stream), "cudaMemsetAsync of the arrivals"));
  return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

Tiles TileMemory::of(const Settings& settings, const FrameBuffers& frame) const {
  Tiles tiles = tiles_;
  tiles.frame.pixels = frame.input;
  tiles.frame.pitch = frame.input_pitch;
  tiles.frame.rule = settings.rule;
  tiles.is_aligned = (reinterpret_cast<uintptr_t>(frame.input) | frame.input_pitch) % kChunk == 0;
  return tiles;
}

class RunsPipeline final : public Pipeline {
 public:
  explicit RunsPipeline(const Config& config) : config_(config) {}

  Status allocate();

  Status prepare(const Settings& settings) override;
  Status enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                 StageMarks* marks) override;
  Status enqueue_maps(const Settings& settings, const FrameBuffers& frame, uint32_t* root_map,
                      uint32_t* labels, cudaStream_t stream) override;
  bool defers_overflow() const override { return true; }
  Status enqueue_overflow(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) override;

 private:
  uint32_t n_pixels() const { return config_.width * config_.height; }
  uint32_t max_labels() const { return memory_->has_values() ? n_pixels() : (n_pixels() + 1) / 2; }
  bool has_filter(const Settings& settings) const { return settings.filter.is_active(n_pixels()); }
  Emitter emitter(Emission emission, const Settings& settings, const FrameBuffers& frame) const;
  Inker inker(Ink ink, const Settings& settings) const;
  Status run(const FrameBuffers& frame, const Emitter& emitter, const Inker& inker, uint8_t* pixels,
             cudaStream_t stream) const;
  Status download_map(Ink ink, const Settings& settings, const FrameBuffers& frame, uint32_t* map,
                      cudaStream_t stream);

  Config config_;
  Stream stream_;  ///< for what is set once
  DeviceArray<uint32_t> palettes_;
  std::unique_ptr<TileMemory> memory_;    ///< for the foreground rule in use
  std::unique_ptr<RecordOrder> order_;    ///< once there is a filter
  std::unique_ptr<Selection> selection_;  ///< once a table overflows
  DeviceArray<uint32_t> index_or_area_;   ///< alike, per label
  DeviceArray<uint32_t> map_;             ///< once a map is asked for
};

Status RunsPipeline::allocate() {
  CCL_RETURN_IF_ERROR(stream_.create());
  CCL_RETURN_IF_ERROR(upload_palettes(stream_, &palettes_));
  return prepare(Settings{});
}

Status RunsPipeline::prepare(const Settings& settings) {
  const bool has_values = settings.rule.foreground == Foreground::kValues;
  if (memory_ == nullptr || memory_->has_values() != has_values) {
    memory_.reset();
    order_.reset();
    selection_.reset();
    auto memory = std::make_unique<TileMemory>();
    CCL_RETURN_IF_ERROR(memory->allocate(config_.width, config_.height, has_values, stream_.get()));
    memory_ = std::move(memory);
  }
  if (has_filter(settings) && order_ == nullptr) {
    auto order = std::make_unique<RecordOrder>();
    CCL_RETURN_IF_ERROR(order->configure(config_.max_components, max_labels()));
    order_ = std::move(order);
  }
  return {};
}

Emitter RunsPipeline::emitter(Emission emission, const Settings& settings, const FrameBuffers& frame) const {
  const bool is_appended = emission == Emission::kAppended;
  return {.emission = emission,
          .settings = settings,
          .max_components = config_.max_components,
          .records = is_appended ? order_->appended() : frame.records,
          .counts = frame.counts,
          .max_labels = max_labels(),
          .is_left = is_appended ? order_->is_left() : nullptr,
          .index_or_area = index_or_area_.data()};
}

Inker RunsPipeline::inker(Ink ink, const Settings& settings) const {
  return {.ink = ink,
          .settings = settings,
          .layout = config_.layout,
          .n_pixels = n_pixels(),
          .palettes = palettes_.data(),
          .background = ink == Ink::kColor ? pack(settings.background_color, config_.layout) : 0,
          .needs_areas = has_filter(settings) || settings.palette == Palette::kViridisByArea};
}

Ink ink_for(Output output) {
  switch (output) {
    case Output::kNone:
      return Ink::kNone;
    case Output::kColorized:
      return Ink::kColor;
    case Output::kOverlay:
      return Ink::kOverlay;
    case Output::kLabels:
      return Ink::kLabel;
    case Output::kMask:
      return Ink::kMask;
  }
  return Ink::kNone;
}

Status RunsPipeline::run(const FrameBuffers& frame, const Emitter& emitter, const Inker& inker,
                         uint8_t* pixels, cudaStream_t stream) const {
  return process_tiles(memory_->of(emitter.settings, frame), memory_->n_blocks(), emitter, inker, pixels,
                       stream);
}

Status RunsPipeline::enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                             StageMarks* marks) {
  const Emission emission = has_filter(settings) ? Emission::kAppended : Emission::kByLabel;
  CCL_RETURN_IF_ERROR(run(frame, emitter(emission, settings, frame), inker(ink_for(config_.output), settings),
                          frame.output, stream));
  if (emission == Emission::kAppended) {
    CCL_RETURN_IF_ERROR(order_->run(frame.counts, frame.records, stream));
  }
  if (settings.draw_boxes) {
    CCL_RETURN_IF_ERROR(outline_boxes(config_, frame, /*skips_overflow=*/true, stream));
  }
  return marks != nullptr ? marks->mark(StageMarks::kLabel, stream) : Status();
}

Status RunsPipeline::download_map(Ink ink, const Settings& settings, const FrameBuffers& frame, uint32_t* map,
                                  cudaStream_t stream) {
  if (map_.data() == nullptr) {
    CCL_RETURN_IF_ERROR(map_.allocate(n_pixels()));
  }
  CCL_RETURN_IF_ERROR(run(frame, emitter(Emission::kNone, settings, frame), inker(ink, settings),
                          reinterpret_cast<uint8_t*>(map_.data()), stream));
  return check(cudaMemcpyAsync(map, map_.data(), size_t{n_pixels()} * sizeof(uint32_t),
                               cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync of a map");
}

Status RunsPipeline::enqueue_maps(const Settings& settings, const FrameBuffers& frame, uint32_t* root_map,
                                  uint32_t* labels, cudaStream_t stream) {
  if (root_map != nullptr) {
    CCL_RETURN_IF_ERROR(download_map(Ink::kRootMap, settings, frame, root_map, stream));
  }
  return labels != nullptr ? download_map(Ink::kLabelMap, settings, frame, labels, stream) : Status();
}

/// All areas, the choice among them, and the chosen records.
Status RunsPipeline::enqueue_overflow(const Settings& settings, const FrameBuffers& frame,
                                      cudaStream_t stream) {
  if (selection_ == nullptr) {
    auto selection = std::make_unique<Selection>();
    CCL_RETURN_IF_ERROR(selection->configure(max_labels(), config_.max_components));
    DeviceArray<uint32_t> index_or_area;
    CCL_RETURN_IF_ERROR(index_or_area.allocate(max_labels()));
    index_or_area_ = std::move(index_or_area);
    selection_ = std::move(selection);
  }
  const Inker no_ink = inker(Ink::kNone, settings);
  CCL_RETURN_IF_ERROR(run(frame, emitter(Emission::kAreas, settings, frame), no_ink, nullptr, stream));
  CCL_RETURN_IF_ERROR(
      selection_->run(settings, index_or_area_.data(), frame.counts, index_or_area_.data(), stream));
  CCL_RETURN_IF_ERROR(run(frame, emitter(Emission::kSelected, settings, frame), no_ink, nullptr, stream));
  return settings.draw_boxes ? outline_boxes(config_, frame, /*skips_overflow=*/false, stream) : Status();
}

}  // namespace

Status make_runs_pipeline(const Config& config, std::unique_ptr<Pipeline>* pipeline) {
  auto runs = std::make_unique<RunsPipeline>(config);
  CCL_RETURN_IF_ERROR(runs->allocate());
  *pipeline = std::move(runs);
  return {};
}

}  // namespace ccl::device
