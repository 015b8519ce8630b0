// SPDX-License-Identifier: LGPL-2.1-or-later
/// Objects that touch (ccl/parts.h), for `runs`: before rows are labelled, parts become segments of different
/// values, so that the rule for values labels them. Since components of binary foreground do not touch in
/// 8-connectivity, this needs no root map.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ccl/config.h"
#include "host/runs/row_source.h"
#include "host/stages/row_strips.h"
#include "host/stages/separate/separator.h"
#include "host/thread_pool.h"

namespace ccl::host {

class PartSource {
 public:
  /// Takes all memory that frames need. `pool` and `tracks`, which may be null, must outlive it.
  PartSource(uint32_t width, uint32_t height, ThreadPool& pool, StreamTracks* tracks);

  static constexpr bool can_have_parts(const Settings& settings) {
    return settings.connectivity == Connectivity::k8 && settings.rule.foreground != Foreground::kValues;
  }

  /// What is in place of `frame`, whose settings can_have_parts(): the same, if no component has several
  /// parts; otherwise values. Null if there are too few of them.
  const RowSource* run(const Settings& settings, const RowSource& frame);

  /// Reports to the tracks what the records are, if they guided the cuts; before StreamTracks::run().
  void find_origins(std::span<const CclComponent> records) {
    separator_.find_origins(pixels_.get(), records);
  }

 private:
  void read(const RowSource& frame);

  uint32_t width_;
  RowStrips strips_;
  Separator separator_;
  std::unique_ptr<uint8_t[]> pixels_;  ///< foreground, then values
  RowSource source_{};
};

}  // namespace ccl::host
