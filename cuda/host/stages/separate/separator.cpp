// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/separate/separator.h"

#include "host/runs/table.h"

namespace ccl::host {

Separator::Separator(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width),
      strips_(height, pool),
      hills_(width, height, pool),
      regions_(width, height, pool),
      roots_(uninitialized<uint32_t>(size_t{width} * height + 1)) {}

void Separator::run(const Settings& settings, uint32_t* root_map) {
  hills_.measure(root_map, settings.connectivity, settings.separation.aspect);
  if (!regions_.join(root_map, hills_, settings)) {
    return;
  }
  regions_.write_roots(hills_.n_basins(), roots_.get());
  const uint32_t* basins = hills_.basins();
  strips_.for_each([&](uint32_t, const RowSpan& rows) {
    for (size_t pixel = size_t{rows.begin} * width_; pixel < size_t{rows.end} * width_; ++pixel) {
      root_map[pixel] = roots_[basins[pixel]];
    }
  });
}

}  // namespace ccl::host
