// SPDX-License-Identifier: LGPL-2.1-or-later
/// Threads that share the iterations of loops.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace ccl::host {

/// Only the constructor starts threads. After a loop they spin for a few microseconds, since the next stage
/// of a frame often follows at once, and then sleep. One thread at a time may call parallel_for(), and never
/// from inside a loop.
class ThreadPool {
 public:
  /// The number of processors that this process may use.
  static uint32_t count_processors() { return std::max(1u, std::thread::hardware_concurrency()); }

  /// `n_threads` includes the caller of parallel_for(), which works too. Throws std::system_error if a thread
  /// cannot be started.
  explicit ThreadPool(uint32_t n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t n_threads() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  /// Calls function(index) once for each index below `count`, in any order and on any thread, and returns
  /// when all calls are done. The caller then sees everything they wrote. `function` must not throw.
  template <typename Function>
  void parallel_for(uint32_t count, Function function) {
    run({[](void* context, uint32_t index) { (*static_cast<Function*>(context))(index); },
         std::addressof(function), count});
  }

 private:
  /// A loop whose function type is erased, so that passing it to the workers allocates nothing.
  struct Loop {
    void (*call)(void* context, uint32_t index) = nullptr;
    void* context = nullptr;
    uint32_t count = 0;
  };

  void run(const Loop& loop);
  void take_indices(const Loop& loop);
  void wait_for_loops();
  void stop();

  std::mutex mutex_;
  std::condition_variable opened_;   ///< a loop was opened, or stopping_
  std::condition_variable emptied_;  ///< the last worker has left the loop
  Loop loop_;                        ///< count 0: no loop is open
  // Changed under the mutex, and also read without it.
  std::atomic<uint64_t> n_loops_ = 0;   ///< number of loops opened; a worker enters each at most once
  std::atomic<uint32_t> n_inside_ = 0;  ///< workers that are in the loop
  bool stopping_ = false;
  std::atomic<uint32_t> next_index_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace ccl::host
