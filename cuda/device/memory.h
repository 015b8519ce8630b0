// SPDX-License-Identifier: LGPL-2.1-or-later
/// Owners of CUDA memory, streams and events. They are constructed empty; allocate() or create() acquires the
/// resource. The context in which it was acquired must be current whenever it is used or released.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "device/check.h"

namespace ccl::device {

/// Gives back what it owns by `kRelease`; null: nothing.
template <typename Handle, auto kRelease>
class Owner {
 public:
  Owner() = default;
  Owner(Owner&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owner& operator=(Owner&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owner() {
    if (handle_ != nullptr) {
      ignore(kRelease(handle_));
    }
  }

 protected:
  Handle handle_ = nullptr;
};

/// An array of `T` in the kind of memory that `Allocator` acquires. Elements are not initialised.
template <typename T, typename Allocator>
class Array : Owner<T*, Allocator::release> {
 public:
  /// The array must be empty. `count` may be 0.
  Status allocate(size_t count) {
    void* memory = nullptr;
    CCL_RETURN_IF_ERROR(Allocator::acquire(&memory, (count > 0 ? count : 1) * sizeof(T)));
    this->handle_ = static_cast<T*>(memory);
    return {};
  }

  T* data() const { return this->handle_; }
};

struct DeviceAllocator {
  static Status acquire(void** memory, size_t bytes) {
    return check_allocation(cudaMalloc(memory, bytes), "cudaMalloc", "GPU memory", bytes);
  }
  [[nodiscard]] static cudaError_t release(void* memory) { return cudaFree(memory); }
};

struct PinnedAllocator {
  static Status acquire(void** memory, size_t bytes) {
    // Portable: every context treats the memory as page-locked.
    return check_allocation(cudaHostAlloc(memory, bytes, cudaHostAllocPortable), "cudaHostAlloc",
                            "page-locked memory", bytes);
  }
  [[nodiscard]] static cudaError_t release(void* memory) { return cudaFreeHost(memory); }
};

template <typename T>
using DeviceArray = Array<T, DeviceAllocator>;

/// Page-locked host memory: copies from and to it are asynchronous and run at full speed.
template <typename T>
using PinnedArray = Array<T, PinnedAllocator>;

/// A stream that does not wait for the default stream.
class Stream : Owner<cudaStream_t, cudaStreamDestroy> {
 public:
  Status create() {
    return check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  /// Waits for all work on the stream.
  Status synchronize() const { return check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize"); }
  cudaStream_t get() const { return handle_; }
};

/// A point in the work of a stream, and the time when the work reached it.
class Event : Owner<cudaEvent_t, cudaEventDestroy> {
 public:
  /// A long wait yields the processor instead of spinning: with many cameras the cores have other work.
  Status create() {
    return check(cudaEventCreateWithFlags(&handle_, cudaEventBlockingSync), "cudaEventCreateWithFlags");
  }
  Status record(const Stream& stream) const {
    return check(cudaEventRecord(handle_, stream.get()), "cudaEventRecord");
  }
  /// Waits for the event. It polls at first: a sleeping thread wakes tens of microseconds late, and a frame
  /// may take only two hundred.
  Status synchronize() const;
  cudaEvent_t get() const { return handle_; }
  /// Returns the microseconds from `earlier` to this event; both must have occurred.
  Status elapsed_since(const Event& earlier, float* microseconds) const {
    float milliseconds = 0;
    CCL_RETURN_IF_ERROR(
        check(cudaEventElapsedTime(&milliseconds, earlier.handle_, handle_), "cudaEventElapsedTime"));
    *microseconds = milliseconds * 1000;
    return {};
  }
};

}  // namespace ccl::device
