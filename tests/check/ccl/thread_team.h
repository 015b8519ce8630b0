// SPDX-License-Identifier: LGPL-2.1-or-later
/// Threads of the host as a team of the rules (track/team.h), in the place of a device's block.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace ccl::test {

/// Threads that wait here sleep: there are more of them than processors.
class SleepingBarrier {
 public:
  explicit SleepingBarrier(uint32_t n) : n_(n) {}

  void wait() {
    std::unique_lock lock(mutex_);
    const uint64_t phase = phase_;
    if (++n_waiting_ == n_) {
      n_waiting_ = 0;
      ++phase_;
      all_are_here_.notify_all();
      return;
    }
    all_are_here_.wait(lock, [&] { return phase_ != phase; });
  }

 private:
  const uint32_t n_;
  uint32_t n_waiting_ = 0;
  uint64_t phase_ = 0;
  std::mutex mutex_;
  std::condition_variable all_are_here_;
};

/// Threads that share an item, as a warp does.
inline constexpr uint32_t kTestLanes = 4;

/// What the threads of a team share.
struct TeamMemory {
  explicit TeamMemory(uint32_t n) : barrier(n), sums(n), values(n) {
    for (uint32_t i = 0; i < n / kTestLanes; ++i) {
      group_barriers.emplace_back(kTestLanes);
    }
  }

  SleepingBarrier barrier;
  std::vector<uint32_t> sums;
  std::deque<SleepingBarrier> group_barriers;
  std::vector<uint64_t> values;  ///< of lanes
};

/// A team whose number of threads is a multiple of `Lanes`: 1, or kTestLanes.
template <uint32_t Lanes>
class ThreadsInGroups {
 public:
  static constexpr bool kSorts = true;
  static constexpr uint32_t kLanes = Lanes;

  ThreadsInGroups(uint32_t rank, TeamMemory* memory) : rank_(rank), memory_(memory) {}

  uint32_t rank() const { return rank_; }
  uint32_t size() const { return static_cast<uint32_t>(memory_->sums.size()); }
  void sync() const { memory_->barrier.wait(); }

  uint64_t min_of_lanes(uint64_t value) const {
    if (kLanes == 1) {
      return value;
    }
    const uint32_t group = rank_ / kLanes;
    SleepingBarrier& barrier = memory_->group_barriers[group];
    memory_->values[rank_] = value;
    barrier.wait();
    const auto first = memory_->values.begin() + group * kLanes;
    const uint64_t least = *std::min_element(first, first + kLanes);
    barrier.wait();  // all have read it
    return least;
  }

  uint32_t load(const uint32_t* word) const { return of(const_cast<uint32_t*>(word)).load(kOrder); }
  uint32_t add(uint32_t* word, uint32_t value) const { return of(word).fetch_add(value, kOrder); }
  uint32_t exchange(uint32_t* word, uint32_t value) const { return of(word).exchange(value, kOrder); }
  uint32_t min(uint32_t* word, uint32_t value) const {
    return replace(word, [=](uint32_t old) { return value < old ? value : old; });
  }
  template <typename Word>
  Word max(Word* word, Word value) const {
    return replace(word, [=](Word old) { return value > old ? value : old; });
  }

  uint32_t scan(uint32_t n, uint32_t* total) const {
    sync();  // the sums of the scan before are read
    memory_->sums[rank_] = n;
    sync();
    *total = std::accumulate(memory_->sums.begin(), memory_->sums.end(), 0u);
    return std::accumulate(memory_->sums.begin(), memory_->sums.begin() + rank_, 0u);
  }

 private:
  /// As on a device: atomic, but no order among other words.
  static constexpr std::memory_order kOrder = std::memory_order_relaxed;

  template <typename Word>
  static std::atomic_ref<Word> of(Word* word) {
    return std::atomic_ref<Word>(*word);
  }
  template <typename Word, typename Replace>
  static Word replace(Word* word, Replace replacement) {
    Word old = of(word).load(kOrder);
    while (!of(word).compare_exchange_weak(old, replacement(old), kOrder)) {
    }
    return old;
  }

  uint32_t rank_;
  TeamMemory* memory_;
};

using ThreadTeam = ThreadsInGroups<1>;
using LaneTeam = ThreadsInGroups<kTestLanes>;

/// Calls work(team) in each of `n` threads.
template <typename Team, typename Work>
void run_team(uint32_t n, Work work) {
  TeamMemory memory(n);
  std::vector<std::jthread> threads;
  for (uint32_t rank = 0; rank < n; ++rank) {
    threads.emplace_back([rank, &memory, &work] { work(Team(rank, &memory)); });
  }
}

}  // namespace ccl::test
