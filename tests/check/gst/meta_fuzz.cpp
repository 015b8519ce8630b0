// SPDX-License-Identifier: LGPL-2.1-or-later
/// Reads metadata that is broken at random with every function of gstcudacclmeta.h, under the sanitizers for
/// addresses and undefined behaviour, which end the program where one of them reads outside.
///
///     meta-fuzz [ROUNDS] [outside]
///
/// With `outside` it reads outside on purpose, to show that a sanitizer notices.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "cudaccl/gstcudacclmeta.h"

namespace {

struct Free {
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(gchar* text) const { g_free(text); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

constexpr std::array kFields = {"layout-version",
                                "source",
                                "frame",
                                "width",
                                "height",
                                "n-components",
                                "overflow",
                                "labels-saturated",
                                "level",
                                "relearning",
                                "components",
                                "tracks",
                                "events",
                                "zones",
                                "lines",
                                "grey",
                                "polygons",
                                "vertices",
                                "polygons-truncated",
                                "utc",
                                "utc-clock"};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  /// 0 to n − 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine_() % n); }
  bool once_in(uint32_t n) { return below(n) == 0; }
  uint32_t bits() { return static_cast<uint32_t>(engine_()); }
  /// Often one at which a count or an index goes wrong.
  uint32_t number() {
    constexpr std::array<uint32_t, 8> kEdges = {0, 1, 3, 31, 64, 0x7fffffff, 0x80000000, 0xffffffff};
    return once_in(3) ? bits() : once_in(2) ? kEdges[below(kEdges.size())] : below(8);
  }

 private:
  std::mt19937 engine_;
};

/* Metadata as the element makes it */

/// Of exactly this size on the heap, so that a sanitizer sees the first byte that is read behind it.
GBytes* new_bytes(const void* data, gsize size) {
  return g_bytes_new_take(g_memdup2(data, size), size);
}

void take_bytes(GstStructure* structure, const char* field, GBytes* bytes) {
  gst_structure_set(structure, field, G_TYPE_BYTES, bytes, nullptr);
  g_bytes_unref(bytes);
}

template <typename Record>
void set_records(GstStructure* structure, const char* field, const std::vector<Record>& records,
                 gsize padding) {
  std::vector<uint8_t> data(records.size() * sizeof(Record) + padding);
  if (!records.empty()) {
    std::memcpy(data.data(), records.data(), records.size() * sizeof(Record));
  }
  take_bytes(structure, field, new_bytes(data.data(), data.size()));
}

void set_names(GstStructure* structure, const char* field, uint32_t count) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (uint32_t i = 0; i < count; ++i) {
    GValue name = G_VALUE_INIT;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_string(&name, ("name " + std::to_string(i)).c_str());
    gst_value_array_append_and_take_value(&array, &name);
  }
  gst_structure_take_value(structure, field, &array);
}

void add_shapes(GstStructure* structure, size_t n_components, gsize padding, Random* random) {
  const size_t n_grey = random->once_in(8) ? random->below(5) : n_components;
  set_records(structure, "grey", std::vector<CclGrey>(n_grey), padding);
  std::vector<CclVertex> vertices(random->below(20));
  std::vector<CclPolygon> polygons(random->below(4));
  const auto n_vertices = static_cast<uint32_t>(vertices.size());
  uint32_t next = 0;  // polygons share no vertices
  for (CclPolygon& polygon : polygons) {
    polygon.kind = random->number();
    polygon.first = random->once_in(8) ? random->below(n_vertices + 1) : next;
    polygon.n_vertices = random->below(n_vertices - polygon.first + 1);
    next = polygon.first + polygon.n_vertices;
    if (random->once_in(8)) {
      (random->once_in(2) ? polygon.first : polygon.n_vertices) = random->number();
    }
  }
  set_records(structure, "polygons", polygons, padding);
  set_records(structure, "vertices", vertices, padding);
  gst_structure_set(structure, "polygons-truncated", G_TYPE_BOOLEAN, FALSE, nullptr);
}

GstStructure* new_metadata(Random* random) {
  const guint version = 1 + random->below(2);
  GstStructure* structure =
      gst_structure_new(GST_CUDACCL_META_NAME, "layout-version", G_TYPE_UINT, version, "width", G_TYPE_UINT,
                        640u, "height", G_TYPE_UINT, 480u, "n-components", G_TYPE_UINT, random->number(),
                        "overflow", G_TYPE_BOOLEAN, FALSE, "labels-saturated", G_TYPE_BOOLEAN, FALSE, "level",
                        G_TYPE_UINT, 0u, "relearning", G_TYPE_BOOLEAN, FALSE, nullptr);
  const gsize padding = random->below(4);
  std::vector<CclComponent> components(random->below(5));
  set_records(structure, "components", components, padding);
  gst_structure_set(structure, "source", G_TYPE_STRING, random->once_in(2) ? "ccl" : "other", "frame",
                    G_TYPE_UINT64, guint64{random->number()}, nullptr);
  if (random->once_in(2)) {
    std::vector<CclTrack> tracks(random->below(5));
    std::vector<CclEvent> events(random->below(5));
    for (CclTrack& track : tracks) {
      track.component = random->number();
    }
    for (CclEvent& event : events) {
      event.type = random->once_in(2) ? random->below(14) : random->number();
      event.where = random->once_in(2) ? random->below(4) : random->number();
    }
    set_records(structure, "tracks", tracks, padding);
    set_records(structure, "events", events, padding);
    set_names(structure, "zones", random->below(4));
    set_names(structure, "lines", random->below(4));
  }
  if (random->once_in(2)) {
    add_shapes(structure, components.size(), padding, random);
  }
  return structure;
}

/* What can be wrong with it */

/// Bytes of any size, often that of whole records, and often not aligned.
void set_random_bytes(GstStructure* structure, const char* field, Random* random) {
  const gsize offset = random->below(9);
  std::vector<uint8_t> data(
      offset + (random->once_in(2) ? 64 * random->below(4) + random->below(5) : random->below(300)));
  for (uint8_t& byte : data) {
    byte = static_cast<uint8_t>(random->once_in(2) ? 0xff : random->bits());
  }
  GBytes* bytes = new_bytes(data.data(), data.size());
  take_bytes(structure, field, g_bytes_new_from_bytes(bytes, offset, data.size() - offset));
  g_bytes_unref(bytes);
}

/// An array of anything, of names and others, of a name that is null, or no value at all.
void set_random_array(GstStructure* structure, const char* field, Random* random) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, random->once_in(4) ? GST_TYPE_LIST : GST_TYPE_ARRAY);
  const bool is_list = G_VALUE_HOLDS(&array, GST_TYPE_LIST);
  for (uint32_t i = random->below(4); i > 0; --i) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, random->once_in(3) ? G_TYPE_INT : G_TYPE_STRING);
    if (is_list) {
      gst_value_list_append_and_take_value(&array, &value);
    } else {
      gst_value_array_append_and_take_value(&array, &value);
    }
  }
  gst_structure_take_value(structure, field, &array);
}

void change_type(GstStructure* structure, const char* field, Random* random) {
  const bool holds_names = std::string_view(field) == "zones" || std::string_view(field) == "lines";
  if (holds_names && random->once_in(2)) {
    set_random_array(structure, field, random);
    return;
  }
  switch (random->below(9)) {
    case 0:
      gst_structure_set(structure, field, G_TYPE_INT, static_cast<gint>(random->number()), nullptr);
      break;
    case 1:
      gst_structure_set(structure, field, G_TYPE_UINT, random->number(), nullptr);
      break;
    case 2:
      gst_structure_set(structure, field, G_TYPE_INT64, static_cast<gint64>(random->number()) - 5, nullptr);
      break;
    case 3:
      gst_structure_set(structure, field, G_TYPE_STRING, random->once_in(3) ? nullptr : "text", nullptr);
      break;
    case 4:
      gst_structure_set(structure, field, G_TYPE_DOUBLE, 1e300, nullptr);
      break;
    case 5:
      gst_structure_set(structure, field, G_TYPE_BYTES, nullptr, nullptr);
      break;
    case 6:
      gst_structure_set(structure, field, GST_TYPE_STRUCTURE, structure, nullptr);
      break;
    case 7:
      set_random_array(structure, field, random);
      break;
    default:
      set_random_bytes(structure, field, random);
      break;
  }
}

/// Bytes of the records, in place. An array that has other owners is left as it is.
void change_bytes(GstStructure* structure, const char* field, Random* random) {
  const GValue* value = gst_structure_get_value(structure, field);
  if (value == nullptr || !G_VALUE_HOLDS(value, G_TYPE_BYTES) || g_value_get_boxed(value) == nullptr) {
    return;
  }
  gsize size = 0;
  const void* data = g_bytes_get_data(static_cast<GBytes*>(g_value_get_boxed(value)), &size);
  if (size == 0) {
    return;
  }
  std::vector<uint8_t> copy(size);
  std::memcpy(copy.data(), data, size);
  for (uint32_t i = random->below(8); i > 0; --i) {
    copy[random->below(static_cast<uint32_t>(size))] = static_cast<uint8_t>(random->bits());
  }
  // Cut off now and then.
  take_bytes(structure, field, new_bytes(copy.data(), random->once_in(3) ? random->below(size + 1) : size));
}

/// Another process may send any text. Null if GStreamer refuses it.
GstStructure* through_broken_text(GstStructure* structure, Random* random) {
  const Owned<gchar> text(gst_structure_to_string(structure));
  gst_structure_free(structure);
  std::string broken = text.get();
  for (uint32_t i = random->below(3); i > 0; --i) {
    const size_t at = random->below(static_cast<uint32_t>(broken.size()));
    switch (random->below(3)) {
      case 0:
        broken.erase(at, 1 + random->below(4));
        break;
      case 1:
        broken.insert(at, 1, static_cast<char>(32 + random->below(95)));
        break;
      default:
        broken[at] = static_cast<char>(32 + random->below(95));
        break;
    }
  }
  return gst_structure_from_string(broken.c_str(), nullptr);
}

/// Metadata with up to three faults; without any if the number is 0. Null if it did not survive its text
/// form.
GstStructure* new_broken_metadata(Random* random) {
  GstStructure* structure = new_metadata(random);
  for (uint32_t faults = random->below(4); faults > 0; --faults) {
    const char* field = kFields[random->below(kFields.size())];
    switch (random->below(4)) {
      case 0:
        gst_structure_remove_field(structure, field);
        break;
      case 1:
        change_type(structure, field, random);
        break;
      default:
        change_bytes(structure, field, random);
        break;
    }
  }
  return random->once_in(3) ? through_broken_text(structure, random) : structure;
}

/* Readers */

/// Depends on each byte that the accessors give.
uint64_t digest = 0;

void read_bytes(const void* data, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    digest = digest * 31 + static_cast<const uint8_t*>(data)[i];
  }
}

void read_text(const gchar* text) {
  if (text != nullptr) {
    read_bytes(text, std::strlen(text));
  }
}

void read_component(const CclComponent& component) {
  read_bytes(&component, sizeof(component));
  const double shape[] = {ccl_component_orientation(&component), ccl_component_major_axis(&component),
                          ccl_component_minor_axis(&component), ccl_component_eccentricity(&component)};
  read_bytes(shape, sizeof(shape));
}

void read_shapes(const GstCudaCclInfo& info) {
  for (guint i = 0; i < info.n_records; ++i) {
    if (const CclGrey* grey = gst_cudaccl_component_grey(&info, &info.records[i])) {
      read_bytes(grey, sizeof(*grey));
    }
  }
  uint64_t n_read = 0;
  for (guint i = 0; i < info.n_polygons; ++i) {
    n_read += info.polygons[i].n_vertices;
    read_bytes(info.vertices + info.polygons[i].first, info.polygons[i].n_vertices * sizeof(CclVertex));
  }
  if (n_read > info.n_vertices) {
    std::fputs("polygons have more vertices than there are\n", stderr);
    std::exit(EXIT_FAILURE);
  }
}

void read_info(const GstCudaCclInfo& info) {
  read_text(info.source);
  for (guint i = 0; i < info.n_records; ++i) {
    read_component(info.records[i]);
  }
  for (guint i = 0; i < info.n_tracks; ++i) {
    const CclTrack& track = info.tracks[i];
    read_bytes(&track, sizeof(track));
    if (const CclComponent* component = gst_cudaccl_track_component(&info, &track)) {
      read_component(*component);
    }
  }
  for (guint i = 0; i < info.n_events; ++i) {
    const CclEvent& event = info.events[i];
    read_bytes(&event, sizeof(event));
    read_text(gst_cudaccl_event_nick(event.type));
    read_text(gst_cudaccl_event_place(&info, &event));
  }
  read_shapes(info);
}

/// GStreamer complains about texts that it cannot read, which is not what is tested. But readers must not
/// call a function of GLib or GStreamer with what it does not take.
bool is_reading = false;

void refuse_complaints(const gchar*, GLogLevelFlags, const gchar* text, gpointer) {
  if (is_reading) {
    std::fprintf(stderr, "%s\n", text);
    std::exit(EXIT_FAILURE);
  }
}

/// How many metas of the buffer the accessors accept.
int read_buffer(GstBuffer* buffer) {
  GstCudaCclInfo info;
  int accepted = 0;
  gpointer state = nullptr;
  while (gst_buffer_iterate_cudaccl_info(buffer, &state, &info)) {
    read_info(info);
    ++accepted;
  }
  for (const char* source : {"ccl", "other", ""}) {
    if (gst_buffer_get_cudaccl_info_by_source(buffer, source, &info)) {
      read_info(info);
    }
  }
  if (gst_buffer_get_cudaccl_info(buffer, &info)) {
    read_info(info);
  } else if (accepted > 0) {
    std::fputs("the last metadata is not found\n", stderr);
    std::exit(EXIT_FAILURE);
  }
  return accepted;
}

/// Attaches a copy.
void attach(GstBuffer* buffer, const GstStructure* content) {
  GstStructure* structure =
      gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, GST_CUDACCL_META_NAME));
  const auto copy_field = [](GQuark field, const GValue* value, gpointer to) -> gboolean {
    gst_structure_id_set_value(static_cast<GstStructure*>(to), field, value);
    return TRUE;
  };
  gst_structure_foreach(content, copy_field, structure);
}

int read_outside() {
  const std::array<CclTrack, 1> tracks{};
  const Owned<GstStructure> structure(gst_structure_new_empty("tracks"));
  take_bytes(structure.get(), "tracks", new_bytes(tracks.data(), sizeof(tracks) - 1));
  gsize size = 0;
  const GValue* value = gst_structure_get_value(structure.get(), "tracks");
  read_bytes(g_bytes_get_data(static_cast<GBytes*>(g_value_get_boxed(value)), &size), sizeof(tracks));
  std::printf("nothing noticed that: digest %llx\n", static_cast<unsigned long long>(digest));
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  g_log_set_default_handler(refuse_complaints, nullptr);
  gst_debug_set_default_threshold(GST_LEVEL_NONE);
  const char* tags[] = {nullptr};
  gst_meta_register_custom(GST_CUDACCL_META_NAME, tags, nullptr, nullptr, nullptr);
  if (argc > 2 && std::string_view(argv[2]) == "outside") {
    return read_outside();
  }
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  int attached = 0;
  int accepted = 0;
  for (int round = 0; round < rounds; ++round) {
    Random random(static_cast<uint32_t>(round));
    const Owned<GstBuffer> buffer(gst_buffer_new());
    for (uint32_t metas = random.below(4); metas > 0; --metas) {
      if (const Owned<GstStructure> structure{new_broken_metadata(&random)}) {
        attach(buffer.get(), structure.get());
        ++attached;
      }
    }
    is_reading = true;
    accepted += read_buffer(buffer.get());
    is_reading = false;
  }
  std::printf("%d metas, %d of them accepted, digest %llx\n", attached, accepted,
              static_cast<unsigned long long>(digest));
  // Neither may be all: the readers must have been reached, and the faults must have been found.
  return accepted > rounds / 10 && accepted < attached - rounds / 10 ? EXIT_SUCCESS : EXIT_FAILURE;
}
