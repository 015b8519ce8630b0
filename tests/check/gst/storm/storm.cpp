// SPDX-License-Identifier: LGPL-2.1-or-later
/// Does to elements, from many threads at once, what pipelines and applications may do. storm_test.cpp runs
/// it under GStreamer's leaks tracer; docs/testing.md says how to run it for longer.
///
///     storm ELEMENTS STEPS [leak]
///
/// With `leak` one buffer is never released, to show that the tracer reports it. CUDACCL_STORM_SEED is the
/// seed of the random choices. Each thread has its own, so a seed repeats what is done, but not when.
#include <gst/video/video.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "harness.h"
#include "stream.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kSetters = 8;
constexpr GstState kStates[] = {GST_STATE_NULL, GST_STATE_READY};
constexpr const char* kAccepted[] = {nullptr, "video/x-raw,format={RGBA,xBGR}",
                                     "video/x-raw,format={GRAY8,NV12}"};
constexpr GstFlowReturn kAnswers[] = {GST_FLOW_EOS, GST_FLOW_ERROR, GST_FLOW_NOT_LINKED,
                                      GST_FLOW_NOT_NEGOTIATED};

class Storm {
 public:
  Storm(uint32_t seed, uint32_t n_elements);
  ~Storm();
  void run(int steps);

 private:
  using Act = void (Storm::*)(Stream*);
  [[noreturn]] void fail(const std::string& text) const;
  void watch();
  std::unique_lock<std::shared_mutex> calm();
  void set_values(uint32_t setter);
  void set_values(Stream* stream, uint32_t setter, Choices* choices);
  void step();
  void begin(Stream* stream);
  void restart(Stream* stream);
  void flush(Stream* stream);
  void play_or_pause(Stream* stream);
  void query(Stream* stream);
  void send_upstream(Stream* stream);
  void block(Stream* stream);
  void disturb(Stream* stream);
  void read(Stream* stream);
  void compare(Stream* stream);
  void compare_restarted(Stream* stream);
  void compare_flushed(Stream* stream);
  void expect_the_same(Stream* stream, const GstCaps* caps, const char* when);

  const uint32_t seed_;
  Choices choices_;
  Counts counts_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::shared_mutex setting_;          ///< alone: nobody sets values
  std::atomic<bool> is_calm_ = false;  ///< the setters let the other thread go first
  std::atomic<bool> is_over_ = false;
  std::atomic<uint64_t> n_steps_ = 0;
  std::vector<std::thread> setters_;
  std::thread watchdog_;
};

Storm::Storm(uint32_t seed, uint32_t n_elements) : seed_(seed), choices_(seed) {
  for (uint32_t i = 0; i < n_elements; ++i) {
    streams_.push_back(
        std::make_unique<Stream>(seed + i + 1, &counts_, [this](const std::string& text) { fail(text); }));
    streams_.back()->begin_thread(std::chrono::milliseconds(n_elements - 1));
    begin(streams_.back().get());
  }
  for (uint32_t i = 0; i < kSetters; ++i) {
    setters_.emplace_back([this, i] { set_values(i); });
  }
  watchdog_ = std::thread([this] { watch(); });
}

Storm::~Storm() {
  is_over_ = true;
  for (std::thread& setter : setters_) {
    setter.join();
  }
  for (const auto& stream : streams_) {
    stream->finish();
  }
  watchdog_.join();
  std::printf(
      "%lu frames, %lu renegotiations, %lu changes of state, %lu flushes, %lu values set, %lu comparisons\n",
      counts_.frames.load(), counts_.caps.load(), counts_.states.load(), counts_.flushes.load(),
      counts_.values.load(), counts_.comparisons.load());
}

void Storm::fail(const std::string& text) const {
  std::fprintf(stderr, "CUDACCL_STORM_SEED=%u: %s\n", seed_, text.c_str());
  for (const auto& stream : streams_) {
    std::fprintf(stderr, "  %s\n", stream->describe().c_str());
  }
  std::abort();
}

/// A deadlock is when nothing happens for a minute.
void Storm::watch() {
  uint64_t last = 0;
  for (int seconds = 0; !is_over_; ++seconds) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const uint64_t now = n_steps_ + counts_.comparisons;
    seconds = now != last ? 0 : seconds;
    last = now;
    if (seconds > 60) {
      fail("nothing happens any more");
    }
  }
}

/* Values, from threads of their own */

void Storm::set_values(uint32_t setter) {
  Choices choices(seed_ + 1000 + setter);
  for (uint64_t frames = 0; !is_over_;) {
    for (const auto& stream : streams_) {
      while (is_calm_) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
      const std::shared_lock guard(setting_);
      set_values(stream.get(), setter, &choices);
    }
    while (counts_.frames == frames && !is_over_) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    frames = counts_.frames;
  }
}

/// As long as the lock is held, nobody sets values.
std::unique_lock<std::shared_mutex> Storm::calm() {
  is_calm_ = true;
  std::unique_lock lock(setting_);
  is_calm_ = false;
  return lock;
}

void Storm::set_values(Stream* stream, uint32_t setter, Choices* choices) {
  for (size_t i = setter; i < stream->writable().size(); i += kSetters) {
    GParamSpec* spec = stream->writable()[i];
    g_object_set_property(G_OBJECT(stream->element()), spec->name, choose_value(spec, choices).get());
    ++counts_.values;
  }
}

/* What the application does */

void Storm::run(int steps) {
  for (int i = 0; i < steps; ++i) {
    step();
    ++n_steps_;
  }
}

void Storm::step() {
  static constexpr Act kActs[] = {&Storm::restart,       &Storm::restart, &Storm::flush,
                                  &Storm::play_or_pause, &Storm::query,   &Storm::query,
                                  &Storm::send_upstream, &Storm::block,   &Storm::disturb,
                                  &Storm::read,          &Storm::compare, &Storm::compare};
  Stream* stream = choices_.of(streams_).get();
  if (stream->is_broken()) {
    restart(stream);
  } else {
    (this->*choices_.of(kActs))(stream);
  }
  // Some steps of the thread between two acts, unless downstream blocks.
  const uint64_t enough = stream->n_steps() + choices_.below(24);
  for (int left = 50; left > 0 && stream->n_steps() < enough && !stream->is_broken(); --left) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  stream->downstream().let_go();
}

/// The element goes up. Values that make a start impossible are changed.
void Storm::begin(Stream* stream) {
  const GstState state = choices_.one_in(4) ? GST_STATE_PAUSED : GST_STATE_PLAYING;
  while (stream->set_state(state) == GST_STATE_CHANGE_FAILURE) {
    const auto guard = calm();
    stream->set_state(GST_STATE_NULL);
    stream->repair();
    if (stream->set_state(GST_STATE_READY) == GST_STATE_CHANGE_FAILURE) {
      fail("a repaired element does not start");
    }
  }
  stream->resume();
}

void Storm::restart(Stream* stream) {
  stream->pause(true, [&] { stream->set_state(choices_.of(kStates)); });
  for (uint32_t more = choices_.below(3); more > 0; --more) {
    stream->set_state(choices_.of(kStates));
  }
  begin(stream);
}

void Storm::flush(Stream* stream) {
  stream->pause(true, [&] { gst_pad_push_event(stream->src(), gst_event_new_flush_start()); });
  stream->flush();
  stream->resume();
}

void Storm::play_or_pause(Stream* stream) {
  stream->set_state(GST_STATE_PAUSED);
  stream->set_state(GST_STATE_PLAYING);
}

void Storm::query(Stream* stream) {
  GstPad* pad = stream->downstream().pad();
  const Ref<GstCaps> caps = stream->choose_caps(&choices_);
  const Ref<GstQuery> queries[] = {Ref<GstQuery>(gst_query_new_latency()),
                                   Ref<GstQuery>(gst_query_new_caps(nullptr)),
                                   Ref<GstQuery>(gst_query_new_caps(caps.get())),
                                   Ref<GstQuery>(gst_query_new_accept_caps(caps.get())),
                                   Ref<GstQuery>(gst_query_new_position(GST_FORMAT_TIME)),
                                   Ref<GstQuery>(gst_query_new_duration(GST_FORMAT_TIME)),
                                   Ref<GstQuery>(gst_query_new_scheduling()),
                                   Ref<GstQuery>(gst_query_new_context("gst.cuda.context"))};
  gst_pad_peer_query(pad, choices_.of(queries).get());
}

void Storm::send_upstream(Stream* stream) {
  GstPad* pad = stream->downstream().pad();
  switch (choices_.below(5)) {
    case 0:
      gst_pad_push_event(pad, gst_event_new_reconfigure());
      break;
    case 1:
      gst_pad_push_event(pad, gst_event_new_latency(GST_SECOND));
      break;
    case 2:
      gst_pad_push_event(pad, gst_event_new_seek(1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
                                                 0, GST_SEEK_TYPE_NONE, 0));
      break;
    case 3:
      gst_pad_push_event(pad,
                         gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, gst_structure_new_empty("storm")));
      break;
    default:
      gst_pad_push_event(pad, gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, kFrameDuration,
                                                choices_.below(1000) * kFrameDuration));
  }
}

void Storm::block(Stream* stream) {
  stream->downstream().block();
}

void Storm::disturb(Stream* stream) {
  Downstream& downstream = stream->downstream();
  switch (choices_.below(3)) {
    case 0:
      downstream.accept(choices_.of(kAccepted));
      break;
    case 1:
      downstream.offer_pools(choices_.one_in(2) ? 0 : 2 + choices_.below(8));
      break;
    default:
      return downstream.answer_once(choices_.of(kAnswers));
  }
  gst_pad_push_event(downstream.pad(), gst_event_new_reconfigure());
}

void Storm::read(Stream* stream) {
  for (const GParamSpec* spec : own_properties(stream->element())) {
    GValue value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(stream->element()), spec->name, &value);
    g_value_unset(&value);
  }
  g_signal_emit_by_name(stream->element(), "reset-background");
}

/* What the element does after all that */

void Storm::compare(Stream* stream) {
  stream->downstream().accept(nullptr);
  stream->downstream().offer_pools(0);
  if (choices_.one_in(2)) {
    compare_restarted(stream);
  } else {
    compare_flushed(stream);
  }
  restart(stream);
}

/// Another life does not know the one before.
void Storm::compare_restarted(Stream* stream) {
  stream->pause(true, [&] { stream->set_state(choices_.of(kStates)); });
  const auto guard = calm();
  for (GParamSpec* spec : stream->writable()) {
    const bool has_choices =
        G_IS_PARAM_SPEC_ENUM(spec) || G_IS_PARAM_SPEC_FLAGS(spec) || G_IS_PARAM_SPEC_BOOLEAN(spec);
    const bool is_random = choices_.one_in(has_choices ? 2 : 12);  // with too many numbers, nothing is found
    g_object_set_property(
        G_OBJECT(stream->element()), spec->name,
        is_random ? choose_value(spec, &choices_).get() : g_param_spec_get_default_value(spec));
  }
  stream->repair();
  const Ref<GstCaps> caps = stream->choose_caps(&choices_);
  const auto start = [&](GstState from) {
    stream->set_state(from);
    if (stream->set_state(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
      fail("a repaired element does not start: " + stream->take_errors().back());
    }
  };
  start(GST_STATE_NULL);
  stream->play(caps.get(), 0, 4);
  gboolean is_tracked = FALSE;
  g_object_get(stream->element(), "track", &is_tracked, nullptr);
  start(is_tracked ? GST_STATE_NULL : GST_STATE_READY);  // from READY, ids go on
  expect_the_same(stream, caps.get(), "started again");
}

/// Whatever was set between frames before, only the values that are set now count.
void Storm::compare_flushed(Stream* stream) {
  stream->pause(true, [&] { gst_pad_push_event(stream->src(), gst_event_new_flush_start()); });
  gst_pad_push_event(stream->src(), gst_event_new_flush_stop(TRUE));
  const auto guard = calm();
  // What was learned or followed goes on, so it is not that of a new element.
  gst_util_set_object_arg(G_OBJECT(stream->element()), "foreground", choices_.one_in(2) ? "binary" : "otsu");
  gst_util_set_object_arg(G_OBJECT(stream->element()), "track", "false");
  // A first frame, with which values are taken back that cannot work.
  const Ref<GstCaps> caps = stream->choose_caps(&choices_);
  stream->play(caps.get(), 0, 1);
  gst_pad_push_event(stream->src(), gst_event_new_flush_start());
  gst_pad_push_event(stream->src(), gst_event_new_flush_stop(TRUE));
  if (stream->take_errors().empty()) {
    expect_the_same(stream, caps.get(), "flushed");
  }
}

void Storm::expect_the_same(Stream* stream, const GstCaps* caps, const char* when) {
  Stream fresh(seed_, &counts_, [this](const std::string& text) { fail(text); });
  for (const GParamSpec* spec : stream->writable()) {
    GValue value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(stream->element()), spec->name, &value);
    g_object_set_property(G_OBJECT(fresh.element()), spec->name, &value);
    g_value_unset(&value);
  }
  fresh.repair();
  stream->repair();
  if (fresh.set_state(GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    fail("a new element does not start");
  }
  const uint32_t seed = choices_.below(1000);
  const std::vector<std::string> want = fresh.play(caps, seed, 5);
  const std::vector<std::string> got = stream->play(caps, seed, 5);
  ++counts_.comparisons;
  if (want != got) {
    const Text text(gst_caps_to_string(caps));
    std::string values;
    for (const GParamSpec* spec : stream->writable()) {
      values += std::string(" ") + spec->name + '=' + text_of_property(stream->element(), spec->name);
    }
    const auto [wanted, gotten] = std::mismatch(want.begin(), want.end(), got.begin(), got.end());
    const auto head = [](const auto& at, const auto& all) {
      std::string text = at != all.end() ? at->substr(0, 300) : "nothing";
      std::replace_if(
          text.begin(), text.end(), [](char c) { return !g_ascii_isprint(c); }, '.');
      return text;
    };
    fail(std::string("an element that was ") + when + " gives other frames than a new one: " + text.get() +
         values + "\n  a new one gives " + head(wanted, want) + "\n  this one gives " + head(gotten, got));
  }
}

}  // namespace

}  // namespace cudaccl::test

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (argc < 3) {
    std::fprintf(stderr, "storm ELEMENTS STEPS [leak]\n");
    return EXIT_FAILURE;
  }
  const char* seed = std::getenv("CUDACCL_STORM_SEED");
  g_log_set_always_fatal(
      static_cast<GLogLevelFlags>(G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING));
  {
    cudaccl::test::Storm storm(seed != nullptr ? static_cast<uint32_t>(std::atoi(seed)) : 1,
                               static_cast<uint32_t>(std::atoi(argv[1])));
    storm.run(std::atoi(argv[2]));
  }
  if (argc > 3 && std::strcmp(argv[3], "leak") == 0) {
    std::printf("leaked buffer %p\n", static_cast<void*>(gst_buffer_new()));
  }
  gst_deinit();
  std::puts("done");
  return EXIT_SUCCESS;
}
