// SPDX-License-Identifier: LGPL-2.1-or-later
/// Rules for the foreground beside the plain threshold, in the same run.
#include "segment.h"

#include <algorithm>
#include <vector>

#include "ccl/engine.h"
#include "csv.h"
#include "device.h"
#include "device/check.h"
#include "device/graph.h"
#include "device/pipeline.h"
#include "device/stages/segment/segmenter.h"
#include "device_timer.h"
#include "images.h"
#include "options.h"

namespace ccl::bench {

namespace {

using device::check;
using device::DeviceArray;

constexpr size_t kPitchAlignment = 128;
constexpr int64_t kFrameTime = 33'333'333;
constexpr int64_t kEmptyFrameTime = 1'000'000'000;  ///< so that an image stands for less than the background
constexpr uint32_t kMaxComponents = 1u << 20;
constexpr Repetitions kRepetitions{60, 60000};
constexpr int kFewFrames = 8;  ///< one of them searches for ghosts

/// What is timed beside the plain threshold.
struct Rule {
  const char* name;
  ForegroundRule rule;
  Segmentation segmentation;
  Filter filter = {};
};

std::vector<Rule> rules() {
  const auto motion = [](BackgroundModel model) {
    return Segmentation{.motion = {.model = model, .max_change = kOne}};
  };
  const ForegroundRule binary{.threshold = 128};
  const ForegroundRule local{.foreground = Foreground::kLocal};
  const ForegroundRule moving{.foreground = Foreground::kMotion};
  return {
      {"plain", binary, {}},
      {"otsu", {.foreground = Foreground::kOtsu}, {}},
      {"local", local, {.local = {.radius = 15, .offset = -10}}},
      {"local-100", local, {.local = {.radius = 100, .offset = -10}}},
      {"sauvola", local, {.local = {.radius = 15, .offset = 0, .deviation = 300}}},
      {"sigma-delta", moving, motion(BackgroundModel::kSigmaDelta)},
      {"mixture", moving, motion(BackgroundModel::kMixture)},
      {"open-3-close-3", binary, {.morphology = {.open_radius = 3, .close_radius = 3}}},
      {"cross-3-3",
       binary,
       {.morphology = {.open_radius = 3, .close_radius = 3, .element = Element::kCross}}},
      {"fill-holes", binary, {.morphology = {.fill_holes = 1000}}},
      {"hysteresis", {.threshold = 200}, {.threshold_low = 100}},
      {"min-area", binary, {}, {.min_area = 20}},
      {"shape", binary, {}, {.min_extent = kFilterOne / 8, .min_circularity = kFilterOne / 8}},
      {"top-10", binary, {}, {.top_n = 10}},
  };
}

class SegmentBench {
 public:
  explicit SegmentBench(const Config& config) : config_(config), timer_(stream_) {}

  Status configure() {
    pitch_ = (config_.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    CCL_RETURN_IF_ERROR(stream_.create());
    CCL_RETURN_IF_ERROR(input_.allocate(pitch_ * config_.height));
    CCL_RETURN_IF_ERROR(output_.allocate(size_t{config_.width} * config_.height * 4));
    CCL_RETURN_IF_ERROR(records_.allocate(config_.max_components));
    CCL_RETURN_IF_ERROR(counts_.allocate(1));
    const AlgorithmInfo* algorithm = nullptr;
    CCL_RETURN_IF_ERROR(resolve_algorithm(config_.algorithm, Backend::kCuda, &algorithm));
    return device::make_pipeline(config_, *algorithm, &pipeline_);
  }

  Status run(const Rule& rule, const test::Image& image, Times* times, FrameCounts* counts) {
    device::Segmenter segmenter;
    device::FrameBits bits;
    CCL_RETURN_IF_ERROR(segmenter.configure(config_.width, config_.height));
    FrameJob job{.input = {}, .output = {}, .settings = {.rule = rule.rule, .filter = rule.filter}};
    job.segmentation = rule.segmentation;
    job.time = 0;
    device::FrameBuffers frame{.input = input_.data(),
                               .input_pitch = pitch_,
                               .output = output_.data(),
                               .records = records_.data(),
                               .counts = counts_.data()};
    Settings settings = job.settings;
    const bool has_bits = makes_bits(rule.rule, rule.segmentation, false);
    const device::SourceFrame source{.luma = {frame.input, pitch_, config_.width, config_.height}};
    device::SegmentPlan plan;
    const auto prepare = [&](int64_t duration) -> Status {
      job.time += duration;
      return has_bits ? segmenter.prepare(job, source, &bits, &plan) : Status();
    };
    const auto segment = [&]() -> Status {
      return has_bits ? segmenter.enqueue(plan, bits, frame.counts, stream_.get()) : Status();
    };
    if (has_bits) {
      CCL_RETURN_IF_ERROR(bits.prepare(job, config_, stream_));
      CCL_RETURN_IF_ERROR(prepare(kFrameTime));
      frame.bits = bits.foreground();
      frame.strong_bits = bits.strong();
      settings.rule = kBitRule;
    }
    if (rule.rule.foreground == Foreground::kMotion) {
      CCL_RETURN_IF_ERROR(show_empty_frames(prepare, segment));
    }
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpy2DAsync(input_.data(), pitch_, image.pixels(), image.stride, image.width,
                                image.height, cudaMemcpyHostToDevice, stream_.get()),
              "cudaMemcpy2DAsync of an image"));
    device::Graph graphs[2];  // of frames that search for ghosts, and of those that do not
    for (int i = 0; i < kFewFrames; ++i) {
      CCL_RETURN_IF_ERROR(prepare(kFrameTime));
      if (device::Graph& graph = graphs[plan.searches_ghosts ? 1 : 0]; !graph.is_captured()) {
        CCL_RETURN_IF_ERROR(capture(settings, frame, segment, &graph));
      }
    }
    CCL_RETURN_IF_ERROR(timer_.run(
        kRepetitions,
        [&]() -> Status {
          CCL_RETURN_IF_ERROR(prepare(kFrameTime));
          device::Graph& graph = graphs[plan.searches_ghosts ? 1 : 0];
          if (has_bits) {
            CCL_RETURN_IF_ERROR(segmenter.set_step(plan, bits, &graph));
          }
          return graph.launch(stream_);
        },
        times));
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpyAsync(counts, counts_.data(), sizeof(*counts), cudaMemcpyDeviceToHost, stream_.get()),
              "cudaMemcpyAsync of the counts"));
    return stream_.synchronize();
  }

 private:
  /// So that the model knows the background, and the image is in front of it for all frames that are timed.
  template <typename Prepare, typename Segment>
  Status show_empty_frames(Prepare prepare, Segment segment) {
    constexpr int kWarmUpFrames = 60;
    CCL_RETURN_IF_ERROR(
        check(cudaMemsetAsync(input_.data(), 0, pitch_ * config_.height, stream_.get()), "cudaMemsetAsync"));
    for (int i = 0; i < kWarmUpFrames; ++i) {
      CCL_RETURN_IF_ERROR(prepare(kEmptyFrameTime));
      CCL_RETURN_IF_ERROR(segment());
    }
    return {};
  }

  template <typename Segment>
  Status capture(const Settings& settings, const device::FrameBuffers& frame, Segment segment,
                 device::Graph* graph) {
    CCL_RETURN_IF_ERROR(pipeline_->prepare(settings, frame));
    // Once outside the graph: the first launch loads the kernels, which a capture does not allow.
    CCL_RETURN_IF_ERROR(pipeline_->enqueue(settings, frame, stream_.get(), nullptr));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    return graph->capture(stream_, [&]() -> Status {
      CCL_RETURN_IF_ERROR(segment());
      return pipeline_->enqueue(settings, frame, stream_.get(), nullptr);
    });
  }

  Config config_;
  device::Stream stream_;
  size_t pitch_ = 0;
  DeviceArray<uint8_t> input_;
  DeviceArray<uint8_t> output_;
  DeviceArray<CclComponent> records_;
  DeviceArray<FrameCounts> counts_;
  std::unique_ptr<device::Pipeline> pipeline_;
  DeviceTimer timer_;
};

Status write_rows(const Size& size, const test::Image& image, CsvWriter* csv) {
  Config config = config_of(size, Output::kColorized);
  config.max_components = kMaxComponents;
  SegmentBench bench(config);
  CCL_RETURN_IF_ERROR(bench.configure());
  for (const Rule& rule : rules()) {
    Row row =
        row_of(config, "cuda", rule.name, "graph", image.name.substr(0, image.name.find_first_of(" ,")));
    FrameCounts counts{};
    CCL_RETURN_IF_ERROR(bench.run(rule, image, &row.times, &counts));
    row.components = counts.n_labels;
    CCL_RETURN_IF_ERROR(csv->write(row));
  }
  return {};
}

}  // namespace

Status run_segment(int argc, char** argv) {
  std::unique_ptr<Device> device;
  CsvWriter csv;
  CCL_RETURN_IF_ERROR(open_device_csv(argc, argv, &device, &csv));
  for (const Size& size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}}) {
    for (const test::Image& image :
         {test::blobs(size.width, size.height, 1), test::noise(size.width, size.height, 1, 50, 1)}) {
      CCL_RETURN_IF_ERROR(write_rows(size, image, &csv));
    }
  }
  return {};
}

}  // namespace ccl::bench
