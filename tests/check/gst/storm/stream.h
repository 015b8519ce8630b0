// SPDX-License-Identifier: LGPL-2.1-or-later
/// An element of a storm between two pads, and the thread that pushes into it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "downstream.h"
#include "property_values.h"

namespace cudaccl::test {

/// What happened in a storm.
struct Counts {
  std::atomic<uint64_t> frames, caps, states, flushes, values, comparisons, refusals;
};

class Stream {
 public:
  using Fail = std::function<void(const std::string&)>;

  Stream(uint32_t seed, Counts* counts, Fail fail);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  GstElement* element() const { return element_.get(); }
  /// What stands before the element.
  GstPad* src() const { return src_.get(); }
  Downstream& downstream() { return *downstream_; }
  const std::vector<GParamSpec*>& writable() const { return writable_; }

  /* The thread, which begins paused */

  /// Random frames, events and queries, until finish(), with pauses of this time.
  void begin_thread(std::chrono::microseconds pace);
  void finish();
  /// Lets the thread come to rest. With `flushes` it does not wait for downstream or for a pool: the element
  /// is being stopped or flushed meanwhile by `act`.
  void pause(
      bool flushes, const std::function<void()>& act = [] {});
  /// The thread goes on, first with the events that begin a stream.
  void resume();
  /// The thread waits after an error: it needs another start, or a flush.
  bool is_broken() const { return is_broken_; }

  uint64_t n_steps() const { return n_steps_; }

  /* While the thread is paused, or from it */

  GstStateChangeReturn set_state(GstState state);
  /// Makes a start possible: a backend that there is, and no value whose refusal is due.
  void repair();
  void flush();
  /// Plays frames with the caps from the start of a stream to its end, and gives what left: pictures,
  /// records, errors, and the flows.
  std::vector<std::string> play(const GstCaps* caps, uint32_t seed, int n_frames);
  Ref<GstCaps> choose_caps(Choices* choices) const;
  /// The errors since the last call.
  std::vector<std::string> take_errors();
  std::string describe() const;

 private:
  using Step = void (Stream::*)();
  bool wait_while_paused();
  void step();
  void begin_stream(const GstCaps* caps);
  void push_frame();
  void push_event();
  void send_query();
  void change_caps();
  void end_and_flush();
  void flush_here();
  void send_segment(Choices* choices);
  GstFlowReturn push(Ref<GstBuffer> buffer);
  void judge(GstFlowReturn flow);
  bool send(GstEvent* event);
  Ref<GstBuffer> make_buffer(uint32_t seed);
  Ref<GstBuffer> disfigured(Ref<GstBuffer> buffer);
  void use_pool(guint length);
  static GstBusSyncReply take_message(GstBus*, GstMessage* message, gpointer self);

  Choices choices_;
  Counts* const counts_;
  const Fail fail_;
  Ref<GstElement> element_;
  std::vector<GParamSpec*> writable_;
  Ref<GstPad> src_;
  std::unique_ptr<Downstream> downstream_;

  std::thread thread_;
  mutable std::mutex lock_;
  std::condition_variable changed_;
  bool must_pause_ = true;
  bool must_begin_ = false;
  bool is_paused_ = false;
  bool is_finished_ = false;
  std::atomic<bool> is_broken_ = false;
  std::atomic<uint64_t> n_steps_ = 0;
  std::vector<std::string> errors_;
  std::atomic<const char*> doing_ = "nothing";

  GstVideoInfo info_;
  Ref<GstBufferPool> pool_;
  guint64 n_frames_ = 0;
  bool took_caps_ = false;
};

}  // namespace cudaccl::test
