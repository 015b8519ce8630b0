// SPDX-License-Identifier: LGPL-2.1-or-later
/// Bytes in the GPU's memory, for frames that lie or go there.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ccl::test {

/// What has not been written.
inline constexpr uint8_t kFiller = 0x5a;

class DeviceBytes {
 public:
  /// All kFiller. It waits: engines have streams that do not wait for the default one.
  explicit DeviceBytes(size_t size) : size_(size) {
    EXPECT_EQ(cudaMalloc(&bytes_, size), cudaSuccess);
    EXPECT_EQ(cudaMemset(bytes_, kFiller, size), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  /// A copy of them.
  explicit DeviceBytes(const std::vector<uint8_t>& bytes) : DeviceBytes(bytes.size()) {
    EXPECT_EQ(cudaMemcpy(bytes_, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  DeviceBytes(DeviceBytes&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_) {}
  DeviceBytes& operator=(DeviceBytes&&) = delete;
  ~DeviceBytes() { cudaFree(bytes_); }

  uint8_t* get() const { return static_cast<uint8_t*>(bytes_); }
  std::vector<uint8_t> read() const {
    std::vector<uint8_t> bytes(size_);
    EXPECT_EQ(cudaMemcpy(bytes.data(), bytes_, size_, cudaMemcpyDeviceToHost), cudaSuccess);
    return bytes;
  }

 private:
  void* bytes_ = nullptr;
  size_t size_;
};

}  // namespace ccl::test
