// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/separator.h"

#include <algorithm>

namespace ccl::host {

Separator::Separator(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width), strips_(height, pool), hills_(width, height, pool), regions_(width, height, pool) {}

void Separator::run(const Settings& settings, uint32_t* root_map) {
  hills_.measure(root_map, settings.connectivity, settings.separation.aspect);
  if (!regions_.join(root_map, hills_, settings)) {
    return;
  }
  strips_.for_each([&](uint32_t, const RowSpan& rows) {
    for (uint32_t y = rows.begin; y < rows.end; ++y) {
      uint32_t* row = root_map + size_t{y} * width_;
      regions_.for_each_root(
          y, [&](uint32_t begin, uint32_t end, uint32_t root) { std::fill(row + begin, row + end, root); });
    }
  });
}

}  // namespace ccl::host
