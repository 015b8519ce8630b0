// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions.h"

#include <gst/gst.h>
#include <json-glib/json-glib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

namespace cudaccl {

namespace {

constexpr gint64 kVersion = 1;
constexpr double kMaxCoordinate = 1e6;
constexpr double kMaxSeconds = 1e6;
constexpr gint64 kMaxCrowd = 1'000'000;
constexpr off_t kMaxFileSize = off_t{16} << 20;

struct Unreferencer {
  void operator()(gpointer object) const { g_object_unref(object); }
};

/// Why a text cannot be used. It stays in this file.
struct Refusal {
  std::string reason;
};

[[noreturn]] void refuse(std::string reason) {
  throw Refusal{std::move(reason)};
}

/* Where the text comes from */

bool is_json(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

std::string read_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && (!S_ISREG(info.st_mode) || info.st_size > kMaxFileSize)) {
    refuse(path + ": not a file of at most 16 MiB");
  }
  gchar* raw = nullptr;
  gsize size = 0;
  GError* raw_error = nullptr;
  if (!g_file_get_contents(path.c_str(), &raw, &size, &raw_error)) {
    const std::unique_ptr<GError, decltype(&g_error_free)> error(raw_error, g_error_free);
    refuse(error->message);
  }
  const std::unique_ptr<gchar, decltype(&g_free)> text(raw, g_free);
  return {text.get(), size};
}

/* From JSON to polygons. `place` is where a value is in the document, such as "include[0].polygon". */

std::string element(const std::string& place, guint index) {
  return place + "[" + std::to_string(index) + "]";
}

JsonObject* object_of(JsonNode* node, const std::string& place) {
  if (node == nullptr || !JSON_NODE_HOLDS_OBJECT(node)) {
    refuse(place + " is not an object");
  }
  return json_node_get_object(node);
}

JsonArray* array_of(JsonNode* node, const std::string& place) {
  if (node == nullptr || !JSON_NODE_HOLDS_ARRAY(node)) {
    refuse(place + " is not an array");
  }
  return json_node_get_array(node);
}

/// Refuses members that are not in the list: a wrong name would otherwise have no effect.
void check_members(JsonObject* object, const std::string& place, std::initializer_list<const char*> known) {
  JsonObjectIter iterator;
  json_object_iter_init(&iterator, object);
  const gchar* name = nullptr;
  while (json_object_iter_next(&iterator, &name, nullptr)) {
    if (std::none_of(known.begin(), known.end(), [&](const char* k) { return g_str_equal(k, name); })) {
      refuse(place + " has an unknown member \"" + name + "\"");
    }
  }
}

std::optional<std::string> text_of(JsonObject* object, const char* name, const std::string& place) {
  JsonNode* node = json_object_get_member(object, name);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING) {
    refuse(place + "." + name + " is not a string");
  }
  return json_node_get_string(node);
}

double number_of(JsonNode* node, const std::string& place) {
  const bool is_number = JSON_NODE_HOLDS_VALUE(node) && (json_node_get_value_type(node) == G_TYPE_INT64 ||
                                                         json_node_get_value_type(node) == G_TYPE_DOUBLE);
  if (!is_number) {
    refuse(place + " is not a number");
  }
  return json_node_get_double(node);
}

double coordinate_of(JsonNode* node, const std::string& place) {
  const double value = number_of(node, place);
  if (!(std::abs(value) <= kMaxCoordinate)) {
    refuse(place + " is not between -1000000 and 1000000");
  }
  return value;
}

ccl::Point point_of(JsonNode* node, const std::string& place) {
  JsonArray* coordinates = array_of(node, place);
  if (json_array_get_length(coordinates) != 2) {
    refuse(place + " has " + std::to_string(json_array_get_length(coordinates)) +
           " numbers; a point has 2, x and y");
  }
  return {coordinate_of(json_array_get_element(coordinates, 0), element(place, 0)),
          coordinate_of(json_array_get_element(coordinates, 1), element(place, 1))};
}

std::vector<ccl::Point> polygon_of(JsonObject* object, const std::string& place) {
  const std::string polygon_place = place + ".polygon";
  JsonArray* points = array_of(json_object_get_member(object, "polygon"), polygon_place);
  const guint count = json_array_get_length(points);
  if (count < 3) {
    refuse(polygon_place + " has " + std::to_string(count) + " points; at least 3 enclose an area");
  }
  std::vector<ccl::Point> polygon;
  for (guint i = 0; i < count; ++i) {
    polygon.push_back(point_of(json_array_get_element(points, i), element(polygon_place, i)));
  }
  return polygon;
}

ccl::Region region_of(JsonNode* node, const std::string& place) {
  JsonObject* object = object_of(node, place);
  check_members(object, place, {"name", "polygon", "comment"});
  return {.name = text_of(object, "name", place).value_or(""), .polygon = polygon_of(object, place)};
}

/* Zones and lines: events name them, so each has a name of its own */

std::string name_of(JsonObject* object, const std::string& place) {
  std::string name = text_of(object, "name", place).value_or("");
  if (name.empty()) {
    refuse(place + " has no name; events and counts need one");
  }
  return name;
}

ccl::Anchor anchor_of(JsonObject* object, const std::string& place) {
  const std::string anchor = text_of(object, "anchor", place).value_or("bottom");
  if (anchor != "bottom" && anchor != "centroid") {
    refuse(place + ".anchor is \"" + anchor + "\"; it can be \"bottom\" or \"centroid\"");
  }
  return anchor == "bottom" ? ccl::Anchor::kBottom : ccl::Anchor::kCentroid;
}

/// From seconds to nanoseconds; 0 if there is no such member.
int64_t dwell_of(JsonObject* object, const std::string& place) {
  JsonNode* node = json_object_get_member(object, "dwell");
  if (node == nullptr) {
    return 0;
  }
  const double seconds = number_of(node, place + ".dwell");
  if (!(seconds >= 0.001 && seconds <= kMaxSeconds)) {
    refuse(place + ".dwell is not between 0.001 and 1000000 seconds");
  }
  return std::llround(seconds * GST_SECOND);
}

uint32_t crowd_of(JsonObject* object, const std::string& place) {
  JsonNode* node = json_object_get_member(object, "crowd");
  if (node == nullptr) {
    return ccl::kNoCrowd;
  }
  const bool is_integer = JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_INT64;
  if (!is_integer || json_node_get_int(node) < 0 || json_node_get_int(node) > kMaxCrowd) {
    refuse(place + ".crowd is not an integer between 0 and 1000000");
  }
  return static_cast<uint32_t>(json_node_get_int(node));
}

ccl::Zone zone_of(JsonNode* node, const std::string& place) {
  JsonObject* object = object_of(node, place);
  check_members(object, place, {"name", "polygon", "anchor", "dwell", "crowd", "comment"});
  return {.name = name_of(object, place),
          .polygon = polygon_of(object, place),
          .anchor = anchor_of(object, place),
          .dwell_ns = dwell_of(object, place),
          .crowd = crowd_of(object, place)};
}

ccl::Point end_of(JsonObject* object, const char* name, const std::string& place) {
  const std::string end_place = place + "." + name;
  return point_of(json_object_get_member(object, name), end_place);
}

ccl::Line line_of(JsonNode* node, const std::string& place) {
  JsonObject* object = object_of(node, place);
  check_members(object, place, {"name", "from", "to", "anchor", "comment"});
  ccl::Line line = {.name = name_of(object, place),
                    .from = end_of(object, "from", place),
                    .to = end_of(object, "to", place),
                    .anchor = anchor_of(object, place)};
  if (line.from == line.to) {
    refuse(place + " has no length: from and to are the same point");
  }
  return line;
}

/// The elements of an array of the document, each made by `make`; none if there is no such array.
template <typename T>
std::vector<T> list_of(JsonObject* document, const char* name, T (*make)(JsonNode*, const std::string&)) {
  std::vector<T> list;
  if (JsonNode* node = json_object_get_member(document, name)) {
    JsonArray* array = array_of(node, name);
    for (guint i = 0; i < json_array_get_length(array); ++i) {
      list.push_back(make(json_array_get_element(array, i), element(name, i)));
    }
  }
  return list;
}

/// The same for zones or lines, of which there are not too many, and no two of the same name.
template <typename T>
std::vector<T> named_list_of(JsonObject* document, const char* name, size_t most,
                             T (*make)(JsonNode*, const std::string&)) {
  std::vector<T> list = list_of(document, name, make);
  if (list.size() > most) {
    refuse(std::string(name) + " has " + std::to_string(list.size()) + " elements; at most " +
           std::to_string(most) + " are possible");
  }
  for (size_t i = 0; i < list.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (list[i].name == list[j].name) {
        refuse(element(name, static_cast<guint>(i)) + " and " + element(name, static_cast<guint>(j)) +
               " have the same name \"" + list[i].name + "\"");
      }
    }
  }
  return list;
}

void check_version(JsonObject* document) {
  JsonNode* node = json_object_get_member(document, "version");
  const bool is_integer =
      node != nullptr && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_INT64;
  if (!is_integer || json_node_get_int(node) != kVersion) {
    refuse("version is not 1");
  }
}

ccl::Regions document_of(JsonNode* root) {
  JsonObject* document = object_of(root, "the document");
  check_version(document);
  check_members(document, "the document",
                {"$schema", "version", "comment", "units", "include", "exclude", "zones", "lines"});
  const std::string units = text_of(document, "units", "the document").value_or("relative");
  if (units != "relative" && units != "pixels") {
    refuse("units is \"" + units + "\"; it can be \"relative\" or \"pixels\"");
  }
  return {.is_relative = units == "relative",
          .include = list_of(document, "include", region_of),
          .exclude = list_of(document, "exclude", region_of),
          .zones = named_list_of(document, "zones", ccl::kMaxZones, zone_of),
          .lines = named_list_of(document, "lines", ccl::kMaxLines, line_of)};
}

/// The parser's "<data>:3:12: Parse error: …" as "line 3, character 12: Parse error: …".
std::string with_line(const std::string& message) {
  constexpr size_t kParts = 4;
  const std::unique_ptr<gchar*, decltype(&g_strfreev)> parts(g_strsplit(message.c_str(), ":", kParts),
                                                             g_strfreev);
  if (g_strv_length(parts.get()) < kParts || !g_str_equal(parts.get()[0], "<data>")) {
    return message;
  }
  return std::string("line ") + parts.get()[1] + ", character " + parts.get()[2] + ":" + parts.get()[3];
}

/// `name` stands for the text in error messages.
ccl::Regions parse(const std::string& json, const std::string& name) {
  const std::unique_ptr<JsonParser, Unreferencer> parser(json_parser_new());
  GError* raw_error = nullptr;
  if (!json_parser_load_from_data(parser.get(), json.data(), static_cast<gssize>(json.size()), &raw_error)) {
    const std::unique_ptr<GError, decltype(&g_error_free)> error(raw_error, g_error_free);
    refuse(name + ": " + with_line(error->message));
  }
  try {
    return document_of(json_parser_get_root(parser.get()));
  } catch (const Refusal& refusal) {
    refuse(name + ": " + refusal.reason);
  }
}

}  // namespace

std::shared_ptr<const RegionSetting> read_regions(const std::string& text, std::string* reason) {
  try {
    const bool is_text = is_json(text);
    return std::make_shared<const RegionSetting>(RegionSetting{
        .text = text, .regions = parse(is_text ? text : read_file(text), is_text ? "the JSON text" : text)});
  } catch (const Refusal& refusal) {
    *reason = refusal.reason;
    return nullptr;
  }
}

}  // namespace cudaccl
