// SPDX-License-Identifier: LGPL-2.1-or-later
#include "regions.h"

#include <gst/gst.h>
#include <json-glib/json-glib.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <utility>

namespace cudaccl {

namespace {

constexpr gint64 kVersion = 1;
constexpr double kMaxCoordinate = 1e6;
/// From here on, a coordinate in parts of the frame is probably one in pixels.
constexpr double kFarOutside = 10;
constexpr double kMaxSeconds = 1e6;
constexpr gint64 kMaxCrowd = 1'000'000;
constexpr off_t kMaxFileSize = off_t{16} << 20;

struct Unreferencer {
  void operator()(gpointer object) const { g_object_unref(object); }
};

/* From JSON to polygons. `place` is where a value is in the document, such as "include[0].polygon". */

std::string element(const std::string& place, guint index) {
  return place + "[" + std::to_string(index) + "]";
}

bool is_integer(JsonNode* node) {
  return JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_INT64;
}

/// Reads a document, and keeps the first reason why it cannot be used. What is read behind it does not count.
/// It throws nothing: where libstdc++ was loaded before GStreamer, as by NumPy or PyTorch, and GStreamer was
/// built with libunwind, the two unwind an exception together, and the process aborts.
class Reader {
 public:
  ccl::Regions read(JsonNode* root);
  /// Empty if the document can be used.
  const std::string& reason() const { return reason_; }
  /// What was probably not meant; empty if there is nothing.
  const std::string& doubt() const { return doubt_; }

 private:
  void refuse(std::string reason) {
    if (reason_.empty()) {
      reason_ = std::move(reason);
    }
  }

  /* Values. Null, or a value that does not count, if refused. */

  JsonObject* object_of(JsonNode* node, const std::string& place);
  JsonArray* array_of(JsonNode* node, const std::string& place);
  JsonNode* member_of(JsonObject* object, const char* name, const std::string& place);
  void check_members(JsonObject* object, const std::string& place, std::initializer_list<const char*> known);
  std::optional<std::string> text_of(JsonObject* object, const char* name, const std::string& place);
  double number_of(JsonNode* node, const std::string& place);
  double coordinate_of(JsonNode* node, const std::string& place);
  ccl::Point point_of(JsonNode* node, const std::string& place);
  std::vector<ccl::Point> polygon_of(JsonObject* object, const std::string& place);

  /* Members of zones and lines: events name them, so each has a name of its own */

  std::string name_of(JsonObject* object, const std::string& place);
  ccl::Anchor anchor_of(JsonObject* object, const std::string& place);
  int64_t dwell_of(JsonObject* object, const std::string& place);
  uint32_t crowd_of(JsonObject* object, const std::string& place);
  ccl::Point end_of(JsonObject* object, const char* name, const std::string& place);

  /* What lists have */

  ccl::Region region_of(JsonNode* node, const std::string& place);
  ccl::Zone zone_of(JsonNode* node, const std::string& place);
  ccl::Line line_of(JsonNode* node, const std::string& place);

  template <typename T>
  using Make = T (Reader::*)(JsonNode*, const std::string&);
  template <typename T>
  std::vector<T> list_of(JsonObject* document, const char* name, Make<T> make);
  template <typename T>
  std::vector<T> named_list_of(JsonObject* document, const char* name, size_t most, Make<T> make);
  void check_version(JsonObject* document);
  bool is_relative(JsonObject* document);

  bool is_relative_ = true;
  std::string reason_;
  std::string doubt_;
};

JsonObject* Reader::object_of(JsonNode* node, const std::string& place) {
  if (node == nullptr || !JSON_NODE_HOLDS_OBJECT(node)) {
    refuse(place + " is not an object");
    return nullptr;
  }
  return json_node_get_object(node);
}

JsonArray* Reader::array_of(JsonNode* node, const std::string& place) {
  if (node == nullptr || !JSON_NODE_HOLDS_ARRAY(node)) {
    refuse(place + " is not an array");
    return nullptr;
  }
  return json_node_get_array(node);
}

JsonNode* Reader::member_of(JsonObject* object, const char* name, const std::string& place) {
  JsonNode* node = json_object_get_member(object, name);
  if (node == nullptr) {
    refuse(place + " has no member \"" + name + "\"");
  }
  return node;
}

/// Refuses members that are not in the list: a wrong name would otherwise have no effect.
void Reader::check_members(JsonObject* object, const std::string& place,
                           std::initializer_list<const char*> known) {
  JsonObjectIter iterator;
  json_object_iter_init(&iterator, object);
  const gchar* name = nullptr;
  while (json_object_iter_next(&iterator, &name, nullptr)) {
    if (std::any_of(known.begin(), known.end(), [&](const char* k) { return g_str_equal(k, name); })) {
      continue;
    }
    std::string reason = place + " has an unknown member \"" + name + "\"; it can have";
    for (const char* k : known) {
      reason += (k == *known.begin() ? " " : ", ") + std::string(k);
    }
    refuse(std::move(reason));
  }
}

std::optional<std::string> Reader::text_of(JsonObject* object, const char* name, const std::string& place) {
  JsonNode* node = json_object_get_member(object, name);
  if (node == nullptr) {
    return std::nullopt;
  }
  if (!JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING) {
    refuse(place + "." + name + " is not a string");
    return std::nullopt;
  }
  return json_node_get_string(node);
}

double Reader::number_of(JsonNode* node, const std::string& place) {
  const bool is_number =
      is_integer(node) || (JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_DOUBLE);
  if (!is_number) {
    refuse(place + " is not a number");
    return 0;
  }
  return json_node_get_double(node);
}

double Reader::coordinate_of(JsonNode* node, const std::string& place) {
  const double value = number_of(node, place);
  if (!(std::abs(value) <= kMaxCoordinate)) {
    refuse(place + " is not between -1000000 and 1000000");
    return 0;
  }
  if (is_relative_ && std::abs(value) > kFarOutside && doubt_.empty()) {
    doubt_ =
        place + " is far outside the frame, whose edges are 0 and 1; for pixels, write \"units\": \"pixels\"";
  }
  return value;
}

ccl::Point Reader::point_of(JsonNode* node, const std::string& place) {
  JsonArray* coordinates = array_of(node, place);
  if (coordinates == nullptr) {
    return {};
  }
  if (json_array_get_length(coordinates) != 2) {
    refuse(place + " has " + std::to_string(json_array_get_length(coordinates)) +
           " numbers; a point has 2, x and y");
    return {};
  }
  return {coordinate_of(json_array_get_element(coordinates, 0), element(place, 0)),
          coordinate_of(json_array_get_element(coordinates, 1), element(place, 1))};
}

std::vector<ccl::Point> Reader::polygon_of(JsonObject* object, const std::string& place) {
  const std::string polygon_place = place + ".polygon";
  JsonNode* node = member_of(object, "polygon", place);
  JsonArray* points = array_of(node, polygon_place);
  if (points == nullptr) {
    return {};
  }
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

std::string Reader::name_of(JsonObject* object, const std::string& place) {
  std::string name = text_of(object, "name", place).value_or("");
  if (name.empty()) {
    refuse(place + " has no name; events and counts need one");
  }
  return name;
}

ccl::Anchor Reader::anchor_of(JsonObject* object, const std::string& place) {
  const std::string anchor = text_of(object, "anchor", place).value_or("bottom");
  if (anchor != "bottom" && anchor != "centroid") {
    refuse(place + ".anchor is \"" + anchor + "\"; it can be \"bottom\" or \"centroid\"");
  }
  return anchor == "bottom" ? ccl::Anchor::kBottom : ccl::Anchor::kCentroid;
}

/// From seconds to nanoseconds; 0 if there is no such member.
int64_t Reader::dwell_of(JsonObject* object, const std::string& place) {
  JsonNode* node = json_object_get_member(object, "dwell");
  if (node == nullptr) {
    return 0;
  }
  const double seconds = number_of(node, place + ".dwell");
  if (!(seconds >= 0.001 && seconds <= kMaxSeconds)) {
    refuse(place + ".dwell is not between 0.001 and 1000000 seconds");
    return 0;
  }
  return std::llround(seconds * GST_SECOND);
}

uint32_t Reader::crowd_of(JsonObject* object, const std::string& place) {
  JsonNode* node = json_object_get_member(object, "crowd");
  if (node == nullptr) {
    return ccl::kNoCrowd;
  }
  if (!is_integer(node) || json_node_get_int(node) < 0 || json_node_get_int(node) > kMaxCrowd) {
    refuse(place + ".crowd is not an integer between 0 and 1000000");
    return ccl::kNoCrowd;
  }
  return static_cast<uint32_t>(json_node_get_int(node));
}

ccl::Point Reader::end_of(JsonObject* object, const char* name, const std::string& place) {
  return point_of(member_of(object, name, place), place + "." + name);
}

ccl::Region Reader::region_of(JsonNode* node, const std::string& place) {
  JsonObject* object = object_of(node, place);
  if (object == nullptr) {
    return {};
  }
  check_members(object, place, {"name", "polygon", "comment"});
  return {.name = text_of(object, "name", place).value_or(""), .polygon = polygon_of(object, place)};
}

ccl::Zone Reader::zone_of(JsonNode* node, const std::string& place) {
  JsonObject* object = object_of(node, place);
  if (object == nullptr) {
    return {};
  }
  check_members(object, place, {"name", "polygon", "anchor", "dwell", "crowd", "comment"});
  return {.name = name_of(object, place),
          .polygon = polygon_of(object, place),
          .anchor = anchor_of(object, place),
          .dwell_ns = dwell_of(object, place),
          .crowd = crowd_of(object, place)};
}

ccl::Line Reader::line_of(JsonNode* node, const std::string& place) {
  JsonObject* object = object_of(node, place);
  if (object == nullptr) {
    return {};
  }
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
std::vector<T> Reader::list_of(JsonObject* document, const char* name, Make<T> make) {
  std::vector<T> list;
  JsonNode* node = json_object_get_member(document, name);
  JsonArray* array = node != nullptr ? array_of(node, name) : nullptr;
  for (guint i = 0; array != nullptr && i < json_array_get_length(array); ++i) {
    list.push_back((this->*make)(json_array_get_element(array, i), element(name, i)));
  }
  return list;
}

/// The same for zones or lines, of which there are not too many, and no two of the same name.
template <typename T>
std::vector<T> Reader::named_list_of(JsonObject* document, const char* name, size_t most, Make<T> make) {
  std::vector<T> list = list_of(document, name, make);
  if (list.size() > most) {
    refuse(std::string(name) + " has " + std::to_string(list.size()) + " elements; at most " +
           std::to_string(most) + " are possible");
    return {};
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

void Reader::check_version(JsonObject* document) {
  JsonNode* node = json_object_get_member(document, "version");
  if (node == nullptr) {
    refuse("the document has no member \"version\"; write \"version\": 1");
  } else if (!is_integer(node) || json_node_get_int(node) != kVersion) {
    refuse("version is not 1");
  }
}

bool Reader::is_relative(JsonObject* document) {
  const std::string units = text_of(document, "units", "the document").value_or("relative");
  if (units != "relative" && units != "pixels") {
    refuse("units is \"" + units + "\"; it can be \"relative\" or \"pixels\"");
  }
  return units == "relative";
}

ccl::Regions Reader::read(JsonNode* root) {
  JsonObject* document = object_of(root, "the document");
  if (document == nullptr) {
    return {};
  }
  check_version(document);
  check_members(document, "the document",
                {"version", "units", "include", "exclude", "zones", "lines", "comment", "$schema"});
  is_relative_ = is_relative(document);
  return {.is_relative = is_relative_,
          .include = list_of(document, "include", &Reader::region_of),
          .exclude = list_of(document, "exclude", &Reader::region_of),
          .zones = named_list_of(document, "zones", ccl::kMaxZones, &Reader::zone_of),
          .lines = named_list_of(document, "lines", ccl::kMaxLines, &Reader::line_of)};
}

/* Where the text comes from */

bool is_json(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string::npos && text[first] == '{';
}

/// Nothing if the file cannot be read, and *reason then says why.
std::optional<std::string> read_file(const std::string& path, std::string* reason) {
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && (!S_ISREG(info.st_mode) || info.st_size > kMaxFileSize)) {
    *reason = path + ": not a file of at most 16 MiB";
    return std::nullopt;
  }
  gchar* raw = nullptr;
  gsize size = 0;
  GError* raw_error = nullptr;
  if (!g_file_get_contents(path.c_str(), &raw, &size, &raw_error)) {
    const std::unique_ptr<GError, decltype(&g_error_free)> error(raw_error, g_error_free);
    *reason = error->message;
    return std::nullopt;
  }
  const std::unique_ptr<gchar, decltype(&g_free)> text(raw, g_free);
  return std::string(text.get(), size);
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

/// Whether the box around the points is outside a frame of this size.
bool is_outside(std::span<const ccl::Point> points, double width, double height) {
  const auto [left, right] = std::minmax_element(
      points.begin(), points.end(), [](const ccl::Point& a, const ccl::Point& b) { return a.x < b.x; });
  const auto [top, bottom] = std::minmax_element(
      points.begin(), points.end(), [](const ccl::Point& a, const ccl::Point& b) { return a.y < b.y; });
  return right->x < 0 || bottom->y < 0 || left->x > width || top->y > height;
}

}  // namespace

std::string outside_of_frame(const ccl::Regions& regions, uint32_t width, uint32_t height) {
  std::string place;
  const auto look = [&](const char* list, size_t i, std::span<const ccl::Point> points) {
    if (place.empty() &&
        is_outside(points, regions.is_relative ? 1 : width, regions.is_relative ? 1 : height)) {
      place = element(list, static_cast<guint>(i));
    }
  };
  const auto look_at_all = [&](const char* list, const auto& members) {
    for (size_t i = 0; i < members.size(); ++i) {
      look(list, i, members[i].polygon);
    }
  };
  look_at_all("include", regions.include);
  look_at_all("exclude", regions.exclude);
  look_at_all("zones", regions.zones);
  for (size_t i = 0; i < regions.lines.size(); ++i) {
    look("lines", i, std::array{regions.lines[i].from, regions.lines[i].to});
  }
  return place;
}

std::shared_ptr<const RegionSetting> read_regions(const std::string& text, std::string* reason) {
  const bool is_text = is_json(text);
  const std::optional<std::string> json = is_text ? text : read_file(text, reason);
  if (!json) {
    return nullptr;
  }
  const std::string name = is_text ? "the JSON text: " : text + ": ";
  const std::unique_ptr<JsonParser, Unreferencer> parser(json_parser_new());
  GError* raw_error = nullptr;
  if (!json_parser_load_from_data(parser.get(), json->data(), static_cast<gssize>(json->size()),
                                  &raw_error)) {
    const std::unique_ptr<GError, decltype(&g_error_free)> error(raw_error, g_error_free);
    *reason = name + with_line(error->message);
    return nullptr;
  }
  Reader reader;
  ccl::Regions regions = reader.read(json_parser_get_root(parser.get()));
  if (!reader.reason().empty()) {
    *reason = name + reader.reason();
    return nullptr;
  }
  return std::make_shared<const RegionSetting>(
      RegionSetting{.text = text,
                    .regions = std::move(regions),
                    .doubt = reader.doubt().empty() ? "" : "regions: " + name + reader.doubt()});
}

}  // namespace cudaccl
