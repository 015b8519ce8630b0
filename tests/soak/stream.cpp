// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stream.h"

#include <gst/video/video.h>

#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "cudaccl/gstcudaccljson.h"

namespace cudaccl::soak {

namespace {

constexpr uint32_t kFps = 30;
constexpr uint32_t kStallFrames = 20 * kFps;
constexpr std::chrono::seconds kLongestSilence{30};
constexpr uint32_t kObjects = 24;
constexpr uint32_t kSpecks = 20;

/// The first four need no GPU. Without anything before it, the element proposes its pool, which is
/// page-locked with a GPU.
constexpr Kind kKinds[] = {
    {"colorized", 1280, 720, "NV12", "", "output=colorized", Upset::kNone},
    {"drawn", 640, 480, "I420", "",
     "output=overlay draw-boxes=true draw-ids=true draw-trails=true draw-regions=true separate=0.8",
     Upset::kNone},
    {"changes size", 640, 480, "NV12", "", "output=colorized", Upset::kNewSize},
    {"stalls", 640, 480, "GRAY8", "", "output=colorized", Upset::kStall},
    {"pageable", 1920, 1080, "NV12", "identity drop-allocation=true ! ", "output=passthrough", Upset::kNone},
    {"CUDA", 1920, 1080, "NV12", "cudaupload ! ", "output=colorized", Upset::kNone},
    {"CUDA, in flight", 1920, 1080, "NV12", "cudaupload ! ", "output=colorized pipeline-depth=3",
     Upset::kNone, true},
    {"in flight", 1280, 720, "NV12", "", "output=colorized pipeline-depth=3", Upset::kNone, true},
};
constexpr uint32_t kKindsOfCpu = 4;

constexpr const char* kSource =
    "videotestsrc is-live=true pattern=solid-color foreground-color=0xff404040 ! capsfilter name=size caps=";
constexpr const char* kSettings =
    " foreground=motion motion-warm-up=0 open-radius=1 min-area=16 track=true post-messages=counts "
    "features=moments+perimeter+euler+grey+rectangle+hull+contour+inradius ";
constexpr const char* kRegions =
    R"({"version": 1, "zones": [{"name": "left", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]], "dwell": 1,)"
    R"( "crowd": 8}], "lines": [{"name": "middle", "from": [0.5, 0], "to": [0.5, 1]}]})";

uint64_t number_of(const GstBuffer* buffer) {
  return gst_util_uint64_scale_round(GST_BUFFER_PTS(buffer), kFps, GST_SECOND);
}

/// A way that goes back at both ends of the room.
uint32_t bounced(uint64_t way, uint32_t room) {
  const auto place = static_cast<uint32_t>(way % (2 * uint64_t{room}));
  return place < room ? place : 2 * room - 1 - place;
}

/// Rectangles that move, and noise.
void draw_scene(GstVideoFrame* frame, uint64_t n, uint32_t seed) {
  auto* luma = static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(frame, 0));
  const auto stride = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0));
  const auto width = static_cast<uint32_t>(GST_VIDEO_FRAME_WIDTH(frame));
  const auto height = static_cast<uint32_t>(GST_VIDEO_FRAME_HEIGHT(frame));
  for (uint32_t i = 0; i < kObjects; ++i) {
    const uint32_t extent = 8 + i % 5 * 6;
    const uint32_t x = bounced(n * (1 + i % 4) + i * 97 + seed * 31, width - extent);
    const uint32_t y = bounced(n * (1 + i % 3) + i * 61, height - 2 * extent);
    for (uint32_t row = 0; row < 2 * extent; ++row) {
      std::memset(luma + (y + row) * stride + x, 160 + static_cast<int>(i), extent);
    }
  }
  for (uint32_t i = 0; i < kSpecks; ++i) {
    const uint64_t hash = (n * kSpecks + i + seed) * 0x9e3779b97f4a7c15 >> 20;
    luma[hash / width % height * stride + hash % width] = 255;
  }
}

std::string error_of(GstMessage* message) {
  GError* error = nullptr;
  gchar* details = nullptr;
  gst_message_parse_error(message, &error, &details);
  const std::string text = std::string(error->message) + " (" + (details != nullptr ? details : "") + ")";
  g_error_free(error);
  g_free(details);
  return text;
}

}  // namespace

void fail(const std::string& text) {
  std::fprintf(stderr, "soak: %s\n", text.c_str());
  std::exit(EXIT_FAILURE);
}

const Kind& kind_of(uint32_t number, const std::string& backend) {
  return kKinds[number % (backend == "cuda" ? std::size(kKinds) : kKindsOfCpu)];
}

Stream::Stream(uint32_t number, const std::string& backend, Totals* totals)
    : kind_(kind_of(number, backend)), totals_(*totals), number_(number), json_(g_string_new(nullptr)) {
  const std::string line = kSource + caps_text(0) + " ! " + kind_.memory +
                           "cudaccl name=element backend=" + backend + kSettings + kind_.settings +
                           " ! fakesink sync=false async=false";
  GError* error = nullptr;
  pipeline_.reset(gst_parse_launch(line.c_str(), &error));
  if (error != nullptr) {
    fail(line + ": " + error->message);
  }
  const Ref<GstElement> element(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "element"));
  size_.reset(gst_bin_get_by_name(GST_BIN(pipeline_.get()), "size"));
  g_object_set(element.get(), "regions", kRegions, nullptr);
  add_probe(size_.get(), "src", [](GstPad* pad, GstPadProbeInfo* info, gpointer self) {
    static_cast<Stream*>(self)->draw(pad, info);
    return GST_PAD_PROBE_OK;
  });
  add_probe(element.get(), "sink", [](GstPad*, GstPadProbeInfo* info, gpointer self) {
    static_cast<Stream*>(self)->enter(GST_PAD_PROBE_INFO_BUFFER(info));
    return GST_PAD_PROBE_OK;
  });
  add_probe(element.get(), "src", [](GstPad*, GstPadProbeInfo* info, gpointer self) {
    static_cast<Stream*>(self)->leave(GST_PAD_PROBE_INFO_BUFFER(info));
    return GST_PAD_PROBE_OK;
  });
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
}

Stream::~Stream() {
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  g_string_free(json_, TRUE);
}

void Stream::listen() {
  const Ref<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  while (const Ref<GstMessage> message{gst_bus_pop(bus.get())}) {
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) {
      fail(describe() + ": " + error_of(message.get()));
    }
    totals_.n_events += gst_message_has_name(message.get(), "cudaccl-event") ? 1 : 0;
  }
  const std::lock_guard guard(lock_);
  if (Clock::now() - left_ > kLongestSilence) {
    fail(describe() + ": no frame comes any more");
  }
}

void Stream::upset() {
  if (kind_.upset == Upset::kNewSize) {
    const Ref<GstCaps> caps(gst_caps_from_string(caps_text(++n_sizes_).c_str()));
    g_object_set(size_.get(), "caps", caps.get(), nullptr);
  }
}

std::string Stream::describe() const {
  return "stream " + std::to_string(number_) + ", " + kind_.name;
}

void Stream::add_probe(GstElement* element, const char* pad_name, GstPadProbeCallback probe) {
  const Ref<GstPad> pad(gst_element_get_static_pad(element, pad_name));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, probe, this, nullptr);
}

std::string Stream::caps_text(uint32_t phase) const {
  const uint32_t quarters = 4 - phase % 3;
  return "video/x-raw,format=" + std::string(kind_.format) +
         ",width=" + std::to_string(kind_.width * quarters / 4) +
         ",height=" + std::to_string(kind_.height * quarters / 4) + ",framerate=" + std::to_string(kFps) +
         "/1";
}

void Stream::draw(GstPad* pad, GstPadProbeInfo* info) const {
  GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  const Ref<GstCaps> caps(gst_pad_get_current_caps(pad));
  GstVideoInfo video;
  GstVideoFrame frame;
  if (!gst_video_info_from_caps(&video, caps.get()) ||
      !gst_video_frame_map(&frame, &video, buffer, GST_MAP_WRITE)) {
    fail(describe() + ": a frame cannot be drawn");
  }
  draw_scene(&frame, number_of(buffer), number_);
  gst_video_frame_unmap(&frame);
}

void Stream::enter(const GstBuffer* buffer) {
  const std::lock_guard guard(lock_);
  entered_[number_of(buffer) % entered_.size()] = Clock::now();
}

void Stream::leave(GstBuffer* buffer) {
  ++n_frames_;
  {
    const std::lock_guard guard(lock_);
    left_ = Clock::now();
    if (kind_.upset == Upset::kNone && !kind_.holds_frames) {
      totals_.add_latency(left_ - entered_[number_of(buffer) % entered_.size()]);
    }
  }
  GstCudaCclInfo info{};
  if (!gst_buffer_get_cudaccl_info(buffer, &info)) {
    fail(describe() + ": a frame has no records");
  }
  g_string_truncate(json_, 0);
  gst_cudaccl_info_append_json(&info, GST_BUFFER_PTS(buffer), json_);
  totals_.publish(json_);
  if (kind_.upset == Upset::kStall && number_of(buffer) % kStallFrames == 0) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
  }
}

Totals::Totals() : file_(std::tmpfile()) {
  if (file_ == nullptr) {
    fail("there is no file for the messages");
  }
}

Totals::~Totals() {
  std::fclose(file_);
}

void Totals::add_latency(Clock::duration time) {
  const std::lock_guard guard(lock_);
  latencies_ms_.push_back(std::chrono::duration<float, std::milli>(time).count());
}

void Totals::publish(const GString* json) {
  const std::lock_guard guard(lock_);
  if (std::ftell(file_) > kMostBytes) {
    std::rewind(file_);
  }
  if (std::fwrite(json->str, 1, json->len, file_) != json->len || std::fputc('\n', file_) == EOF) {
    fail("the messages cannot be written");
  }
  ++n_messages_;
}

void Totals::take(std::vector<float>* latencies_ms, uint64_t* n_messages) {
  latencies_ms->clear();
  const std::lock_guard guard(lock_);
  latencies_ms->swap(latencies_ms_);
  *n_messages = std::exchange(n_messages_, 0);
}

}  // namespace cudaccl::soak
