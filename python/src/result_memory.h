// SPDX-License-Identifier: LGPL-2.1-or-later
/// Memory for results that belong to the caller of label(). A large one that is new in each call takes longer
/// than the labels, because the system clears each page when it is first written. So the memory of a result
/// that died is kept idle, and the next result of about its size has it.
#pragma once

#include <cstddef>

namespace cudaccl_python {

/// An array of NumPy that lies in it keeps it alive, as do the array's views. It is not cleared.
/// The GIL is the lock of idle memory: no function here releases it. After a fork each process has its own.
class ResultMemory {
 public:
  /// std::bad_alloc if there is not enough.
  explicit ResultMemory(size_t bytes);
  ~ResultMemory();
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;

  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

  /// So much idle memory the process keeps. More is freed, the oldest first.
  static constexpr size_t kMostIdle = size_t{256} << 20;
  static size_t idle_bytes();
  static void free_idle();

 private:
  void* data_;
  size_t bytes_;
};

}  // namespace cudaccl_python
