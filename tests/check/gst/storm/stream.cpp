// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stream.h"

#include <gst/video/video.h>

#include <algorithm>

#include "harness.h"

namespace cudaccl::test {

namespace {

/// Sizes of frames; random ones are as frequent as all of these.
constexpr struct {
  uint32_t width, height;
} kSizes[] = {{1, 1}, {1, 40}, {200, 1}, {33, 17}, {64, 48}, {130, 7}, {320, 240}};

constexpr gint kRates[][2] = {{25, 1}, {25, 1}, {30000, 1001}, {0, 1}, {1000, 1}};

constexpr GstQueryType kQueries[] = {GST_QUERY_DRAIN,   GST_QUERY_CAPS,       GST_QUERY_ACCEPT_CAPS,
                                     GST_QUERY_LATENCY, GST_QUERY_ALLOCATION, GST_QUERY_CONTEXT,
                                     GST_QUERY_CUSTOM};

/// What a thread of its own cannot do without the element's pads.
Ref<GstPad> pad_of(GstElement* element, const char* name) {
  return Ref<GstPad>(gst_element_get_static_pad(element, name));
}

GstEvent* custom(GstEventType type) {
  return gst_event_new_custom(type, gst_structure_new_empty("application/x-storm"));
}

}  // namespace

Stream::Stream(uint32_t seed, Counts* counts, Fail fail)
    : choices_(seed), counts_(counts), fail_(std::move(fail)) {
  element_ = make_element("name=ccl");  // the source that records name
  const std::vector<GParamSpec*> own = own_properties(element());
  std::copy_if(own.begin(), own.end(), std::back_inserter(writable_),
               [](const GParamSpec* spec) { return (spec->flags & G_PARAM_WRITABLE) != 0; });
  const Ref<GstBus> bus(gst_bus_new());
  gst_bus_set_sync_handler(bus.get(), take_message, this, nullptr);
  gst_element_set_bus(element(), bus.get());
  src_.reset(GST_PAD(gst_object_ref_sink(gst_pad_new("before", GST_PAD_SRC))));
  gst_pad_link(src_.get(), pad_of(element(), "sink").get());
  gst_pad_set_active(src_.get(), TRUE);
  downstream_ = std::make_unique<Downstream>(pad_of(element(), "src").get(), fail_);
  gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_GRAY8, 16, 16);
}

Stream::~Stream() {
  set_state(GST_STATE_NULL);
  gst_pad_set_active(src_.get(), FALSE);
  use_pool(0);
  downstream_.reset();
  gst_element_set_bus(element(), nullptr);
}

GstBusSyncReply Stream::take_message(GstBus*, GstMessage* message, gpointer raw) {
  auto* self = static_cast<Stream*>(raw);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    const std::lock_guard guard(self->lock_);
    self->errors_.push_back(text_of(message));
  }
  gst_message_unref(message);
  return GST_BUS_DROP;
}

std::vector<std::string> Stream::take_errors() {
  const std::lock_guard guard(lock_);
  return std::exchange(errors_, {});
}

/* The thread */

void Stream::begin_thread(std::chrono::microseconds pace) {
  thread_ = std::thread([this, pace] {
    while (wait_while_paused()) {
      step();
      ++n_steps_;
      std::this_thread::sleep_for(pace);
    }
  });
}

void Stream::finish() {
  pause(true, [this] { set_state(GST_STATE_NULL); });
  {
    const std::lock_guard guard(lock_);
    is_finished_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void Stream::pause(bool flushes, const std::function<void()>& act) {
  Ref<GstBufferPool> pool;
  {
    const std::lock_guard guard(lock_);
    must_pause_ = true;
    pool = pool_ ? share(pool_.get()) : nullptr;
  }
  if (flushes) {
    downstream_->stop();
    if (pool) {
      gst_buffer_pool_set_flushing(pool.get(), TRUE);
    }
  }
  downstream_->let_go();
  act();
  std::unique_lock guard(lock_);
  changed_.wait(guard, [this] { return is_paused_; });
}

void Stream::resume() {
  downstream_->start();
  take_errors();
  const std::lock_guard guard(lock_);
  is_broken_ = false;
  must_pause_ = false;
  must_begin_ = true;
  changed_.notify_all();
}

/// False when the thread must end.
bool Stream::wait_while_paused() {
  std::unique_lock guard(lock_);
  while (!is_finished_ && (must_pause_ || is_broken_ || must_begin_)) {
    is_paused_ = true;
    changed_.notify_all();
    changed_.wait(guard, [this] { return is_finished_ || (!must_pause_ && !is_broken_); });
    is_paused_ = must_begin_ = false;
    guard.unlock();
    begin_stream(choose_caps(&choices_).get());  // all for nothing if a flush has begun meanwhile
    guard.lock();
  }
  return !is_finished_;
}

void Stream::step() {
  static constexpr struct {
    const char* name;
    Step step;
    uint32_t weight;
  } kSteps[] = {{"a frame", &Stream::push_frame, 30},  {"an event", &Stream::push_event, 6},
                {"a query", &Stream::send_query, 3},   {"new caps", &Stream::change_caps, 8},
                {"an end", &Stream::end_and_flush, 1}, {"a flush", &Stream::flush_here, 1}};
  uint32_t at = choices_.below(49);
  const auto* next = std::begin(kSteps);
  while (at >= next->weight) {
    at -= next++->weight;
  }
  doing_ = next->name;
  (this->*next->step)();
  doing_ = "nothing";
}

/* Steps */

void Stream::begin_stream(const GstCaps* caps) {
  use_pool(0);
  send(gst_event_new_stream_start("storm"));
  gst_video_info_from_caps(&info_, caps);
  send(gst_event_new_caps(const_cast<GstCaps*>(caps)));
  const Ref<GstCaps> taken(gst_pad_get_current_caps(pad_of(element(), "sink").get()));
  took_caps_ = taken && gst_caps_is_equal(taken.get(), caps);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  send(gst_event_new_segment(&segment));
}

Ref<GstBuffer> Stream::make_buffer(uint32_t seed) {
  const auto stride = static_cast<uint32_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info_, 0));
  const auto size = static_cast<uint32_t>(GST_VIDEO_INFO_SIZE(&info_));
  const Image image = noise(stride, (size + stride - 1) / stride, seed);
  GstBuffer* buffer = nullptr;
  Ref<GstBufferPool> pool;
  {
    const std::lock_guard guard(lock_);
    pool = pool_ ? share(pool_.get()) : nullptr;
  }
  if (!pool) {
    buffer = gst_buffer_new_allocate(nullptr, size, nullptr);
  } else if (gst_buffer_pool_acquire_buffer(pool.get(), &buffer, nullptr) != GST_FLOW_OK) {
    return nullptr;
  }
  gst_buffer_fill(buffer, 0, image.pixels.data(), size);
  GST_BUFFER_OFFSET(buffer) = ++n_frames_;
  return Ref<GstBuffer>(buffer);
}

void Stream::push_frame() {
  Ref<GstBuffer> buffer = make_buffer(choices_.below(1000));
  if (!buffer) {
    return;  // the pool flushes
  }
  if (!choices_.one_in(16)) {
    GST_BUFFER_PTS(buffer.get()) = n_frames_ * kFrameDuration;
    GST_BUFFER_DURATION(buffer.get()) = kFrameDuration;
  }
  if (choices_.one_in(16)) {
    GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  }
  judge(push(disfigured(std::move(buffer))));
}

/// Some frames are too short, are in two memories, or have metadata that fits or does not.
Ref<GstBuffer> Stream::disfigured(Ref<GstBuffer> buffer) {
  const auto size = static_cast<uint32_t>(GST_VIDEO_INFO_SIZE(&info_));
  switch (choices_.below(32)) {
    case 0:
      gst_buffer_set_size(buffer.get(), choices_.below(size));
      break;
    case 1: {
      const gsize part = choices_.below(size);
      Ref<GstBuffer> begin(gst_buffer_copy_region(buffer.get(), GST_BUFFER_COPY_ALL, 0, part));
      GstBuffer* end = gst_buffer_copy_region(buffer.get(), GST_BUFFER_COPY_MEMORY, part, size - part);
      return Ref<GstBuffer>(gst_buffer_append(begin.release(), end));
    }
    case 2: {
      GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer.get());
      for (guint* number : {&crop->x, &crop->y, &crop->width, &crop->height}) {
        *number = choices_.below(80);
      }
      break;
    }
    case 3: {
      gsize offsets[GST_VIDEO_MAX_PLANES];
      gint strides[GST_VIDEO_MAX_PLANES];
      std::generate(std::begin(offsets), std::end(offsets), [&] { return choices_.below(size); });
      std::generate(std::begin(strides), std::end(strides),
                    [&] { return static_cast<gint>(choices_.below(size)); });
      gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info_),
                                     info_.width + choices_.below(2), info_.height + choices_.below(2),
                                     GST_VIDEO_INFO_N_PLANES(&info_), offsets, strides);
      break;
    }
    default:
      break;
  }
  return buffer;
}

GstFlowReturn Stream::push(Ref<GstBuffer> buffer) {
  ++counts_->frames;
  return gst_pad_push(src_.get(), buffer.release());
}

/// A flow that is not OK must have a cause.
void Stream::judge(GstFlowReturn flow) {
  if (flow == GST_FLOW_OK) {
    return;
  }
  bool is_flushing = false;
  bool has_error = false;
  {
    const std::lock_guard guard(lock_);
    is_flushing = must_pause_;
    has_error = !errors_.empty();
  }
  if (flow == GST_FLOW_EOS && downstream_->has_refused()) {
    flush_here();
  } else if (flow == GST_FLOW_FLUSHING && !is_flushing) {
    fail_("the element flushes for no reason");
  } else if (flow != GST_FLOW_FLUSHING) {
    is_broken_ = true;
    const bool may_fail = has_error || !took_caps_ || downstream_->has_refused() || downstream_->is_choosy();
    if (!may_fail && !is_flushing) {
      fail_(std::string("no error was posted for the flow ") + gst_flow_get_name(flow));
    }
  }
}

bool Stream::send(GstEvent* event) {
  return gst_pad_push_event(src_.get(), event) != FALSE;
}

void Stream::send_segment(Choices* choices) {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.base = choices->below(3) * GST_SECOND;
  segment.rate = choices->one_in(4) ? 2 : 1;
  send(gst_event_new_segment(&segment));
}

void Stream::push_event() {
  GstSegment segment;
  switch (choices_.below(8)) {
    case 0:
      return send_segment(&choices_);
    case 1:
      send(gst_event_new_gap(n_frames_ * kFrameDuration, kFrameDuration));
      break;
    case 2:
      send(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "storm", nullptr)));
      break;
    case 3:
      send(custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB));
      break;
    case 4:
      send(gst_video_event_new_still_frame(choices_.one_in(2)));
      break;
    case 5:
      send(custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY));
      break;
    case 6:  // more than may wait
      for (int i = 0; i < 70; ++i) {
        send(custom(GST_EVENT_CUSTOM_DOWNSTREAM));
      }
      break;
    default: {
      gst_segment_init(&segment, GST_FORMAT_BYTES);
      send(gst_event_new_segment(&segment));
      send(gst_event_new_segment_done(GST_FORMAT_TIME, 0));
      send_segment(&choices_);
    }
  }
}

void Stream::send_query() {
  const Ref<GstCaps> caps = choose_caps(&choices_);
  Ref<GstQuery> query;
  switch (choices_.of(kQueries)) {
    case GST_QUERY_DRAIN:
      query.reset(gst_query_new_drain());
      break;
    case GST_QUERY_CAPS:
      query.reset(gst_query_new_caps(choices_.one_in(2) ? caps.get() : nullptr));
      break;
    case GST_QUERY_ACCEPT_CAPS:
      query.reset(gst_query_new_accept_caps(caps.get()));
      break;
    case GST_QUERY_ALLOCATION:
      query.reset(gst_query_new_allocation(caps.get(), choices_.one_in(2)));
      break;
    case GST_QUERY_CONTEXT:
      query.reset(gst_query_new_context("gst.cuda.context"));
      break;
    case GST_QUERY_LATENCY:
      query.reset(gst_query_new_latency());
      break;
    default:
      query.reset(gst_query_new_custom(GST_QUERY_CUSTOM, gst_structure_new_empty("application/x-storm")));
  }
  gst_pad_peer_query(src_.get(), query.get());
}

void Stream::change_caps() {
  ++counts_->caps;
  const Ref<GstCaps> caps = choose_caps(&choices_);
  begin_stream(caps.get());
  use_pool(choices_.one_in(2) ? 0 : 2 + choices_.below(8));
}

void Stream::end_and_flush() {
  send(gst_event_new_eos());
  flush_here();
}

void Stream::flush_here() {
  send(gst_event_new_flush_start());
  flush();
  send_segment(&choices_);
}

void Stream::flush() {
  ++counts_->flushes;
  downstream_->forget(n_frames_);
  send(gst_event_new_flush_stop(choices_.one_in(2)));
}

void Stream::use_pool(guint length) {
  Ref<GstBufferPool> pool;
  if (length > 0) {
    pool.reset(gst_buffer_pool_new());
    GstStructure* config = gst_buffer_pool_get_config(pool.get());
    gst_buffer_pool_config_set_params(config, nullptr, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info_)), 0,
                                      length);
    gst_buffer_pool_set_config(pool.get(), config);
    gst_buffer_pool_set_active(pool.get(), TRUE);
  }
  {
    const std::lock_guard guard(lock_);
    std::swap(pool, pool_);
  }
  if (pool) {
    gst_buffer_pool_set_active(pool.get(), FALSE);
  }
}

/* For another thread, while this one is paused */

GstStateChangeReturn Stream::set_state(GstState state) {
  ++counts_->states;
  size_t before = 0;
  {
    const std::lock_guard guard(lock_);
    before = errors_.size();
  }
  const GstStateChangeReturn change = gst_element_set_state(element(), state);
  const std::lock_guard guard(lock_);
  if (change == GST_STATE_CHANGE_FAILURE && errors_.size() == before) {
    fail_("a state is refused without an error");
  }
  return change;
}

void Stream::repair() {
  for (const GParamSpec* spec : writable_) {
    GValue value = G_VALUE_INIT;
    g_object_get_property(G_OBJECT(element()), spec->name, &value);
    g_object_set_property(G_OBJECT(element()), spec->name, &value);
    g_value_unset(&value);
  }
  gst_util_set_object_arg(G_OBJECT(element()), "backend", backend().c_str());
  gst_util_set_object_arg(G_OBJECT(element()), "cuda-device-id", "-1");
  gst_util_set_object_arg(G_OBJECT(element()), "algorithm", "auto");
}

std::vector<std::string> Stream::play(const GstCaps* caps, uint32_t seed, int n_frames) {
  take_errors();
  downstream_->start();
  downstream_->keep_texts(true);
  begin_stream(caps);
  std::string flows;
  for (int i = 0; i < n_frames; ++i) {
    Ref<GstBuffer> buffer = make_buffer(seed + static_cast<uint32_t>(i));
    GST_BUFFER_PTS(buffer.get()) = static_cast<guint64>(i) * kFrameDuration;
    flows += std::string(" ") + gst_flow_get_name(push(std::move(buffer)));
  }
  send(gst_event_new_eos());
  downstream_->keep_texts(false);
  std::vector<std::string> texts = downstream_->take_texts();
  for (const std::string& error : take_errors()) {
    texts.push_back(error);
  }
  texts.push_back(flows);
  return texts;
}

Ref<GstCaps> Stream::choose_caps(Choices* choices) const {
  const GstPadTemplate* pad_template = gst_pad_get_pad_template(pad_of(element(), "sink").get());
  const Ref<GstCaps> all(gst_pad_template_get_caps(const_cast<GstPadTemplate*>(pad_template)));
  const guint last = gst_caps_get_size(all.get()) - 1;  // in the host's memory
  const GValue* formats = gst_structure_get_value(gst_caps_get_structure(all.get(), last), "format");
  const GValue* format = gst_value_list_get_value(formats, choices->below(gst_value_list_get_size(formats)));
  const auto& size = choices->of(kSizes);
  const bool is_random = choices->one_in(2);
  const auto& rate = choices->of(kRates);
  return Ref<GstCaps>(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, g_value_get_string(format),
                                          "width", G_TYPE_INT,
                                          is_random ? 1 + choices->below(64) : size.width, "height",
                                          G_TYPE_INT, is_random ? 1 + choices->below(48) : size.height,
                                          "framerate", GST_TYPE_FRACTION, rate[0], rate[1], nullptr));
}

std::string Stream::describe() const {
  const std::lock_guard guard(lock_);
  return std::string(doing_.load()) + ", " + gst_element_state_get_name(GST_STATE(element())) + ", " +
         std::to_string(info_.width) + 'x' + std::to_string(info_.height) +
         (must_pause_ ? ", must pause" : "") + (is_paused_ ? ", paused" : "") +
         (is_broken_ ? ", broken" : "") + (pool_ ? ", with a pool" : "") +
         (errors_.empty() ? "" : ", " + errors_.back());
}

}  // namespace cudaccl::test
