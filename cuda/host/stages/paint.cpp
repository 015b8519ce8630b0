// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/paint.h"

#include <algorithm>
#include <cstring>

#include "ccl/colors.h"

namespace ccl::host {

namespace {

/// The paint value that lets the input show. No packed colour is 0, since all have an opaque alpha.
constexpr uint32_t kTransparent = 0;

/// Writes the lowest kBytes bytes of `value`, little endian, at any address.
template <uint32_t kBytes>
void store(uint32_t value, uint8_t* pixel) {
  for (uint32_t i = 0; i < kBytes; ++i) {
    pixel[i] = static_cast<uint8_t>(value >> (8 * i));
  }
}

template <uint32_t kBytes>
void write_row(const uint32_t* labels, const uint32_t* paint_values, uint32_t width, uint8_t* out) {
  for (size_t x = 0; x < width; ++x) {
    store<kBytes>(paint_values[labels[x]], out + x * kBytes);
  }
}

/// Calls work(under), where under(x) is the packed colour of the input's pixel x of row y.
template <typename Work>
void with_input_row(const PaintJob& job, uint32_t y, const GreyTable& greys, Work work) {
  const PixelLayout layout = job.config.layout;
  const InputImage& input = job.input;
  const uint8_t* luma = input.pixels + y * input.stride;
  if (input.source.is_rgb) {
    const SourcePixels source = input.source;
    work([layout, source, row = source.pixels + y * source.stride](size_t x) {
      const uint8_t* pixel = row + x * source.step;
      return pack(0xff000000 | uint32_t{pixel[source.red]} << 16 | uint32_t{pixel[source.green]} << 8 |
                      pixel[source.blue],
                  layout);
    });
  } else if (input.chroma.u != nullptr) {
    const Chroma chroma = input.chroma;
    const ColorMatrix matrix = job.settings.matrix;
    const size_t row = (y >> chroma.shift_y) * chroma.stride;
    work([layout, matrix, luma, chroma, row](size_t x) {
      const size_t place = row + (x >> chroma.shift_x) * chroma.step;
      return pack(color_of(luma[x], chroma.u[place], chroma.v[place], matrix), layout);
    });
  } else {
    work([&greys, luma](size_t x) { return greys[luma[x]]; });
  }
}

/// Each channel is blended alone, so packed colours may be blended as they are.
void overlay_row(const PaintJob& job, uint32_t y, const uint32_t* labels, const uint32_t* paint_values,
                 const GreyTable& greys, uint8_t* out) {
  with_input_row(job, y, greys, [&](auto under) {
    for (size_t x = 0; x < job.config.width; ++x) {
      const uint32_t over = paint_values[labels[x]];
      store<4>(over == kTransparent ? under(x) : blend(over, under(x), job.settings.overlay_alpha),
               out + x * 4);
    }
  });
}

/// The background colour where paint values are kTransparent, else the input.
void foreground_row(const PaintJob& job, uint32_t y, const uint32_t* labels, const uint32_t* paint_values,
                    const GreyTable& greys, uint8_t* out) {
  const uint32_t background = pack(job.settings.background_color, job.config.layout);
  with_input_row(job, y, greys, [&](auto under) {
    for (size_t x = 0; x < job.config.width; ++x) {
      store<4>(paint_values[labels[x]] == kTransparent ? background : under(x), out + x * 4);
    }
  });
}

void input_row(const PaintJob& job, uint32_t y, const GreyTable& greys, uint8_t* out) {
  with_input_row(job, y, greys, [&](auto under) {
    for (size_t x = 0; x < job.config.width; ++x) {
      store<4>(under(x), out + x * 4);
    }
  });
}

}  // namespace

PaintRule::PaintRule(const PaintJob& job) : job_(job), background_(kTransparent), colors_{} {
  if (job.config.output == Output::kColorized) {
    background_ = pack(job.settings.background_color, job.config.layout);
  }
  if (job.config.output == Output::kMask) {
    background_ = job.settings.mask_off;
  }
  if (has_colors(job.config.output)) {
    const uint32_t* palette =
        palette_colors().data() + static_cast<uint32_t>(job.settings.palette) * kPaletteSize;
    std::transform(palette, palette + kPaletteSize, colors_.begin(),
                   [&job](uint32_t color) { return pack(color, job.config.layout); });
  }
}

void PaintRule::make_values(const LabelRange& range, const uint32_t* marks, uint32_t* paint_values) const {
  const Settings& settings = job_.settings;
  switch (job_.config.output) {
    case Output::kColorized:
    case Output::kOverlay:
      make_values(range, marks, paint_values,
                  [this, &settings, n_pixels = job_.config.width * job_.config.height](uint32_t label,
                                                                                       uint32_t area) {
                    return colors_[color_index(settings, label, area, n_pixels) % kPaletteSize];
                  });
      break;
    case Output::kLabels:
      make_values(range, marks, paint_values,
                  [](uint32_t label, uint32_t) { return std::min(label, kMaxPaintedLabel); });
      break;
    case Output::kMask:
      make_values(range, marks, paint_values, [&settings](uint32_t, uint32_t) { return settings.mask_on; });
      break;
    case Output::kForeground:
      make_values(range, marks, paint_values, [](uint32_t, uint32_t) { return 1; });
      break;
    case Output::kDistance:
    case Output::kDistance8:
      make_values(range, marks, paint_values, [](uint32_t, uint32_t) { return ~uint32_t{0}; });
      break;
    case Output::kBackground:
    case Output::kNone:
      break;
  }
}

void PaintRule::make_colors_of_ids(const LabelRange& range, const TrackedLabels& labels,
                                   uint32_t* paint_values) const {
  const uint32_t n_pixels = job_.config.width * job_.config.height;
  const uint32_t no_id = pack(kNoIdColor, job_.config.layout);
  for (uint32_t i = range.first; i < range.end; ++i) {
    const uint32_t area = labels.marks[i];
    if (area == 0) {
      paint_values[i] = background_;
      continue;
    }
    const uint32_t record = labels.record_index[i];
    const uint32_t id = record < labels.records.size() ? labels.records[record].id : 0;
    paint_values[i] =
        id != 0 ? colors_[color_index(job_.settings, id, area, n_pixels) % kPaletteSize] : no_id;
  }
}

template <typename ValueOf>
void PaintRule::make_values(const LabelRange& range, const uint32_t* marks, uint32_t* paint_values,
                            ValueOf value_of) const {
  const uint32_t shift = range.label - range.first;
  for (uint32_t i = range.first; i < range.end; ++i) {
    paint_values[i] = marks[i] != 0 ? value_of(i + shift, marks[i]) : background_;
  }
}

GreyTable make_greys(const PaintJob& job) {
  GreyTable greys{};
  if (bytes_per_pixel(job.config.output) != 4 || job.config.output == Output::kColorized) {
    return greys;
  }
  for (uint32_t luma = 0; luma < greys.size(); ++luma) {
    greys[luma] = pack(grey(static_cast<uint8_t>(luma), job.settings.limited_range), job.config.layout);
  }
  return greys;
}

void paint_row(const PaintJob& job, uint32_t y, const uint32_t* labels, const uint32_t* paint_values,
               const GreyTable& greys) {
  uint8_t* out = job.image.pixels + y * job.image.stride;
  switch (job.config.output) {
    case Output::kColorized:
      write_row<4>(labels, paint_values, job.config.width, out);
      break;
    case Output::kOverlay:
      overlay_row(job, y, labels, paint_values, greys, out);
      break;
    case Output::kForeground:
      foreground_row(job, y, labels, paint_values, greys, out);
      break;
    case Output::kBackground:
      input_row(job, y, greys, out);
      break;
    case Output::kLabels:
      write_row<2>(labels, paint_values, job.config.width, out);
      break;
    case Output::kMask:
      write_row<1>(labels, paint_values, job.config.width, out);
      break;
    case Output::kDistance:
    case Output::kDistance8:  // see Distances
    case Output::kNone:
      break;
  }
}

void fill_chroma(const Config& config, const OutputImage& image) {
  constexpr int kGrey = 128;
  for (uint8_t* plane : image.chroma) {
    for (uint32_t y = 0; config.output == Output::kMask && plane != nullptr && y < image.chroma_rows; ++y) {
      std::memset(plane + y * image.chroma_stride, kGrey, image.chroma_row);
    }
  }
}

void draw_boxes(std::span<const CclComponent> records, const Config& config, const OutputImage& image) {
  if (config.output != Output::kColorized && config.output != Output::kOverlay) {
    return;
  }
  const uint32_t color = pack(kBoxColor, config.layout);
  const auto draw = [&](size_t x, size_t y) { store<4>(color, image.pixels + y * image.stride + x * 4); };
  for (const CclComponent& record : records) {
    const uint32_t right = record.x + record.width - 1;
    const uint32_t bottom = record.y + record.height - 1;
    for (uint32_t x = record.x; x <= right; ++x) {
      draw(x, record.y);
      draw(x, bottom);
    }
    for (uint32_t y = record.y; y <= bottom; ++y) {
      draw(record.x, y);
      draw(right, y);
    }
  }
}

}  // namespace ccl::host
