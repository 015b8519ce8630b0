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

/// An array of `T` in the kind of memory that `Allocator` acquires. Elements are not initialised.
template <typename T, typename Allocator>
class Array {
 public:
  Array() = default;
  Array(Array&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) {
      Allocator::release(data_);
    }
  }

  /// The array must be empty. `count` may be 0.
  Status allocate(size_t count) {
    void* memory = nullptr;
    CCL_RETURN_IF_ERROR(Allocator::acquire(&memory, (count > 0 ? count : 1) * sizeof(T)));
    data_ = static_cast<T*>(memory);
    return {};
  }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

struct DeviceAllocator {
  static Status acquire(void** memory, size_t bytes) {
    return check_allocation(cudaMalloc(memory, bytes), "cudaMalloc", "GPU memory", bytes);
  }
  static void release(void* memory) { ignore(cudaFree(memory)); }
};

struct PinnedAllocator {
  static Status acquire(void** memory, size_t bytes) {
    // Portable: every context treats the memory as page-locked.
    return check_allocation(cudaHostAlloc(memory, bytes, cudaHostAllocPortable), "cudaHostAlloc",
                            "page-locked memory", bytes);
  }
  static void release(void* memory) { ignore(cudaFreeHost(memory)); }
};

template <typename T>
using DeviceArray = Array<T, DeviceAllocator>;

/// Page-locked host memory: copies from and to it are asynchronous and run at full speed.
template <typename T>
using PinnedArray = Array<T, PinnedAllocator>;

/// A stream that does not wait for the default stream.
class Stream {
 public:
  Stream() = default;
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Stream() {
    if (stream_ != nullptr) {
      ignore(cudaStreamDestroy(stream_));
    }
  }

  Status create() {
    return check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  /// Waits for all work on the stream.
  Status synchronize() const { return check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A point in the work of a stream, and the time when the work reached it.
class Event {
 public:
  Event() = default;
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~Event() {
    if (event_ != nullptr) {
      ignore(cudaEventDestroy(event_));
    }
  }

  /// A long wait yields the processor instead of spinning: with many cameras the cores have other work.
  Status create() {
    return check(cudaEventCreateWithFlags(&event_, cudaEventBlockingSync), "cudaEventCreateWithFlags");
  }
  Status record(const Stream& stream) const {
    return check(cudaEventRecord(event_, stream.get()), "cudaEventRecord");
  }
  /// Waits for the event. It polls at first: a sleeping thread wakes tens of microseconds late, and a frame
  /// may take only two hundred.
  Status synchronize() const;
  cudaEvent_t get() const { return event_; }
  /// Returns the microseconds from `earlier` to this event; both must have occurred.
  Status elapsed_since(const Event& earlier, float* microseconds) const {
    float milliseconds = 0;
    CCL_RETURN_IF_ERROR(
        check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "cudaEventElapsedTime"));
    *microseconds = milliseconds * 1000;
    return {};
  }

 private:
  cudaEvent_t event_ = nullptr;
};

}  // namespace ccl::device
