// SPDX-License-Identifier: LGPL-2.1-or-later
/// A live pipeline of a soak, and what all of them have in common.
#pragma once

#include <gst/gst.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <vector>

#include "ref.h"

namespace cudaccl::soak {

using test::Ref;
using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& text);

/// What all streams have in common.
class Totals {
 public:
  Totals();
  ~Totals();
  Totals(const Totals&) = delete;
  Totals& operator=(const Totals&) = delete;

  void add_latency(Clock::duration time);
  /// A line of JSON. The file begins again before it is large.
  void publish(const GString* json);
  /// What came since the last call.
  void take(std::vector<float>* latencies_ms, uint64_t* n_messages);

  std::atomic<uint64_t> n_events = 0;

 private:
  static constexpr long kMostBytes = 64 << 20;

  std::mutex lock_;
  std::FILE* file_;  ///< has no name, and goes with the process
  std::vector<float> latencies_ms_;
  uint64_t n_messages_ = 0;
};

/// What happens to a stream.
enum class Upset { kNone, kNewSize, kStall };

struct Kind {
  const char* name;
  uint32_t width;
  uint32_t height;
  const char* format;
  const char* memory;  ///< what stands before the element, and gives frames other memory
  const char* settings;
  Upset upset;
  bool holds_frames = false;  ///< in flight, so that the latency is that of the camera
};

/// What the stream of this number is. Those of the CPU need no GPU.
const Kind& kind_of(uint32_t number, const std::string& backend);

/// One camera, from a live source to a sink that takes all.
class Stream {
 public:
  Stream(uint32_t number, const std::string& backend, Totals* totals);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Takes the messages of the bus. An error ends the program, and so does a stream of which nothing comes.
  void listen();
  /// Called every five seconds.
  void upset();
  /// Frames since the last call.
  uint64_t take_frames() { return n_frames_.exchange(0); }
  std::string describe() const;

 private:
  void add_probe(GstElement* element, const char* pad_name, GstPadProbeCallback probe);
  std::string caps_text(uint32_t phase) const;
  void draw(GstPad* pad, GstPadProbeInfo* info) const;
  void enter(const GstBuffer* buffer);
  void leave(GstBuffer* buffer);

  const Kind& kind_;
  Totals& totals_;
  const uint32_t number_;
  GString* json_;
  uint32_t n_sizes_ = 0;
  std::atomic<uint64_t> n_frames_ = 0;
  Ref<GstElement> pipeline_;
  Ref<GstElement> size_;
  std::mutex lock_;  ///< of what follows
  Clock::time_point left_ = Clock::now();
  std::array<Clock::time_point, 64> entered_;  ///< by frame
};

}  // namespace cudaccl::soak
