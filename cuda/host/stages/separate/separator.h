// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that separates objects that touch: rule in ccl/parts.h.
#pragma once

#include <cstdint>
#include <memory>

#include "ccl/config.h"
#include "host/stages/segment/row_strips.h"
#include "host/stages/separate/hills.h"
#include "host/stages/separate/regions.h"
#include "host/thread_pool.h"

namespace ccl::host {

class Separator {
 public:
  /// Takes all memory that frames need. `pool` must outlive the separator.
  Separator(uint32_t width, uint32_t height, ThreadPool& pool);

  /// Makes the root map of components that of their parts.
  void run(const Settings& settings, uint32_t* root_map);

 private:
  uint32_t width_;
  RowStrips strips_;
  Hills hills_;
  Regions regions_;
};

}  // namespace ccl::host
