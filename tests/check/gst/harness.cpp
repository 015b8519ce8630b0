// SPDX-License-Identifier: LGPL-2.1-or-later
#include "harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace cudaccl::test {

namespace {

/// No colour, so that outputs which show the frame show grey.
constexpr uint8_t kNeutralChroma = 128;

/// Fills memory outside the picture. It would be foreground if the element read it.
constexpr uint8_t kFiller = 0xd7;

void stamp(GstBuffer* buffer, guint64 frame) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) {
    GST_BUFFER_PTS(buffer) = frame * kFrameDuration;
    GST_BUFFER_DURATION(buffer) = kFrameDuration;
  }
}

Ref<GstBuffer> filled_buffer(gsize size) {
  Ref<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, size, nullptr));
  gst_buffer_memset(buffer.get(), 0, kFiller, size);
  return buffer;
}

void write_rows(GstBuffer* buffer, const Image& image, gsize offset, gint stride) {
  for (uint32_t y = 0; y < image.height; ++y) {
    gst_buffer_fill(buffer, offset + gsize{y} * static_cast<gsize>(stride),
                    &image.pixels[size_t{y} * image.width], image.width);
  }
}

/// Fills the planes behind the first one, as far as they have rows.
void write_neutral_chroma(GstBuffer* buffer, const GstVideoInfo& info, const gsize* offsets,
                          const gint* strides) {
  for (guint plane = 1; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    const auto rows = static_cast<gsize>(GST_VIDEO_INFO_COMP_HEIGHT(&info, plane));
    gst_buffer_memset(buffer, offsets[plane], kNeutralChroma, rows * static_cast<gsize>(strides[plane]));
  }
}

GstVideoInfo info_of(const Image& image, const std::string& format) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()), image.width, image.height);
  return info;
}

}  // namespace

std::string backend() {
  const char* name = std::getenv("CUDACCL_TEST_BACKEND");
  return name != nullptr ? name : "cpu";
}

Ref<GstElement> make_element(const std::string& properties) {
  GError* raw = nullptr;
  GstElement* element = gst_parse_launch(("cudaccl backend=" + backend() + " " + properties).c_str(), &raw);
  const Error error(raw);
  EXPECT_EQ(error, nullptr) << (error ? error->message : "");
  return Ref<GstElement>(static_cast<GstElement*>(gst_object_ref_sink(element)));
}

std::vector<GParamSpec*> own_properties(GstElement* element) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  std::vector<GParamSpec*> own;
  std::copy_if(specs, specs + count, std::back_inserter(own),
               [&](const GParamSpec* spec) { return spec->owner_type == G_OBJECT_TYPE(element); });
  g_free(specs);
  return own;
}

std::string text_of_value(const GValue* value) {
  if (G_VALUE_HOLDS_FLAGS(value)) {
    const auto* flags = static_cast<GFlagsClass*>(g_type_class_peek(G_VALUE_TYPE(value)));
    std::string nicks;
    for (guint i = 0; i < flags->n_values; ++i) {
      if (g_value_get_flags(value) & flags->values[i].value) {
        nicks += (nicks.empty() ? "" : "+") + std::string(flags->values[i].value_nick);
      }
    }
    return nicks;
  }
  const Text text(gst_value_serialize(value));
  return text ? text.get() : "";
}

std::string text_of_property(GstElement* element, const char* name) {
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), name, &value);
  std::string text = text_of_value(&value);
  g_value_unset(&value);
  return text;
}

std::string why_no_cuda() {
  const Ref<GstElement> element = make_element("backend=cuda");
  const Ref<GstBus> bus(gst_bus_new());
  gst_element_set_bus(element.get(), bus.get());
  const GstStateChangeReturn result = gst_element_set_state(element.get(), GST_STATE_READY);
  gst_element_set_state(element.get(), GST_STATE_NULL);
  const Ref<GstMessage> message(gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR));
  gst_element_set_bus(element.get(), nullptr);
  if (result != GST_STATE_CHANGE_FAILURE || !message) {
    return "";
  }
  GError* raw = nullptr;
  gst_message_parse_error(message.get(), &raw, nullptr);
  const Error error(raw);
  // No GPU, or no CUDA in the build. The tests must see every other failure.
  const bool is_absence = g_error_matches(raw, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND) ||
                          g_error_matches(raw, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS);
  return is_absence ? error->message : "";
}

std::string caps_text(const std::string& format, uint32_t width, uint32_t height, const std::string& more) {
  return "video/x-raw,format=" + format + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=25/1" + (more.empty() ? "" : "," + more);
}

Ref<GstBuffer> make_frame(const Image& image, const std::string& format) {
  const GstVideoInfo info = info_of(image, format);
  Ref<GstBuffer> buffer = filled_buffer(GST_VIDEO_INFO_SIZE(&info));
  write_rows(buffer.get(), image, GST_VIDEO_INFO_PLANE_OFFSET(&info, 0),
             GST_VIDEO_INFO_PLANE_STRIDE(&info, 0));
  write_neutral_chroma(buffer.get(), info, info.offset, info.stride);
  return buffer;
}

Ref<GstBuffer> make_padded_frame(const Image& image, const std::string& format, Padding padding) {
  const GstVideoInfo info = info_of(image, format);
  gsize offsets[GST_VIDEO_MAX_PLANES] = {};
  gint strides[GST_VIDEO_MAX_PLANES] = {};
  gsize size = 0;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    strides[plane] = GST_VIDEO_INFO_PLANE_STRIDE(&info, plane) + static_cast<gint>(padding.row);
    offsets[plane] = size + padding.before;
    // As many rows as the first plane, which is enough for any subsampling.
    size = offsets[plane] + static_cast<gsize>(strides[plane]) * (image.height + 1);
  }
  Ref<GstBuffer> buffer = filled_buffer(size);
  write_rows(buffer.get(), image, offsets[0], strides[0]);
  write_neutral_chroma(buffer.get(), info, offsets, strides);
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 image.width, image.height, GST_VIDEO_INFO_N_PLANES(&info), offsets, strides);
  return buffer;
}

void add_crop(GstBuffer* buffer, guint x, guint y, guint width, guint height) {
  GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer);
  crop->x = x;
  crop->y = y;
  crop->width = width;
  crop->height = height;
}

std::vector<uint8_t> pixels_of(GstBuffer* buffer, GstCaps* caps) {
  GstVideoInfo info;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&info, caps) || !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
    ADD_FAILURE() << "the buffer is no frame of its caps";
    return {};
  }
  const auto row = static_cast<size_t>(GST_VIDEO_INFO_WIDTH(&info) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0));
  std::vector<uint8_t> pixels;
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT(&info); ++y) {
    const auto* start = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)) +
                        static_cast<ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
    pixels.insert(pixels.end(), start, start + row);
  }
  gst_video_frame_unmap(&frame);
  return pixels;
}

std::vector<uint8_t> bytes_of(GstBuffer* buffer) {
  std::vector<uint8_t> bytes(gst_buffer_get_size(buffer));
  gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

GstStructure* structure_of(GstBuffer* buffer, const char* name) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, name);
  return meta != nullptr ? gst_custom_meta_get_structure(meta) : nullptr;
}

int count_component_metas(GstBuffer* buffer) {
  int count = 0;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(buffer, &state)) {
    count += gst_meta_info_is_custom(meta->info) &&
             gst_custom_meta_has_name(reinterpret_cast<GstCustomMeta*>(meta), GST_CUDACCL_META_NAME);
  }
  return count;
}

GstCudaCclInfo components_of(GstBuffer* buffer) {
  GstCudaCclInfo info{};
  EXPECT_TRUE(gst_buffer_get_cudaccl_info(buffer, &info));
  return info;
}

std::string text_of(GstMessage* message) {
  GError* raw_error = nullptr;
  gchar* raw_debug = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &raw_error, &raw_debug);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_INFO) {
    gst_message_parse_info(message, &raw_error, &raw_debug);
  } else {
    gst_message_parse_warning(message, &raw_error, &raw_debug);
  }
  const Error error(raw_error);
  const Text debug(raw_debug);
  return std::string(error->message) + " (" + (debug ? debug.get() : "") + ")";
}

Harness::Harness(const std::string& properties) : bus_(gst_bus_new()) {
  const Ref<GstElement> element = make_element(properties);
  gst_element_set_bus(element.get(), bus_.get());
  harness_.reset(gst_harness_new_with_element(element.get(), "sink", "src"));
}

Harness::Harness(const std::string& properties, const std::string& caps) : Harness(properties) {
  EXPECT_TRUE(send_caps(caps)) << caps;
}

bool Harness::send_caps(const std::string& caps) {
  const Ref<GstCaps> parsed(gst_caps_from_string(caps.c_str()));
  // The result of pushing a sticky event says nothing. The caps that the pad has then do.
  gst_pad_push_event(harness_->srcpad, gst_event_new_caps(parsed.get()));
  const Ref<GstPad> sink(gst_element_get_static_pad(element(), "sink"));
  const Ref<GstCaps> taken(gst_pad_get_current_caps(sink.get()));
  if (!taken || !gst_caps_is_equal(taken.get(), parsed.get())) {
    return false;
  }
  if (!has_segment_) {
    has_segment_ = send_segment();
  }
  return true;
}

bool Harness::send_caps(const std::string& format, uint32_t width, uint32_t height, const std::string& more) {
  return send_caps(caps_text(format, width, height, more));
}

bool Harness::send_segment() {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  return gst_pad_push_event(harness_->srcpad, gst_event_new_segment(&segment));
}

void Harness::flush(bool resets_time, const std::function<void()>& during) {
  gst_harness_push_event(get(), gst_event_new_flush_start());
  during();
  gst_harness_push_event(get(), gst_event_new_flush_stop(resets_time ? TRUE : FALSE));
  send_segment();
}

void Harness::start_again(GstState from) {
  EXPECT_EQ(gst_element_set_state(element(), from), GST_STATE_CHANGE_SUCCESS);
  EXPECT_NE(gst_element_set_state(element(), GST_STATE_PLAYING), GST_STATE_CHANGE_FAILURE);
  gst_harness_push_event(get(), gst_event_new_stream_start("again"));
  has_segment_ = false;
}

void Harness::accept(const std::string& caps) {
  gst_harness_set_sink_caps_str(harness_.get(), caps.c_str());
}

void Harness::set(const std::string& property, const std::string& value) {
  gst_util_set_object_arg(G_OBJECT(element()), property.c_str(), value.c_str());
}

GstFlowReturn Harness::push(Ref<GstBuffer> buffer) {
  stamp(buffer.get(), frames_++);
  return gst_harness_push(harness_.get(), buffer.release());
}

GstFlowReturn Harness::push(const Image& image, const std::string& format) {
  return push(make_frame(image, format));
}

Ref<GstBuffer> Harness::pull() {
  return Ref<GstBuffer>(gst_harness_try_pull(harness_.get()));
}

Ref<GstBuffer> Harness::process(Ref<GstBuffer> buffer) {
  EXPECT_EQ(push(std::move(buffer)), GST_FLOW_OK);
  Ref<GstBuffer> out = pull();
  EXPECT_NE(out, nullptr);
  // With an empty buffer the test goes on and fails; with null it would crash.
  return out ? std::move(out) : Ref<GstBuffer>(gst_buffer_new());
}

Ref<GstBuffer> Harness::process(const Image& image, const std::string& format) {
  return process(make_frame(image, format));
}

Ref<GstCaps> Harness::src_caps() const {
  return Ref<GstCaps>(gst_pad_get_current_caps(harness_->sinkpad));
}

std::vector<uint8_t> Harness::pixels(const Ref<GstBuffer>& buffer) const {
  return pixels_of(buffer.get(), src_caps().get());
}

Ref<GstMessage> Harness::message(GstMessageType types) {
  return Ref<GstMessage>(gst_bus_pop_filtered(bus_.get(), types));
}

void Harness::expect_warning(const Words& words) {
  const Ref<GstMessage> warning = message(GST_MESSAGE_WARNING);
  ASSERT_EQ(warning != nullptr, !words.empty());
  for (const std::string& word : words) {
    EXPECT_NE(text_of(warning.get()).find(word), std::string::npos) << text_of(warning.get());
  }
  EXPECT_EQ(message(GST_MESSAGE_WARNING), nullptr) << "one warning";
  EXPECT_EQ(message(GST_MESSAGE_ERROR), nullptr);
}

guint64 Harness::stat(const char* field) const {
  GstStructure* raw = nullptr;
  g_object_get(element(), "stats", &raw, nullptr);
  const Ref<GstStructure> stats(raw);
  guint64 value = G_MAXUINT64;
  EXPECT_TRUE(gst_structure_get_uint64(stats.get(), field, &value)) << field;
  return value;
}

Pipeline::Pipeline(const std::string& description, GstState state) {
  GError* raw = nullptr;
  pipeline_.reset(gst_parse_launch(description.c_str(), &raw));
  const Error error(raw);
  EXPECT_EQ(error, nullptr) << (error ? error->message : "");
  gst_element_set_state(pipeline_.get(), state);
}

Pipeline::~Pipeline() {
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

Ref<GstElement> Pipeline::element(const char* name) const {
  return Ref<GstElement>(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name));
}

GstFlowReturn Pipeline::push(Ref<GstBuffer> buffer) {
  stamp(buffer.get(), frames_++);
  GstFlowReturn flow = GST_FLOW_ERROR;
  g_signal_emit_by_name(element("in").get(), "push-buffer", buffer.get(), &flow);
  return flow;
}

Ref<GstSample> Pipeline::pull(const char* sink) {
  GstSample* sample = nullptr;
  g_signal_emit_by_name(element(sink).get(), "try-pull-sample", guint64{30 * GST_SECOND}, &sample);
  return Ref<GstSample>(sample);
}

void Pipeline::end() {
  GstFlowReturn flow = GST_FLOW_ERROR;
  g_signal_emit_by_name(element("in").get(), "end-of-stream", &flow);
}

std::string Pipeline::errors() const {
  const Ref<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  std::string text;
  while (const Ref<GstMessage> error{gst_bus_pop_filtered(bus.get(), GST_MESSAGE_ERROR)}) {
    text += text_of(error.get()) + "\n";
  }
  return text;
}

LogCapture::LogCapture() : previous_(g_log_set_default_handler(collect, this)) {}

LogCapture::~LogCapture() {
  g_log_set_default_handler(previous_, nullptr);
}

void LogCapture::collect(const gchar*, GLogLevelFlags, const gchar* text, gpointer self) {
  static_cast<LogCapture*>(self)->lines_.emplace_back(text);
}

}  // namespace cudaccl::test
