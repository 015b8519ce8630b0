// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/draw/outlines.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

#include "ccl/draw/font.h"
#include "ccl/draw/scale.h"
#include "ccl/draw/stroke.h"

namespace ccl {

namespace {

using draw::Coverage;
using draw::kSubpixels;
using draw::part_of;
using draw::Pen;
using draw::Place;
using draw::Stroke;

/// `color` over what a layer has, with weight / 255. Each channel is rounded to nearest.
uint32_t paint_over(uint32_t layer, uint32_t color, uint32_t weight) {
  const uint32_t below = part_of(layer >> 24, 255 - weight);
  const uint32_t alpha = weight + below;
  if (alpha == 0) {
    return 0;
  }
  uint32_t result = alpha << 24;
  for (const uint32_t shift : {0u, 8u, 16u}) {
    const uint32_t over = color >> shift & 0xff;
    const uint32_t under = layer >> shift & 0xff;
    result |= (over * weight + under * below + alpha / 2) / alpha << shift;
  }
  return result;
}

/// The part of a line that may be seen: what lies within `margin` pixels of the frame. Coordinates of places
/// are small then.
class Clipper {
 public:
  Clipper(uint32_t width, uint32_t height) : width_(width), height_(height) {}

  std::optional<Stroke> clip(const Point& a, const Point& b) const {
    constexpr double kMargin = 128;  // no pen reaches so far
    double begin = 0;
    double end = 1;
    const Point d = {b.x - a.x, b.y - a.y};
    const bool is_near =
        cut(d.x, a.x + kMargin, &begin, &end) && cut(-d.x, width_ + kMargin - a.x, &begin, &end) &&
        cut(d.y, a.y + kMargin, &begin, &end) && cut(-d.y, height_ + kMargin - a.y, &begin, &end);
    if (!is_near) {
      return std::nullopt;
    }
    return draw::make_stroke(place({a.x + begin * d.x, a.y + begin * d.y}),
                             place({a.x + end * d.x, a.y + end * d.y}));
  }

 private:
  /// Keeps what is inside of one border: where inside + t · step is not negative (Liang and Barsky).
  static bool cut(double step, double inside, double* begin, double* end) {
    if (step > 0) {
      *begin = std::max(*begin, -inside / step);
    } else if (step < 0) {
      *end = std::min(*end, -inside / step);
    } else if (inside < 0) {
      return false;
    }
    return *begin <= *end;
  }

  static Place place(const Point& point) {
    return {static_cast<int32_t>(std::lround(point.x * kSubpixels)),
            static_cast<int32_t>(std::lround(point.y * kSubpixels))};
  }

  double width_;
  double height_;
};

/// A layer while it is painted.
class Canvas {
 public:
  Canvas(uint32_t width, uint32_t height)
      : frame_{0, 0, static_cast<int32_t>(width), static_cast<int32_t>(height)},
        colors_(size_t{width} * height),
        coverage_(size_t{width} * height),
        quota_(colors_.size() * kWorkPerPixel + kLeastWork) {}

  /// Paths from here on have a quota of their own.
  void renew_quota() { max_work_ = work_ + quota_; }

  void paint(const std::vector<Stroke>& path, const Pen& pen, uint32_t color) {
    for (const Stroke& stroke : path) {
      cover(stroke, pen);
    }
    for (const size_t index : touched_) {
      const Coverage coverage = std::exchange(coverage_[index], {});
      const uint32_t dark =
          paint_over(colors_[index], draw::kRimColor, part_of(coverage.rim, draw::kRimStrength));
      colors_[index] = paint_over(dark, color, coverage.line);
    }
    touched_.clear();
  }

  const std::vector<uint32_t>& colors() const { return colors_; }
  uint64_t work() const { return work_; }
  bool is_complete() const { return is_complete_; }

 private:
  /// Whether the quota has room for a row of pixels, which is then taken from it. To find the row takes as
  /// long as a few pixels.
  bool take_work(const draw::PixelBox& row) {
    constexpr uint64_t kRow = 8;
    const uint64_t more = kRow + static_cast<uint64_t>(std::max(row.x1 - row.x0, 0));
    if (work_ + more > max_work_) {
      is_complete_ = false;
      return false;
    }
    work_ += more;
    return true;
  }

  void cover(const Stroke& stroke, const Pen& pen) {
    const draw::PixelBox box = box_of(stroke.from, stroke.to, pen).cut(frame_);
    for (int32_t y = box.y0; y < box.y1; ++y) {
      const draw::PixelBox row = row_of(stroke, pen, y).cut(box);
      if (!take_work(row)) {
        return;
      }
      for (int32_t x = row.x0; x < row.x1; ++x) {
        const auto index = static_cast<size_t>(y) * static_cast<size_t>(frame_.x1) + static_cast<size_t>(x);
        if (coverage_[index].line == 255) {
          continue;  // no stroke covers more
        }
        const Coverage added = coverage_at(distance(stroke, x, y), pen, 255);
        if (added.rim > 0 && coverage_[index].rim == 0) {
          touched_.push_back(index);
        }
        coverage_[index].add(added);
      }
    }
  }

  draw::PixelBox frame_;
  std::vector<uint32_t> colors_;    ///< per pixel, 0xAARRGGBB
  std::vector<Coverage> coverage_;  ///< per pixel, by the path that is painted
  std::vector<size_t> touched_;     ///< pixels that have such a coverage
  uint64_t quota_;
  uint64_t work_ = 0;
  uint64_t max_work_ = quota_;
  bool is_complete_ = true;
};

std::vector<Stroke> path_of(const Outline& outline, const Clipper& clipper) {
  std::vector<Stroke> path;
  const size_t n_points = outline.points.size();
  const size_t n_strokes = outline.is_closed || n_points < 2 ? n_points : n_points - 1;
  for (size_t i = 0; i < n_strokes; ++i) {
    if (const auto stroke = clipper.clip(outline.points[i], outline.points[(i + 1) % n_points])) {
      path.push_back(*stroke);
    }
  }
  return path;
}

/// Above the first of the highest points; inside the frame as far as the name fits.
std::vector<Stroke> name_path(const Outline& outline, const draw::Scale& scale, uint32_t width,
                              uint32_t height) {
  if (outline.name.empty() || outline.points.empty()) {
    return {};
  }
  const draw::TextLine text(outline.name, scale);
  const Point& top = *std::min_element(outline.points.begin(), outline.points.end(),
                                       [](const Point& a, const Point& b) { return a.y < b.y; });
  const auto at = [](double wanted, uint32_t size, uint32_t frame) {
    const double last = std::max(0.0, static_cast<double>(frame) - size);
    return static_cast<int32_t>(std::clamp(std::floor(wanted), 0.0, last));
  };
  return text.trace(at(top.x, text.width(), width), at(top.y - text.height(), text.height(), height));
}

uint64_t next_drawing_id() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

}  // namespace

std::vector<Outline> outlines_of(const Regions& regions, uint32_t width, uint32_t height) {
  std::vector<Outline> outlines;
  const double scale_x = regions.is_relative ? width : 1.0;
  const double scale_y = regions.is_relative ? height : 1.0;
  const auto add = [&](Outline outline) {
    for (Point& point : outline.points) {
      point = {point.x * scale_x, point.y * scale_y};
    }
    outlines.push_back(std::move(outline));
  };
  for (const Region& region : regions.include) {
    add({region.name, region.polygon, true, kIncludeColor});
  }
  for (const Region& region : regions.exclude) {
    add({region.name, region.polygon, true, kExcludeColor});
  }
  for (const Zone& zone : regions.zones) {
    add({zone.name, zone.polygon, true, kZoneColor});
  }
  for (const Line& line : regions.lines) {
    add({line.name, {line.from, line.to}, false, kLineColor});
  }
  return outlines;
}

OutlineLayer::OutlineLayer(const std::vector<Outline>& outlines, uint32_t width, uint32_t height)
    : width_(width), height_(height), id_(next_drawing_id()) {
  const draw::Scale scale = draw::scale_for(height);
  const Clipper clipper(width, height);
  Canvas canvas(width, height);
  for (const Outline& outline : outlines) {
    canvas.paint(path_of(outline, clipper), scale.outline, outline.color);
  }
  canvas.renew_quota();
  for (const Outline& outline : outlines) {
    canvas.paint(name_path(outline, scale, width, height), scale.text, outline.color);
  }
  work_ = canvas.work();
  is_complete_ = canvas.is_complete();
  const std::vector<uint32_t>& colors = canvas.colors();
  rows_.reserve(size_t{height} + 1);
  for (uint32_t y = 0; y < height; ++y) {
    rows_.push_back(static_cast<uint32_t>(pixels_.size()));
    for (uint32_t index = y * width; index < (y + 1) * width; ++index) {
      if (colors[index] >> 24 != 0) {
        pixels_.push_back({index, colors[index]});
      }
    }
  }
  rows_.push_back(static_cast<uint32_t>(pixels_.size()));
}

}  // namespace ccl
