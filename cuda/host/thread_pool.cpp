// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

/// About five microseconds: longer than the gap between most stages, and shorter than going to sleep and
/// waking. A thread that spins longer only takes the processor from others.
constexpr uint32_t kSpins = 128;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <typename Condition>
void spin_until(Condition condition) {
  for (uint32_t i = 0; i < kSpins && !condition(); ++i) {
    pause();
  }
}

}  // namespace

ThreadPool::ThreadPool(uint32_t n_threads) {
  workers_.reserve(n_threads - 1);
  try {
    while (workers_.size() + 1 < n_threads) {
      workers_.emplace_back([this] { wait_for_loops(); });
    }
  } catch (...) {
    stop();
    throw;
  }
}

ThreadPool::~ThreadPool() {
  stop();
}

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  opened_.notify_all();
  for (std::thread& worker : workers_) {
    worker.join();
  }
}

void ThreadPool::run(const Loop& loop) {
  next_index_.store(0, std::memory_order_relaxed);
  if (workers_.empty() || loop.count <= 1) {
    take_indices(loop);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    loop_ = loop;
    ++n_loops_;
  }
  opened_.notify_all();
  take_indices(loop);
  // All indices are taken. A worker that has not woken yet does not enter any more, so nobody waits for it.
  spin_until([this] { return n_inside_.load(std::memory_order_relaxed) == 0; });
  std::unique_lock lock(mutex_);
  loop_.count = 0;
  emptied_.wait(lock, [this] { return n_inside_ == 0; });
}

void ThreadPool::take_indices(const Loop& loop) {
  for (;;) {
    const uint32_t index = next_index_.fetch_add(1, std::memory_order_relaxed);
    if (index >= loop.count) {
      return;
    }
    loop.call(loop.context, index);
  }
}

void ThreadPool::wait_for_loops() {
  uint64_t n_seen = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    lock.unlock();
    spin_until([&] { return n_loops_.load(std::memory_order_relaxed) != n_seen; });
    lock.lock();
    opened_.wait(lock, [&] { return stopping_ || (loop_.count != 0 && n_loops_ != n_seen); });
    if (stopping_) {
      return;
    }
    n_seen = n_loops_;
    const Loop loop = loop_;
    ++n_inside_;
    lock.unlock();
    take_indices(loop);
    lock.lock();
    if (--n_inside_ == 0) {
      emptied_.notify_one();
    }
  }
}

}  // namespace ccl::host
