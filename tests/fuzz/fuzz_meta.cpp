// SPDX-License-Identifier: LGPL-2.1-or-later
/// Metadata of any bytes: the accessors, the JSON that is written of it, and what it becomes in a frame of
/// another size.
#include <gst/video/video.h>

#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "bytes.h"
#include "cudaccl/gstcudaccljson.h"
#include "cudaccl/gstcudaccllabelmap.h"
#include "cudaccl/gstcudacclmeta.h"
#include "metadata/meta_transform.h"

namespace fuzz {

namespace {

/// A field and its type as the element makes it.
struct Field {
  const char* name;
  GType type;
};

const std::vector<Field>& fields() {
  static const std::vector<Field> all = {{"layout-version", G_TYPE_UINT},
                                         {"source", G_TYPE_STRING},
                                         {"frame", G_TYPE_UINT64},
                                         {"width", G_TYPE_UINT},
                                         {"height", G_TYPE_UINT},
                                         {"n-components", G_TYPE_UINT},
                                         {"overflow", G_TYPE_BOOLEAN},
                                         {"labels-saturated", G_TYPE_BOOLEAN},
                                         {"level", G_TYPE_UINT},
                                         {"relearning", G_TYPE_BOOLEAN},
                                         {"components", G_TYPE_BYTES},
                                         {"tracks", G_TYPE_BYTES},
                                         {"events", G_TYPE_BYTES},
                                         {"zones", GST_TYPE_ARRAY},
                                         {"lines", GST_TYPE_ARRAY},
                                         {"grey", G_TYPE_BYTES},
                                         {"polygons", G_TYPE_BYTES},
                                         {"vertices", G_TYPE_BYTES},
                                         {"polygons-truncated", G_TYPE_BOOLEAN},
                                         {"utc", G_TYPE_UINT64},
                                         {"utc-clock", G_TYPE_STRING},
                                         {"stride", G_TYPE_UINT},
                                         {"kind", G_TYPE_STRING}};
  return all;
}

std::string take_text(Bytes* bytes) {
  std::string text;
  for (uint32_t n = bytes->below(6); n > 0; --n) {
    text += static_cast<char>(bytes->from_to(1, 127));
  }
  return text;
}

GBytes* take_bytes(Bytes* bytes) {
  // Often whole records; a copy of exactly this size, so that a sanitizer sees its end.
  const size_t size = bytes->below(4) != 3 ? size_t{32} * bytes->below(7) : bytes->below(200);
  auto* data = static_cast<guint8*>(g_malloc(size + 1));
  bytes->fill(data, size);
  GBytes* exact = g_bytes_new(data, size);
  g_free(data);
  return exact;
}

void set_names(GstStructure* structure, const char* field, Bytes* bytes) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (uint32_t n = bytes->below(4); n > 0; --n) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, G_TYPE_STRING);
    g_value_set_string(&value, take_text(bytes).c_str());
    gst_value_array_append_and_take_value(&array, &value);
  }
  gst_structure_take_value(structure, field, &array);
}

void set_field(GstStructure* structure, const char* name, GType type, Bytes* bytes) {
  if (type == G_TYPE_UINT) {
    gst_structure_set(structure, name, type, bytes->below(3) != 2 ? bytes->byte() : bytes->below(UINT32_MAX),
                      nullptr);
  } else if (type == G_TYPE_UINT64) {
    guint64 value = 0;
    bytes->fill(&value, sizeof value);
    gst_structure_set(structure, name, type, value, nullptr);
  } else if (type == G_TYPE_BOOLEAN) {
    gst_structure_set(structure, name, type, bytes->flag(), nullptr);
  } else if (type == G_TYPE_STRING) {
    gst_structure_set(structure, name, type, take_text(bytes).c_str(), nullptr);
  } else if (type == G_TYPE_BYTES) {
    GBytes* value = take_bytes(bytes);
    gst_structure_set(structure, name, type, value, nullptr);
    g_bytes_unref(value);
  } else {
    set_names(structure, name, bytes);
  }
}

/// Each field of its type, now and then of another one, or none.
void take_fields(GstStructure* structure, Bytes* bytes) {
  for (const Field& field : fields()) {
    const uint32_t kind = bytes->below(16);
    if (kind == 15) {
      continue;
    }
    set_field(structure, field.name, kind == 14 ? fields()[bytes->below(22)].type : field.type, bytes);
  }
}

/// GLib's warnings say that a reader called it with what it does not take.
void refuse_complaints(const gchar*, GLogLevelFlags, const gchar* text, gpointer) {
  require(false, text);
}

void start() {
  static const bool is_started = [] {
    gst_init(nullptr, nullptr);
    gst_debug_set_default_threshold(GST_LEVEL_NONE);
    g_log_set_default_handler(refuse_complaints, nullptr);
    const char* tags[] = {nullptr};
    gst_meta_register_custom(GST_CUDACCL_META_NAME, tags, nullptr, nullptr, nullptr);
    gst_meta_register_custom(GST_CUDACCL_LABEL_MAP_NAME, tags, nullptr, nullptr, nullptr);
    return true;
  }();
  static_cast<void>(is_started);
}

void require_braces(const GString* json) {
  require(json->len > 1 && json->str[0] == '{' && json->str[json->len - 1] == '}', "no object of JSON");
  for (gsize i = 0; i < json->len; ++i) {
    require(static_cast<guchar>(json->str[i]) >= 32, "a control character in JSON");
  }
}

void read(GstBuffer* buffer) {
  GstCudaCclInfo info;
  gpointer state = nullptr;
  while (gst_buffer_iterate_cudaccl_info(buffer, &state, &info)) {
    for (guint i = 0; i < info.n_records; ++i) {
      gst_cudaccl_component_grey(&info, &info.records[i]);
      require(!(ccl_component_eccentricity(&info.records[i]) > 1), "an eccentricity above 1");
    }
    GString* json = g_string_new(nullptr);
    gst_cudaccl_info_append_json(&info, GST_CLOCK_TIME_NONE, json);
    require_braces(json);
    g_string_free(json, TRUE);
  }
  GstCudaCclLabelMap map;
  gst_buffer_get_cudaccl_label_map(buffer, &map);
}

void scale(GstBuffer* from, GstCustomMeta* meta, Bytes* bytes) {
  GstVideoInfo old_info;
  GstVideoInfo info;
  gst_video_info_set_format(&old_info, GST_VIDEO_FORMAT_GRAY8, 1 + bytes->byte(), 1 + bytes->byte());
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_GRAY8, 1 + bytes->byte(), 1 + bytes->byte());
  GstVideoMetaTransform transform = {&old_info, &info};
  GstBuffer* to = gst_buffer_new();
  cudaccl::transform_component_meta(to, meta, from, gst_video_meta_transform_scale_get_quark(), &transform,
                                    nullptr);
  read(to);
  gst_buffer_unref(to);
}

}  // namespace

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::start();
  fuzz::Bytes bytes(data, size);
  GstBuffer* buffer = gst_buffer_new();
  const bool is_map = bytes.below(8) == 7;
  GstCustomMeta* meta =
      gst_buffer_add_custom_meta(buffer, is_map ? GST_CUDACCL_LABEL_MAP_NAME : GST_CUDACCL_META_NAME);
  fuzz::take_fields(gst_custom_meta_get_structure(meta), &bytes);
  fuzz::read(buffer);
  if (!is_map) {
    fuzz::scale(buffer, meta, &bytes);
  }
  gst_buffer_unref(buffer);
  return 0;
}
