// SPDX-License-Identifier: LGPL-2.1-or-later
/// A few threads that wait for loops to share.
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

/// Threads are started by the constructor only. Between loops they look out for the next one for a few
/// microseconds, since a frame's stages follow each other closely, and then sleep. One thread at a time may
/// call parallel_for(), and not from inside a loop.
class ThreadPool {
 public:
  /// How many processors this process may use.
  static uint32_t count_processors() { return std::max(1u, std::thread::hardware_concurrency()); }

  /// `n_threads` counts the caller of parallel_for(), which works too. Throws std::system_error when a
  /// thread cannot be started.
  explicit ThreadPool(uint32_t n_threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t n_threads() const { return static_cast<uint32_t>(workers_.size()) + 1; }

  /// Calls function(index) once for each index below `count`, in any order and on any thread, and returns
  /// when all are done; what they wrote is then visible to the caller. `function` must not throw.
  template <typename Function>
  void parallel_for(uint32_t count, Function function) {
    run({[](void* context, uint32_t index) { (*static_cast<Function*>(context))(index); },
         std::addressof(function), count});
  }

 private:
  /// A loop without its type, so that handing it to the workers takes no memory.
  struct Loop {
    void (*call)(void* context, uint32_t index) = nullptr;
    void* context = nullptr;
    uint32_t count = 0;
  };

  void run(const Loop& loop);
  void take_turns(const Loop& loop);
  void wait_for_loops();
  void stop();

  std::mutex mutex_;
  std::condition_variable opened_;    ///< a loop is there, or stopping_
  std::condition_variable deserted_;  ///< no worker is in the loop any more
  Loop loop_;                         ///< count 0: none is open to workers
  // Changed under the mutex, looked at without it.
  std::atomic<uint64_t> n_loops_ = 0;   ///< opened so far; a worker enters each at most once
  std::atomic<uint32_t> n_inside_ = 0;  ///< workers in the loop now
  bool stopping_ = false;
  std::atomic<uint32_t> next_index_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace ccl::host
