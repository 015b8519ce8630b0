// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/workers.h"

#include <pthread.h>

#include <algorithm>
#include <limits>
#include <string>
#include <system_error>
#include <utility>

#include "host/processors.h"

namespace ccl::host {

namespace {

/// About five microseconds: longer than the gap between most stages, and shorter than going to sleep and
/// waking. A thread that spins longer only takes the processor from others.
constexpr uint32_t kSpins = 128;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // `yield` takes no time where a core has one thread
#endif
}

template <typename Condition>
void spin_until(Condition condition) {
  for (uint32_t i = 0; i < kSpins && !condition(); ++i) {
    pause();
  }
}

// Without destructors, so that the order in which statics are destroyed does not matter: an engine that
// exists when the process exits still finds its workers.
constinit std::mutex shared_mutex;
constinit Workers* shared_workers = nullptr;
constinit bool handles_forks = false;

}  // namespace

void Job::take_indices() {
  for (;;) {
    const uint32_t index = next_index_.fetch_add(1, std::memory_order_relaxed);
    if (index >= loop_.count) {
      return;
    }
    loop_.call(loop_.context, index);
  }
}

/// Calls of join() and leave() end before a fork(), so that the child can make them.
void Workers::handle_forks() {
  if (handles_forks) {
    return;
  }
  const int error =
      pthread_atfork([] { shared_mutex.lock(); }, [] { shared_mutex.unlock(); }, lose_after_fork);
  if (error != 0) {
    throw std::system_error(error, std::generic_category());
  }
  handles_forks = true;
}

void Workers::lose_after_fork() {
  if (shared_workers != nullptr) {
    std::exchange(shared_workers, nullptr)->is_lost_ = true;
  }
  shared_mutex.unlock();
}

Workers& Workers::join(uint32_t n_threads) {
  const uint32_t n_helpers = n_threads - 1;
  const uint32_t n_spare = count_processors() - 1;
  const std::lock_guard lock(shared_mutex);
  handle_forks();
  if (shared_workers == nullptr) {
    shared_workers = new Workers;
  }
  Workers& workers = *shared_workers;
  ++workers.n_pools_;
  workers.n_wanted_ += n_helpers;
  try {
    workers.start(std::max(n_helpers, static_cast<uint32_t>(std::min<uint64_t>(n_spare, workers.n_wanted_))));
  } catch (...) {
    workers.n_wanted_ -= n_helpers;
    if (--workers.n_pools_ == 0) {
      delete std::exchange(shared_workers, nullptr);
    }
    throw;
  }
  return workers;
}

void Workers::leave(uint32_t n_threads) {
  const std::lock_guard lock(shared_mutex);
  if (is_lost_) {
    return;
  }
  n_wanted_ -= n_threads - 1;
  if (--n_pools_ == 0) {
    delete std::exchange(shared_workers, nullptr);
  }
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  opened_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

void Workers::start(uint32_t n_workers) {
  threads_.reserve(n_workers);
  while (threads_.size() < n_workers) {
    const std::string name = "cudaccl-" + std::to_string(threads_.size());
    threads_.emplace_back([this] { wait_for_jobs(); });
    pthread_setname_np(threads_.back().native_handle(), name.c_str());
  }
}

void Workers::run(Job& job, const Loop& loop, uint32_t max_helpers) {
  job.loop_ = loop;
  job.max_helpers_ = std::min(max_helpers, loop.count - 1);
  job.next_index_.store(0, std::memory_order_relaxed);
  open(job);
  job.take_indices();
  // All indices are taken. A worker that has not woken yet does not enter any more, so nobody waits for it.
  close(job);
}

/// Wakes as many workers as can help; those that are awake find the job themselves.
void Workers::open(Job& job) {
  constexpr uint32_t kAll = std::numeric_limits<uint32_t>::max();
  uint32_t n_to_wake = 0;
  {
    const std::lock_guard lock(mutex_);
    job.next_ = nullptr;
    (last_ != nullptr ? last_->next_ : first_) = &job;
    last_ = &job;
    n_opened_.fetch_add(1, std::memory_order_relaxed);
    n_to_wake = job.max_helpers_ < n_sleeping_ ? job.max_helpers_ : kAll;
  }
  if (n_to_wake == kAll) {
    opened_.notify_all();  // one system call
    return;
  }
  for (uint32_t i = 0; i < n_to_wake; ++i) {
    opened_.notify_one();
  }
}

/// Returns when no worker is in the job and none can enter it.
void Workers::close(Job& job) {
  spin_until([&] { return job.n_helpers_.load(std::memory_order_relaxed) == 0; });
  std::unique_lock lock(mutex_);
  Job* before = nullptr;
  for (Job* open = first_; open != &job; open = open->next_) {
    before = open;
  }
  (before != nullptr ? before->next_ : first_) = job.next_;
  if (last_ == &job) {
    last_ = before;
  }
  job.left_.wait(lock, [&] { return job.n_helpers_ == 0; });
}

/// The oldest open job that another worker can help with; null if there is none.
Job* Workers::find_job() const {
  Job* job = first_;
  while (job != nullptr && !job->wants_helper()) {
    job = job->next_;
  }
  return job;
}

void Workers::wait_for_jobs() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (Job* job = find_job()) {
      ++job->n_helpers_;
      lock.unlock();
      job->take_indices();
      lock.lock();
      if (--job->n_helpers_ == 0) {
        job->left_.notify_one();  // with the mutex locked: afterwards the job may be destroyed
      }
      continue;
    }
    const uint64_t n_seen = n_opened_;
    lock.unlock();
    spin_until([&] { return n_opened_.load(std::memory_order_relaxed) != n_seen; });
    lock.lock();
    if (!stopping_ && find_job() == nullptr) {
      ++n_sleeping_;
      opened_.wait(lock);
      --n_sleeping_;
    }
  }
}

}  // namespace ccl::host
