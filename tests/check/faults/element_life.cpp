// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element_life.h"

#include <gst/video/video.h>

#include "cudaccl/gstcudaccllabelmap.h"
#include "harness.h"
#include "meta_dump.h"

namespace faults {

namespace {

using cudaccl::test::Ref;

constexpr const char* kRegions =
    R"({"version": 1, "zones": [{"name": "the left half of the frame", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]}],
        "lines": [{"name": "the middle", "from": [0.5, 0], "to": [0.5, 1], "margin": 0}]})";

/* Memory of buffers */

struct FailingAllocator {
  GstAllocator parent;
};

struct FailingAllocatorClass {
  GstAllocatorClass parent_class;
};

G_DEFINE_TYPE(FailingAllocator, failing_allocator, GST_TYPE_ALLOCATOR)

/// Counts an object as long as it lives.
void watch(GstMiniObject* object) {
  count_living(1);
  gst_mini_object_weak_ref(
      object, [](gpointer, GstMiniObject*) { count_living(-1); }, nullptr);
}

GstMemory* failing_alloc(GstAllocator*, gsize size, GstAllocationParams* params) {
  if (fails()) {
    return nullptr;
  }
  static GstAllocator* const system = gst_allocator_find(GST_ALLOCATOR_SYSMEM);
  GstMemory* memory = gst_allocator_alloc(system, size, params);
  watch(GST_MINI_OBJECT_CAST(memory));
  return memory;
}

void failing_allocator_class_init(FailingAllocatorClass* klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = failing_alloc;
}

void failing_allocator_init(FailingAllocator* self) {
  GST_OBJECT_FLAG_SET(self, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

uint64_t digest_label_map(GstBuffer* buffer, uint64_t seen) {
  GstCudaCclLabelMap map;
  GstMapInfo memory;
  if (gst_buffer_get_cudaccl_label_map(buffer, &map) && gst_buffer_map(map.labels, &memory, GST_MAP_READ)) {
    for (guint y = 0; y < map.height; ++y) {
      seen = digest(gst_cudaccl_label_map_row(&map, &memory, y), map.width * sizeof(guint32), seen);
    }
    gst_buffer_unmap(map.labels, &memory);
  }
  return seen;
}

}  // namespace

void install_failing_allocator() {
  gst_allocator_set_default(GST_ALLOCATOR(g_object_new(failing_allocator_get_type(), nullptr)));
}

/* The life */

PropertyTexts with_all_attached(const char* backend) {
  return {{"backend", backend},
          {"threads", "2"},
          {"pipeline-depth", "3"},
          {"max-components", "50"},
          {"track", "true"},
          {"output", "overlay"},
          {"regions", kRegions},
          {"draw-ids", "true"},
          {"draw-regions", "true"},
          {"label-map", "labels"},
          {"metadata", "components+roi"},
          {"features", "all+grey+hull+contour"},
          {"post-messages", "records"},
          {"meta-name", "a name that is longer than a short string"},
          {"object-type", "a type that is longer than a short string"}};
}

PropertyTexts with_passed_on_picture(const char* backend) {
  return {{"backend", backend},
          {"threads", "1"},
          {"pipeline-depth", "1"},
          {"max-components", "50"},
          {"output", "passthrough"},
          {"foreground", "motion"},
          {"background-model", "mixture"},
          {"separate", "0.7"},
          {"meta-name", "a name that is longer than a short string"}};
}

Story ElementLife::live() {
  make();
  play_first_half();
  if (story_.errors.empty()) {
    if (first_half_.empty()) {
      first_half_ = story_.results;
    }
    play_second_half();
  }
  send(gst_event_new_eos());
  set_state(GST_STATE_NULL);
  if (!story_.errors.empty()) {
    check_restart();
  }
  end();
  return std::exchange(story_, {});
}

void ElementLife::make() {
  element_ = armed([] { return gst_element_factory_make("cudaccl", nullptr); });
  gst_object_ref_sink(element_);
  count_living(1);
  g_object_weak_ref(
      G_OBJECT(element_), [](gpointer, GObject*) { count_living(-1); }, nullptr);
  GstBus* bus = gst_bus_new();
  gst_bus_set_sync_handler(bus, take_message, this, nullptr);
  gst_element_set_bus(element_, bus);
  gst_object_unref(bus);
  src_ = gst_pad_new("before", GST_PAD_SRC);
  static GstStaticPadTemplate any =
      GST_STATIC_PAD_TEMPLATE("behind", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  sink_ = gst_pad_new_from_static_template(&any, "behind");
  gst_pad_set_element_private(sink_, this);
  gst_pad_set_chain_function(sink_, take_buffer);
  const Ref<GstPad> sink(gst_element_get_static_pad(element_, "sink"));
  const Ref<GstPad> src(gst_element_get_static_pad(element_, "src"));
  gst_pad_link(src_, sink.get());
  gst_pad_link(src.get(), sink_);
  gst_pad_set_active(src_, TRUE);
  gst_pad_set_active(sink_, TRUE);
  set_all();
}

/// Frames at full depth with events between them, properties that change, new caps, a query that drains.
void ElementLife::play_first_half() {
  n_frames_ = 0;
  set_state(GST_STATE_PLAYING);
  send(gst_event_new_stream_start("life"));
  send_caps("GRAY8", 40, 30);
  send_segment();
  for (const char* title : {"one", "two", "three", "four", "five"}) {
    push("GRAY8", 40, 30);
    send_tag(title);
  }
  read();
  set("regions", R"({"version": 1, "include": [{"polygon": [[0, 0], [1, 0], [1, 1]]}]})");
  push("GRAY8", 40, 30);
  set("output", "mask");
  push("GRAY8", 40, 30);
  send_tag("six");
  send_caps("NV12", 50, 20);
  push("NV12", 50, 20);
  push("NV12", 50, 20);
  drain();
  push("NV12", 50, 20);
  send_tag("discarded");
  push("NV12", 50, 20);
}

/// What is in flight at a flush is gone; then another labeler and another output.
void ElementLife::play_second_half() {
  send(gst_event_new_flush_start());
  send(gst_event_new_flush_stop(TRUE));
  send_segment();
  set("regions", "");
  set("output", "labels");
  set("algorithm", "dlp");
  set("foreground", "otsu");
  for (int i = 0; i < 4; ++i) {
    push("NV12", 50, 20);
  }
}

/// The element is in the state NULL, and the second half may have changed properties.
void ElementLife::check_restart() {
  calm();
  Story failed = std::exchange(story_, {});
  set("regions", "");
  set("algorithm", "auto");
  set("foreground", "binary");
  set_all();
  play_first_half();
  set_state(GST_STATE_NULL);
  if (!story_.errors.empty()) {
    failed.errors.push_back("restarted: " + story_.errors[0]);
  } else if (story_.results != first_half_) {
    failed.errors.push_back("what the restarted element gave is another stream");
  }
  story_ = std::move(failed);
}

void ElementLife::end() {
  gst_pad_set_active(src_, FALSE);
  gst_pad_set_active(sink_, FALSE);
  gst_element_set_bus(element_, nullptr);
  gst_clear_object(&src_);
  gst_clear_object(&sink_);
  gst_clear_object(&element_);
}

/* Steps */

void ElementLife::set_all() {
  for (const auto& [name, value] : properties_) {
    set(name.c_str(), value.c_str());
  }
}

void ElementLife::set(const char* property, const char* value) {
  const Armed now;
  gst_util_set_object_arg(G_OBJECT(element_), property, value);
}

void ElementLife::set_state(GstState state) {
  const bool is_set =
      armed([&] { return gst_element_set_state(element_, state) != GST_STATE_CHANGE_FAILURE; });
  note();
  if (!is_set && story_.errors.empty()) {
    story_.errors.push_back("memory may be the reason, but no error was posted");
    story_.gave_after_error = true;
  }
}

void ElementLife::send(GstEvent* event) {
  watch(GST_MINI_OBJECT_CAST(event));
  armed([&] { return gst_pad_push_event(src_, event); });
  note();
}

void ElementLife::send_segment() {
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  send(gst_event_new_segment(&segment));
}

void ElementLife::send_caps(const std::string& format, uint32_t width, uint32_t height) {
  const Ref<GstCaps> caps(gst_caps_from_string(cudaccl::test::caps_text(format, width, height).c_str()));
  send(gst_event_new_caps(caps.get()));
}

void ElementLife::send_tag(const char* title) {
  send(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, title, nullptr)));
}

void ElementLife::push(const char* format, uint32_t width, uint32_t height) {
  Ref<GstBuffer> buffer = cudaccl::test::make_frame(cudaccl::test::noise(width, height, n_frames_), format);
  GST_BUFFER_PTS(buffer.get()) = n_frames_++ * cudaccl::test::kFrameDuration;
  watch(GST_MINI_OBJECT_CAST(buffer.get()));
  armed([&] { return gst_pad_push(src_, buffer.release()); });
  note();
}

void ElementLife::drain() {
  const Ref<GstQuery> query(gst_query_new_drain());
  armed([&] { return gst_pad_peer_query(src_, query.get()); });
  note();
}

/// Properties that are made when they are read, and queries.
void ElementLife::read() {
  GstStructure* stats = nullptr;
  gchar* regions = nullptr;
  armed([&] {
    g_object_get(element_, "stats", &stats, "regions", &regions, nullptr);
    return true;
  });
  g_free(regions);
  g_clear_pointer(&stats, gst_structure_free);
  const Ref<GstQuery> latency(gst_query_new_latency());
  armed([&] { return gst_pad_peer_query(sink_, latency.get()); });
  GstCaps* caps = armed([&] { return gst_pad_peer_query_caps(src_, nullptr); });
  gst_clear_caps(&caps);
}

/* What leaves */

GstFlowReturn ElementLife::take_buffer(GstPad* pad, GstObject*, GstBuffer* buffer) {
  auto* self = static_cast<ElementLife*>(gst_pad_get_element_private(pad));
  self->story_.gave_after_error =
      self->story_.gave_after_error || self->errors_.length > 0 || !self->story_.errors.empty();
  g_queue_push_tail(&self->left_, buffer);
  return GST_FLOW_OK;
}

GstBusSyncReply ElementLife::take_message(GstBus*, GstMessage* message, gpointer self) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    g_queue_push_tail(&static_cast<ElementLife*>(self)->errors_, message);
  } else {
    gst_message_unref(message);
  }
  return GST_BUS_DROP;
}

void ElementLife::note() {
  while (gpointer item = g_queue_pop_head(&left_)) {
    const Ref<GstBuffer> buffer(GST_BUFFER_CAST(item));
    const std::string metas = cudaccl::test::dump_metas(buffer.get());
    const std::vector<uint8_t> bytes = cudaccl::test::bytes_of(buffer.get());
    const uint64_t seen = digest(bytes.data(), bytes.size(), digest(metas.data(), metas.size()));
    story_.results.push_back(digest_label_map(buffer.get(), seen));
  }
  while (gpointer item = g_queue_pop_head(&errors_)) {
    const Ref<GstMessage> message(GST_MESSAGE_CAST(item));
    story_.errors.push_back(cudaccl::test::text_of(message.get()));
  }
}

}  // namespace faults
