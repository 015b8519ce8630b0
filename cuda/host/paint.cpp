// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/paint.h"

#include <algorithm>
#include <array>
#include <limits>

#include "ccl/colors.h"
#include "host/select.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

constexpr uint32_t kRowsPerTurn = 64;

/// Ink that lets the input show. No packed colour is 0, since all have an opaque alpha.
constexpr uint32_t kNoInk = 0;

/// Writes the lowest kBytes bytes of `value`, the least first, at any address.
template <uint32_t kBytes>
void store(uint32_t value, uint8_t* pixel) {
  for (uint32_t i = 0; i < kBytes; ++i) {
    pixel[i] = static_cast<uint8_t>(value >> (8 * i));
  }
}

/// What a component that passes the filter looks like.
uint32_t component_ink(const PaintJob& job, uint32_t label, const uint32_t* palette) {
  switch (job.output) {
    case Output::kColorized:
    case Output::kOverlay: {
      const uint32_t index = color_index(job.settings, label, job.areas[label], job.width * job.height);
      return pack(palette[index], job.layout);
    }
    case Output::kLabels:
      return std::min(label, uint32_t{std::numeric_limits<uint16_t>::max()});
    case Output::kMask:
      return 255;
    case Output::kNone:
      break;
  }
  return 0;
}

void mix_ink(const PaintJob& job, uint32_t* ink) {
  const uint32_t background =
      job.output == Output::kColorized ? pack(job.settings.background_color, job.layout) : kNoInk;
  const uint32_t* palette = palette_colors().data();
  ink[0] = background;
  for (uint32_t label = 1; label <= job.n_labels; ++label) {
    const bool is_left = passes_filter(job.settings, job.areas[label]);
    ink[label] = is_left ? component_ink(job, label, palette) : background;
  }
}

template <uint32_t kBytes>
void paint_row(const uint32_t* labels, const uint32_t* ink, uint32_t width, uint8_t* out) {
  for (size_t x = 0; x < width; ++x) {
    store<kBytes>(ink[labels[x]], out + x * kBytes);
  }
}

using GreyTable = std::array<uint32_t, 256>;

/// The packed grey of every luma value.
GreyTable make_greys(const PaintJob& job) {
  GreyTable greys;
  for (uint32_t luma = 0; luma < greys.size(); ++luma) {
    greys[luma] = pack(grey(static_cast<uint8_t>(luma), job.settings.limited_range), job.layout);
  }
  return greys;
}

/// Channels blend apart from each other, so packed colours may be blended as they are.
void overlay_row(const uint32_t* labels, const uint32_t* ink, const GreyTable& greys, const uint8_t* in,
                 uint8_t alpha, uint32_t width, uint8_t* out) {
  for (size_t x = 0; x < width; ++x) {
    const uint32_t under = greys[in[x]];
    const uint32_t over = ink[labels[x]];
    store<4>(over == kNoInk ? under : blend(over, under, alpha), out + x * 4);
  }
}

}  // namespace

void paint(const PaintJob& job, uint32_t* ink, ThreadPool& pool) {
  mix_ink(job, ink);
  const GreyTable greys = job.output == Output::kOverlay ? make_greys(job) : GreyTable{};
  pool.parallel_for((job.height + kRowsPerTurn - 1) / kRowsPerTurn, [&](uint32_t turn) {
    const uint32_t end = std::min(job.height, (turn + 1) * kRowsPerTurn);
    for (size_t y = size_t{turn} * kRowsPerTurn; y < end; ++y) {
      const uint32_t* labels = job.labels + y * job.width;
      uint8_t* out = job.image.pixels + y * job.image.stride;
      switch (job.output) {
        case Output::kColorized:
          paint_row<4>(labels, ink, job.width, out);
          break;
        case Output::kOverlay:
          overlay_row(labels, ink, greys, job.input.pixels + y * job.input.stride, job.settings.overlay_alpha,
                      job.width, out);
          break;
        case Output::kLabels:
          paint_row<2>(labels, ink, job.width, out);
          break;
        case Output::kMask:
          paint_row<1>(labels, ink, job.width, out);
          break;
        case Output::kNone:
          break;
      }
    }
  });
}

void draw_boxes(std::span<const CclComponent> records, const PixelLayout& layout, const OutputImage& image) {
  const uint32_t color = pack(kBoxColor, layout);
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
