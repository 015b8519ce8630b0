// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/simd/background.h"
#include "host/stages/segment/simd/background_rows.h"

namespace ccl::host {

namespace {

struct PlainBytes : ByteLane {
  static constexpr uint32_t kWidth = 1;
  static Value load(const uint8_t* from) { return *from; }
  static void store(Value value, uint8_t* to) { *to = static_cast<uint8_t>(value); }
  static uint32_t bits(Value mask) { return mask & 1; }
};

struct PlainWords : WordLane {
  static constexpr uint32_t kWidth = 1;
  static Value load(const uint8_t* from) { return *from; }
  static Value load(const uint16_t* from) { return *from; }
  static void store(Value value, uint16_t* to) { *to = static_cast<uint16_t>(value); }
  static uint32_t bits(Value mask) { return mask & 1; }
};

}  // namespace

constexpr BackgroundKernels kPlainBackgroundKernels = BackgroundRows<PlainBytes, PlainWords>::table();

const BackgroundKernels& background_kernels([[maybe_unused]] SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) {
    return kAvx512BackgroundKernels;
  }
  if (level == SimdLevel::kAvx2) {
    return kAvx2BackgroundKernels;
  }
#endif
  return kPortableBackgroundKernels;
}

}  // namespace ccl::host
