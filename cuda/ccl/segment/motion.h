// SPDX-License-Identifier: LGPL-2.1-or-later
/// What both backends do with a background model in each frame.
///
/// 1. classify() every pixel with the model as the previous frame left it: bits of the foreground, and
///    the number of pixels that differ. It reads the state of neighbours, so it ends before 3 begins.
/// 2. decide(), once: how this frame is learnt. If more pixels differ than a change of light leaves,
///    the model begins again from this frame, except for the objects in it (see light.h). If so many may be
///    a ramp, they are compared once more before the decision.
/// 3. update() or initialize() every pixel's state. If the model warms up, the frame has no foreground.
///
/// The mixture learns each frame as if the light had not changed, see expect(). So a device classifies and
/// learns a pixel at once. After a change of light, the model begins again from what that has left: sums of
/// the light over all pixels first, then mixture::relearn().
///
/// The decision is the model's state, so a device takes it while later frames are already pushed.
#pragma once

#include <cstdint>

#include "ccl/clock.h"
#include "ccl/segment.h"
#include "ccl/segment/light.h"
#include "ccl/segment/mixture.h"
#include "ccl/segment/sigma_delta.h"

namespace ccl {

/// After a change of light, the model warms up for this time, or for Motion::warm_up_ms if that is less.
inline constexpr uint32_t kLightWarmUpUs = 250'000;

/// A ramp of light is looked for over one to two of these times.
inline constexpr uint32_t kRampUs = 2'000'000;
/// Less than this part of the pixels that a ramp changes differs to the other side.
inline constexpr uint32_t kRampPart = 20;

inline constexpr uint32_t kOldestUs = 1u << 31;
inline constexpr uint32_t kShortestLearningUs = 500'000;

/// A frame as a background model sees it: its settings, and the time since the previous frame.
struct MotionStep {
  BackgroundModel model = BackgroundModel::kSigmaDelta;
  bool resets = false;          ///< the model begins again from this frame
  uint16_t max_change = 1024;   ///< in 1/1024 of the frame
  bool ends_ramp_time = false;  ///< one of kRampUs
  uint32_t duration_us = 0;     ///< since the previous frame
  uint32_t warm_up_us = 0;
  uint32_t learning_us = 0;
  sigma_delta::Thresholds sigma_delta;
  sigma_delta::Rates sigma_delta_rates;
  mixture::Thresholds mixture;
  mixture::Rates mixture_rates;  ///< without warm-up and without what depends on the learning time

  bool operator==(const MotionStep&) const = default;
};

/// How a frame is learnt.
enum class Learning : uint32_t {
  kInitialize,  ///< the model begins with this frame
  kRelearn,     ///< so it does, after a change of light: what is known of the noise stays
  kWarmUp,      ///< nothing is foreground; the mixture learns fast
  kSelective,   ///< what differs is learnt slowly
};

/// The state of a model in addition to its planes. It begins as zeros.
struct ModelState {
  uint32_t is_begun;     ///< 0 before the first frame
  uint32_t n_differ;     ///< pixels of this frame that differ, counted by the mixture's blocks on a device
  uint32_t total_us;     ///< of the warm-up
  uint32_t elapsed_us;   ///< of the warm-up
  uint32_t age_us;       ///< since the model began, at most kOldestUs
  uint32_t weight_rest;  ///< see mixture::Rates: what is left of the rates of earlier frames
  uint32_t prune_rest;
  uint32_t n_differed;      ///< pixels that differ from the model since the last frame
  uint32_t least_differed;  ///< the smallest n_differed of this kRampUs
  uint32_t least_before;    ///< of the one before
  uint32_t keeps_objects;   ///< with kRelearn: see light.h
  uint32_t gain;            ///< of the last change of light with keeps_objects, of sigma-delta
  uint32_t has_relearnt;    ///< 1 if the last thing to interrupt selective learning was a change of light
  Learning learning;        ///< of the frame that decide() has seen
  sigma_delta::Rates sigma_delta;
  mixture::Rates mixture;

  constexpr bool has_foreground() const { return learning == Learning::kSelective; }
};

/// A young mixture is not sure of its background: what differs becomes background after the model's age, or a
/// part of it, if that is less than the learning time. So what was mistaken for background at the start is
/// soon corrected. The oldest model knows no age any more.
constexpr uint32_t learning_us(const MotionStep& step, const ModelState& state) {
  const uint32_t age_us = state.age_us < kOldestUs ? state.age_us / mixture::kAgePart : kOldestUs;
  const uint32_t young_us = age_us > kShortestLearningUs ? age_us : kShortestLearningUs;
  return young_us < step.learning_us ? young_us : step.learning_us;
}

/// What a frame may take of a rate.
struct TakeLimits {
  uint32_t least;  ///< less than this is kept until it is enough
  uint32_t most;
};

/// The whole part of `n` per `period`, for `duration`; the rest is kept for the next frame. It has enough
/// bits for a frame of a fast camera and the longest period: what is less than its last bit would be lost
/// each time.
constexpr uint32_t take(uint32_t n, uint32_t duration_us, uint32_t period_us, TakeLimits limits,
                        uint32_t* rest) {
  constexpr uint32_t kRestBits = 24;
  const uint64_t sum = (uint64_t{duration_us} * n << kRestBits) / (period_us > 0 ? period_us : 1) + *rest;
  const uint64_t whole = sum >> kRestBits;
  if (whole < limits.least) {
    *rest = static_cast<uint32_t>(sum);
    return 0;
  }
  *rest = static_cast<uint32_t>(sum & ((1u << kRestBits) - 1));
  return whole < limits.most ? static_cast<uint32_t>(whole) : limits.most;
}

/// The mixture's rates that depend on the learning time.
constexpr void learn_selectively(const MotionStep& step, ModelState* state) {
  const uint32_t us = learning_us(step, *state);
  state->mixture.weight =
      static_cast<uint16_t>(take(mixture::kLearnedWeight, step.duration_us, us,
                                 {.least = mixture::kLeastRate, .most = 32768}, &state->weight_rest));
  state->mixture.prune =
      static_cast<uint16_t>(take(mixture::kLearnedWeight / mixture::kPrunePart, step.duration_us, us,
                                 {.least = 1, .most = 1024}, &state->prune_rest));
}

constexpr uint32_t saturating_add(uint32_t us, uint32_t duration_us) {
  return us < kOldestUs ? us + duration_us : kOldestUs;
}

/// Whether the model has begun again after a change of light, with what it knew of the background. The fast
/// rates of a warm-up would make it forget that.
constexpr bool knows_old_background(const ModelState& state) {
  return state.has_relearnt != 0 && state.keeps_objects != 0;
}

/// Whether more pixels differ than objects explain: more than max_change of those that did not differ in the
/// frame before, or nearly all of the frame. What grows over many frames is an object that comes near.
/// `before`: the state that the frame before has left.
constexpr bool is_switch(const MotionStep& step, const ModelState& before, uint64_t n_pixels,
                         uint32_t n_differ) {
  const uint32_t nearly_all = kOne - (kOne - step.max_change) / 4;
  const uint64_t n_more = n_differ > before.n_differed ? n_differ - before.n_differed : 0;
  return n_more * kOne > (n_pixels - before.n_differed) * step.max_change ||
         uint64_t{n_differ} * kOne > n_pixels * nearly_all;
}

/// Whether it is two fifths of max_change: a part of the frame that a ramp of light leaves behind.
constexpr bool is_part_of_ramp(const MotionStep& step, uint64_t n_pixels, uint64_t n) {
  return step.max_change < kOne && 5 * n * kOne > 2 * n_pixels * step.max_change;
}

/// Whether so many more pixels differ than a short time ago that light which fades may be the cause, as when
/// a camera adapts its exposure. So may an object that comes near: see is_ramp().
constexpr bool may_be_ramp(const MotionStep& step, const ModelState& before, uint64_t n_pixels,
                           uint32_t n_differ) {
  const uint32_t least =
      before.least_differed < before.least_before ? before.least_differed : before.least_before;
  return n_differ > least && is_part_of_ramp(step, n_pixels, n_differ - least);
}

/// Pixels whose luma differs.
struct Differing {
  uint32_t n_lighter;
  uint32_t n_darker;
};

/// Light changes all pixels to the same side. An object has parts that are lighter than what is behind them,
/// and parts that are darker.
constexpr bool is_ramp(const MotionStep& step, uint64_t n_pixels, const Differing& differing) {
  const auto [lighter, darker] = differing;
  const uint64_t most = lighter > darker ? lighter : darker;
  const uint64_t others = lighter > darker ? darker : lighter;
  return is_part_of_ramp(step, n_pixels, most) && others * kRampPart <= most;
}

/// How a frame is learnt, except for what note_differing() adds. Called by one thread, after all pixels are
/// classified. FrameCounts::relearning is 1 unless has_foreground().
constexpr void decide(const MotionStep& step, uint64_t n_pixels, bool has_light_changed, ModelState* state) {
  state->sigma_delta = step.sigma_delta_rates;
  state->mixture = step.mixture_rates;
  state->age_us = saturating_add(state->age_us, step.duration_us);
  if (step.resets || state->is_begun == 0) {
    state->learning = Learning::kInitialize;
    state->age_us = 0;
    state->total_us = step.warm_up_us;
    state->elapsed_us = 0;
    state->weight_rest = 0;
    state->prune_rest = 0;
    state->is_begun = 1;
    state->has_relearnt = 0;
    return;
  }
  state->elapsed_us = saturating_add(state->elapsed_us, step.duration_us);
  const bool is_warming_up = state->elapsed_us < state->total_us;
  if (has_light_changed) {
    state->learning = Learning::kRelearn;
    state->keeps_objects = light::keeps_objects(state->n_differed, n_pixels) ? 1 : 0;
    state->has_relearnt = 1;
    state->age_us = state->keeps_objects != 0 ? state->age_us : 0;
    // A change of light in a long warm-up does not shorten it.
    const uint32_t left_us = is_warming_up ? state->total_us - state->elapsed_us : 0;
    const uint32_t light_us = step.warm_up_us < kLightWarmUpUs ? step.warm_up_us : kLightWarmUpUs;
    state->total_us = left_us > light_us ? left_us : light_us;
    state->elapsed_us = 0;
    return;
  }
  if (!is_warming_up) {
    state->learning = Learning::kSelective;
    if (step.model == BackgroundModel::kMixture) {
      learn_selectively(step, state);
    }
    return;
  }
  state->learning = Learning::kWarmUp;
  if (step.model == BackgroundModel::kMixture) {
    if (knows_old_background(*state)) {
      learn_selectively(step, state);
    } else {
      state->mixture = mixture::warm_up_rates(step.mixture_rates, step.duration_us, state->elapsed_us);
    }
  }
}

/// Completes a decision. What the model keeps in a change of light still differs after it.
constexpr void note_differing(const MotionStep& step, uint32_t n_differ, ModelState* state) {
  const bool is_relearnt = state->learning == Learning::kRelearn;
  if (is_relearnt || state->learning == Learning::kInitialize) {
    const bool keeps = is_relearnt && state->keeps_objects != 0;
    state->n_differed = keeps ? state->n_differed : 0;
    state->least_differed = state->n_differed;
    state->least_before = state->n_differed;
    return;
  }
  state->n_differed = n_differ;
  state->least_before = step.ends_ramp_time ? state->least_differed : state->least_before;
  const bool is_least = step.ends_ramp_time || n_differ < state->least_differed;
  state->least_differed = is_least ? n_differ : state->least_differed;
}

/// The state after a frame in which the light does not change, without note_differing(). It is known before
/// the frame is classified.
constexpr ModelState expect(const MotionStep& step, const ModelState& state) {
  ModelState expected = state;
  expected.n_differ = 0;
  decide(step, /*n_pixels=*/1, /*has_light_changed=*/false, &expected);
  return expected;
}

/// How the chroma of sigma-delta is learnt with kRelearn.
constexpr sigma_delta::Relearning relearning_of_chroma(const sigma_delta::Thresholds& thresholds,
                                                       const ModelState& state) {
  const bool keeps = state.keeps_objects != 0;
  return {
      .keeps_objects = keeps, .gain = keeps ? state.gain : light::kUnchanged, .margin = thresholds.chroma};
}

/// Turns the time stamps of a stream's frames into steps. One per stream; lives on the host.
class MotionClock {
 public:
  /// For the next frame. `time`: see FrameJob::time. With `resets`, as for a new model, time begins again,
  /// too: a model that begins again learns as a new one does.
  MotionStep next(const Motion& motion, int64_t time, bool resets);

 private:
  FrameClock clock_;
  uint64_t end_ns_ = 0;  ///< of the frame before, since the model's begin, without gaps
};

}  // namespace ccl
