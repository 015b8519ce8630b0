// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tracks to draw, and a drawing of them by definition: every stroke is measured at every pixel.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ccl/colors.h"
#include "ccl/draw/font.h"
#include "ccl/draw/tracks.h"
#include "ccl/engine.h"

namespace ccl::test {

/// Where rows of pictures lie, so that addresses are odd.
inline constexpr size_t kOffset = 3;
inline constexpr size_t kPadding = 5;

/// The coverage of a pixel of a caption: the largest by any stroke of any digit.
inline draw::Coverage expect_caption(const std::string& text, const draw::Scale& scale,
                                     const draw::DigitCells& cells, uint32_t x, uint32_t y,
                                     uint32_t strength) {
  const auto margin = static_cast<int32_t>((cells.height - scale.text_height) / 2);
  draw::Coverage coverage;
  for (size_t i = 0; i < text.size(); ++i) {
    const draw::Place origin = {(margin + static_cast<int32_t>(i * cells.advance)) * draw::kSubpixels,
                                margin * draw::kSubpixels};
    for (const draw::Stroke& stroke :
         trace(draw::find_glyph(static_cast<unsigned char>(text[i])), scale.text_height, origin)) {
      const uint32_t far = distance(stroke, static_cast<int32_t>(x), static_cast<int32_t>(y));
      const auto visible = [&](uint32_t radius) {
        return static_cast<uint32_t>(std::floor(draw::cover(far, radius) * strength / 255.0 + 0.5));
      };
      coverage.line = std::max(coverage.line, visible(scale.text.radius));
      coverage.rim = std::max(coverage.rim, visible(scale.text.rim));
    }
  }
  return coverage;
}

/// Tracks that wander about, appear, end, and are predicted now and then.
class TrackScene {
 public:
  TrackScene(const Config& config, uint32_t seed, uint32_t most_tracks = 12)
      : config_(config), random_(seed), most_tracks_(std::min(most_tracks, config.max_tracks)) {}

  void advance() {
    time_ += 20'000'000 + static_cast<int64_t>(random_() % 60'000'000);
    std::erase_if(tracks_, [this](const CclTrack&) { return random_() % 40 == 0; });
    while (tracks_.size() < most_tracks_ && random_() % (most_tracks_ + 1) != 0) {
      CclTrack track{};
      track.id = next_id_;
      next_id_ += 1 + (next_id_ < 100'000 ? random_() % 3 * (next_id_ + random_() % 50) : 0);
      track.first_time = time_;
      track.width = static_cast<uint16_t>(1 + random_() % config_.width);
      track.height = static_cast<uint16_t>(1 + random_() % config_.height);
      track.x = static_cast<uint16_t>(random_() % (config_.width - track.width + 1));
      track.y = static_cast<uint16_t>(random_() % (config_.height - track.height + 1));
      tracks_.push_back(track);
    }
    for (CclTrack& track : tracks_) {
      track.flags = random_() % 5 != 0 ? uint32_t{CCL_TRACK_CONFIRMED} : 0;
      track.flags |= random_() % 4 == 0 ? uint32_t{CCL_TRACK_PREDICTED} : 0;
      track.last_time = (track.flags & CCL_TRACK_PREDICTED) != 0 ? track.last_time : time_;
      track.x = moved(track.x, config_.width - track.width);
      track.y = moved(track.y, config_.height - track.height);
    }
  }

  const std::vector<CclTrack>& tracks() const { return tracks_; }

  /// A picture of any bytes, with what lies around its rows.
  std::vector<uint8_t> ground() {
    std::vector<uint8_t> bytes(kOffset + config_.height * (size_t{config_.width} * 4 + kPadding));
    std::generate(bytes.begin(), bytes.end(), [this] { return static_cast<uint8_t>(random_()); });
    return bytes;
  }

 private:
  uint16_t moved(uint16_t at, uint32_t last) {
    const auto step = static_cast<int32_t>(random_() % 13) - 6;
    return static_cast<uint16_t>(std::clamp(at + step, 0, static_cast<int32_t>(last)));
  }

  Config config_;
  std::mt19937 random_;
  size_t most_tracks_;
  std::vector<CclTrack> tracks_;
  uint32_t next_id_ = 1;
  int64_t time_ = 0;
};

/// Draws pictures of consecutive frames.
class SlowDrawing {
 public:
  explicit SlowDrawing(const Config& config)
      : config_(config), scale_(draw::scale_for(config.height)), font_(scale_) {}

  std::vector<uint8_t> draw(const Settings& settings, const std::vector<CclTrack>& tracks,
                            std::vector<uint8_t> picture) {
    if (!settings.draw_ids && !settings.draw_trails) {
      pasts_.clear();
      return picture;
    }
    std::vector<Past> pasts;
    for (const CclTrack& track : tracks) {
      pasts.push_back(continued(track));
    }
    pasts_ = pasts;
    for (uint32_t y = 0; y < config_.height; ++y) {
      for (uint32_t x = 0; x < config_.width; ++x) {
        uint8_t* pixel = &picture[kOffset + y * (size_t{config_.width} * 4 + kPadding) + size_t{x} * 4];
        for (size_t i = 0; settings.draw_trails && i < tracks.size(); ++i) {
          blend_trail(tracks[i], pasts[i], settings, x, y, pixel);
        }
        for (size_t i = 0; settings.draw_ids && i < tracks.size(); ++i) {
          blend_caption(tracks[i], x, y, pixel);
        }
      }
    }
    return picture;
  }

 private:
  struct Point {
    double x;
    double y;
  };
  static constexpr int64_t kStep = 2'000'000'000 / 31;

  /// Where a track was, in pixels, the newest place first.
  struct Past {
    uint32_t id;
    int64_t step_time;
    std::vector<Point> places;
  };

  Past continued(const CclTrack& track) const {
    const Point here = {track.x + track.width / 2.0, static_cast<double>(track.y) + track.height};
    const auto found =
        std::find_if(pasts_.begin(), pasts_.end(), [&](const Past& past) { return past.id == track.id; });
    if (found == pasts_.end()) {
      return {track.id, track.last_time, {32, here}};
    }
    Past past = *found;
    if ((track.flags & CCL_TRACK_PREDICTED) == 0) {
      for (; track.last_time - past.step_time >= kStep; past.step_time += kStep) {
        past.places.insert(past.places.begin(), past.places.front());
        past.places.pop_back();
      }
      past.places.front() = here;
    }
    return past;
  }

  static double strength(const CclTrack& track) {
    if ((track.flags & CCL_TRACK_CONFIRMED) == 0) {
      return 0;
    }
    return (track.flags & CCL_TRACK_PREDICTED) != 0 ? 128 : 255;
  }

  static double rounded(double value) { return std::floor(value + 0.5); }

  void blend(double line, double rim, uint32_t argb, uint8_t* pixel) const {
    const uint8_t channels[] = {config_.layout.alpha, config_.layout.red, config_.layout.green,
                                config_.layout.blue};
    const double dark = rounded(rim * 220 / 255);
    for (uint32_t i = 0; i < 4; ++i) {
      uint8_t& channel = pixel[channels[i]];
      const double color = argb >> (24 - 8 * i) & 0xff;
      const double under = rounded(((i == 0 ? 255 : 0) * dark + channel * (255 - dark)) / 255);
      channel = static_cast<uint8_t>(rounded((color * line + under * (255 - line)) / 255));
    }
  }

  void blend_trail(const CclTrack& track, const Past& past, const Settings& settings, uint32_t x, uint32_t y,
                   uint8_t* pixel) const {
    double line = 0;
    double rim = 0;
    const auto place = [](const Point& point) {
      return draw::Place{static_cast<int32_t>(point.x * 16), static_cast<int32_t>(point.y * 16)};
    };
    for (uint32_t i = 0; i < 31; ++i) {
      if (i > 0 && past.places[i].x == past.places[i + 1].x && past.places[i].y == past.places[i + 1].y) {
        continue;  // the part before it ends there
      }
      const draw::Stroke stroke = draw::make_stroke(place(past.places[i]), place(past.places[i + 1]));
      const uint32_t far = distance(stroke, static_cast<int32_t>(x), static_cast<int32_t>(y));
      const double visible = rounded((31 - i) * 255 / 31 * strength(track) / 255);
      line = std::max(line, rounded(draw::cover(far, scale_.trail.radius) * visible / 255));
      rim = std::max(rim, rounded(draw::cover(far, scale_.trail.rim) * visible / 255));
    }
    const uint32_t n_pixels = config_.width * config_.height;
    const uint32_t area = std::min(uint32_t{track.width} * track.height, n_pixels);
    blend(line, rim, palette_colors()[color_index(settings, track.id, area, n_pixels)], pixel);
  }

  void blend_caption(const CclTrack& track, uint32_t x, uint32_t y, uint8_t* pixel) const {
    const std::string text = std::to_string(track.id);
    const draw::DigitCells cells = font_.cells();
    const uint32_t width = cells.width + static_cast<uint32_t>(text.size() - 1) * cells.advance;
    const auto fitted = [](uint32_t wanted, uint32_t size, uint32_t frame) {
      return size > frame ? 0 : std::min(wanted, frame - size);
    };
    const uint32_t left = fitted(track.x, width, config_.width);
    const uint32_t above = track.y > cells.height ? track.y - cells.height : 0;
    const uint32_t top = fitted(above, cells.height, config_.height);
    if (strength(track) > 0 && x >= left && x < left + width && y >= top && y < top + cells.height) {
      const draw::Coverage coverage =
          expect_caption(text, scale_, cells, x - left, y - top, static_cast<uint32_t>(strength(track)));
      blend(coverage.line, coverage.rim, 0xffffffff, pixel);
    }
  }

  Config config_;
  draw::Scale scale_;
  draw::DigitFont font_;
  std::vector<Past> pasts_;
};

}  // namespace ccl::test
