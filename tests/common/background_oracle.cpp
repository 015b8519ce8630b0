// SPDX-License-Identifier: LGPL-2.1-or-later
#include "background_oracle.h"

#include <algorithm>
#include <cstdlib>

#include "ccl/clock.h"

namespace ccl::test {

namespace {

constexpr int kBlack = 16;
constexpr int kCutOff = 230;  // luma from here on may be cut off at white
constexpr int kGreyChroma = 128;
constexpr int kFirstVariance = 6;
constexpr int64_t kUnit = 4096;  // of a gain
constexpr int kLongestCode = 127;
constexpr int64_t kTickUs = 62'500;

/// The value of a base at this sensitivity, rounded to nearest: the base at 50, and twice as much for each 25
/// less; linear between.
int at_sensitivity(int base, int sensitivity) {
  const int hundredths[] = {400 * base, 200 * base, 100 * base, 50 * base, 25 * base, 0};
  const int i = sensitivity / 25;
  const int part = sensitivity % 25;
  return ((hundredths[i] * (25 - part) + hundredths[i + 1] * part) / 25 + 50) / 100;
}

/// By what luma and chroma must differ.
struct Margins {
  int luma;
  int around;
  int chroma;

  explicit Margins(const Motion& motion)
      : luma(at_sensitivity(6, motion.sensitivity)),
        around(at_sensitivity(4, motion.sensitivity)),
        chroma(at_sensitivity(3, motion.sensitivity)) {}
};

/// The last code that stands for no more than this time. Each eight codes take twice as many ticks as the
/// eight before.
int code_of(int64_t time_us) {
  int64_t ticks = 0;
  for (int code = 0; code < kLongestCode; ++code) {
    ticks += int64_t{1} << code / 8;
    if (ticks * kTickUs > time_us) {
      return code;
    }
  }
  return kLongestCode;
}

int64_t microseconds(uint32_t ms) {
  return std::min(int64_t{ms} * 1000, int64_t{1} << 31);
}

int farthest(int u, int v, int from_u, int from_v) {
  return std::max(std::abs(u - from_u), std::abs(v - from_v));
}

/// A shadow may move chroma at most half of the way to grey.
bool can_be_shaded(int value, int mean) {
  const int half_way = mean / 2 + kGreyChroma / 2;
  return value >= std::min(mean, half_way) - 1 && value <= std::max(mean, half_way) + 1;
}

/// A shadow leaves between 11/16 and 7/8 of the light.
bool is_shaded(int value, int mean) {
  const int full = std::max(mean - kBlack, 0);
  const int left = std::max(value - kBlack, 0);
  const int eighth = full / 8;
  return left < full - eighth && left >= full - 2 * eighth - eighth / 2;
}

int in_light(int mean, int64_t gain) {
  if (mean < kBlack) {
    return mean;
  }
  return static_cast<int>(std::min<int64_t>(kBlack + ((mean - kBlack) * gain + kUnit / 2) / kUnit, 255));
}

bool fits_light(int value, int mean, int64_t gain, int margin) {
  const int lit = in_light(mean, gain);
  return mean >= kCutOff || (lit >= kCutOff && value >= kCutOff) ||
         std::abs(value - lit) <= margin + lit / 16;
}

/// What a model knows up to a variance and a margin, in a lighter frame.
int variance_in_light(int variance, int margin, int64_t gain) {
  constexpr int kMost = 64;
  if (gain <= kUnit || variance >= kMost) {
    return variance;
  }
  return static_cast<int>(std::min<int64_t>((variance + margin) * gain / kUnit - margin, kMost));
}

template <typename Pixel>
std::vector<uint8_t> plane_of(const std::vector<Pixel>& pixels, int Pixel::*value) {
  std::vector<uint8_t> plane;
  for (const Pixel& pixel : pixels) {
    plane.push_back(static_cast<uint8_t>(pixel.*value));
  }
  return plane;
}

}  // namespace

BackgroundOracle::BackgroundOracle(const VideoShape& shape)
    : shape_(shape),
      luma_(static_cast<size_t>(shape.width * shape.height)),
      chroma_(shape.has_chroma ? static_cast<size_t>(shape.chroma_width() * shape.chroma_height()) : 0),
      findings_(luma_.size()),
      chroma_findings_(chroma_.size()),
      foreground_(luma_.size()) {}

std::vector<uint8_t> BackgroundOracle::luma() const {
  return plane_of(luma_, &Luma::mean);
}

std::vector<uint8_t> BackgroundOracle::u() const {
  return plane_of(chroma_, &Chroma::mean_u);
}

std::vector<uint8_t> BackgroundOracle::v() const {
  return plane_of(chroma_, &Chroma::mean_v);
}

void BackgroundOracle::see(const VideoFrame& frame) {
  if (frame.resets) {
    has_frame_ = false;
    has_time_ = false;
    n_guessed_ = 0;
    seen_ns_ = 0;
  }
  const Span span = next_span(frame.time);
  const int n_differ = compare(frame);
  warm_up_left_us_ -= span.end - span.begin;
  is_learning_ = true;
  if (!has_begun_ || frame.resets) {
    begin(frame);
  } else if (light_changed(frame, span, n_differ)) {
    begin_in_new_light(frame);
  } else {
    is_learning_ = warm_up_left_us_ > 0;
    learn(frame, span);
    n_differed_ = n_differ;
  }
  if (is_learning_) {
    std::fill(foreground_.begin(), foreground_.end(), uint8_t{0});
  }
  for (const uint8_t is_foreground : foreground_) {
    count(Use::kForeground, is_foreground != 0);
  }
}

/// The time from the frame before to this one: 1/30 s where that is not known, and at most a second.
BackgroundOracle::Span BackgroundOracle::next_span(int64_t time) {
  const bool goes_on = time == kNoTime ? has_frame_ : has_time_ && time > last_time_;
  int64_t step = 0;
  if (goes_on && time != kNoTime) {
    guess_ = time;
  } else {
    const int64_t usual = (n_guessed_ + 1) * 100'000'000 / 3 - n_guessed_ * 100'000'000 / 3;
    ++n_guessed_;
    step = usual;
    guess_ = time != kNoTime ? time : goes_on ? guess_ + usual : 0;
  }
  if (goes_on) {
    step = std::max<int64_t>(guess_ - now_, 0);
  }
  now_ = goes_on ? std::max(now_, guess_) : guess_;
  has_frame_ = true;
  if (time != kNoTime) {
    has_time_ = true;
    last_time_ = time;
  }
  const int64_t begin_ns = seen_ns_;
  seen_ns_ += std::min<int64_t>(step, 1'000'000'000);
  return {begin_ns / 1000, seen_ns_ / 1000};
}

/// How many periods of a length end in the span.
int BackgroundOracle::Span::periods(int64_t length) const {
  return static_cast<int>(end / length - begin / length);
}

/// By how much a mean may move. It has 64 steps a second, and uses V/64 of them, with V rounded down to a
/// power of two. The sum over a frame is rounded down to a power of two as well, at most 4.
int BackgroundOracle::mean_step(const Span& span, int variance) {
  int64_t every = 64;
  for (int power = 2; power <= variance && every > 1; power *= 2) {
    every /= 2;
  }
  const int n = span.periods(every * 15'625);
  return n >= 4 ? 4 : n >= 2 ? 2 : n;
}

int BackgroundOracle::moved_variance(const Span& span, int variance, int far) {
  const int target = std::min(far * 3 / 2, 255);
  const int highest = variance + std::min(span.periods(125'000), 16);
  const int lowest = variance - std::min(span.periods(500'000), 16);
  return std::clamp(std::clamp(target, lowest, highest), 2, 128);
}

/// The code of a time that goes on in this frame.
int BackgroundOracle::longer(const Span& span, int code) {
  return code == kLongestCode ? code : code + std::min(span.periods(kTickUs << code / 8), 16);
}

/// Compares a frame with the model, and marks its foreground. Returns how many pixels differ.
int BackgroundOracle::compare(const VideoFrame& frame) {
  compare_chroma(frame);
  int n_differ = 0;
  for (int y = 0; y < shape_.height; ++y) {
    for (int x = 0; x < shape_.width; ++x) {
      findings_[at(x, y)] = compare_pixel(frame, x, y);
      n_differ += findings_[at(x, y)].is_counted ? 1 : 0;
    }
  }
  return n_differ;
}

void BackgroundOracle::compare_chroma(const VideoFrame& frame) {
  const Margins margins(frame.motion);
  for (size_t i = 0; i < chroma_.size(); ++i) {
    const Chroma& known = chroma_[i];
    const int u = frame.u[i];
    const int v = frame.v[i];
    chroma_findings_[i] = {
        .is_far = farthest(u, v, known.mean_u, known.mean_v) > known.variance + margins.chroma,
        .fits_shadow = can_be_shaded(u, known.mean_u) && can_be_shaded(v, known.mean_v),
        .is_like_candidate = farthest(u, v, known.candidate_u, known.candidate_v) <= 6};
  }
}

BackgroundOracle::Finding BackgroundOracle::compare_pixel(const VideoFrame& frame, int x, int y) {
  const Margins margins(frame.motion);
  const Luma& known = luma_[at(x, y)];
  const int value = frame.luma[at(x, y)];
  const ChromaFinding chroma = shape_.has_chroma ? chroma_findings_[chroma_at(x, y)] : ChromaFinding();
  const bool is_far = std::abs(value - known.mean) > known.variance + margins.luma;
  const bool is_out = is_far && stands_out(value, x, y, margins.around);
  const bool differs = is_out || chroma.is_far;
  const bool is_shadow = frame.motion.shadows && chroma.fits_shadow && is_shaded(value, known.mean);
  foreground_[at(x, y)] = differs && !is_shadow ? 1 : 0;
  count(Use::kExplained, is_far && !is_out);
  count(Use::kShadow, differs && is_shadow);
  count(Use::kChroma, chroma.is_far && !is_far);
  return {.is_far = is_far || chroma.is_far, .is_counted = differs};
}

/// Whether a value is beyond all means of the 3×3 pixels around it that are in the frame.
bool BackgroundOracle::stands_out(int value, int x, int y, int margin) const {
  int low = 255;
  int high = 0;
  for (int row = std::max(y - 1, 0); row <= std::min(y + 1, shape_.height - 1); ++row) {
    for (int column = std::max(x - 1, 0); column <= std::min(x + 1, shape_.width - 1); ++column) {
      low = std::min(low, luma_[at(column, row)].mean);
      high = std::max(high, luma_[at(column, row)].mean);
    }
  }
  return value < low - margin || value > high + margin;
}

/// Whether more differs than objects explain: of what did not differ, or of all; or the light fades.
bool BackgroundOracle::light_changed(const VideoFrame& frame, const Span& span, int n_differ) {
  const int64_t n_pixels = static_cast<int64_t>(luma_.size());
  const int64_t n_more = std::max(n_differ - n_differed_, 0);
  const int64_t limit = frame.motion.max_change;
  const int64_t nearly_all = 1024 - (1024 - limit) / 4;
  const bool is_sudden = n_more * 1024 > (n_pixels - n_differed_) * limit;
  const bool is_everywhere = n_differ * int64_t{1024} > n_pixels * nearly_all;
  const bool fades = !is_sudden && !is_everywhere && limit < 1024 && light_fades(frame, n_differ);
  remember_least(span, n_differ);
  count(Use::kSudden, is_sudden);
  count(Use::kGradual, is_everywhere && !is_sudden);
  count(Use::kFading, fades);
  return is_sudden || is_everywhere || fades;
}

/// Light fades if 2/5 of what may change at once differ in luma, and did not within the last seconds, and 20
/// of 21 of those pixels have become lighter, or darker.
bool BackgroundOracle::light_fades(const VideoFrame& frame, int n_differ) const {
  const int margin = Margins(frame.motion).luma;
  int64_t n_lighter = 0;
  int64_t n_darker = 0;
  for (size_t i = 0; i < luma_.size(); ++i) {
    const int far = frame.luma[i] - luma_[i].mean;
    n_lighter += far > luma_[i].variance + margin ? 1 : 0;
    n_darker += -far > luma_[i].variance + margin ? 1 : 0;
  }
  const auto is_enough = [&](int64_t n) {
    return 5 * n * 1024 > 2 * static_cast<int64_t>(luma_.size()) * frame.motion.max_change;
  };
  const int least = std::min(least_differed_, least_differed_before_);
  return is_enough(n_differ - least) && is_enough(std::max(n_lighter, n_darker)) &&
         20 * std::min(n_lighter, n_darker) <= std::max(n_lighter, n_darker);
}

/// The least that differed in these two seconds, and in those before.
void BackgroundOracle::remember_least(const Span& span, int n_differ) {
  if (span.periods(2'000'000) > 0) {
    least_differed_before_ = least_differed_;
    least_differed_ = n_differ;
  }
  least_differed_ = std::min(least_differed_, n_differ);
}

void BackgroundOracle::begin(const VideoFrame& frame) {
  for (size_t i = 0; i < luma_.size(); ++i) {
    luma_[i] = {.mean = frame.luma[i], .variance = kFirstVariance};
  }
  for (size_t i = 0; i < chroma_.size(); ++i) {
    chroma_[i] = {frame.u[i], frame.v[i], kFirstVariance, frame.u[i], frame.v[i]};
  }
  has_begun_ = true;
  n_differed_ = 0;
  least_differed_ = least_differed_before_ = 0;
  warm_up_left_us_ = microseconds(frame.motion.warm_up_ms);
}

void BackgroundOracle::learn(const VideoFrame& frame, const Span& span) {
  const int longest = std::max(code_of(microseconds(frame.motion.learning_ms)), 1);
  for (int y = 0; y < shape_.height; ++y) {
    for (int x = 0; x < shape_.width; ++x) {
      Luma& pixel = luma_[at(x, y)];
      const int value = frame.luma[at(x, y)];
      pixel.differed = findings_[at(x, y)].is_far;
      if (pixel.differed) {
        learn_candidate(value, shape_.has_chroma ? chroma_findings_[chroma_at(x, y)] : ChromaFinding(),
                        longest, span, &pixel);
        continue;
      }
      const int far = std::abs(value - pixel.mean);
      const int step = mean_step(span, pixel.variance);
      pixel.mean = std::clamp(value, pixel.mean - step, pixel.mean + step);
      pixel.variance = moved_variance(span, pixel.variance, far);
      pixel.seen = longer(span, pixel.seen);
    }
  }
  learn_chroma(frame, span);
}

/// A candidate becomes the background when it has been seen for as long as that was. Half a second is the
/// least, and the learning time is enough.
void BackgroundOracle::learn_candidate(int value, const ChromaFinding& chroma, int longest, const Span& span,
                                       Luma* pixel) {
  constexpr int kHalfSecond = 8;  // eight ticks
  const bool is_same = pixel->stay > 0 && std::abs(value - pixel->candidate) <= 6 && chroma.is_like_candidate;
  if (!is_same) {
    pixel->candidate = value;
    pixel->stay = 1;
    return;
  }
  pixel->stay = longer(span, pixel->stay);
  if (pixel->stay >= std::min(std::max(pixel->seen, kHalfSecond), longest)) {
    pixel->mean = value;
    pixel->seen = pixel->stay;
    pixel->stay = 0;
    count(Use::kLearnt, true);
  }
}

/// A chroma pixel follows the first luma pixel that it belongs to, which has learnt already.
void BackgroundOracle::learn_chroma(const VideoFrame& frame, const Span& span) {
  for (size_t i = 0; i < chroma_.size(); ++i) {
    const int x = static_cast<int>(i) % shape_.chroma_width() << shape_.shift_x;
    const int y = static_cast<int>(i) / shape_.chroma_width() << shape_.shift_y;
    const Luma& first = luma_[at(x, y)];
    Chroma& pixel = chroma_[i];
    const int u = frame.u[i];
    const int v = frame.v[i];
    if (chroma_findings_[i].is_far || first.differed) {
      if (!chroma_findings_[i].is_like_candidate) {
        pixel.candidate_u = u;
        pixel.candidate_v = v;
      }
      if (first.differed && first.stay == 0) {
        pixel.mean_u = u;
        pixel.mean_v = v;
      }
      continue;
    }
    const int far = farthest(u, v, pixel.mean_u, pixel.mean_v);
    const int step = mean_step(span, pixel.variance);
    pixel.mean_u = std::clamp(u, pixel.mean_u - step, pixel.mean_u + step);
    pixel.mean_v = std::clamp(v, pixel.mean_v - step, pixel.mean_v + step);
    pixel.variance = moved_variance(span, pixel.variance, far);
  }
}

void BackgroundOracle::begin_in_new_light(const VideoFrame& frame) {
  const Light light = find_light(frame);
  for (size_t i = 0; i < luma_.size(); ++i) {
    relearn(light, Margins(frame.motion).luma, frame.luma[i], &luma_[i]);
  }
  relearn_chroma(frame, light);
  n_differed_ = light.keeps_objects ? n_differed_ : 0;
  least_differed_ = least_differed_before_ = n_differed_;
  count(Use::kForgotten, !light.keeps_objects);
  warm_up_left_us_ =
      std::max(warm_up_left_us_, std::min<int64_t>(microseconds(frame.motion.warm_up_ms), 250'000));
}

/// The gain of the light is how much lighter the pixels became that had not differed. Where they do not fit
/// it, there are objects, unless that is more than a sixteenth of the frame.
BackgroundOracle::Light BackgroundOracle::find_light(const VideoFrame& frame) const {
  if (4 * static_cast<size_t>(n_differed_) > luma_.size()) {
    return {.gain = kUnit};
  }
  const auto shows_light = [](int luma) { return luma >= kBlack && luma < kCutOff; };
  int64_t now = 0;
  int64_t before = 0;
  for (size_t i = 0; i < luma_.size(); ++i) {
    if (!luma_[i].differed && shows_light(frame.luma[i]) && shows_light(luma_[i].mean)) {
      now += frame.luma[i] - kBlack;
      before += luma_[i].mean - kBlack;
    }
  }
  Light light = {.keeps_objects = true, .gain = kUnit};
  if (before > 0) {
    light.gain = std::min<int64_t>((2 * now * kUnit + before) / (2 * before), 65535);
  }
  size_t n_misfits = 0;
  for (size_t i = 0; i < luma_.size(); ++i) {
    const int margin = Margins(frame.motion).luma + luma_[i].variance;
    n_misfits += !luma_[i].differed && !fits_light(frame.luma[i], luma_[i].mean, light.gain, margin) ? 1 : 0;
  }
  light.keeps_misfits = 16 * n_misfits <= luma_.size();
  return light;
}

/// The background of a pixel with an object is what was known, in the new light. `margin`: of luma.
void BackgroundOracle::relearn(const Light& light, int margin, int value, Luma* pixel) {
  constexpr int kUncertain = 40;
  const bool is_misfit = light.keeps_misfits && !pixel->differed &&
                         !fits_light(value, pixel->mean, light.gain, margin + pixel->variance);
  const bool is_object = light.keeps_objects && (pixel->differed || is_misfit);
  count(Use::kObject, is_object && pixel->differed);
  count(Use::kMisfit, is_object && is_misfit);
  const bool was_cut_off = pixel->mean >= kCutOff;
  const int lit = in_light(pixel->mean, light.gain);
  const bool is_unknown = is_object ? was_cut_off || lit >= kCutOff : was_cut_off && value < kCutOff;
  pixel->variance = variance_in_light(pixel->variance, margin, light.gain);
  if (light.keeps_objects && is_unknown) {
    pixel->variance = std::max(pixel->variance, kUncertain);
  }
  pixel->mean = is_object ? lit : value;
  pixel->differed = is_object;
  pixel->seen = light.keeps_objects ? pixel->seen : 0;
}

/// Nothing is known of the chroma behind an object, or beside one.
void BackgroundOracle::relearn_chroma(const VideoFrame& frame, const Light& light) {
  constexpr int kUnknown = 64;
  const int margin = Margins(frame.motion).chroma;
  const int width = shape_.chroma_width();
  for (int i = 0; i < static_cast<int>(chroma_.size()); ++i) {
    const int y = i / width << shape_.shift_y;
    bool is_hidden = false;
    for (int x = std::max(i % width - 1, 0); x <= std::min(i % width + 1, width - 1); ++x) {
      is_hidden = is_hidden || luma_[at(x << shape_.shift_x, y)].differed;
    }
    const int variance = variance_in_light(chroma_[i].variance, margin, light.gain);
    chroma_[i] = {frame.u[i], frame.v[i], is_hidden ? std::max(variance, kUnknown) : variance, frame.u[i],
                  frame.v[i]};
  }
}

}  // namespace ccl::test
