// SPDX-License-Identifier: LGPL-2.1-or-later
/// The way of a frame through the element, from the sink pad's buffer to the source pad's.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "element/backend.h"
#include "frame/corrupt_frames.h"
#include "frame/held_events.h"
#include "frame/in_flight.h"
#include "memory/label_map_pool.h"
#include "memory/owned.h"
#include "memory/pool_share.h"
#include "negotiation/negotiation.h"
#include "properties/properties.h"
#include "report/reporter.h"
#include "report/statistics.h"

namespace cudaccl {

/// Frames go push() → in flight in the engine → pop(), in the order in which they arrived. Only the streaming
/// thread calls it, or a state change while that thread does not run. When a call fails, an error has been
/// posted on the element, unless it returns the flow of another element. After an error of its own all calls
/// fail until flush(): an event has no flow by which upstream would know.
class FramePath {
 public:
  /// All four must outlive this.
  FramePath(GstBaseTransform* element, Backend* backend, Negotiation* negotiation, Statistics* statistics);

  /// Prepares for frames of new caps. No frame may be in flight.
  void start();
  /// Puts a frame in flight, and takes the buffer. `frame_duration` is 0 if it is unknown.
  /// GST_BASE_TRANSFORM_FLOW_DROPPED if the buffer cannot be read. Older frames are sent downstream first if
  /// the frame needs another engine configuration, or if the output's pool has no buffer left.
  GstFlowReturn push(GstBuffer* in, Properties properties, GstClockTime frame_duration);
  /// Fails for lack of memory, and discards the buffer and all frames in flight.
  GstFlowReturn give_up(GstBuffer* in);
  /// Memory was lacking somewhere in the element: posts an error unless there was one. Any thread may call
  /// it.
  void fail_for_memory();
  /// An error was posted elsewhere.
  void keep_failure() { has_failed_ = true; }
  /// Another life begins.
  void forget_failure() { has_failed_ = false; }
  bool has_failed() const { return has_failed_; }
  /// If the oldest frame may not stay in flight, waits for it and attaches its records. The buffer is the
  /// caller's; otherwise *out does not change.
  GstFlowReturn pop(GstBuffer** out);
  /// Finishes all frames in flight and sends them downstream, and the events that wait behind them; discards
  /// the rest after a failure.
  GstFlowReturn drain();
  /// Takes a serialized event if it may wait behind the frames in flight. Otherwise drains: the event is the
  /// caller's.
  bool hold_or_drain(GstEvent* event);
  /// The pool of the input may come again with another number of buffers.
  void forget_pool() { in_pool_.forget(); }
  /// Discards all frames in flight, and the events that wait behind them.
  void flush();
  /// Counts a frame that was dropped because it was late. The frames in flight that are due at `time` leave
  /// with the next calls of pop().
  void drop_late(GstClockTime time);
  /// A stream begins, and knows nothing about the previous one. No frame may be in flight. The texts are
  /// those of FrameIdentity.
  void begin_stream(std::string source, std::string object_type);
  /// Discards all frames in flight, and gives memory back.
  void end_stream();
  /// The background model learns again from the next frame that uses it. Any thread may call it.
  void reset_background() { resets_background_ = true; }
  /// A new time begins: the same, and all tracks end before the next frame that has `track`.
  void reset_time() {
    resets_background_ = true;
    resets_tracks_ = true;
  }
  /// Frames of another source follow, with the same caps.
  void follow_source() {
    reset_time();
    clock_.start();
  }

 private:
  template <typename Function>
  GstFlowReturn guarded(Function function) noexcept;
  GstFlowReturn push_frame(Owned<GstBuffer> in, Properties properties, GstClockTime frame_duration);
  GstFlowReturn follow_context(GstBuffer* in);
  GstFlowReturn prepare_engine(GstBuffer* in, Properties* properties);
  GstFlowReturn push_into_engine(FrameInFlight* frame);
  bool map_frame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags,
                 std::optional<MappedFrame>* mapped) const;
  GstBuffer* acquire_output(GstBuffer* in, GstFlowReturn* flow);
  GstFlowReturn acquire_from_pool(GstBufferPool* pool, GstBuffer** out);
  ccl::FrameJob make_job(const FrameInFlight& frame);
  GstFlowReturn add_label_map(FrameInFlight* frame, ccl::FrameJob* job);
  GstFlowReturn push_job(const ccl::FrameJob& job, const Properties& properties);
  void warn_of_outside(const RegionSetting& setting, uint32_t width, uint32_t height) const;
  GstFlowReturn follow_regions(const Properties& properties);
  bool is_oldest_due() const;
  GstFlowReturn finish_oldest(GstBuffer** out);
  GstFlowReturn send_oldest();
  GstFlowReturn drop_corrupt_frame(GstBuffer* buffer);
  void discard_frames();
  GstFlowReturn fail(const ccl::Status& status);
  static GstPadProbeReturn mark_gap(GstPad* pad, GstPadProbeInfo* info, gpointer self);

  GstBaseTransform* const element_;
  Backend* const backend_;
  Negotiation* const negotiation_;
  Statistics* const statistics_;
  CorruptFrames corrupt_frames_;

  InFlight in_flight_;
  HeldEvents held_events_;
  std::atomic<bool> has_failed_ = false;       ///< nothing leaves until a flush or another stream
  guint depth_ = 0;                            ///< frames that may stay in flight
  GstClockTime frame_duration_ = 0;            ///< 0: unknown
  GstClockTime newest_ = GST_CLOCK_TIME_NONE;  ///< timestamp of the last frame that arrived
  bool drew_all_outlines_ = true;
  bool after_gap_ = false;          ///< the next frame is the first one after a gap
  bool leaves_after_gap_ = false;   ///< the frame that leaves now is the first one after a gap
  bool downstream_failed_ = false;  ///< the failure of this call is not the element's
  bool follows_context_ = false;    ///< the next buffer may be CUDA memory of another context
  PoolShare in_pool_;               ///< the element that fills the input's buffers waits for those we keep
  LabelMapPool label_maps_;
  std::atomic<bool> resets_background_ = false;
  std::atomic<bool> resets_tracks_ = false;
  std::tuple<std::shared_ptr<const RegionSetting>, uint32_t, uint32_t> regions_;  ///< and the size of frames
  CaptureClock clock_;
  Reporter reporter_;
};

}  // namespace cudaccl
