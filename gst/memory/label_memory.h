// SPDX-License-Identifier: LGPL-2.1-or-later
/// Memory for the labels of a frame, which polygons and masks are made from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/engine.h"

namespace cudaccl {

/// Takes its memory with the first frame that needs it, and keeps it for frames of the same size.
class LabelMemory {
 public:
  /// Room for `n_pixels` labels that the engine writes; page-locked if it has a device. kOutOfMemory.
  ccl::Status prepare(const ccl::Engine& engine, size_t n_pixels);

  uint32_t* get() const { return reinterpret_cast<uint32_t*>(memory_.get()); }

 private:
  std::shared_ptr<uint8_t> memory_;
  size_t n_pixels_ = 0;
  bool is_page_locked_ = false;
};

}  // namespace cudaccl
