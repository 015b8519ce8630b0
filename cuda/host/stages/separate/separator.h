// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that separates objects that touch: rules in ccl/parts.h and, for a stream with tracks, in
/// track/guide.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "ccl/config.h"
#include "host/stages/row_strips.h"
#include "host/stages/separate/guide.h"
#include "host/stages/separate/hills.h"
#include "host/stages/separate/regions.h"
#include "host/stages/track.h"
#include "host/thread_pool.h"

namespace ccl::host {

enum class Parts {
  kNone,     ///< no component has several
  kByShape,  ///< they have roots and colours
  kGuided,   ///< by tracks: they have colours, and those of one colour that do not touch are several
};

class Separator {
 public:
  /// Takes all memory that frames need. `pool` and `tracks`, which may be null, must outlive the separator.
  Separator(uint32_t width, uint32_t height, ThreadPool& pool, StreamTracks* tracks);

  /// Finds the parts of a frame. Roots: see RootKernels.
  template <typename Root>
  Parts find_parts(const Settings& settings, const Root* roots);

  /// Makes the root map of components that of parts by shape.
  void write_roots(uint32_t* root_map);

  /// Chooses a colour for each part: see Regions::color(). If that fails, parts are by shape.
  bool color();
  /// Writes the colours of parts, after color(); not to background.
  void paint(uint8_t* colors, size_t stride);

  /// Reports to the tracks which records were cut for them; before StreamTracks::run(). `colors`: as painted,
  /// dense.
  void find_origins(const uint8_t* colors, std::span<const CclComponent> records);

 private:
  uint32_t width_;
  RowStrips strips_;
  StreamTracks* tracks_;
  Hills hills_;
  Regions regions_;
  std::unique_ptr<Guide> guide_;  ///< for a stream with tracks
  Parts parts_ = Parts::kNone;
};

}  // namespace ccl::host
