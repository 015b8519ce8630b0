// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/draw.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "ccl/colors.h"
#include "ccl/draw/outlines.h"
#include "host/stages/row_chunks.h"

namespace ccl::host {

namespace {

using draw::Coverage;
using draw::DrawnTrack;
using draw::PixelBox;
using draw::Stroke;

/// The rows of an output, whose pixels may lie at any address.
class Pixels {
 public:
  Pixels(const OutputImage& image, const PixelLayout& layout)
      : image_(image), rim_(pack(draw::kRimColor, layout)) {}

  /// Draws a pixel of a path in a packed colour.
  void blend_path(int32_t x, int32_t y, const Coverage& coverage, uint32_t color) const {
    if (coverage.rim > 0) {
      change(x, y, [&](uint32_t pixel) { return draw::blend_path(coverage, color, rim_, pixel); });
    }
  }

  template <typename Change>
  void change(int32_t x, int32_t y, Change change) const {
    uint8_t* at = image_.pixels + static_cast<size_t>(y) * image_.stride + static_cast<size_t>(x) * 4;
    uint32_t pixel = 0;
    std::memcpy(&pixel, at, sizeof(pixel));
    pixel = change(pixel);
    std::memcpy(at, &pixel, sizeof(pixel));
  }

 private:
  OutputImage image_;
  uint32_t rim_;
};

/// A trail as strokes.
struct TrailPath {
  TrailPath(const draw::Trail& trail, uint32_t strength) {
    for (uint32_t i = 0; i < draw::kTrailStrokes; ++i) {
      if (is_drawn(i, trail.points[i], trail.points[i + 1])) {
        strengths[n_strokes] = draw::trail_strength(i, strength);
        strokes[n_strokes++] = trail_stroke(trail.points[i], trail.points[i + 1]);
      }
    }
  }

  std::array<Stroke, draw::kTrailStrokes> strokes;
  std::array<uint32_t, draw::kTrailStrokes> strengths;
  uint32_t n_strokes = 0;
};

/// Draws the part of a trail in `box`, which lies in the frame. The coverage of a stretch of a row is found
/// for all strokes before it is blended.
void draw_trail(const TrailPath& path, const PixelBox& box, const draw::Pen& pen, uint32_t color,
                const Pixels& pixels) {
  constexpr int32_t kStretch = 256;
  std::array<Coverage, kStretch> row;
  for (int32_t y = box.y0; y < box.y1; ++y) {
    for (int32_t x0 = box.x0; x0 < box.x1; x0 += kStretch) {
      const PixelBox stretch = {x0, y, std::min(box.x1, x0 + kStretch), y + 1};
      std::fill_n(row.begin(), stretch.x1 - x0, Coverage{});
      for (uint32_t i = 0; i < path.n_strokes; ++i) {
        const Stroke& stroke = path.strokes[i];
        if (!box_of(stroke.from, stroke.to, pen).meets(stretch)) {
          continue;
        }
        const PixelBox part = row_of(stroke, pen, y).cut(stretch);
        for (int32_t x = part.x0; x < part.x1; ++x) {
          row[static_cast<size_t>(x - x0)].add(coverage_at(distance(stroke, x, y), pen, path.strengths[i]));
        }
      }
      for (int32_t x = x0; x < stretch.x1; ++x) {
        pixels.blend_path(x, y, row[static_cast<size_t>(x - x0)], color);
      }
    }
  }
}

/// Draws the rows of a caption in `box`, which lies in the frame.
void draw_caption(const DrawnTrack& track, const PixelBox& box, const draw::DigitCells& digits,
                  uint32_t color, const Pixels& pixels) {
  for (int32_t y = box.y0; y < box.y1; ++y) {
    for (int32_t x = box.x0; x < box.x1; ++x) {
      const Coverage coverage = caption_coverage(track, digits, static_cast<uint32_t>(x - track.caption.x0),
                                                 static_cast<uint32_t>(y - track.caption.y0));
      pixels.blend_path(x, y, coverage, color);
    }
  }
}

void draw_outlines(const OutlineLayer& layer, const PixelBox& rows, const PixelLayout& layout,
                   const Pixels& pixels) {
  for (int32_t y = rows.y0; y < rows.y1; ++y) {
    const uint32_t* begin = &layer.rows()[static_cast<size_t>(y)];
    for (uint32_t i = begin[0]; i < begin[1]; ++i) {
      const LayerPixel over = layer.pixels()[i];
      const auto x = static_cast<int32_t>(over.index - static_cast<uint32_t>(y) * layer.width());
      pixels.change(x, y, [&](uint32_t pixel) { return draw::blend_layer(over.color, layout, pixel); });
    }
  }
}

}  // namespace

Drawing::Drawing(const Config& config, ThreadPool& pool)
    : config_(config), pool_(pool), scale_(draw::scale_for(config.height)) {
  if (!has_colors(config.output)) {
    return;  // nothing is drawn
  }
  font_.emplace(scale_);
  if (config.max_tracks > 0) {
    for (Table* table : {&table_, &before_}) {
      table->trails = std::make_unique_for_overwrite<draw::Trail[]>(config.max_tracks);
      table->drawn = std::make_unique_for_overwrite<DrawnTrack[]>(config.max_tracks);
    }
  }
}

draw::TrackStyle Drawing::style_of(const Settings& settings) const {
  return {.width = config_.width,
          .height = config_.height,
          .layout = config_.layout,
          .palette = settings.palette,
          .color_seed = settings.color_seed,
          .draws_ids = settings.draw_ids,
          .draws_trails = settings.draw_trails,
          .scale = scale_,
          .digits = font_->cells()};
}

/// Makes the table of this frame from that of the frame before.
void Drawing::update(const draw::TrackStyle& style, std::span<const CclTrack> tracks) {
  std::swap(table_, before_);
  table_.n_tracks = static_cast<uint32_t>(std::min(tracks.size(), size_t{config_.max_tracks}));
  for (uint32_t i = 0; i < table_.n_tracks; ++i) {
    const CclTrack& track = tracks[i];
    const draw::TrailStep step = trail_step(before_.trails.get(), before_.n_tracks, track);
    draw::Trail& trail = table_.trails[i];
    trail = {.id = track.id, .reserved = 0, .step_time = step.step_time, .points = {}};
    draw::TrailPoint least = step.point(0);
    draw::TrailPoint most = least;
    for (uint32_t k = 0; k < draw::kTrailPoints; ++k) {
      const draw::TrailPoint point = step.point(k);
      trail.points[k] = point;
      least = {std::min(least.x, point.x), std::min(least.y, point.y)};
      most = {std::max(most.x, point.x), std::max(most.y, point.y)};
    }
    table_.drawn[i] = draw_track(track, style, palette_colors()[color_index_of(track, style)], least, most);
  }
}

void Drawing::draw(const FrameJob& job, std::span<const CclTrack> tracks) {
  const Settings& settings = job.settings;
  const bool draws_tracks = (settings.draw_ids || settings.draw_trails) && config_.max_tracks > 0;
  const OutlineLayer* layer = settings.draw_regions ? job.outlines.get() : nullptr;
  if (!has_colors(config_.output) || (!draws_tracks && layer == nullptr)) {
    skip();
    return;
  }
  const draw::TrackStyle style = style_of(settings);
  update(style, draws_tracks ? tracks : std::span<const CclTrack>());
  const Pixels pixels(job.output, config_.layout);
  const uint32_t text_color = pack(draw::kTextColor, config_.layout);
  pool_.parallel_for(count_row_chunks(config_.height), [&](uint32_t chunk) {
    PixelBox rows = style.frame();
    rows.y0 = static_cast<int32_t>(chunk * kRowsPerChunk);
    rows.y1 = static_cast<int32_t>(std::min(config_.height, (chunk + 1) * kRowsPerChunk));
    if (layer != nullptr) {
      draw_outlines(*layer, rows, config_.layout, pixels);
    }
    for (uint32_t i = 0; i < table_.n_tracks; ++i) {
      const DrawnTrack& track = table_.drawn[i];
      if (track.trail.meets(rows)) {
        draw_trail({table_.trails[i], track.strength}, track.trail.cut(rows), scale_.trail, track.color,
                   pixels);
      }
    }
    for (uint32_t i = 0; i < table_.n_tracks; ++i) {
      const DrawnTrack& track = table_.drawn[i];
      if (track.caption.meets(rows)) {
        draw_caption(track, track.caption.cut(rows), style.digits, text_color, pixels);
      }
    }
  });
}

}  // namespace ccl::host
