// SPDX-License-Identifier: LGPL-2.1-or-later
#include "downstream.h"

#include <gst/video/video.h>

#include <utility>

#include "meta_dump.h"

namespace cudaccl::test {

namespace {

Downstream* downstream_of(GstPad* pad) {
  return static_cast<Downstream*>(gst_pad_get_element_private(pad));
}

/// The bytes of the picture without padding, which may be anything.
std::string picture_of(GstBuffer* buffer, const GstVideoInfo& info) {
  Ref<GstBuffer> dense(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr));
  gst_buffer_memset(dense.get(), 0, 0, GST_VIDEO_INFO_SIZE(&info));
  GstVideoFrame from;
  GstVideoFrame to;
  if (!gst_video_frame_map(&from, &info, buffer, GST_MAP_READ)) {
    return "no frame of its caps";
  }
  gst_video_frame_map(&to, &info, dense.get(), GST_MAP_WRITE);
  gst_video_frame_copy(&to, &from);
  gst_video_frame_unmap(&to);
  gst_video_frame_unmap(&from);
  std::string bytes(GST_VIDEO_INFO_SIZE(&info), '\0');
  gst_buffer_extract(dense.get(), 0, bytes.data(), bytes.size());
  return bytes;
}

/// All that a frame says, but its source and number: those are of the start of the element.
std::string text_of_frame(GstBuffer* buffer, const GstVideoInfo& info) {
  std::string metas = dump_metas(buffer);
  const size_t begin = metas.find("\" frame ");
  metas.erase(0, begin != std::string::npos ? metas.find(' ', begin + 8) : 0);
  const guint regions = gst_buffer_get_n_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  return std::to_string(GST_BUFFER_PTS(buffer)) + ' ' + GST_VIDEO_INFO_NAME(&info) + ' ' +
         std::to_string(regions) + metas + picture_of(buffer, info);
}

}  // namespace

Downstream::Downstream(GstPad* src, std::function<void(const std::string&)> fail) : fail_(std::move(fail)) {
  static GstStaticPadTemplate any =
      GST_STATIC_PAD_TEMPLATE("behind", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  pad_.reset(GST_PAD(gst_object_ref_sink(gst_pad_new_from_static_template(&any, "behind"))));
  gst_pad_set_element_private(pad(), this);
  gst_pad_set_chain_function(
      pad(), [](GstPad* pad, GstObject*, GstBuffer* buffer) { return downstream_of(pad)->take(buffer); });
  gst_pad_set_event_function(pad(), [](GstPad* pad, GstObject*, GstEvent* event) -> gboolean {
    downstream_of(pad)->take_event(event);
    gst_event_unref(event);
    return TRUE;
  });
  gst_pad_set_query_function(pad(), [](GstPad* pad, GstObject* parent, GstQuery* query) -> gboolean {
    return downstream_of(pad)->answer_query(query) || gst_pad_query_default(pad, parent, query);
  });
  gst_pad_link(src, pad());
  gst_pad_set_active(pad(), TRUE);
}

Downstream::~Downstream() {
  gst_pad_set_active(pad(), FALSE);
}

void Downstream::block() {
  const std::lock_guard guard(lock_);
  is_blocked_ = true;
}

void Downstream::let_go() {
  const std::lock_guard guard(lock_);
  is_blocked_ = false;
  changed_.notify_all();
}

void Downstream::stop() {
  const std::lock_guard guard(lock_);
  is_stopped_ = true;
  held_.reset();
  changed_.notify_all();
}

void Downstream::start() {
  if (GST_PAD_IS_FLUSHING(pad())) {  // the element was stopped between the events of a flush
    gst_pad_send_event(pad(), gst_event_new_flush_stop(FALSE));
  }
  const std::lock_guard guard(lock_);
  is_stopped_ = is_blocked_ = is_at_end_ = has_refused_ = false;
  answer_ = GST_FLOW_OK;
}

void Downstream::forget(guint64 offset) {
  const std::lock_guard guard(lock_);
  last_offset_ = offset;
}

void Downstream::accept(const char* caps) {
  Ref<GstCaps> parsed(caps != nullptr ? gst_caps_from_string(caps) : nullptr);
  const std::lock_guard guard(lock_);
  accepted_ = std::move(parsed);
  is_choosy_ = is_choosy_ || caps != nullptr;
}

Ref<GstCaps> Downstream::accepted() const {
  const std::lock_guard guard(lock_);
  return Ref<GstCaps>(accepted_ != nullptr ? gst_caps_ref(accepted_.get()) : gst_caps_new_any());
}

void Downstream::keep_texts(bool keeps) {
  const std::lock_guard guard(lock_);
  keeps_texts_ = keeps;
}

std::vector<std::string> Downstream::take_texts() {
  const std::lock_guard guard(lock_);
  return std::exchange(texts_, {});
}

GstFlowReturn Downstream::take(GstBuffer* raw) {
  Ref<GstBuffer> buffer(raw);
  check(raw);
  const GstFlowReturn answer = answer_.exchange(GST_FLOW_OK);
  std::unique_lock guard(lock_);
  changed_.wait(guard, [this] { return !is_blocked_ || is_stopped_; });
  if (is_stopped_) {
    return GST_FLOW_FLUSHING;
  }
  has_refused_ = has_refused_ || answer != GST_FLOW_OK;
  held_ = std::move(buffer);
  return answer;
}

void Downstream::check(GstBuffer* buffer) {
  const Ref<GstCaps> caps(gst_pad_get_current_caps(pad()));
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!caps || !gst_video_info_from_caps(&info, caps.get())) {
    return fail_("a buffer has no caps");
  }
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
    return fail_("a buffer is no frame of its caps");
  }
  gst_video_frame_unmap(&frame);
  const std::lock_guard guard(lock_);
  if (is_at_end_) {
    fail_("a buffer follows the end of the stream");
  }
  if (GST_BUFFER_OFFSET(buffer) <= last_offset_) {
    fail_("frame " + std::to_string(GST_BUFFER_OFFSET(buffer)) + " follows frame " +
          std::to_string(last_offset_));
  }
  last_offset_ = GST_BUFFER_OFFSET(buffer);
  if (keeps_texts_) {
    texts_.push_back(text_of_frame(buffer, info));
  }
}

void Downstream::take_event(GstEvent* event) {
  const std::lock_guard guard(lock_);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_EOS:
      is_at_end_ = true;
      break;
    case GST_EVENT_FLUSH_START:
      is_stopped_ = true;
      changed_.notify_all();
      break;
    case GST_EVENT_FLUSH_STOP:
      is_stopped_ = false;
      [[fallthrough]];
    case GST_EVENT_STREAM_START:
      is_at_end_ = false;
      break;
    default:
      break;
  }
}

bool Downstream::answer_query(GstQuery* query) {
  switch (GST_QUERY_TYPE(query)) {
    case GST_QUERY_CAPS:
      answer_caps(query);
      return true;
    case GST_QUERY_ACCEPT_CAPS: {
      GstCaps* caps = nullptr;
      gst_query_parse_accept_caps(query, &caps);
      gst_query_set_accept_caps_result(query, gst_caps_can_intersect(caps, accepted().get()));
      return true;
    }
    case GST_QUERY_ALLOCATION:
      offer_pool(query);
      return true;
    default:
      return false;
  }
}

void Downstream::answer_caps(GstQuery* query) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  const Ref<GstCaps> all = accepted();
  const Ref<GstCaps> caps(filter != nullptr
                              ? gst_caps_intersect_full(filter, all.get(), GST_CAPS_INTERSECT_FIRST)
                              : gst_caps_ref(all.get()));
  gst_query_set_caps_result(query, caps.get());
}

/// A pool that is soon empty: one buffer of it is held.
void Downstream::offer_pool(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  const guint length = pool_length_;
  if (length == 0 || caps == nullptr || !gst_video_info_from_caps(&info, caps)) {
    return;
  }
  const Ref<GstBufferPool> pool(gst_video_buffer_pool_new());
  const auto size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info));
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_set_params(config, caps, size, 0, length);
  gst_buffer_pool_set_config(pool.get(), config);
  gst_query_add_allocation_pool(query, pool.get(), size, 0, length);
}

}  // namespace cudaccl::test
