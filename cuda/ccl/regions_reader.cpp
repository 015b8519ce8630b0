// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/regions_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "ccl/json.h"
#include "ccl/region_rules.h"

namespace ccl {

namespace {

using json::Kind;
using json::Value;

constexpr double kLeastDwell = 0.001;  // seconds
constexpr double kNsPerSecond = 1e9;

Status refused(std::string message) {
  return {StatusCode::kInvalidArgument, std::move(message)};
}

/// Reads a document, and keeps the first reason why it cannot be used. What is read behind it does not count.
/// It checks what kind of values the document has; validate() checks the rest.
/// `place` is where a value is in the document, such as "include[0].polygon".
class Reader {
 public:
  Status read(const Value& document, Regions* regions) {
    if (document.kind != Kind::kObject) {
      return refused("the document is not an object");
    }
    check_version(document);
    check_members(document, "the document",
                  {"version", "units", "include", "exclude", "zones", "lines", "comment", "$schema"});
    check_text(document.member("$schema"), "$schema");
    *regions = {.is_relative = choice(document, "units", "units", {"relative", "pixels"}) == 0,
                .include = list<Region>(document, "include"),
                .exclude = list<Region>(document, "exclude"),
                .zones = list<Zone>(document, "zones"),
                .lines = list<Line>(document, "lines")};
    return reason_.empty() ? validate(*regions) : refused(std::move(reason_));
  }

 private:
  void refuse(std::string reason) {
    if (reason_.empty()) {
      reason_ = std::move(reason);
    }
  }

  void check_version(const Value& document) {
    const Value* version = document.member("version");
    if (version == nullptr) {
      refuse("the document has no member \"version\"; write \"version\": 1");
    } else if (!version->is_integer || version->number != 1) {
      refuse("version is not 1");
    }
  }

  /// Refuses members that are not in the list: a wrong name would otherwise have no effect.
  void check_members(const Value& object, const std::string& place,
                     std::initializer_list<const char*> known) {
    for (const std::string& name : object.names) {
      if (std::find(known.begin(), known.end(), name) != known.end()) {
        continue;
      }
      std::string reason = place;
      reason.append(" has an unknown member \"").append(name).append("\"; it can have");
      for (const char* k : known) {
        reason.append(k == *known.begin() ? " " : ", ").append(k);
      }
      refuse(std::move(reason));
    }
  }

  /* Values. One that does not count if refused. */

  /// Whether there is a text.
  bool check_text(const Value* value, const std::string& place) {
    if (value != nullptr && value->kind != Kind::kString) {
      refuse(place + " is not a string");
      return false;
    }
    return value != nullptr;
  }

  const Value* required(const Value& object, const char* name, const std::string& place) {
    const Value* value = object.member(name);
    if (value == nullptr) {
      refuse(place + " has no member \"" + name + "\"");
    }
    return value;
  }

  /// The elements of an array; none if there is no value.
  const std::vector<Value>& elements(const Value* array, const std::string& place) {
    static const std::vector<Value> kNone;
    if (array == nullptr) {
      return kNone;
    }
    if (array->kind != Kind::kArray) {
      refuse(place + " is not an array");
      return kNone;
    }
    return array->elements;
  }

  double number(const Value& value, const std::string& place) {
    if (value.kind != Kind::kNumber) {
      refuse(place + " is not a number");
    }
    return value.number;
  }

  std::string text(const Value& object, const char* name, const std::string& place) {
    const Value* value = object.member(name);
    return check_text(value, place + "." + name) ? value->text : "";
  }

  /// The index of the text in the list; 0 if there is no such member.
  size_t choice(const Value& object, const char* name, const std::string& place,
                std::initializer_list<const char*> choices) {
    const Value* value = object.member(name);
    if (!check_text(value, place)) {
      return 0;
    }
    const auto* found = std::find(choices.begin(), choices.end(), value->text);
    if (found == choices.end()) {
      refuse(place + " is \"" + value->text + "\"; it can be \"" + *choices.begin() + "\" or \"" +
             *(choices.begin() + 1) + "\"");
    }
    return static_cast<size_t>(found - choices.begin());
  }

  Point point(const Value* value, const std::string& place) {
    const std::vector<Value>& coordinates = elements(value, place);
    if (coordinates.size() != 2) {
      refuse(place + " has " + std::to_string(coordinates.size()) + " numbers; a point has 2, x and y");
      return {};
    }
    return {number(coordinates[0], place + "[0]"), number(coordinates[1], place + "[1]")};
  }

  std::vector<Point> polygon(const Value& object, const std::string& place) {
    std::vector<Point> points;
    const std::string polygon_place = place + ".polygon";
    for (const Value& value : elements(required(object, "polygon", place), polygon_place)) {
      points.push_back(point(&value, polygon_place + "[" + std::to_string(points.size()) + "]"));
    }
    return points;
  }

  Anchor anchor(const Value& object, const std::string& place) {
    return choice(object, "anchor", place + ".anchor", {"bottom", "centroid"}) == 0 ? Anchor::kBottom
                                                                                    : Anchor::kCentroid;
  }

  double margin(const Value& object, const std::string& place) {
    const Value* value = object.member("margin");
    return value != nullptr ? number(*value, place + ".margin") : kDefaultMargin;
  }

  /// A member in seconds as nanoseconds; 0 if there is no such member.
  int64_t dwell(const Value& object, const std::string& place) {
    const Value* value = object.member("dwell");
    if (value == nullptr) {
      return 0;
    }
    const double seconds = number(*value, place + ".dwell");
    if (!(seconds >= kLeastDwell && seconds <= kMaxDwellNs / kNsPerSecond)) {
      refuse(place + ".dwell is not between 0.001 and 1000000 seconds");
      return 0;
    }
    return std::llround(seconds * kNsPerSecond);
  }

  uint32_t crowd(const Value& object, const std::string& place) {
    const Value* value = object.member("crowd");
    if (value == nullptr) {
      return kNoCrowd;
    }
    if (!value->is_integer || !(value->number >= 0 && value->number <= kMaxCrowd)) {
      refuse(place + ".crowd is not an integer between 0 and " + std::to_string(kMaxCrowd));
      return kNoCrowd;
    }
    return static_cast<uint32_t>(value->number);
  }

  /* What lists have */

  void make(const Value& object, const std::string& place, Region* region) {
    check_members(object, place, {"name", "polygon", "comment"});
    *region = {.name = text(object, "name", place), .polygon = polygon(object, place)};
  }

  void make(const Value& object, const std::string& place, Zone* zone) {
    check_members(object, place, {"name", "polygon", "anchor", "margin", "dwell", "crowd", "comment"});
    *zone = {.name = text(object, "name", place),
             .polygon = polygon(object, place),
             .anchor = anchor(object, place),
             .margin = margin(object, place),
             .dwell_ns = dwell(object, place),
             .crowd = crowd(object, place)};
  }

  void make(const Value& object, const std::string& place, Line* line) {
    check_members(object, place, {"name", "from", "to", "anchor", "margin", "comment"});
    *line = {.name = text(object, "name", place),
             .from = point(required(object, "from", place), place + ".from"),
             .to = point(required(object, "to", place), place + ".to"),
             .anchor = anchor(object, place),
             .margin = margin(object, place)};
  }

  template <typename T>
  std::vector<T> list(const Value& document, const char* name) {
    std::vector<T> made;
    for (const Value& value : elements(document.member(name), name)) {
      const std::string place = std::string(name) + "[" + std::to_string(made.size()) + "]";
      if (value.kind != Kind::kObject) {
        refuse(place + " is not an object");
      }
      make(value, place, &made.emplace_back());
    }
    return made;
  }

  std::string reason_;
};

bool is_json(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

/// Reads one byte more than a document may have, if there are so many.
Status read_file(const std::string& path, std::string* text) {
  const auto failed = [] { return refused(std::generic_category().message(errno)); };
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) {
    return failed();
  }
  if (!S_ISREG(info.st_mode)) {
    return refused("it is not a file");
  }
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), std::fclose);
  if (file == nullptr) {
    return failed();
  }
  text->resize(json::kMaxBytes + 1);
  text->resize(std::fread(text->data(), 1, text->size(), file.get()));
  return std::ferror(file.get()) == 0 ? Status() : failed();
}

Status read_text(std::string_view text, Regions* regions) {
  Value document;
  CCL_RETURN_IF_ERROR(json::parse(text, &document));
  return Reader().read(document, regions);
}

Status read_path(const std::string& path, Regions* regions) {
  std::string text;
  CCL_RETURN_IF_ERROR(read_file(path, &text));
  return read_text(text, regions);
}

}  // namespace

Status read_regions(std::string_view source, Regions* regions) {
  if (!is_json(source) && (source.empty() || source.find('\0') != std::string_view::npos)) {
    return refused("regions are JSON text, which begins with a brace, or the path of a file");
  }
  const std::string name(is_json(source) ? "the JSON text" : source);
  const Status status = is_json(source) ? read_text(source, regions) : read_path(name, regions);
  return status.ok() ? status : refused(name + ": " + status.message());
}

}  // namespace ccl
