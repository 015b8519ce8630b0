// SPDX-License-Identifier: LGPL-2.1-or-later
/// foreground=motion in the element: when the model learns again and when it does not, what is reported, and
/// what time it learns by. What the models find is tested in the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 64;
constexpr uint32_t kHeight = 48;

/// A still scene, if wanted with a bright object in it.
Image scene(bool has_object) {
  Image image = blank(kWidth, kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      const bool is_object = has_object && x >= 20 && x < 36 && y >= 12 && y < 28;
      image.at(x, y) = is_object ? 230 : static_cast<uint8_t>(60 + (x + y) % 3);
    }
  }
  return image;
}

class Motion : public testing::TestWithParam<const char*> {
 protected:
  /// Plays a second of the empty scene, after which the model is ready.
  void start(const std::string& properties = "", const std::string& format = "GRAY8") {
    format_ = format;
    h = std::make_unique<Harness>(std::string("foreground=motion output=mask motion-warm-up=400000000 "
                                              "background-model=") +
                                  GetParam() + " " + properties);
    ASSERT_TRUE(h->send_caps(format, kWidth, kHeight));
    play(25);
    EXPECT_FALSE(is_relearning());
    EXPECT_TRUE(finds_object());
  }

  Ref<GstBuffer> process(bool has_object) {
    Ref<GstBuffer> frame = new_frame(has_object);
    GST_BUFFER_PTS(frame.get()) = time_;
    GST_BUFFER_DURATION(frame.get()) = kFrameDuration;
    time_ += kFrameDuration;
    return h->process(std::move(frame));
  }

  Ref<GstBuffer> new_frame(bool has_object) const {
    const Image image = scene(has_object);
    if (format_ != "RGBx") {
      return make_frame(image, format_);
    }
    Ref<GstBuffer> frame(gst_buffer_new_allocate(nullptr, image.pixels.size() * 4, nullptr));
    for (size_t i = 0; i < image.pixels.size(); ++i) {
      const uint8_t bytes[4] = {image.pixels[i], image.pixels[i], image.pixels[i], 0};
      gst_buffer_fill(frame.get(), i * 4, bytes, 4);
    }
    return frame;
  }

  void play(int frames) {
    for (int i = 0; i < frames; ++i) {
      process(false);
    }
  }

  bool is_relearning() { return components_of(process(false).get()).relearning; }

  bool finds_object() {
    const Ref<GstBuffer> out = process(true);
    const GstCudaCclInfo info = components_of(out.get());
    const bool is_found = info.n_records == 1 && info.records[0].area > 200 && info.records[0].area < 320;
    EXPECT_TRUE(is_found || info.n_components == 0) << info.n_components;
    return is_found;
  }

  int relearning_messages() {
    int count = 0;
    while (const Ref<GstMessage> message = h->message(GST_MESSAGE_ELEMENT)) {
      count += gst_message_has_name(message.get(), "cudaccl-relearning");
    }
    return count;
  }

  std::unique_ptr<Harness> h;
  std::string format_;
  GstClockTime time_ = 0;
};

}  // namespace

TEST_P(Motion, NothingIsForegroundInTheWarmUp) {
  h = std::make_unique<Harness>(std::string("foreground=motion motion-warm-up=400000000 background-model=") +
                                GetParam());
  format_ = "GRAY8";
  ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  for (int i = 0; i < 8; ++i) {
    const Ref<GstBuffer> out = process(i % 2 == 1);
    EXPECT_TRUE(components_of(out.get()).relearning) << i;
    EXPECT_EQ(components_of(out.get()).n_components, 0u) << i;
  }
  EXPECT_EQ(h->stat("relearning"), 8u);
  EXPECT_EQ(relearning_messages(), 1);
}

/// New caps of the same pixels, and other outputs, do not end what the model learns.
TEST_P(Motion, OneWarmUpIsReportedOnce) {
  h = std::make_unique<Harness>(std::string("foreground=motion background-model=") + GetParam());
  format_ = "GRAY8";
  const std::string caps = "video/x-raw, format=GRAY8, width=64, height=48, framerate=";
  ASSERT_TRUE(h->send_caps(caps + "25/1"));
  EXPECT_TRUE(is_relearning());
  h->set("output", "mask");
  EXPECT_TRUE(is_relearning());
  ASSERT_TRUE(h->send_caps(caps + "30/1"));
  EXPECT_TRUE(is_relearning());
  EXPECT_EQ(relearning_messages(), 1);
}

/// Also if the model was learning when the stream stopped.
TEST_P(Motion, IsReportedAfterARestart) {
  h = std::make_unique<Harness>(std::string("foreground=motion background-model=") + GetParam());
  format_ = "GRAY8";
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
    EXPECT_TRUE(is_relearning());
    EXPECT_EQ(relearning_messages(), 1) << i;
    h->start_again(GST_STATE_READY);
  }
}

TEST_P(Motion, FindsWhatMoves) {
  for (const char* format : kSinkFormats) {
    start("", format);
  }
}

TEST_P(Motion, ResetSignal) {
  start();
  relearning_messages();
  g_signal_emit_by_name(h->element(), "reset-background");
  EXPECT_TRUE(is_relearning());
  EXPECT_FALSE(finds_object());
  EXPECT_EQ(relearning_messages(), 1);
  play(25);
  EXPECT_TRUE(finds_object());
  EXPECT_EQ(relearning_messages(), 0);
}

/// While another rule is in use, a reset waits for the model's next frame.
TEST_P(Motion, ResetSignalWithAnotherRule) {
  start();
  h->set("foreground", "binary");
  process(false);
  g_signal_emit_by_name(h->element(), "reset-background");
  process(false);
  h->set("foreground", "motion");
  EXPECT_TRUE(is_relearning());
}

/// A camera may change its frame rate, and say more about the same pixels.
TEST_P(Motion, OutlivesCapsOfTheSamePixels) {
  start("", "I420");
  const std::string caps = "video/x-raw, format=I420, width=64, height=48, colorimetry=";
  for (const char* same : {"bt601, framerate=30/1", "bt601, framerate=0/1, pixel-aspect-ratio=2/1"}) {
    ASSERT_TRUE(h->send_caps(caps + same));
    EXPECT_FALSE(is_relearning()) << same;
    EXPECT_TRUE(finds_object()) << same;
  }
  ASSERT_TRUE(h->send_caps(caps + "bt709, framerate=30/1"));
  EXPECT_TRUE(is_relearning());
}

TEST_P(Motion, FlushResetsWithTimeOnly) {
  start();
  for (const bool resets_time : {false, true}) {
    h->flush(resets_time);
    EXPECT_EQ(is_relearning(), resets_time);
  }
}

TEST_P(Motion, ChangeOfCapsResets) {
  start();
  ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  EXPECT_FALSE(is_relearning()) << "the same caps";
  ASSERT_TRUE(h->send_caps("NV12", kWidth, kHeight));
  format_ = "NV12";
  EXPECT_TRUE(is_relearning());
}

/// The model survives, whatever the engine needs to do for the new value.
TEST_P(Motion, ChangesOfPropertiesDoNotReset) {
  start();
  for (const auto& [property, value] : {std::pair<const char*, const char*>{"output", "labels"},
                                        {"output", "passthrough"},
                                        {"output", "colorized"},
                                        {"output", "mask"},
                                        {"max-components", "77"},
                                        {"threads", "2"},
                                        {"pipeline-depth", "0"},
                                        {"algorithm", "dlp"},
                                        {"algorithm", "auto"},
                                        {"motion-sensitivity", "40"},
                                        {"open-radius", "1"},
                                        {"motion-shadows", "false"},
                                        {"metadata", "components+roi"}}) {
    h->set(property, value);
    EXPECT_FALSE(is_relearning()) << property << "=" << value;
    EXPECT_TRUE(finds_object()) << property << "=" << value;
  }
}

TEST_P(Motion, ChangeOfLightIsReportedOnce) {
  start();
  relearning_messages();
  const auto bright = [&] {
    Image image = scene(false);
    for (uint8_t& value : image.pixels) {
      value += 120;
    }
    Ref<GstBuffer> frame = make_frame(image, "GRAY8");
    GST_BUFFER_PTS(frame.get()) = time_;
    time_ += kFrameDuration;
    return h->process(std::move(frame));
  };
  EXPECT_TRUE(components_of(bright().get()).relearning);
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(components_of(bright().get()).n_components, 0u) << i;
  }
  EXPECT_FALSE(components_of(bright().get()).relearning);
  EXPECT_EQ(relearning_messages(), 1);
}

/// The object disappears into the background after the learning time, however many frames show it.
TEST_P(Motion, LearnsByTimeStamps) {
  int frames_until_learned[2] = {};
  for (const int step : {1, 4}) {
    start("motion-learning-time=2000000000");
    int& frames = frames_until_learned[step == 4];
    for (frames = 0; frames < 1000; ++frames) {
      time_ += (step - 1) * kFrameDuration;
      if (components_of(process(true).get()).n_components == 0) {
        break;
      }
    }
  }
  EXPECT_LT(frames_until_learned[0], 1000);
  EXPECT_GT(frames_until_learned[1], 1);
  EXPECT_NEAR(frames_until_learned[0], 4 * frames_until_learned[1], 0.35 * frames_until_learned[0]);
}

/// Time stamps that are missing or jump back end nothing.
TEST_P(Motion, BadTimeStamps) {
  start();
  for (const GstClockTime time :
       std::initializer_list<GstClockTime>{GST_CLOCK_TIME_NONE, 0, 1000 * GST_SECOND, GST_SECOND}) {
    Ref<GstBuffer> frame = make_frame(scene(true), "GRAY8");
    GST_BUFFER_PTS(frame.get()) = time;
    GST_BUFFER_DURATION(frame.get()) = kFrameDuration;
    const Ref<GstBuffer> out = h->process(std::move(frame));
    EXPECT_FALSE(components_of(out.get()).relearning);
    play(5);
    EXPECT_TRUE(finds_object());
  }
}

/// Without a model the input is shown, with one what it has learned: the scene without the object.
TEST_P(Motion, BackgroundOutput) {
  if (backend() != "cpu") {
    GTEST_SKIP() << "the GPU engine cannot write this output";
  }
  for (const char* format : {"GRAY8", "NV12", "RGBx"}) {
    start("", format);
    h->set("output", "background");
    process(false);
    const std::vector<uint8_t> empty = h->pixels(process(false));
    const std::vector<uint8_t> with_object = h->pixels(process(true));
    ASSERT_EQ(empty.size(), size_t{4} * kWidth * kHeight);
    int difference = 0;
    for (size_t i = 0; i < empty.size(); ++i) {
      difference = std::max(difference, std::abs(int{empty[i]} - int{with_object[i]}));
    }
    EXPECT_LT(difference, 8) << format;
    h->set("foreground", "binary");
    EXPECT_NE(h->pixels(process(true)), h->pixels(process(false))) << format;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Motion, testing::Values("sigma-delta", "mixture"), [](const auto& info) {
  return std::string(info.param[0] == 's' ? "SigmaDelta" : "Mixture");
});

TEST(MotionFrames, OnePixel) {
  for (const char* format : kSinkFormats) {
    Harness h("foreground=motion output=labels motion-warm-up=0", format, 1, 1);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(h.pixels(h.process(blank(1, 1, 100), format)), std::vector<uint8_t>(2)) << format;
    }
  }
}

/// A buffer that is too small for its chroma is corrupt for a rule that reads it.
TEST(MotionFrames, ChromaOutsideTheBuffer) {
  const LogCapture quiet;
  Harness h("foreground=motion output=mask", "NV12", 32, 24);
  Ref<GstBuffer> frame = make_frame(noise(32, 24, 1), "NV12");
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0, 32 * 24 + 64};
  gint strides[GST_VIDEO_MAX_PLANES] = {32, 32};
  gst_buffer_add_video_meta_full(frame.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_NV12, 32, 24, 2,
                                 offsets, strides);
  EXPECT_EQ(h.push(std::move(frame)), GST_FLOW_OK);
  EXPECT_EQ(h.pull(), nullptr);
  EXPECT_EQ(h.stat("corrupt"), 1u);
  EXPECT_NE(h.message(GST_MESSAGE_WARNING), nullptr);
}

}  // namespace cudaccl::test
