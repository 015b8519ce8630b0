// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/links.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "host/memory.h"

namespace ccl::host {

/// Links that follow each other are often between the same two basins: of those, the first one in the order
/// of links is enough.
struct LinkLister::Strip {
  explicit Strip(uint32_t width) : directions(width + sizeof(uint64_t)) {}

  std::vector<uint8_t> directions;  ///< per pixel of a row, from find_links()
  Link* links = nullptr;            ///< of the strip
  size_t n_links = 0;
  std::array<Link*, 256> recent_links{};  ///< or null
};

LinkLister::LinkLister(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width),
      height_(height),
      strips_(height, pool),
      kernels_(separation_kernels(choose_simd_level())),
      offsets_{1, width - size_t{1}, width, width + size_t{1}},
      background_(width + size_t{2}),
      last_roots_(width + size_t{2}),
      scratch_(strips_.count(), Strip(width)),
      links_(uninitialized<Link>(kLinkDirections * size_t{width} * height)),
      runs_(uninitialized<BasinRun>(size_t{width} * height)),
      n_runs_(height) {}

LinkLister::~LinkLister() = default;

template <typename Root>
std::span<Link> LinkLister::list(const Root* roots, const Hills& hills, Connectivity connectivity) {
  if constexpr (std::is_same_v<Root, uint32_t>) {
    std::copy_n(roots + (height_ - size_t{1}) * width_, width_, last_roots_.data() + 1);
  }
  hills.visit_basins([&](const auto* basins) {
    strips_.for_each([&](uint32_t strip, const RowSpan& rows) {
      list_strip(roots, hills, basins, connectivity, rows, &scratch_[strip]);
    });
  });
  Link* end = links_.get();
  for (const Strip& strip : scratch_) {
    std::memmove(end, strip.links, strip.n_links * sizeof(Link));
    end += strip.n_links;
  }
  return {links_.get(), end};
}

template <typename Root, typename Basin>
void LinkLister::list_strip(const Root* roots, const Hills& hills, const Basin* basins,
                            Connectivity connectivity, const RowSpan& rows, Strip* strip) {
  strip->links = links_.get() + kLinkDirections * size_t{rows.begin} * width_;
  strip->n_links = 0;
  strip->recent_links.fill(nullptr);
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    list_row(roots, hills, basins + size_t{y} * width_, connectivity, y, strip);
  }
}

/// `basins`: of the row.
template <typename Root, typename Basin>
void LinkLister::list_row(const Root* roots, const Hills& hills, const Basin* basins,
                          Connectivity connectivity, uint32_t y, Strip* strip) {
  const size_t first = size_t{y} * width_;
  const uint32_t n_rows = height_ - y;
  const auto roots_of = [&](uint32_t n_after) -> const Root* {
    if constexpr (std::is_same_v<Root, uint32_t>) {
      return n_after == n_rows       ? background_.data() + 1
             : n_after + 1 == n_rows ? last_roots_.data() + 1
                                     : roots + first + size_t{n_after} * width_;
    } else {
      return nullptr;  // kernels for masks do not read roots
    }
  };
  const auto& kernels = kernels_.with<Basin>().template of<Root>();
  const auto find_links = connectivity == Connectivity::k8 ? kernels.find_8 : kernels.find_4;
  uint8_t* directions = strip->directions.data();
  BasinRun* run = runs_.get() + first;
  hills.blocks().for_each_span(y, [&](uint32_t span_begin, uint32_t span_end) {
    const auto from = [&](const Root* row) { return row != nullptr ? row + span_begin : nullptr; };
    find_links(basins + span_begin, basins + width_ + span_begin, from(roots_of(0)), from(roots_of(1)),
               span_end - span_begin, directions + span_begin);
    // What the kernel saw beside the row is the other end of a row.
    if (span_begin == 0) {
      directions[0] &= static_cast<uint8_t>(~(1u << kLinkSouthWest));
    }
    if (span_end == width_) {
      directions[width_ - 1] &= static_cast<uint8_t>(~(1u << kLinkEast | 1u << kLinkSouthEast));
      directions[width_ - 1] |= static_cast<uint8_t>(1u << kRunEnd);
    }
    uint32_t begin = span_begin;
    for (uint32_t x = span_begin; x < span_end; x += sizeof(uint64_t)) {
      uint64_t pixels = 0;
      std::memcpy(&pixels, directions + x, sizeof pixels);
      for (; pixels != 0; pixels &= pixels - 1) {
        const auto bit = static_cast<uint32_t>(std::countr_zero(pixels));
        const uint32_t at = x + bit / 8;
        if (bit % 8 != kRunEnd) {
          const auto number = static_cast<uint32_t>((first + at) * kLinkDirections + bit % 8);
          add(number, basins[at], basins[at + offsets_[bit % 8]], hills.heights(), strip);
        } else {
          *run = {basins[at], static_cast<uint16_t>(begin), static_cast<uint16_t>(at + 1)};
          run += basins[at] != 0 ? 1 : 0;
          begin = at + 1;
        }
      }
    }
  });
  n_runs_[y] = static_cast<uint32_t>(run - (runs_.get() + first));
}

/// Adds the link with this number between two basins, which are numbered from 1 on.
void LinkLister::add(uint32_t number, uint32_t from_basin, uint32_t to_basin, const uint16_t* heights,
                     Strip* strip) const {
  const LinkEnds of = ends(number);
  const auto [a, b] = std::minmax(from_basin, to_basin);
  const uint32_t saddle = std::min(heights[of.from], heights[of.to]);
  Link*& recent = strip->recent_links[(a * 31 + b) % strip->recent_links.size()];
  const Link link{number, a - 1, b - 1, saddle};
  if (recent == nullptr || recent->a != link.a || recent->b != link.b) {
    recent = strip->links + strip->n_links++;
    *recent = link;
  } else if (order_of(link.rank, number) > order_of(recent->rank, recent->number)) {
    *recent = link;
  }
}

template std::span<Link> LinkLister::list(const uint32_t*, const Hills&, Connectivity);
template std::span<Link> LinkLister::list(const uint8_t*, const Hills&, Connectivity);

}  // namespace ccl::host
