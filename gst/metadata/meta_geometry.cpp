// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata/meta_geometry.h"

#include <algorithm>
#include <cmath>

namespace cudaccl {

namespace {

/// Pixels in a row, a column or an offset: products of two fit into 64 bits.
constexpr int64_t kMostPixels = int64_t{1} << 24;

/// Matrices have 24 bits of precision, and rectangles have whole pixels.
constexpr double kMatrixTolerance = 1.0 / 8;

constexpr int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return -floor_div(-a, b);
}

/// Pixels of one axis, from the edge `low` to the edge `high`.
struct Span {
  int64_t low, high;

  bool is_empty() const { return low >= high; }
};

Span common(const Span& a, const Span& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

/// How places of the old frame become those of one axis of the new frame.
class AxisMap {
 public:
  int64_t from, old_length;
  int64_t to, length;
  bool flips;
  int64_t frame;  ///< pixels of the new frame

  Span shown() const { return common({to, to + length}, {0, frame}); }
  bool is_unit() const { return old_length == length; }
  /// New pixels for one old pixel.
  double factor() const { return static_cast<double>(length) / static_cast<double>(old_length); }
  /// The same, negative if the axis is mirrored.
  double direction() const { return flips ? -factor() : factor(); }

  /// Whole pixels around a span.
  Span map(const Span& old) const {
    const Span exact = map_exactly(old);
    return {to + floor_div(exact.low, old_length), to + ceil_div(exact.high, old_length)};
  }

  /// Whether a span ends where the picture does, or beyond.
  bool reaches_end(const Span& old) const {
    const Span exact = map_exactly(old);
    return to + ceil_div(exact.low, old_length) <= shown().low ||
           to + floor_div(exact.high, old_length) >= shown().high;
  }

  /// A coordinate of pixels' centres, the mean of `n` of them, or any one if `n` is 0. A centre is half a
  /// pixel from the pixel's edge in both frames.
  float map_center(float center, uint32_t n) const {
    const double end = static_cast<double>(flips ? to + length : to);
    if (!is_unit()) {
      return static_cast<float>((center + 0.5 - static_cast<double>(from)) * direction() + end - 0.5);
    }
    const double shift = flips ? end + static_cast<double>(from) - 1 : end - static_cast<double>(from);
    const double sum = sum_of(center, n);
    const double count = std::max(1U, n);
    return static_cast<float>((shift * count + (flips ? -sum : sum)) / count);
  }

  /// A coordinate of edges.
  float map_edge(float edge) const {
    const double moved = (edge - static_cast<double>(from)) * factor();
    return static_cast<float>(static_cast<double>(to) +
                              (flips ? static_cast<double>(length) - moved : moved));
  }

 private:
  /// Distances from `to`, in pixels of the new frame / old_length.
  Span map_exactly(const Span& old) const {
    const Span moved{(old.low - from) * length, (old.high - from) * length};
    return flips ? Span{old_length * length - moved.high, old_length * length - moved.low} : moved;
  }

  /// The sum whose mean was rounded to `center`: the integer, if no other one gives this float. So means in
  /// the new frame are rounded once, as if they had been measured there.
  static double sum_of(float center, uint32_t n) {
    constexpr double kPrecision = 1.0 / (1 << 24);
    if (n == 0) {
      return center;
    }
    const double sum = static_cast<double>(center) * n;
    const double integer = std::round(sum);
    const double error = std::abs(integer) * kPrecision;
    return error < 0.5 && std::abs(sum - integer) <= error ? integer : sum;
  }
};

/// The map of both axes, by axes of the new frame.
struct Axes {
  AxisMap x, y;
  bool swaps;
  Span old_columns, old_rows;

  bool is_unit() const { return x.is_unit() && y.is_unit(); }
  /// Whether both axes have the same scale, so that circles stay circles.
  bool is_uniform() const { return x.length * y.old_length == y.length * x.old_length; }
};

Axes axes_of(const PictureMap& map) {
  Axes axes{.x = {map.from.x, map.from.width, map.to.x, map.to.width, map.flips_x, map.width},
            .y = {map.from.y, map.from.height, map.to.y, map.to.height, map.flips_y, map.height},
            .swaps = map.swaps_axes,
            .old_columns = {0, map.old_width},
            .old_rows = {0, map.old_height}};
  if (map.swaps_axes) {
    std::swap(axes.x.from, axes.y.from);
    std::swap(axes.x.old_length, axes.y.old_length);
  }
  return axes;
}

/// Values of the old frame's two axes, by axes of the new frame.
template <typename Value>
struct Pair {
  Value x, y;
};

template <typename Value>
Pair<Value> in_new_order(const Axes& axes, const Value& x, const Value& y) {
  return axes.swaps ? Pair<Value>{y, x} : Pair<Value>{x, y};
}

/// What became of a box.
enum class Fate { kOutside, kCut, kWhole };

/// The part that is shown of a span. An empty one, as a track may have, is outside only beyond the edges.
Fate cut_off(const Span& shown, Span* span) {
  const bool was_empty = span->is_empty();
  const Span part = common(*span, shown);
  if (part.low > part.high || (part.is_empty() && !was_empty)) {
    return Fate::kOutside;
  }
  const bool is_whole = part.low == span->low && part.high == span->high;
  *span = part;
  return is_whole ? Fate::kWhole : Fate::kCut;
}

/// Maps a box, and sets *touches_border if it lies where the picture ends. A box that is outside stays as it
/// is.
template <typename Box>
Fate map_box(const Axes& axes, Box* box, bool* touches_border) {
  using Pixels = decltype(box->x);
  const auto [old_x, old_y] =
      in_new_order(axes, common({box->x, int64_t{box->x} + box->width}, axes.old_columns),
                   common({box->y, int64_t{box->y} + box->height}, axes.old_rows));
  Span x = axes.x.map(old_x);
  Span y = axes.y.map(old_y);
  const Fate fate_x = cut_off(axes.x.shown(), &x);
  const Fate fate_y = cut_off(axes.y.shown(), &y);
  if (fate_x == Fate::kOutside || fate_y == Fate::kOutside) {
    return Fate::kOutside;
  }
  *touches_border = axes.x.reaches_end(old_x) || axes.y.reaches_end(old_y);
  box->x = static_cast<Pixels>(x.low);
  box->y = static_cast<Pixels>(y.low);
  box->width = static_cast<Pixels>(x.high - x.low);
  box->height = static_cast<Pixels>(y.high - y.low);
  return fate_x == Fate::kWhole && fate_y == Fate::kWhole ? Fate::kWhole : Fate::kCut;
}

/// Maps a place: the centroid of `n` pixels, or, if `n` is 0, any other.
void map_place(const Axes& axes, uint32_t n, float* x, float* y) {
  const auto [old_x, old_y] = in_new_order(axes, *x, *y);
  *x = axes.x.map_center(old_x, n);
  *y = axes.y.map_center(old_y, n);
}

uint32_t rounded(double value) {
  return static_cast<uint32_t>(std::llround(std::min(value, static_cast<double>(UINT32_MAX))));
}

/// Covariances: zero stays a positive zero.
void map_moments(const Axes& axes, CclComponent* c) {
  const auto [mxx, myy] = in_new_order(axes, c->mxx, c->myy);
  const double sx = axes.x.direction();
  const double sy = axes.y.direction();
  c->mxx = static_cast<float>(mxx * sx * sx);
  c->mxy = static_cast<float>(c->mxy * sx * sy) + 0.0F;
  c->myy = static_cast<float>(myy * sy * sy);
}

/// Fields that are exact only while pixels keep their size. How many of the perimeter's edges are horizontal
/// is not known, so it scales by the mean of the factors.
void scale_counts(const Axes& axes, CclComponent* c) {
  const double sx = axes.x.factor();
  const double sy = axes.y.factor();
  c->area = std::max(1U, rounded(c->area * sx * sy));
  c->perimeter = rounded(c->perimeter * (sx + sy) / 2);
  c->flags |= CCL_COMPONENT_SCALED;
}

/// False if it is not shown.
bool map_component(const Axes& axes, CclComponent* c) {
  bool touches_border = false;
  const Fate fate = map_box(axes, c, &touches_border);
  if (fate == Fate::kOutside) {
    return false;
  }
  map_place(axes, c->area, &c->cx, &c->cy);
  map_moments(axes, c);
  if (!axes.is_unit()) {
    scale_counts(axes, c);
  }
  c->flags |= touches_border ? CCL_COMPONENT_TOUCHES_BORDER : 0;
  c->flags |= fate == Fate::kCut ? CCL_COMPONENT_CUT : 0;
  return true;
}

/// False if it is not shown.
bool map_track(const Axes& axes, const std::vector<uint32_t>& new_index, CclTrack* track) {
  bool touches_border = false;
  if (map_box(axes, track, &touches_border) == Fate::kOutside) {
    return false;
  }
  map_place(axes, 0, &track->cx, &track->cy);
  const auto [vx, vy] = in_new_order(axes, track->vx, track->vy);
  track->vx = static_cast<float>(vx * axes.x.direction()) + 0.0F;
  track->vy = static_cast<float>(vy * axes.y.direction()) + 0.0F;
  track->flags |= touches_border ? CCL_TRACK_TOUCHES_BORDER : 0;
  track->component =
      track->component < new_index.size() ? new_index[track->component] : uint32_t{CCL_NO_COMPONENT};
  return true;
}

CclVertex mapped_vertex(const Axes& axes, const CclVertex& vertex) {
  const auto [old_x, old_y] = in_new_order(axes, vertex.x, vertex.y);
  return {axes.x.map_edge(old_x), axes.y.map_edge(old_y)};
}

/// Appends the vertices of a circle: the point is on the right again.
void append_circle(const Axes& axes, const CclVertex* old, std::vector<CclVertex>* vertices) {
  const CclVertex center = mapped_vertex(axes, old[0]);
  const double radius = ccl_circle_radius(old) * axes.x.factor();
  vertices->push_back(center);
  vertices->push_back({static_cast<float>(center.x + radius), center.y});
}

/// Appends a polygon's vertices, in the direction and from the vertex on that its kind has.
void append_vertices(const Axes& axes, const CclPolygon& polygon, const std::vector<CclVertex>& old,
                     std::vector<CclVertex>* vertices) {
  const auto begin = static_cast<std::ptrdiff_t>(vertices->size());
  for (uint32_t i = 0; i < polygon.n_vertices; ++i) {
    vertices->push_back(mapped_vertex(axes, old[polygon.first + i]));
  }
  const auto first = vertices->begin() + begin;
  const bool is_mirrored = (axes.x.flips != axes.y.flips) != axes.swaps;
  if (is_mirrored) {
    std::reverse(first, vertices->end());
  }
  if (polygon.kind != CCL_POLYGON_RECTANGLE) {
    std::rotate(first,
                std::min_element(first, vertices->end(),
                                 [](const CclVertex& a, const CclVertex& b) {
                                   return a.y != b.y ? a.y < b.y : a.x < b.x;
                                 }),
                vertices->end());
  } else if (is_mirrored && polygon.n_vertices == 4) {
    std::rotate(first, first + 2, vertices->end());  // the side along the hull is the first one again
  }
}

/// Whether there is such a polygon in the new frame. An ellipse is no circle.
bool is_mappable(const Axes& axes, const CclPolygon& polygon) {
  return polygon.kind != CCL_POLYGON_CIRCLE || (axes.is_uniform() && polygon.n_vertices == 2);
}

/// Grey statistics and polygons of the components that are shown.
void map_shapes(const Axes& axes, const std::vector<uint32_t>& new_index, const FrameRecords& records,
                FrameRecords* mapped) {
  for (size_t i = 0; i < records.grey.size() && i < new_index.size(); ++i) {
    if (new_index[i] != CCL_NO_COMPONENT) {
      mapped->grey.push_back(records.grey[i]);
      map_place(axes, 0, &mapped->grey.back().cx, &mapped->grey.back().cy);
    }
  }
  for (const CclPolygon& polygon : records.polygons) {
    const auto found = std::lower_bound(
        mapped->components.begin(), mapped->components.end(), polygon.label,
        [](const CclComponent& component, uint32_t label) { return component.label < label; });
    const bool is_shown = found != mapped->components.end() && found->label == polygon.label;
    if (is_shown && is_mappable(axes, polygon)) {
      mapped->polygons.push_back(polygon);
      mapped->polygons.back().first = static_cast<uint32_t>(mapped->vertices.size());
      if (polygon.kind == CCL_POLYGON_CIRCLE) {
        append_circle(axes, &records.vertices[polygon.first], &mapped->vertices);
      } else {
        append_vertices(axes, polygon, records.vertices, &mapped->vertices);
      }
    }
  }
}

/// What fills `to` fills it from its first or from its last pixel on. Where an axis is mirrored, corners of
/// pixels come from `length`, and centres from the pixel before it.
bool is_axis(double factor, double offset, int32_t old_length, int32_t length) {
  const auto near = [](double a, double b) { return std::abs(a - b) < kMatrixTolerance; };
  return near(std::abs(factor) * old_length, length) &&
         (factor > 0 ? near(offset, 0) : near(offset, length) || near(offset, length - 1));
}

bool is_usable(const PixelRectangle& rectangle) {
  return std::abs(int64_t{rectangle.x}) <= kMostPixels && std::abs(int64_t{rectangle.y}) <= kMostPixels &&
         rectangle.width > 0 && rectangle.width <= kMostPixels && rectangle.height > 0 &&
         rectangle.height <= kMostPixels;
}

bool is_usable_size(uint32_t width, uint32_t height) {
  return width > 0 && width <= kMostPixels && height > 0 && height <= kMostPixels;
}

}  // namespace

PictureMap scale_map(uint32_t old_width, uint32_t old_height, uint32_t width, uint32_t height) {
  return {.old_width = old_width,
          .old_height = old_height,
          .width = width,
          .height = height,
          .from = {0, 0, static_cast<int32_t>(old_width), static_cast<int32_t>(old_height)},
          .to = {0, 0, static_cast<int32_t>(width), static_cast<int32_t>(height)}};
}

bool take_matrix(const float (&matrix)[3][3], PictureMap* map) {
  const bool is_affine = matrix[2][0] == 0 && matrix[2][1] == 0 && matrix[2][2] == 1;
  const bool is_straight = matrix[0][1] == 0 && matrix[1][0] == 0;
  const bool is_turned = matrix[0][0] == 0 && matrix[1][1] == 0;
  if (!is_affine || is_straight == is_turned) {
    return false;
  }
  const float x = matrix[0][is_turned ? 1 : 0];
  const float y = matrix[1][is_turned ? 0 : 1];
  const int32_t old_length_x = is_turned ? map->from.height : map->from.width;
  const int32_t old_length_y = is_turned ? map->from.width : map->from.height;
  map->swaps_axes = is_turned;
  map->flips_x = x < 0;
  map->flips_y = y < 0;
  return is_axis(x, matrix[0][2], old_length_x, map->to.width) &&
         is_axis(y, matrix[1][2], old_length_y, map->to.height);
}

bool is_usable(const PictureMap& map) {
  return is_usable_size(map.old_width, map.old_height) && is_usable_size(map.width, map.height) &&
         is_usable(map.from) && is_usable(map.to);
}

bool is_same(const PictureMap& map) {
  return map.old_width == map.width && map.old_height == map.height && map.from == map.to &&
         !map.swaps_axes && !map.flips_x && !map.flips_y && map.from.x <= 0 && map.from.y <= 0 &&
         map.from.x + map.from.width >= static_cast<int32_t>(map.width) &&
         map.from.y + map.from.height >= static_cast<int32_t>(map.height);
}

FrameRecords map_records(const PictureMap& map, const FrameRecords& records) {
  const Axes axes = axes_of(map);
  FrameRecords mapped;
  std::vector<uint32_t> new_index;
  new_index.reserve(records.components.size());
  mapped.components.reserve(records.components.size());
  for (CclComponent component : records.components) {
    const bool is_shown = map_component(axes, &component);
    new_index.push_back(is_shown ? static_cast<uint32_t>(mapped.components.size()) : CCL_NO_COMPONENT);
    if (is_shown) {
      mapped.components.push_back(component);
    }
  }
  for (CclTrack track : records.tracks) {
    if (map_track(axes, new_index, &track)) {
      mapped.tracks.push_back(track);
    }
  }
  map_shapes(axes, new_index, records, &mapped);
  mapped.events = records.events;
  for (CclEvent& event : mapped.events) {
    if (event.id != 0) {  // an event of no track has no place
      map_place(axes, 0, &event.x, &event.y);
    }
  }
  return mapped;
}

}  // namespace cudaccl
