// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the sigma-delta model must find in a video, one pixel at a time from its rules: a background is what
/// has been seen for longest. It shares the library's plain types, and no code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ccl/segment.h"

namespace ccl::test {

struct VideoShape {
  int width = 0;
  int height = 0;
  bool has_chroma = false;
  int shift_x = 0;  ///< a chroma pixel belongs to 2^shift_x × 2^shift_y pixels
  int shift_y = 0;

  int chroma_width() const { return (width + (1 << shift_x) - 1) >> shift_x; }
  int chroma_height() const { return (height + (1 << shift_y) - 1) >> shift_y; }
};

/// Rows without padding.
struct VideoFrame {
  std::vector<uint8_t> luma;
  std::vector<uint8_t> u;  ///< empty without chroma, and so is v
  std::vector<uint8_t> v;
  int64_t time = 0;  ///< nanoseconds, or kNoTime
  bool resets = false;
  Motion motion = {};
};

/// What the rules of the model can lead to, in the order of kUses.
enum class Use {
  kForeground,
  kShadow,
  kChroma,
  kExplained,
  kLearnt,
  kSudden,
  kGradual,
  kFading,
  kObject,
  kMisfit,
  kForgotten
};
inline constexpr std::array kUses = {
    "pixels are foreground",
    "pixels would be foreground, but are shadows",
    "pixels differ in chroma only",
    "pixels differ, but not from the means around",
    "candidates became background",
    "changes of light were sudden",
    "changes of light were not sudden",
    "light faded",
    "pixels differed, and kept what was known in a change of light",
    "pixels did not fit the gain, and kept what was known",
    "changes of light left nothing",
};

class BackgroundOracle {
 public:
  explicit BackgroundOracle(const VideoShape& shape);

  void see(const VideoFrame& frame);

  /// Of the last frame: 1 for each pixel that is foreground, before morphology.
  const std::vector<uint8_t>& foreground() const { return foreground_; }
  /// What the model believes after it, and the same of U and V.
  std::vector<uint8_t> luma() const;
  std::vector<uint8_t> u() const;
  std::vector<uint8_t> v() const;
  /// Whether the frame has no foreground, because the model begins, begins again or warms up.
  bool is_learning() const { return is_learning_; }

  /// How often each of kUses has happened, so that a test can require that no rule was left out.
  const std::array<uint32_t, kUses.size()>& uses() const { return uses_; }

 private:
  struct Luma {
    int mean = 0;
    int variance = 0;
    int seen = 0;  ///< code of the time for which the mean was seen
    bool differed = false;
    int candidate = 0;
    int stay = 0;  ///< code of the time for which the candidate was seen; 0: there is none
  };
  struct Chroma {
    int mean_u = 0;
    int mean_v = 0;
    int variance = 0;
    int candidate_u = 0;
    int candidate_v = 0;
  };
  /// What a frame shows of a pixel, compared with the model before it.
  struct Finding {
    bool is_far = false;      ///< from its own mean, in luma
    bool is_counted = false;  ///< towards a change of light
  };
  struct ChromaFinding {
    bool is_far = false;
    bool fits_shadow = false;
    bool is_like_candidate = true;
  };
  /// The stream's time, in microseconds.
  struct Span {
    int64_t begin = 0;
    int64_t end = 0;

    int periods(int64_t length) const;
  };
  /// A change of light.
  struct Light {
    bool keeps_objects = false;
    bool keeps_misfits = false;
    int64_t gain = 0;  ///< in 1/4096
  };

  void count(Use use, bool happens) { uses_[static_cast<size_t>(use)] += happens ? 1 : 0; }

  static int mean_step(const Span& span, int variance);
  static int moved_variance(const Span& span, int variance, int far);
  static int longer(const Span& span, int code);

  int at(int x, int y) const { return y * shape_.width + x; }
  int chroma_at(int x, int y) const {
    return (y >> shape_.shift_y) * shape_.chroma_width() + (x >> shape_.shift_x);
  }

  Span next_span(int64_t time);
  int compare(const VideoFrame& frame);
  void compare_chroma(const VideoFrame& frame);
  Finding compare_pixel(const VideoFrame& frame, int x, int y);
  bool stands_out(int value, int x, int y, int margin) const;
  bool light_changed(const VideoFrame& frame, const Span& span, int n_differ);
  bool light_fades(const VideoFrame& frame, int n_differ) const;
  void remember_least(const Span& span, int n_differ);

  void begin(const VideoFrame& frame);
  void learn(const VideoFrame& frame, const Span& span);
  void learn_candidate(int value, const ChromaFinding& chroma, int longest, const Span& span, Luma* pixel);
  void learn_chroma(const VideoFrame& frame, const Span& span);
  void begin_in_new_light(const VideoFrame& frame);
  Light find_light(const VideoFrame& frame) const;
  void relearn(const Light& light, int margin, int value, Luma* pixel);
  void relearn_chroma(const VideoFrame& frame, const Light& light);

  VideoShape shape_;
  std::vector<Luma> luma_;
  std::vector<Chroma> chroma_;
  std::vector<Finding> findings_;
  std::vector<ChromaFinding> chroma_findings_;
  std::vector<uint8_t> foreground_;
  bool has_begun_ = false;
  bool is_learning_ = false;
  int64_t last_time_ = 0;  ///< of a frame that had one
  bool has_time_ = false;  ///< a frame had a time
  bool has_frame_ = false;
  int64_t guess_ = 0;  ///< when the frame before was: its time, or that of the last one that had one and 1/30
                       ///< s for each since
  int64_t now_ = 0;    ///< the latest guess
  int64_t n_guessed_ = 0;  ///< steps that are a thirtieth of a second
  int64_t seen_ns_ = 0;
  int64_t warm_up_left_us_ = 0;
  int n_differed_ = 0;
  int least_differed_ = 0;
  int least_differed_before_ = 0;
  std::array<uint32_t, kUses.size()> uses_ = {};
};

}  // namespace ccl::test
