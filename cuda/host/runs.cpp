// SPDX-License-Identifier: LGPL-2.1-or-later
/// Runs as nodes, from the first stage to the last. Ours; the idea of labelling runs rather than pixels is
/// that of Ronse and Devijver 1984 and He, Chao, Suzuki 2007.
///
/// A row is packed to one bit a pixel and becomes a list of runs, stretches of one segment. Runs of
/// neighbouring rows that touch are linked by a union-find whose roots are the earliest runs, so that one
/// pass over the runs in raster order gives each its canonical label. Everything after that follows from the
/// runs too: their sums have closed forms, and a row of labels is written by filling.
///
/// - A run of L pixels has 2L + 2 edges, and every pair of pixels above each other in linked runs hides two.
/// - The Euler number of a component is its runs minus its links: a run adds one to the pixels minus their
///   horizontal pairs; a link of k ≥ 1 overlapping pixels adds k − 1 full 2×2 windows and k vertical pairs;
///   and a link by a corner alone is one of the windows that pixel_shape() subtracts.
#include <algorithm>
#include <bit>
#include <cstring>

#include "host/paint.h"
#include "host/pipeline.h"
#include "host/run_sums.h"
#include "host/select.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

static_assert(std::endian::native == std::endian::little,
              "pack_eight() takes the first pixel for the lowest byte");

constexpr uint32_t kBitsPerWord = 64;
constexpr uint8_t kBinarySegment = 255;

template <typename T>
std::unique_ptr<T[]> uninitialized(size_t count) {
  return std::make_unique_for_overwrite<T[]>(count);
}

/// A bit for each of eight pixels, the first pixel's lowest: set where the value is at least `threshold`.
uint64_t pack_eight(const uint8_t* pixels, uint8_t threshold) {
  constexpr uint64_t kEachByte = 0x0101010101010101;
  constexpr uint64_t kHighBits = 0x80 * kEachByte;
  constexpr uint64_t kGather = 0x0002040810204081;  // brings the high bits together in the uppermost byte
  uint64_t values;
  std::memcpy(&values, pixels, sizeof(values));
  // Without their high bits the bytes are compared by subtracting, and cannot borrow from each other.
  const uint64_t at_least = (values | kHighBits) - (threshold & 0x7f) * kEachByte;
  const uint64_t is_set = threshold >= 0x80 ? values & at_least : values | at_least;
  return ((is_set & kHighBits) * kGather) >> 56;
}

/// The foreground of up to 64 pixels.
uint64_t pack_word(const uint8_t* pixels, uint32_t n, const ForegroundRule& rule) {
  uint64_t word = 0;
  uint32_t i = 0;
  for (; i + 8 <= n; i += 8) {
    word |= pack_eight(pixels + i, rule.threshold) << i;
  }
  for (; i < n; ++i) {
    word |= uint64_t{pixels[i] >= rule.threshold} << i;
  }
  const uint64_t all = n == kBitsPerWord ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
  return (rule.invert ? ~word : word) & all;
}

class RunsPipeline final : public Pipeline {
 public:
  RunsPipeline(const Config& config, ThreadPool& pool);

  void run(const FrameJob& job, CclComponent* records, FrameResult* result) override;

 private:
  size_t n_pixels() const { return size_t{config_.width} * config_.height; }

  void find_runs(const FrameJob& job);
  uint32_t find_binary_runs(const uint8_t* pixels, const ForegroundRule& rule, uint32_t run);
  uint32_t find_value_runs(const uint8_t* pixels, uint32_t run);
  template <Connectivity kConnectivity>
  void link_rows();
  void link(uint32_t run, uint32_t above);
  uint32_t find_root(uint32_t run);
  uint32_t number_runs();
  void measure(const Settings& settings, const Selection& selection, CclComponent* records);
  template <typename ValueOf>
  void expand_row(uint32_t y, uint32_t* out, ValueOf value_of) const;
  void copy_maps(const FrameJob& job) const;
  void paint_frame(const FrameJob& job, const FrameResult& result);

  Config config_;
  ThreadPool& pool_;
  // Arrays are as long as the worst frame needs, every pixel a run of its own, and never filled in advance,
  // so that what ordinary frames do not reach stays unmapped.
  std::unique_ptr<uint32_t[]> first_run_;        ///< per row and one more: its first run
  std::unique_ptr<uint16_t[]> begin_;            ///< per run: its first column
  std::unique_ptr<uint16_t[]> end_;              ///< per run: the column after its last
  std::unique_ptr<uint8_t[]> segment_;           ///< per run
  std::unique_ptr<uint16_t[]> n_links_;          ///< per run: linked runs in the row above
  std::unique_ptr<uint16_t[]> overlap_;          ///< per run: pixels below one of a linked run
  std::unique_ptr<uint32_t[]> label_;            ///< per run: its parent, and once numbered its label
  std::unique_ptr<uint32_t[]> first_pixel_;      ///< per label: 1 + raster index
  std::unique_ptr<uint32_t[]> areas_;            ///< per label
  std::unique_ptr<uint32_t[]> record_of_label_;  ///< per label
  std::unique_ptr<uint32_t[]> ink_;              ///< per label
  std::unique_ptr<Sums[]> sums_;                 ///< per record
  std::unique_ptr<uint32_t[]> label_rows_;       ///< a row for each turn of painting
  uint32_t n_labels_ = 0;
};

RunsPipeline::RunsPipeline(const Config& config, ThreadPool& pool)
    : config_(config),
      pool_(pool),
      first_run_(uninitialized<uint32_t>(config.height + 1)),
      begin_(uninitialized<uint16_t>(n_pixels())),
      end_(uninitialized<uint16_t>(n_pixels())),
      segment_(uninitialized<uint8_t>(n_pixels())),
      n_links_(uninitialized<uint16_t>(n_pixels())),
      overlap_(uninitialized<uint16_t>(n_pixels())),
      label_(uninitialized<uint32_t>(n_pixels())),
      first_pixel_(uninitialized<uint32_t>(n_pixels() + 1)),
      areas_(uninitialized<uint32_t>(n_pixels() + 1)),
      record_of_label_(uninitialized<uint32_t>(n_pixels() + 1)),
      ink_(uninitialized<uint32_t>(n_pixels() + 1)),
      sums_(uninitialized<Sums>(std::min(size_t{config.max_components}, n_pixels()))),
      label_rows_(uninitialized<uint32_t>(size_t{count_paint_turns(config.height)} * config.width)) {}

void RunsPipeline::run(const FrameJob& job, CclComponent* records, FrameResult* result) {
  const Settings& settings = job.settings;
  StageClock clock;
  find_runs(job);
  if (settings.connectivity == Connectivity::k8) {
    link_rows<Connectivity::k8>();
  } else {
    link_rows<Connectivity::k4>();
  }
  result->times.label = clock.lap();

  n_labels_ = number_runs();
  result->times.number = clock.lap();

  const Selection selection =
      select(areas_.get(), n_labels_, settings, config_.max_components, record_of_label_.get());
  measure(settings, selection, records);
  result->n_labels = n_labels_;
  result->n_components = selection.n_components;
  result->components = {records, selection.n_records};
  result->times.measure = clock.lap();

  copy_maps(job);
  if (config_.output != Output::kNone) {
    paint_frame(job, *result);
    result->times.paint = clock.lap();
  }
}

void RunsPipeline::find_runs(const FrameJob& job) {
  const ForegroundRule& rule = job.settings.rule;
  uint32_t run = 0;
  for (uint32_t y = 0; y < config_.height; ++y) {
    const uint8_t* pixels = job.input.pixels + y * job.input.stride;
    first_run_[y] = run;
    if (rule.foreground == Foreground::kBinary) {
      run = find_binary_runs(pixels, rule, run);
      std::fill(segment_.get() + first_run_[y], segment_.get() + run, kBinarySegment);
    } else {
      run = find_value_runs(pixels, run);
    }
  }
  first_run_[config_.height] = run;
}

/// Appends a row's runs from `run` on; returns the next free run. Where a bit differs from the one before it,
/// a run begins or ends, in turns.
uint32_t RunsPipeline::find_binary_runs(const uint8_t* pixels, const ForegroundRule& rule, uint32_t run) {
  uint64_t carry = 0;
  for (uint32_t x = 0; x < config_.width; x += kBitsPerWord) {
    const uint64_t word = pack_word(pixels + x, std::min(kBitsPerWord, config_.width - x), rule);
    uint64_t changes = word ^ (word << 1 | carry);
    bool inside = carry != 0;
    for (; changes != 0; changes &= changes - 1) {
      const auto column = static_cast<uint16_t>(x + static_cast<uint32_t>(std::countr_zero(changes)));
      (inside ? end_ : begin_)[run] = column;
      run += inside ? 1 : 0;
      inside = !inside;
    }
    carry = word >> (kBitsPerWord - 1);
  }
  if (carry != 0) {  // only if the last word is full, or the run would have ended in it
    end_[run++] = static_cast<uint16_t>(config_.width);
  }
  return run;
}

uint32_t RunsPipeline::find_value_runs(const uint8_t* pixels, uint32_t run) {
  for (uint32_t x = 0; x < config_.width;) {
    const uint8_t value = pixels[x];
    const uint32_t begin = x;
    do {
      ++x;
    } while (x < config_.width && pixels[x] == value);
    if (value != 0) {
      begin_[run] = static_cast<uint16_t>(begin);
      end_[run] = static_cast<uint16_t>(x);
      segment_[run] = value;
      ++run;
    }
  }
  return run;
}

/// Links each run with those in the row above that touch it and have its segment.
template <Connectivity kConnectivity>
void RunsPipeline::link_rows() {
  constexpr uint32_t kReach = kConnectivity == Connectivity::k8 ? 1 : 0;
  for (uint32_t run = 0; run < first_run_[1]; ++run) {
    label_[run] = run;
    n_links_[run] = overlap_[run] = 0;
  }
  for (uint32_t y = 1; y < config_.height; ++y) {
    const uint32_t end_above = first_run_[y];
    uint32_t above = first_run_[y - 1];
    for (uint32_t run = first_run_[y]; run < first_run_[y + 1]; ++run) {
      label_[run] = run;
      n_links_[run] = overlap_[run] = 0;
      while (above < end_above && end_[above] + kReach <= begin_[run]) {
        ++above;
      }
      // Those that touch this run may touch the next one too, so `above` stays.
      for (uint32_t touching = above; touching < end_above && begin_[touching] < end_[run] + kReach;
           ++touching) {
        if (segment_[touching] == segment_[run]) {
          link(run, touching);
        }
      }
    }
  }
}

void RunsPipeline::link(uint32_t run, uint32_t above) {
  const int overlap = std::min(end_[run], end_[above]) - std::max(begin_[run], begin_[above]);
  overlap_[run] = static_cast<uint16_t>(overlap_[run] + std::max(overlap, 0));
  ++n_links_[run];
  const uint32_t a = find_root(run);
  const uint32_t b = find_root(above);
  const uint32_t root = std::min(a, b);
  label_[a] = label_[b] = root;
  label_[run] = label_[above] = root;
}

uint32_t RunsPipeline::find_root(uint32_t run) {
  while (label_[run] != run) {
    // Halving the path: a parent is replaced by its own, which is an ancestor all the same.
    label_[run] = label_[label_[run]];
    run = label_[run];
  }
  return run;
}

/// Replaces parents by canonical labels, and adds up their areas; returns the number of labels. A parent
/// lies before its child, so it has its label already.
uint32_t RunsPipeline::number_runs() {
  uint32_t n_labels = 0;
  for (uint32_t y = 0; y < config_.height; ++y) {
    for (uint32_t run = first_run_[y]; run < first_run_[y + 1]; ++run) {
      uint32_t label = 0;
      if (label_[run] == run) {
        label = ++n_labels;
        areas_[label] = 0;
        first_pixel_[label] = y * config_.width + begin_[run] + 1;
      } else {
        label = label_[label_[run]];
      }
      label_[run] = label;
      areas_[label] += end_[run] - begin_[run];
    }
  }
  return n_labels;
}

void RunsPipeline::measure(const Settings& settings, const Selection& selection, CclComponent* records) {
  std::fill_n(sums_.get(), selection.n_records, Sums{});
  for (uint32_t y = 0; y < config_.height; ++y) {
    for (uint32_t run = first_run_[y]; run < first_run_[y + 1]; ++run) {
      const uint32_t label = label_[run];
      const uint32_t record = record_of_label_[label];
      if (record == kNoRecord) {
        continue;
      }
      Sums& sums = sums_[record];
      add_geometry({label, y, begin_[run], end_[run]}, settings.features, sums);
      sums.perimeter += 2u * (end_[run] - begin_[run]) + 2 - 2u * overlap_[run];
      sums.euler += 1 - n_links_[run];
      records[record].value = segment_[run];
    }
  }
  for (uint32_t label = 1; label <= n_labels_; ++label) {
    if (const uint32_t record = record_of_label_[label]; record != kNoRecord) {
      records[record] = make_component(label, areas_[label], records[record].value, sums_[record],
                                       settings.features, config_.width, config_.height);
    }
  }
}

/// Writes value_of(label) for every pixel of row y, 0 for background.
template <typename ValueOf>
void RunsPipeline::expand_row(uint32_t y, uint32_t* out, ValueOf value_of) const {
  uint32_t x = 0;
  for (uint32_t run = first_run_[y]; run < first_run_[y + 1]; ++run) {
    std::fill(out + x, out + begin_[run], 0);
    std::fill(out + begin_[run], out + end_[run], value_of(label_[run]));
    x = end_[run];
  }
  std::fill(out + x, out + config_.width, 0);
}

/// Writes the maps that the caller wants to see.
void RunsPipeline::copy_maps(const FrameJob& job) const {
  for (uint32_t y = 0; job.root_map != nullptr && y < config_.height; ++y) {
    expand_row(y, job.root_map + size_t{y} * config_.width,
               [this](uint32_t label) { return first_pixel_[label]; });
  }
  for (uint32_t y = 0; job.labels != nullptr && y < config_.height; ++y) {
    expand_row(y, job.labels + size_t{y} * config_.width, [](uint32_t label) { return label; });
  }
}

void RunsPipeline::paint_frame(const FrameJob& job, const FrameResult& result) {
  const PaintJob paint_job{.config = config_,
                           .settings = job.settings,
                           .areas = areas_.get(),
                           .n_labels = n_labels_,
                           .input = job.input,
                           .image = job.output};
  mix_ink(paint_job, ink_.get());
  paint(paint_job, ink_.get(), pool_, [this](uint32_t y, uint32_t turn) {
    uint32_t* labels = label_rows_.get() + size_t{turn} * config_.width;
    expand_row(y, labels, [](uint32_t label) { return label; });
    return labels;
  });
  if (job.settings.draw_boxes) {
    draw_boxes(result.components, config_, job.output);
  }
}

}  // namespace

std::unique_ptr<Pipeline> make_runs_pipeline(const Config& config, ThreadPool& pool) {
  return std::make_unique<RunsPipeline>(config, pool);
}

}  // namespace ccl::host
