// SPDX-License-Identifier: LGPL-2.1-or-later
/// Bit images in device memory, for tests of what runs on the GPU only.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/segment.h"
#include "device/check.h"
#include "device/memory.h"
#include "fixture.h"
#include "images.h"

namespace ccl::test {

using Bits = std::vector<uint32_t>;

/// A bit image of the pixels for which is_foreground(x, y) is true.
template <typename Predicate>
Bits bits_where(uint32_t width, uint32_t height, Predicate is_foreground) {
  const uint32_t row_words = bit_row_words(width);
  Bits bits(size_t{row_words} * height);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      bits[size_t{y} * row_words + x / 32] |= uint32_t{is_foreground(x, y)} << x % 32;
    }
  }
  return bits;
}

inline Bits bits_of(const Image& image) {
  return bits_where(image.width, image.height, [&](uint32_t x, uint32_t y) { return image.at(x, y) != 0; });
}

/// Whether two bit images of a size are equal, padding too.
inline testing::AssertionResult same_bits(const Bits& got, const Bits& want, uint32_t width) {
  for (size_t i = 0; i < want.size(); ++i) {
    if (got[i] != want[i]) {
      const size_t row_words = bit_row_words(width);
      return testing::AssertionFailure() << "word " << i % row_words << " of row " << i / row_words << " is "
                                         << std::hex << got[i] << " instead of " << want[i];
    }
  }
  return testing::AssertionSuccess();
}

template <typename T>
Status upload(const std::vector<T>& from, device::DeviceArray<T>* to) {
  CCL_RETURN_IF_ERROR(to->allocate(from.size()));
  CCL_RETURN_IF_ERROR(
      device::check(cudaMemcpy(to->data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice),
                    "cudaMemcpy to the GPU"));
  // Streams of the tests do not wait for the default stream, and the copy may still be under way.
  return device::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

template <typename T>
Status download(const device::DeviceArray<T>& from, size_t count, std::vector<T>* to) {
  to->resize(count);
  return device::check(cudaMemcpy(to->data(), from.data(), count * sizeof(T), cudaMemcpyDeviceToHost),
                       "cudaMemcpy from the GPU");
}

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() != Backend::kCuda) {
      GTEST_SKIP() << "of the GPU only";
    }
    if (const Status status = make_engine(&engine_); !status.ok()) {
      GTEST_SKIP() << status.message();
    }
    ASSERT_TRUE(stream_.create().ok());
  }

  std::unique_ptr<Engine> engine_;  ///< keeps the context
  device::Stream stream_;
};

}  // namespace ccl::test
