// SPDX-License-Identifier: LGPL-2.1-or-later
/// Metadata that is broken: the accessors, the JSON that is written of it, and what it becomes in a frame of
/// another size.
///
/// CUDACCL_META_FUZZ=count looks at the end whether random inputs reached the readers and had faults that
/// they found. CUDACCL_META_FUZZ=outside reads outside on purpose, to show that a sanitizer notices.
#include <gst/video/video.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bytes.h"
#include "cudaccl/gstcudaccljson.h"
#include "cudaccl/gstcudaccllabelmap.h"
#include "cudaccl/gstcudacclmeta.h"
#include "metadata/meta_transform.h"

namespace fuzz {

namespace {

struct Free {
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(gchar* text) const { g_free(text); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

/* Metadata as the element makes it */

/// Often one at which a count or an index goes wrong.
uint32_t take_number(Bytes* bytes) {
  constexpr uint32_t kEdges[] = {0, 1, 3, 31, 64, 0x7fffffff, 0x80000000, 0xffffffff};
  const uint32_t kind = bytes->below(3);
  return kind == 0   ? bytes->below(8)
         : kind == 1 ? kEdges[bytes->below(std::size(kEdges))]
                     : bytes->below(UINT32_MAX);
}

/// From `offset` on. The end is that of the memory, so that a sanitizer sees the first byte that is read
/// behind it.
void set_bytes(GstStructure* structure, const char* field, const void* data, size_t size, size_t offset = 0) {
  GBytes* whole = g_bytes_new(data, size);
  GBytes* part = g_bytes_new_from_bytes(whole, offset, size - offset);
  gst_structure_set(structure, field, G_TYPE_BYTES, part, nullptr);
  g_bytes_unref(part);
  g_bytes_unref(whole);
}

/// Records of numbers, and padding behind them.
void set_records(GstStructure* structure, const char* field, size_t record_size, uint32_t n, Bytes* bytes) {
  std::vector<uint32_t> words(n * record_size / sizeof(uint32_t) + 1);
  std::generate(words.begin(), words.end(), [bytes] { return take_number(bytes); });
  set_bytes(structure, field, words.data(), n * record_size + bytes->below(4));
}

void set_tracking(GstStructure* structure, Bytes* bytes) {
  set_records(structure, "tracks", sizeof(CclTrack), bytes->below(5), bytes);
  set_records(structure, "events", sizeof(CclEvent), bytes->below(5), bytes);
  for (const char* field : {"zones", "lines"}) {
    GValue array = G_VALUE_INIT;
    g_value_init(&array, GST_TYPE_ARRAY);
    for (uint32_t n = bytes->below(4); n > 0; --n) {
      std::string text(bytes->below(6), ' ');
      std::generate(text.begin(), text.end(), [bytes] { return static_cast<char>(bytes->from_to(1, 127)); });
      GValue name = G_VALUE_INIT;
      g_value_init(&name, G_TYPE_STRING);
      g_value_set_string(&name, text.c_str());
      gst_value_array_append_and_take_value(&array, &name);
    }
    gst_structure_take_value(structure, field, &array);
  }
}

/// Polygons share no vertices; now and then one has some that are not there.
void set_polygons(GstStructure* structure, Bytes* bytes) {
  const uint32_t n_vertices = bytes->below(20);
  std::vector<CclPolygon> polygons(bytes->below(4));
  uint32_t next = 0;
  for (CclPolygon& polygon : polygons) {
    polygon.kind = take_number(bytes);
    polygon.first = next;
    polygon.n_vertices = bytes->below(n_vertices - next + 1);
    next += polygon.n_vertices;
    if (bytes->below(8) == 7) {
      (bytes->flag() ? polygon.first : polygon.n_vertices) = take_number(bytes);
    }
  }
  set_bytes(structure, "polygons", polygons.data(), polygons.size() * sizeof(CclPolygon));
  set_records(structure, "vertices", sizeof(CclVertex), n_vertices, bytes);
  gst_structure_set(structure, "polygons-truncated", G_TYPE_BOOLEAN, bytes->flag(), nullptr);
}

/// What records and label maps have.
GstStructure* take_frame(const char* name, Bytes* bytes) {
  GstStructure* structure = gst_structure_new_empty(name);
  gst_structure_set(structure, "source", G_TYPE_STRING, bytes->flag() ? "other" : "ccl", nullptr);
  gst_structure_set(structure, "frame", G_TYPE_UINT64, guint64{take_number(bytes)}, nullptr);
  gst_structure_set(structure, "width", G_TYPE_UINT, 1u + bytes->byte(), nullptr);
  gst_structure_set(structure, "height", G_TYPE_UINT, 1u + bytes->byte(), nullptr);
  return structure;
}

GstStructure* take_label_map(Bytes* bytes) {
  GstStructure* structure = take_frame(GST_CUDACCL_LABEL_MAP_NAME, bytes);
  gst_structure_set(structure, "stride", G_TYPE_UINT, 4 * bytes->below(300), nullptr);
  gst_structure_set(structure, "kind", G_TYPE_STRING, bytes->flag() ? "ids" : "labels", nullptr);
  GstBufferList* list = gst_buffer_list_new();
  gst_buffer_list_add(list, gst_buffer_new_allocate(nullptr, bytes->below(10'000), nullptr));
  gst_structure_set(structure, "labels", GST_TYPE_BUFFER_LIST, list, nullptr);
  gst_buffer_list_unref(list);
  return structure;
}

GstStructure* take_records(Bytes* bytes) {
  GstStructure* structure = take_frame(GST_CUDACCL_META_NAME, bytes);
  gst_structure_set(structure, "layout-version", G_TYPE_UINT, 1 + bytes->below(2), nullptr);
  for (const char* field : {"n-components", "level"}) {
    gst_structure_set(structure, field, G_TYPE_UINT, take_number(bytes), nullptr);
  }
  for (const char* field : {"overflow", "labels-saturated", "relearning"}) {
    gst_structure_set(structure, field, G_TYPE_BOOLEAN, bytes->flag(), nullptr);
  }
  const uint32_t n_components = bytes->below(5);
  set_records(structure, "components", sizeof(CclComponent), n_components, bytes);
  if (bytes->flag()) {
    set_tracking(structure, bytes);
  }
  if (bytes->flag()) {
    const uint32_t n_grey = bytes->below(8) == 7 ? bytes->below(5) : n_components;
    set_records(structure, "grey", sizeof(CclGrey), n_grey, bytes);
  }
  if (bytes->flag()) {
    set_polygons(structure, bytes);
  }
  if (bytes->flag()) {
    gst_structure_set(structure, "utc", G_TYPE_UINT64, guint64{take_number(bytes)} << bytes->below(33),
                      "utc-clock", G_TYPE_STRING, "camera", nullptr);
  }
  return structure;
}

/* What can be wrong with it */

/// Of any size, often that of whole records, and often not aligned.
void set_any_bytes(GstStructure* structure, const char* field, Bytes* bytes) {
  const size_t offset = bytes->below(9);
  std::vector<uint8_t> data(offset + (bytes->below(4) != 3 ? 32 * bytes->below(7) : bytes->below(200)));
  bytes->fill(data.data(), data.size());
  set_bytes(structure, field, data.data(), data.size(), offset);
}

/// Of names that are null, and of others.
void set_any_array(GstStructure* structure, const char* field, Bytes* bytes) {
  const bool is_list = bytes->below(4) == 0;
  GValue array = G_VALUE_INIT;
  g_value_init(&array, is_list ? GST_TYPE_LIST : GST_TYPE_ARRAY);
  for (uint32_t n = bytes->below(4); n > 0; --n) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, bytes->below(3) == 0 ? G_TYPE_INT : G_TYPE_STRING);
    (is_list ? gst_value_list_append_and_take_value : gst_value_array_append_and_take_value)(&array, &value);
  }
  gst_structure_take_value(structure, field, &array);
}

void set_any(GstStructure* structure, const char* field, Bytes* bytes) {
  const uint32_t number = take_number(bytes);
  switch (bytes->below(10)) {
    case 0:
      return gst_structure_set(structure, field, G_TYPE_INT, static_cast<gint>(number), nullptr);
    case 1:
      return gst_structure_set(structure, field, G_TYPE_UINT, number, nullptr);
    case 2:
      return gst_structure_set(structure, field, G_TYPE_INT64, static_cast<gint64>(number) - 5, nullptr);
    case 3:
      return gst_structure_set(structure, field, G_TYPE_STRING, number % 3 == 0 ? nullptr : "text", nullptr);
    case 4:
      return gst_structure_set(structure, field, G_TYPE_DOUBLE, 1e300, nullptr);
    case 5:
      return gst_structure_set(structure, field, G_TYPE_BYTES, nullptr, nullptr);
    case 6:
      return gst_structure_set(structure, field, GST_TYPE_STRUCTURE, structure, nullptr);
    case 7:
    case 8:
      return set_any_array(structure, field, bytes);
    default:
      return set_any_bytes(structure, field, bytes);
  }
}

void take_fault(GstStructure* structure, Bytes* bytes) {
  const auto n_fields = static_cast<uint32_t>(gst_structure_n_fields(structure));
  const std::string field = gst_structure_nth_field_name(structure, bytes->below(n_fields));
  const uint32_t kind = bytes->below(4);
  if (kind == 0) {
    gst_structure_remove_field(structure, field.c_str());
  } else if (kind > 1 && gst_structure_has_field_typed(structure, field.c_str(), G_TYPE_BYTES)) {
    set_any_bytes(structure, field.c_str(), bytes);
  } else {
    set_any(structure, field.c_str(), bytes);
  }
}

/// Another process may send any text. Null if GStreamer refuses it.
GstStructure* through_broken_text(GstStructure* structure, Bytes* bytes) {
  const Owned<gchar> text(gst_structure_to_string(structure));
  gst_structure_free(structure);
  std::string broken = text.get();
  for (uint32_t n = bytes->below(3); n > 0; --n) {
    const size_t at = bytes->below(static_cast<uint32_t>(broken.size()));
    const uint32_t kind = bytes->below(3);
    if (kind == 0) {
      broken.erase(at, bytes->from_to(1, 4));
    } else {
      broken.replace(at, kind - 1, 1, static_cast<char>(bytes->from_to(32, 126)));
    }
  }
  return gst_structure_from_string(broken.c_str(), nullptr);
}

/* Readers */

/// Of all inputs: buffers, and records on them.
struct {
  uint32_t inputs, attached, accepted, scaled;
} n;

/// Depends on each byte that the accessors give.
uint64_t digest = 0;

void read_bytes(const void* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    digest = digest * 31 + static_cast<const uint8_t*>(data)[i];
  }
}

void read_text(const gchar* text) {
  read_bytes(text, text != nullptr ? std::strlen(text) : 0);
}

void read_component(const CclComponent& component) {
  read_bytes(&component, sizeof component);
  const double shape[] = {ccl_component_orientation(&component), ccl_component_major_axis(&component),
                          ccl_component_minor_axis(&component), ccl_component_eccentricity(&component)};
  read_bytes(shape, sizeof shape);
  require(!(shape[3] > 1), "an eccentricity above 1");
}

void read_tracking(const GstCudaCclInfo& info) {
  for (guint i = 0; i < info.n_tracks; ++i) {
    read_bytes(&info.tracks[i], sizeof info.tracks[i]);
    if (const CclComponent* component = gst_cudaccl_track_component(&info, &info.tracks[i])) {
      read_component(*component);
    }
  }
  for (guint i = 0; i < info.n_events; ++i) {
    read_bytes(&info.events[i], sizeof info.events[i]);
    read_text(gst_cudaccl_event_nick(info.events[i].type));
    read_text(gst_cudaccl_event_place(&info, &info.events[i]));
  }
}

void read_polygons(const GstCudaCclInfo& info) {
  uint64_t n_read = 0;
  for (guint i = 0; i < info.n_polygons; ++i) {
    const CclPolygon& polygon = info.polygons[i];
    n_read += polygon.n_vertices;
    read_text(gst_cudaccl_polygon_nick(polygon.kind));
    read_bytes(info.vertices + polygon.first, polygon.n_vertices * sizeof(CclVertex));
  }
  require(n_read <= info.n_vertices, "polygons have more vertices than there are");
}

void read_json(const GstCudaCclInfo& info) {
  GString* json = g_string_new(nullptr);
  gst_cudaccl_info_append_json(&info, GST_CLOCK_TIME_NONE, json);
  require(json->len > 1 && json->str[0] == '{' && json->str[json->len - 1] == '}', "no object of JSON");
  for (gsize i = 0; i < json->len; ++i) {
    require(static_cast<guchar>(json->str[i]) >= 32, "a control character in JSON");
  }
  g_string_free(json, TRUE);
}

void read_info(const GstCudaCclInfo& info) {
  read_text(info.source);
  read_text(info.utc_clock);
  for (guint i = 0; i < info.n_records; ++i) {
    read_component(info.records[i]);
    if (const CclGrey* grey = gst_cudaccl_component_grey(&info, &info.records[i])) {
      read_bytes(grey, sizeof *grey);
    }
  }
  read_tracking(info);
  read_polygons(info);
  read_json(info);
}

void read_label_maps(GstBuffer* buffer) {
  GstCudaCclLabelMap map;
  gpointer state = nullptr;
  while (gst_buffer_iterate_cudaccl_label_map(buffer, &state, &map)) {
    read_text(map.source);
    GstMapInfo memory;
    require(gst_buffer_map(map.labels, &memory, GST_MAP_READ), "no memory of labels");
    for (guint y = 0; y < map.height; ++y) {
      read_bytes(gst_cudaccl_label_map_row(&map, &memory, y), map.width * sizeof(guint32));
    }
    gst_buffer_unmap(map.labels, &memory);
  }
}

/// How many records of the buffer the accessors accept.
uint32_t read_buffer(GstBuffer* buffer) {
  GstCudaCclInfo info;
  uint32_t n_accepted = 0;
  gpointer state = nullptr;
  while (gst_buffer_iterate_cudaccl_info(buffer, &state, &info)) {
    read_info(info);
    ++n_accepted;
  }
  for (const char* source : {"ccl", "other", ""}) {
    if (gst_buffer_get_cudaccl_info_by_source(buffer, source, &info)) {
      read_info(info);
    }
  }
  const bool has_last = gst_buffer_get_cudaccl_info(buffer, &info);
  require(has_last == (n_accepted > 0), "the last metadata is not found");
  read_label_maps(buffer);
  return n_accepted;
}

/// Often from the size of which the records are, with the same aspect ratio: then they follow.
void scale(GstBuffer* from, GstCustomMeta* meta, Bytes* bytes) {
  guint width = 0;
  guint height = 0;
  gst_structure_get(gst_custom_meta_get_structure(meta), "width", G_TYPE_UINT, &width, "height", G_TYPE_UINT,
                    &height, nullptr);
  if (width - 1 > 255 || height - 1 > 255) {
    width = height = 256;
  }
  const guint factor = bytes->below(4);
  const guint new_width = factor > 0 ? width * factor : 1u + bytes->byte();
  const guint new_height = factor > 0 ? height * factor : 1u + bytes->byte();
  GstVideoInfo old_info;
  GstVideoInfo info;
  gst_video_info_set_format(&old_info, GST_VIDEO_FORMAT_GRAY8, width, height);
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, new_width, new_height);
  GstVideoMetaTransform transform = {&old_info, &info};
  const Owned<GstBuffer> to(gst_buffer_new());
  cudaccl::transform_component_meta(to.get(), meta, from, gst_video_meta_transform_scale_get_quark(),
                                    &transform, nullptr);
  n.scaled += read_buffer(to.get());
}

/* What is asked of the whole */

/// GStreamer complains about texts that it cannot read, which is not what is tested. But readers must not
/// call a function of GLib or GStreamer with what it does not take.
bool is_reading = false;

void refuse_complaints(const gchar*, GLogLevelFlags, const gchar* text, gpointer) {
  require(!is_reading, text);
}

/// Neither may be all: the readers must have been reached, and the faults must have been found.
void check_counts() {
  std::printf("%u buffers, %u metas, %u of them accepted, %u when scaled, digest %llx\n", n.inputs,
              n.attached, n.accepted, n.scaled, static_cast<unsigned long long>(digest));
  const uint32_t few = n.inputs / 10;
  require(n.accepted > few && n.accepted < n.attached - few && n.scaled > few, "too few or too many");
}

void read_outside() {
  const CclTrack track{};
  const Owned<GstStructure> structure(gst_structure_new_empty("tracks"));
  set_bytes(structure.get(), "tracks", &track, sizeof track - 1);
  gsize size = 0;
  const GValue* value = gst_structure_get_value(structure.get(), "tracks");
  read_bytes(g_bytes_get_data(static_cast<GBytes*>(g_value_get_boxed(value)), &size), sizeof track);
}

bool start() {
  gst_init(nullptr, nullptr);
  gst_debug_set_default_threshold(GST_LEVEL_NONE);
  g_log_set_default_handler(refuse_complaints, nullptr);
  const char* tags[] = {nullptr};
  gst_meta_register_custom(GST_CUDACCL_META_NAME, tags, nullptr, nullptr, nullptr);
  gst_meta_register_custom(GST_CUDACCL_LABEL_MAP_NAME, tags, nullptr, nullptr, nullptr);
  const char* wanted = std::getenv("CUDACCL_META_FUZZ");
  if (wanted != nullptr && std::string_view(wanted) == "count") {
    std::atexit(check_counts);
  } else if (wanted != nullptr) {
    read_outside();
  }
  return true;
}

void attach(GstBuffer* buffer, Bytes* bytes) {
  const bool is_map = bytes->below(8) == 7;
  Owned<GstStructure> structure(is_map ? take_label_map(bytes) : take_records(bytes));
  for (uint32_t faults = bytes->below(4); faults > 0; --faults) {
    take_fault(structure.get(), bytes);
  }
  if (bytes->below(3) == 2) {
    structure.reset(through_broken_text(structure.release(), bytes));
  }
  if (structure != nullptr) {
    cudaccl::copy_custom_meta(buffer, is_map ? GST_CUDACCL_LABEL_MAP_NAME : GST_CUDACCL_META_NAME,
                              structure.get());
    n.attached += is_map ? 0 : 1;
  }
}

void read_and_scale(GstBuffer* buffer, Bytes* bytes) {
  ++n.inputs;
  n.accepted += read_buffer(buffer);
  gpointer state = nullptr;
  const GType api = gst_meta_get_info(GST_CUDACCL_META_NAME)->api;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, api)) {
    scale(buffer, reinterpret_cast<GstCustomMeta*>(meta), bytes);
  }
}

}  // namespace

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool is_started = fuzz::start();
  fuzz::Bytes bytes(data, size);
  const fuzz::Owned<GstBuffer> buffer(gst_buffer_new());
  for (uint32_t metas = (bytes.below(4) + 1) % 4; metas > 0; --metas) {
    fuzz::attach(buffer.get(), &bytes);
  }
  fuzz::is_reading = is_started;
  fuzz::read_and_scale(buffer.get(), &bytes);
  fuzz::is_reading = false;
  return 0;
}
