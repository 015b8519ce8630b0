// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/segment/segmenter.h"

#include <utility>

#include "ccl/segment/hysteresis.h"
#include "device/check.h"
#include "device/stages/segment/local.h"
#include "device/stages/segment/morphology.h"
#include "device/stages/segment/threshold.h"

namespace ccl::device {

namespace {

size_t count_bit_words(uint32_t width, uint32_t height) {
  return size_t{bit_row_words(width)} * height;
}

template <typename Array>
Status allocate_once(size_t count, Array* array) {
  return array->data() != nullptr ? Status() : array->allocate(count);
}

/// Whether the threshold is one of more than 8 bits.
bool has_wide_threshold(const SegmentPlan& plan) {
  return plan.segmentation.wide_threshold > 0 && plan.source.has_pixels();
}

/// The fixed thresholds of a frame with Foreground::kBinary.
HysteresisRule threshold_rules(const SegmentPlan& plan) {
  return hysteresis_rule(has_wide_threshold(plan) ? plan.segmentation.wide_threshold : plan.rule.threshold,
                         plan.rule.invert, plan.segmentation.threshold_low);
}

}  // namespace

Status FrameBits::prepare(const FrameJob& job, const Config& config, const Stream& stream) {
  const size_t n_words = count_bit_words(config.width, config.height);
  CCL_RETURN_IF_ERROR(allocate_once(n_words, &foreground_));
  has_strong_ = has_hysteresis(job.settings.rule, job.segmentation);
  if (has_strong_) {
    CCL_RETURN_IF_ERROR(allocate_once(n_words, &strong_));
  }
  has_regions_ = job.regions != nullptr;
  if (!has_regions_ || job.regions->id() == regions_id_) {
    return {};
  }
  CCL_RETURN_IF_ERROR(allocate_once(n_words, &regions_));
  regions_id_ = job.regions->id();
  return check(cudaMemcpyAsync(regions_.data(), job.regions->bits().data(), n_words * sizeof(uint32_t),
                               cudaMemcpyHostToDevice, stream.get()),
               "cudaMemcpyAsync of the regions");
}

Status Segmenter::configure(uint32_t width, uint32_t height) {
  width_ = width;
  height_ = height;
  CCL_RETURN_IF_ERROR(stream_.create());
  CCL_RETURN_IF_ERROR(ended_.create());
  background_.configure(width, height, stream_.get());
  return {};
}

Status Segmenter::prepare(const FrameJob& job, const SourceFrame& source, FrameBits* bits,
                          SegmentPlan* plan) {
  const Motion& motion = job.segmentation.motion;
  const bool resets = job.resets_background || background_.needs_memory(motion.model, source.chroma);
  CCL_RETURN_IF_ERROR(allocate(job, source));
  *plan = {.has_bits = true,
           .rule = job.settings.rule,
           .connectivity = job.settings.connectivity,
           .segmentation = job.segmentation,
           .has_regions = job.regions != nullptr,
           .source = source,
           .n_allocations = n_allocations_};
  if (job.settings.rule.foreground == Foreground::kMotion) {
    const MotionStep step = clock_.next(motion, job.time, resets);
    plan->searches_ghosts = motion.model == BackgroundModel::kMixture && step.mixture.ghosts;
    bits->set_step(step);
  }
  return {};
}

Status Segmenter::allocate(const FrameJob& job, const SourceFrame& source) {
  if (found_.data() == nullptr) {
    const size_t n_words = count_bit_words(width_, height_);
    CCL_RETURN_IF_ERROR(found_.allocate(n_words));
    // A model finds nothing in its first frame, of which all bits are read and then cleared.
    CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(found_.data(), 0, n_words * sizeof(uint32_t), stream_.get()),
                              "cudaMemsetAsync"));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
  }
  const Foreground foreground = job.settings.rule.foreground;
  if (foreground == Foreground::kOtsu && otsu_ == nullptr) {
    auto otsu = std::make_unique<segment::Otsu>();
    CCL_RETURN_IF_ERROR(otsu->configure(stream_.get()));
    otsu_ = std::move(otsu);
  }
  const BackgroundModel model = job.segmentation.motion.model;
  if (foreground == Foreground::kMotion && background_.needs_memory(model, source.chroma)) {
    ++n_allocations_;
    CCL_RETURN_IF_ERROR(background_.prepare(model, source.chroma));
  }
  if (job.segmentation.morphology.fill_holes > 0 && components_ == nullptr) {
    auto components = std::make_unique<BitComponents>();
    CCL_RETURN_IF_ERROR(components->configure(width_, height_, stream_.get()));
    components_ = std::move(components);
  }
  return {};
}

Status Segmenter::begin(const Stream& stream) {
  const bool is_new_stream = std::exchange(last_stream_, stream.get()) != stream.get();
  return is_new_stream ? check(cudaStreamWaitEvent(stream.get(), ended_.get()), "cudaStreamWaitEvent")
                       : Status();
}

Status Segmenter::set_step(const SegmentPlan& plan, const FrameBits& bits, Graph* graph) const {
  if (plan.rule.foreground != Foreground::kMotion) {
    return {};
  }
  const segment::StepKernel step_kernel = background_.step_kernel();
  return graph->set_last_argument(step_kernel.kernel, step_kernel.n_arguments, &bits.step());
}

Status Segmenter::end(const Stream& stream) {
  return ended_.record(stream);
}

Status Segmenter::enqueue(const SegmentPlan& plan, const FrameBits& bits, FrameCounts* counts,
                          cudaStream_t stream) {
  const Morphology& morphology = plan.segmentation.morphology;
  const bool is_motion = plan.rule.foreground == Foreground::kMotion;
  const bool fills_holes = morphology.fill_holes > 0;
  const BitMasks masks{.regions = fills_holes ? nullptr : bits.regions(),
                       .is_cleared = is_motion ? background_.has_no_foreground() : nullptr};
  const bool has_more = morphology.open_radius > 0 || morphology.close_radius > 0 ||
                        masks.regions != nullptr || masks.is_cleared != nullptr;
  if (!has_more) {
    CCL_RETURN_IF_ERROR(enqueue_rule(plan, bits, bits.foreground(), counts, stream));
  } else if (plan.rule.foreground == Foreground::kBinary && !has_wide_threshold(plan)) {
    const segment::Plane& luma = plan.source.luma;
    const HysteresisRule thresholds = threshold_rules(plan);
    if (bits.strong() != nullptr) {
      CCL_RETURN_IF_ERROR(segment::threshold_bits(luma, thresholds.strong, bits.strong(), stream));
    }
    CCL_RETURN_IF_ERROR(open_and_close(morphology, luma, thresholds.weak, masks, bits.foreground(), stream));
  } else {
    CCL_RETURN_IF_ERROR(enqueue_rule(plan, bits, found_.data(), counts, stream));
    CCL_RETURN_IF_ERROR(
        open_and_close(morphology, found_.data(), width_, height_, masks, bits.foreground(), stream));
  }
  return fills_holes ? components_->fill_holes(bits.foreground(), morphology.fill_holes, plan.connectivity,
                                               bits.regions(), stream)
                     : Status();
}

Status Segmenter::read_background(uint8_t* planes, cudaStream_t stream) const {
  const size_t n_pixels = size_t{width_} * height_;
  return background_.read(planes, planes + n_pixels, planes + 2 * n_pixels, stream);
}

/// Writes the foreground before morphology to `found`.
Status Segmenter::enqueue_rule(const SegmentPlan& plan, const FrameBits& bits, uint32_t* found,
                               FrameCounts* counts, cudaStream_t stream) {
  const ForegroundRule& rule = plan.rule;
  const segment::Plane& luma = plan.source.luma;
  switch (rule.foreground) {
    case Foreground::kOtsu:
      return otsu_->enqueue(luma, rule.invert, found, counts, stream);
    case Foreground::kLocal:
      return segment::local_bits(luma, plan.segmentation.local, rule.invert, found, stream);
    case Foreground::kMotion:
      return background_.enqueue(luma, plan.source.chroma, bits.step(), found, counts, stream);
    case Foreground::kBinary: {
      const SourcePixels& pixels = plan.source.pixels;
      const bool is_wide = has_wide_threshold(plan);
      const auto apply = [&](const ThresholdRule& threshold, uint32_t* to) {
        return is_wide ? segment::wide_threshold_bits(pixels, width_, height_, threshold, to, stream)
                       : segment::threshold_bits(luma, threshold, to, stream);
      };
      const HysteresisRule thresholds = threshold_rules(plan);
      CCL_RETURN_IF_ERROR(apply(thresholds.weak, found));
      return bits.strong() != nullptr ? apply(thresholds.strong, bits.strong()) : Status();
    }
    case Foreground::kValues:  // makes no bits
      break;
  }
  return {};
}

}  // namespace ccl::device
