// SPDX-License-Identifier: LGPL-2.1-or-later
/// Threads that share the iterations of loops.
#pragma once

#include <cstdint>
#include <memory>

#include "host/workers.h"

namespace ccl::host {

/// How many threads share a frame if the number is not given. A thread that gets fewer pixels takes more CPU
/// time to wake and to merge than it saves in latency.
uint32_t choose_thread_count(uint32_t width, uint32_t height);

/// The threads that one engine may use: the caller of parallel_for(), and workers that all pools of the
/// process share (Workers). One thread at a time may call parallel_for(), and never from inside a loop; pools
/// are independent of each other. In a child of fork(), a pool of the parent has no workers: loops run on
/// their caller.
class ThreadPool {
 public:
  /// `n_threads` includes the caller of parallel_for(), which works too; a pool of one thread needs no
  /// workers. Throws std::system_error if a thread cannot be started.
  explicit ThreadPool(uint32_t n_threads)
      : n_threads_(n_threads), workers_(n_threads > 1 ? &Workers::join(n_threads) : nullptr) {}
  ~ThreadPool() {
    if (workers_ != nullptr) {
      workers_->leave(n_threads_);
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t n_threads() const { return n_threads_; }
  bool has_lost_workers() const { return workers_ != nullptr && workers_->is_lost(); }

  /// Calls function(index) once for each index below `count`, in any order and on any thread, and returns
  /// when all calls are done. The caller then sees everything they wrote. `function` must not throw.
  template <typename Function>
  void parallel_for(uint32_t count, Function function) {
    const auto call = [](void* context, uint32_t index) { (*static_cast<Function*>(context))(index); };
    run({call, std::addressof(function), count});
  }

 private:
  void run(const Loop& loop);

  uint32_t n_threads_;
  Workers* workers_;  ///< null: one thread
  Job job_;
};

}  // namespace ccl::host
