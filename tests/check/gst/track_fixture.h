// SPDX-License-Identifier: LGPL-2.1-or-later
/// Squares that move through a zone and over a line, and what an application reads about their tracks.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "harness.h"

namespace cudaccl::test {

inline constexpr uint32_t kWidth = 96;
inline constexpr uint32_t kHeight = 48;
inline constexpr uint32_t kSide = 8;  ///< of the squares, which are the objects

/// A zone in the right half, where one is a crowd and a quarter of a second is long, and a line from top to
/// bottom in its middle. Without margins, so that each counts at once.
inline constexpr const char* kRegions = R"({"version": 1, "units": "pixels",
  "zones": [{"name": "far", "polygon": [[200, 0], [300, 0], [300, 99]]},
            {"name": "right \"half\"", "polygon": [[48, 0], [96, 0], [96, 48], [48, 48]], "dwell": 0.25, "crowd": 0, "margin": 0}],
  "lines": [{"name": "middle", "from": [48, 0], "to": [48, 48], "margin": 0}]})";

struct Square {
  uint32_t x, y;
  uint8_t value = 255;
};

inline Image squares(const std::vector<Square>& list) {
  Image image = blank(kWidth, kHeight);
  for (const Square& square : list) {
    for (uint32_t y = 0; y < kSide; ++y) {
      for (uint32_t x = 0; x < kSide; ++x) {
        image.at(square.x + x, square.y + y) = square.value;
      }
    }
  }
  return image;
}

/// What an application reads about an event.
struct Report {
  std::string type;
  guint id;
  guint other;
  std::string place;  ///< name of the zone or line; empty if there is none

  bool operator==(const Report&) const = default;
};

inline void PrintTo(const Report& r, std::ostream* out) {
  *out << r.type << " id " << r.id << " other " << r.other << " at '" << r.place << "'";
}

using Reports = std::vector<Report>;

inline Reports reports_of(GstBuffer* buffer) {
  const GstCudaCclInfo info = components_of(buffer);
  Reports reports;
  for (guint i = 0; i < info.n_events; ++i) {
    const CclEvent& event = info.events[i];
    const gchar* place = gst_cudaccl_event_place(&info, &event);
    reports.push_back(
        {gst_cudaccl_event_nick(event.type), event.id, event.other, place != nullptr ? place : ""});
  }
  return reports;
}

class Track : public testing::Test {
 protected:
  void start(const std::string& properties = "", bool has_regions = false) {
    h = std::make_unique<Harness>("track=true output=mask " + properties);
    if (has_regions) {
      g_object_set(h->element(), "regions", kRegions, nullptr);
    }
    ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
  }

  Ref<GstBuffer> process(const std::vector<Square>& list) { return h->process(squares(list)); }

  /// A square that moves from left to right through the middle, in 20 frames, and the events of each frame.
  std::vector<Reports> cross() {
    std::vector<Reports> all;
    for (uint32_t i = 0; i < 20; ++i) {
      all.push_back(reports_of(process({{.x = 4 * i + 2, .y = 20}}).get()));
    }
    return all;
  }

  /// The id of the only component; 0 if it has none or is not the only one.
  static guint id_of(const Ref<GstBuffer>& buffer) {
    const GstCudaCclInfo info = components_of(buffer.get());
    return info.n_records == 1 ? info.records[0].id : 0;
  }

  std::unique_ptr<Harness> h;
};

}  // namespace cudaccl::test
