// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory/label_memory.h"

#include <new>

namespace cudaccl {

ccl::Status LabelMemory::prepare(const ccl::Engine& engine, size_t n_pixels) {
  const std::shared_ptr<ccl::Device> device = engine.device();
  if (memory_ != nullptr && n_pixels == n_pixels_ && is_page_locked_ == (device != nullptr)) {
    return {};
  }
  memory_.reset();
  const size_t bytes = n_pixels * sizeof(uint32_t);
  if (device != nullptr) {
    CCL_RETURN_IF_ERROR(device->allocate_host(bytes, &memory_));
  } else {
    try {
      memory_ = std::shared_ptr<uint8_t>(new uint8_t[bytes], std::default_delete<uint8_t[]>());
    } catch (const std::bad_alloc&) {
      return {ccl::StatusCode::kOutOfMemory,
              "not enough memory for the labels that polygons and masks are made from"};
    }
  }
  n_pixels_ = n_pixels;
  is_page_locked_ = device != nullptr;
  return {};
}

}  // namespace cudaccl
