// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/separator.h"

#include <algorithm>

namespace ccl::host {

Separator::Separator(uint32_t width, uint32_t height, ThreadPool& pool, StreamTracks* tracks)
    : width_(width),
      strips_(height, pool),
      tracks_(tracks),
      hills_(width, height, pool),
      regions_(width, height, pool),
      guide_(tracks != nullptr ? std::make_unique<Guide>(width, height, tracks->max_tracks()) : nullptr) {}

template <typename Root>
Parts Separator::find_parts(const Settings& settings, const Root* roots) {
  hills_.measure(roots, settings.connectivity, settings.separation.aspect);
  parts_ = regions_.join(roots, hills_, settings) ? Parts::kByShape : Parts::kNone;
  // Components of values touch and may have equal colours.
  if (guide_ != nullptr && settings.rule.foreground != Foreground::kValues) {
    regions_.take_components(hills_);
    parts_ = guide_->decide(hills_, regions_, tracks_->expected()) ? Parts::kGuided : parts_;
  }
  return parts_;
}

void Separator::write_roots(uint32_t* root_map) {
  strips_.for_each_row([&](uint32_t y) {
    uint32_t* row = root_map + size_t{y} * width_;
    regions_.for_each_root(
        y, [&](uint32_t begin, uint32_t end, uint32_t root) { std::fill(row + begin, row + end, root); });
  });
}

bool Separator::color() {
  if (!regions_.color()) {
    parts_ = Parts::kByShape;
    return false;
  }
  return true;
}

void Separator::paint(uint8_t* colors, size_t stride) {
  strips_.for_each_row([&](uint32_t y) {
    uint8_t* row = colors + y * stride;
    if (parts_ == Parts::kGuided) {
      guide_->paint(regions_, y, row);
    } else {
      regions_.for_each_color(
          y, [&](uint32_t begin, uint32_t end, uint8_t color) { std::fill(row + begin, row + end, color); });
    }
  });
}

void Separator::find_origins(const uint8_t* colors, std::span<const CclComponent> records) {
  if (parts_ == Parts::kGuided) {
    guide_->find_origins(hills_, regions_, colors, tracks_->runs(), records, tracks_->add_origins());
  }
}

template Parts Separator::find_parts(const Settings&, const uint32_t*);
template Parts Separator::find_parts(const Settings&, const uint8_t*);

}  // namespace ccl::host
