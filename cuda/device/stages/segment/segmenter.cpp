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

Status allocate_once(size_t count, DeviceArray<uint32_t>* array) {
  return array->data() != nullptr ? Status() : array->allocate(count);
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

Status Segmenter::prepare(const FrameJob& job, const SourceFrame& source) {
  CCL_RETURN_IF_ERROR(allocate_once(count_bit_words(width_, height_), &found_));
  const Foreground foreground = job.settings.rule.foreground;
  if (foreground == Foreground::kOtsu && otsu_ == nullptr) {
    auto otsu = std::make_unique<segment::Otsu>();
    CCL_RETURN_IF_ERROR(otsu->configure(stream_.get()));
    otsu_ = std::move(otsu);
  }
  if (foreground == Foreground::kMotion) {
    CCL_RETURN_IF_ERROR(background_.prepare(job.segmentation.motion.model, source.chroma));
  }
  if (job.segmentation.morphology.fill_holes > 0 && components_ == nullptr) {
    auto components = std::make_unique<BitComponents>();
    CCL_RETURN_IF_ERROR(components->configure(width_, height_, stream_.get()));
    components_ = std::move(components);
  }
  return {};
}

Status Segmenter::enqueue(const FrameJob& job, const SourceFrame& source, const FrameBits& bits,
                          FrameCounts* counts, const Stream& stream) {
  CCL_RETURN_IF_ERROR(prepare(job, source));
  if (has_ended_) {
    CCL_RETURN_IF_ERROR(check(cudaStreamWaitEvent(stream.get(), ended_.get()), "cudaStreamWaitEvent"));
  }
  const Morphology& morphology = job.segmentation.morphology;
  const bool is_motion = job.settings.rule.foreground == Foreground::kMotion;
  const bool fills_holes = morphology.fill_holes > 0;
  const BitMasks masks{.regions = fills_holes ? nullptr : bits.regions(),
                       .is_cleared = is_motion ? background_.has_no_foreground() : nullptr};
  const bool has_more = morphology.open_radius > 0 || morphology.close_radius > 0 ||
                        masks.regions != nullptr || masks.is_cleared != nullptr;
  uint32_t* found = has_more ? found_.data() : bits.foreground();
  CCL_RETURN_IF_ERROR(enqueue_rule(job, source, bits.strong(), found, counts, stream.get()));
  if (has_more) {
    CCL_RETURN_IF_ERROR(
        open_and_close(morphology, found, width_, height_, masks, bits.foreground(), stream.get()));
  }
  if (fills_holes) {
    CCL_RETURN_IF_ERROR(components_->fill_holes(bits.foreground(), morphology.fill_holes,
                                                job.settings.connectivity, bits.regions(), stream.get()));
  }
  has_ended_ = true;
  return ended_.record(stream);
}

Status Segmenter::read_background(uint8_t* planes, const Stream& stream) {
  const size_t n_pixels = size_t{width_} * height_;
  CCL_RETURN_IF_ERROR(background_.read(planes, planes + n_pixels, planes + 2 * n_pixels, stream.get()));
  return ended_.record(stream);
}

/// Writes the foreground before morphology to `found`.
Status Segmenter::enqueue_rule(const FrameJob& job, const SourceFrame& source, uint32_t* strong,
                               uint32_t* found, FrameCounts* counts, cudaStream_t stream) {
  const ForegroundRule& rule = job.settings.rule;
  const segment::Plane& luma = source.luma;
  switch (rule.foreground) {
    case Foreground::kOtsu:
      return otsu_->enqueue(luma, rule.invert, found, counts, stream);
    case Foreground::kLocal:
      return segment::local_bits(luma, job.segmentation.local, rule.invert, found, stream);
    case Foreground::kMotion: {
      const MotionStep step = clock_.next(job.segmentation.motion, job.time, job.resets_background);
      return background_.enqueue(luma, source.chroma, step, found, counts, stream);
    }
    case Foreground::kBinary: {
      const bool is_wide = job.segmentation.wide_threshold > 0 && source.has_pixels();
      const auto apply = [&](const ThresholdRule& threshold, uint32_t* bits) {
        return is_wide ? segment::wide_threshold_bits(source.pixels, width_, height_, threshold, bits, stream)
                       : segment::threshold_bits(luma, threshold, bits, stream);
      };
      const HysteresisRule thresholds =
          hysteresis_rule(is_wide ? job.segmentation.wide_threshold : rule.threshold, rule.invert,
                          job.segmentation.threshold_low);
      CCL_RETURN_IF_ERROR(apply(thresholds.weak, found));
      return strong != nullptr ? apply(thresholds.strong, strong) : Status();
    }
    case Foreground::kValues:  // makes no bits
      break;
  }
  return {};
}

}  // namespace ccl::device
