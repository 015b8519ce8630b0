// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sequences of frames with a background model: the backend under test, whatever its threads and slots, finds
/// what the CPU finds with one thread and one frame at a time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <random>
#include <vector>

#include "ccl/engine.h"
#include "fixture.h"

namespace ccl::test {

namespace {

constexpr uint32_t kFrames = 60;
constexpr uint32_t kLighter = 30;  ///< the frame in which the light becomes lighter
constexpr uint32_t kReset = 40;
constexpr uint32_t kDarker = 48;  ///< and darker, with a colour
constexpr int64_t kFrameTime = 40'000'000;

/// How U and V lie in memory.
struct ChromaCase {
  const char* name;
  bool is_present;
  bool alternates;
  bool is_v_first;
  uint8_t shift_x;
  uint8_t shift_y;
};

constexpr std::array kChromaCases = {
    ChromaCase{"grey", false, false, false, 0, 0}, ChromaCase{"nv12", true, true, false, 1, 1},
    ChromaCase{"nv21", true, true, true, 1, 1},    ChromaCase{"i420", true, false, false, 1, 1},
    ChromaCase{"y42b", true, false, false, 1, 0},  ChromaCase{"y444", true, false, false, 0, 0},
};

struct Size {
  uint32_t width;
  uint32_t height;
};

/// A frame in memory of its own, in rows with some bytes between them.
class Picture {
 public:
  Picture(const Size& size, const ChromaCase& chroma)
      : size_(size),
        case_(chroma),
        chroma_width_((size.width + (1u << chroma.shift_x) - 1) >> chroma.shift_x),
        chroma_height_((size.height + (1u << chroma.shift_y) - 1) >> chroma.shift_y),
        luma_(stride() * size.height),
        chroma_(chroma.is_present ? 2 * chroma_stride() * chroma_height_ : 0) {}

  void set(uint32_t x, uint32_t y, uint8_t luma) { luma_[y * stride() + x] = luma; }
  void set_chroma(uint32_t x, uint32_t y, uint8_t u, uint8_t v) {
    if (case_.is_present) {
      chroma_[u_offset() + y * chroma_stride() + size_t{x} * step()] = u;
      chroma_[v_offset() + y * chroma_stride() + size_t{x} * step()] = v;
    }
  }
  uint32_t chroma_width() const { return chroma_width_; }
  uint32_t chroma_height() const { return chroma_height_; }

  InputImage image() const {
    InputImage image{luma_.data(), stride()};
    if (case_.is_present) {
      image.chroma = {.u = chroma_.data() + u_offset(),
                      .v = chroma_.data() + v_offset(),
                      .stride = chroma_stride(),
                      .step = step(),
                      .shift_x = case_.shift_x,
                      .shift_y = case_.shift_y};
    }
    return image;
  }

 private:
  uint8_t step() const { return case_.alternates ? 2 : 1; }
  size_t stride() const { return size_.width + 3; }
  size_t chroma_stride() const { return size_t{chroma_width_} * 2 + 5; }
  size_t plane_offset() const { return case_.alternates ? 1 : chroma_stride() * chroma_height_; }
  size_t u_offset() const { return case_.is_v_first ? plane_offset() : 0; }
  size_t v_offset() const { return case_.is_v_first ? 0 : plane_offset(); }

  Size size_;
  ChromaCase case_;
  uint32_t chroma_width_;
  uint32_t chroma_height_;
  std::vector<uint8_t> luma_;
  std::vector<uint8_t> chroma_;
};

/// A noisy texture with two squares: one moves, the other one leaves after some frames, so that a ghost
/// stays. The light changes twice, with the moving square in view.
Picture draw(const Size& size, const ChromaCase& chroma, uint32_t frame) {
  Picture picture(size, chroma);
  std::mt19937 noise(frame);
  const auto texture = [](uint32_t x, uint32_t y) { return 60 + (x * 7 + y * 13) % 64; };
  const uint32_t side = std::max(size.width / 6, 1u);
  const uint32_t at = frame * 3 % (size.width + side);
  const auto is_object = [&](uint32_t x, uint32_t y) {
    const bool moves = x + side >= at && x < at && y >= size.height / 3 && y < size.height / 3 + side;
    const bool stood = frame < 14 && x < side && y < side;
    return moves || stood;
  };
  const uint32_t light = frame < kLighter ? 4 : frame < kDarker ? 7 : 3;  // quarters
  const uint32_t colour = frame < kDarker ? 0 : 9;
  for (uint32_t y = 0; y < size.height; ++y) {
    for (uint32_t x = 0; x < size.width; ++x) {
      const uint32_t reflected = is_object(x, y) ? 20 : texture(x, y);
      picture.set(x, y, static_cast<uint8_t>(reflected * light / 4 + noise() % 5));
    }
  }
  for (uint32_t y = 0; y < picture.chroma_height(); ++y) {
    for (uint32_t x = 0; x < picture.chroma_width(); ++x) {
      const bool is_in = is_object(x << chroma.shift_x, y << chroma.shift_y);
      picture.set_chroma(x, y, static_cast<uint8_t>((is_in ? 90 : 120) + colour + noise() % 3),
                         static_cast<uint8_t>((is_in ? 170 : 132) + noise() % 3));
    }
  }
  return picture;
}

/// So much changes from frame to frame that no light changes, and much is learnt.
Picture draw_noise(const Size& size, const ChromaCase& chroma, uint32_t frame) {
  Picture picture(size, chroma);
  std::mt19937 noise(frame);
  for (uint32_t y = 0; y < size.height; ++y) {
    for (uint32_t x = 0; x < size.width; ++x) {
      picture.set(x, y, static_cast<uint8_t>(noise()));
    }
  }
  return picture;
}

struct Found {
  std::vector<uint32_t> labels;
  FrameCounts counts;
  std::vector<uint8_t> background;  ///< of see()
};

class BackgroundTest : public testing::TestWithParam<BackgroundModel> {
 protected:
  /// Compares the backend under test, with these numbers of slots, with the CPU.
  static void compare(const Size& size, const ChromaCase& chroma, std::initializer_list<uint32_t> slots) {
    Config config;
    config.width = size.width;
    config.height = size.height;
    config.threads = 1;
    const std::vector<Picture> pictures = draw_all(size, chroma);
    std::vector<Found> want;
    ASSERT_NO_FATAL_FAILURE(run(make_host_engine().get(), config, pictures, &want));
    config.threads = 3;
    for (const uint32_t n_slots : slots) {
      config.slots = n_slots;
      // An engine that is configured again for the same size goes on with its model, so each one is new.
      std::unique_ptr<Engine> engine;
      ASSERT_TRUE(make_engine(&engine).ok());
      std::vector<Found> got;
      ASSERT_NO_FATAL_FAILURE(run(engine.get(), config, pictures, &got));
      for (uint32_t i = 0; i < kFrames; ++i) {
        FrameCounts counts = got[i].counts;
        counts.n_iterations = want[i].counts.n_iterations;
        ASSERT_EQ(counts, want[i].counts) << size.width << "×" << size.height << " " << chroma.name
                                          << ", frame " << i << ", " << n_slots << " slots";
        ASSERT_EQ(got[i].labels, want[i].labels) << size.width << "×" << size.height << " " << chroma.name
                                                 << ", frame " << i << ", " << n_slots << " slots";
      }
    }
  }

  static std::vector<Picture> draw_all(const Size& size, const ChromaCase& chroma) {
    std::vector<Picture> pictures;
    for (uint32_t i = 0; i < kFrames; ++i) {
      pictures.push_back(draw(size, chroma, i));
    }
    return pictures;
  }

  /// The results of a sequence in which settings change, a frame has no time, frames are missing, and the
  /// model is reset once. The pictures and maps of frames in flight stay where they are.
  static void run(Engine* engine, const Config& config, const std::vector<Picture>& pictures,
                  std::vector<Found>* found) {
    ASSERT_TRUE(engine->configure(config).ok());
    found->assign(kFrames, {std::vector<uint32_t>(size_t{config.width} * config.height), {}, {}});
    uint32_t n_popped = 0;
    const auto pop = [&] {
      FrameResult result;
      ASSERT_TRUE(engine->pop(&result).ok());
      (*found)[n_popped++].counts = result.counts;
    };
    for (uint32_t i = 0; i < kFrames; ++i) {
      if (i >= config.slots) {
        pop();
      }
      FrameJob job{.input = pictures[i].image(), .output = {}, .settings = {}};
      job.settings.rule.foreground = Foreground::kMotion;
      job.segmentation.motion = {.model = GetParam(),
                                 .sensitivity = static_cast<uint8_t>(i < 24 ? 50 : 80),
                                 .shadows = i % 9 != 4,
                                 .learning_ms = 1200,
                                 .warm_up_ms = 200};
      job.segmentation.morphology.close_radius = i % 5 == 2 ? 1 : 0;
      job.time = i == 20 ? kNoTime : i * kFrameTime + (i > 25 ? 7 * kFrameTime : 0);
      job.resets_background = i == kReset;
      job.labels = (*found)[i].labels.data();
      ASSERT_TRUE(engine->push(job).ok());
    }
    while (n_popped < kFrames) {
      pop();
    }
  }

  /// Compares an engine that has seen frames of this chroma with this model, and then is reset if both are
  /// the same, with a new engine.
  static void compare_used(const ChromaCase& chroma, const ChromaCase& used_chroma,
                           BackgroundModel used_model,
                           Picture (*draw_frame)(const Size&, const ChromaCase&, uint32_t)) {
    constexpr uint32_t kSeenBefore = 17;
    const Size size = {67, 33};
    Config config;
    config.width = size.width;
    config.height = size.height;
    config.output = Output::kBackground;
    std::unique_ptr<Engine> used;
    std::unique_ptr<Engine> fresh;
    ASSERT_TRUE(make_engine(&used).ok() && make_engine(&fresh).ok());
    ASSERT_TRUE(used->configure(config).ok() && fresh->configure(config).ok());
    for (uint32_t i = 0; i < kSeenBefore; ++i) {
      const Picture picture = draw_frame(size, used_chroma, kDarker + i);
      see(used.get(), config, picture, (i + 3) * kFrameTime, /*resets=*/false, used_model);
    }
    for (uint32_t i = 0; i < kFrames; ++i) {
      const Picture picture = draw_frame(size, chroma, i);
      const bool resets = i == 0 && used_model == GetParam() && &used_chroma == &chroma;
      const Found want = see(fresh.get(), config, picture, i * kFrameTime, /*resets=*/false);
      const Found got = see(used.get(), config, picture, i * kFrameTime, resets);
      ASSERT_EQ(got.counts.relearning, want.counts.relearning) << "frame " << i;
      ASSERT_EQ(got.labels, want.labels) << "frame " << i;
      ASSERT_TRUE(got.background == want.background) << "frame " << i;
    }
  }

  /// What an engine finds in one more frame. Its output is the background.
  static Found see(Engine* engine, const Config& config, const Picture& picture, int64_t time, bool resets,
                   BackgroundModel model = GetParam()) {
    const size_t n_pixels = size_t{config.width} * config.height;
    Found found{std::vector<uint32_t>(n_pixels), {}, std::vector<uint8_t>(n_pixels * 4)};
    FrameJob job{.input = picture.image(),
                 .output = {found.background.data(), size_t{config.width} * 4},
                 .settings = {}};
    job.settings.rule.foreground = Foreground::kMotion;
    job.segmentation.motion = {.model = model, .learning_ms = 400, .warm_up_ms = 100};
    job.time = time;
    job.resets_background = resets;
    job.labels = found.labels.data();
    FrameResult result;
    EXPECT_TRUE(engine->push(job).ok());
    EXPECT_TRUE(engine->pop(&result).ok());
    found.counts = result.counts;
    return found;
  }
};

TEST_P(BackgroundTest, IsTheSameAsOnTheCpu) {
  for (const Size& size :
       {Size{1, 1}, Size{2, 3}, Size{17, 5}, Size{64, 33}, Size{131, 67}, Size{220, 70}, Size{322, 178}}) {
    for (const ChromaCase& chroma : kChromaCases) {
      ASSERT_NO_FATAL_FAILURE(compare(size, chroma, {1, 3}));
    }
  }
}

/// Short enough for racecheck and memcheck.
TEST_P(BackgroundTest, SanitizerSubset) {
  ASSERT_NO_FATAL_FAILURE(compare({131, 37}, kChromaCases[0], {3}));
  ASSERT_NO_FATAL_FAILURE(compare({66, 23}, kChromaCases[1], {1}));
}

TEST_P(BackgroundTest, FindsSomething) {
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  std::vector<Found> found;
  Config config;
  config.width = 322;
  config.height = 178;
  run(engine.get(), config, draw_all({config.width, config.height}, kChromaCases[0]), &found);
  ASSERT_FALSE(HasFatalFailure());
  EXPECT_EQ(found[2].counts.relearning, 1u);
  EXPECT_EQ(found[12].counts.relearning, 0u);
  EXPECT_GE(found[12].counts.n_labels, 1u);
  for (const uint32_t i : {kLighter, kReset, kDarker}) {
    EXPECT_EQ(found[i - 1].counts.relearning, 0u) << i;
    EXPECT_EQ(found[i].counts.relearning, 1u) << i;
  }
  EXPECT_EQ(found[kFrames - 1].counts.relearning, 0u);
}

/// What was seen before a reset, with another model or with other chroma, changes nothing after it, as in an
/// element that plays once more.
TEST_P(BackgroundTest, ANewBeginForgetsWhatWasSeen) {
  constexpr ChromaCase kWithout = {"grey", false, false, false, 0, 0};
  for (const ChromaCase& chroma : kChromaCases) {
    SCOPED_TRACE(chroma.name);
    for (const auto draw_frame : {draw, draw_noise}) {
      ASSERT_NO_FATAL_FAILURE(compare_used(chroma, chroma, BackgroundModel::kSigmaDelta, draw_frame));
      ASSERT_NO_FATAL_FAILURE(compare_used(chroma, chroma, BackgroundModel::kMixture, draw_frame));
    }
    if (chroma.is_present) {
      ASSERT_NO_FATAL_FAILURE(compare_used(chroma, kWithout, GetParam(), draw));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, BackgroundTest,
                         testing::Values(BackgroundModel::kSigmaDelta, BackgroundModel::kMixture),
                         [](const testing::TestParamInfo<BackgroundModel>& info) {
                           return info.param == BackgroundModel::kMixture ? "mixture" : "sigma_delta";
                         });

}  // namespace

}  // namespace ccl::test
