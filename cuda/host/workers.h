// SPDX-License-Identifier: LGPL-2.1-or-later
/// The worker threads of the process. All thread pools share them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace ccl::host {

/// A loop whose function type is erased, so that passing it to workers allocates nothing.
struct Loop {
  void (*call)(void* context, uint32_t index) = nullptr;
  void* context = nullptr;
  uint32_t count = 0;
};

/// A loop that workers may help with. One loop at a time uses it.
class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

 private:
  friend class Workers;

  void take_indices();
  bool wants_helper() const {
    return n_helpers_.load(std::memory_order_relaxed) < max_helpers_ &&
           next_index_.load(std::memory_order_relaxed) < loop_.count;
  }

  // Changed by the owner while no worker is in the job.
  Loop loop_;
  uint32_t max_helpers_ = 0;
  Job* next_ = nullptr;  ///< in the list of open jobs

  std::atomic<uint32_t> next_index_ = 0;
  /// Workers that are in the job. Changed under the mutex of the workers, and also read without it.
  std::atomic<uint32_t> n_helpers_ = 0;
  std::condition_variable left_;  ///< the last helper has left
};

/// Threads that wait for jobs. The thread that runs a job works on it from the first index to the last, and
/// idle workers help: no job waits for a worker to begin. After a job, workers spin for a few microseconds,
/// since the next stage of a frame often follows at once, and then sleep.
///
/// A child of fork() has no threads of these. There they are lost, and never used or freed: a lock may be
/// taken for ever. The child's new pools have workers of its own.
class Workers {
 public:
  /// Takes part in the process's workers, and starts them if there are none. Afterwards there are enough for
  /// a pool of `n_threads` (2 or more), and one for each processor but one if all pools together want so
  /// many. Throws std::system_error if a thread cannot be started.
  static Workers& join(uint32_t n_threads);
  /// Undoes join(). The last pool ends all workers.
  void leave(uint32_t n_threads);
  /// Whether this process is a child of the one that started them. It must not call run() then.
  bool is_lost() const { return is_lost_; }

  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Runs all iterations of the loop, with up to `max_helpers` workers beside the caller.
  void run(Job& job, const Loop& loop, uint32_t max_helpers);

 private:
  Workers() = default;
  ~Workers();

  static void handle_forks();
  static void lose_after_fork();

  void start(uint32_t n_workers);
  void open(Job& job);
  void close(Job& job);
  Job* find_job() const;
  void wait_for_jobs();

  std::vector<std::thread> threads_;  ///< changed under the lock of join() and leave()
  uint64_t n_wanted_ = 0;             ///< workers that all pools together want; under the same lock
  uint32_t n_pools_ = 0;              ///< under the same lock
  bool is_lost_ = false;              ///< changed by fork(), while the child has one thread

  std::mutex mutex_;
  std::condition_variable opened_;  ///< a job was opened, or stopping_
  Job* first_ = nullptr;            ///< list of open jobs, the oldest first
  Job* last_ = nullptr;
  uint32_t n_sleeping_ = 0;
  bool stopping_ = false;
  std::atomic<uint64_t> n_opened_ = 0;  ///< changed under the mutex, and also read without it
};

}  // namespace ccl::host
