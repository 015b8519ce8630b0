// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the track stage are written once, for a *team*: threads that share memory and do each step
/// together. On the host a team is one thread; on a device it is a block, a cluster of
/// blocks, or a grid.
///
/// A team has these functions, all const and constexpr:
/// - kSorts, a constant: whether it sorts boxes where they have many pairs (grid.h). A team whose frames have
///   few objects, and whose code is better short, does not.
/// - rank(), size(): which thread this is, and how many there are. A step gives thread r the items r, r +
///   size(), r + 2·size(), …
/// - kLanes, a constant: so many threads, the *lanes*, make a group. A search by place, which can be long, is
///   the item of a group. size() is a multiple of it.
/// - min_of_lanes(value): the least uint64_t of the lanes of a group, all of which call it.
/// - sync(): all threads wait for each other; then each sees what the others wrote. All or none call it.
/// - load(&word): reads a word that other threads may write in the same step.
/// - add, min, max, exchange(&word, value): atomic, on a uint32_t; return the word as it was before.
/// - max(&word, value): also on a uint64_t.
/// - scan(n, &total): the sum of the `n` of all threads with a smaller rank; `total` is the sum of all. It
/// has
///   the effect of sync(). All or none call it.
///
/// Threads of a step run in any order, so each step must give the same result for every order: sums, minima
/// and maxima of integers do; a list that threads append to does not, unless only sums, minima and maxima are
/// taken from it.
#pragma once

#include <cstdint>

namespace ccl::track {

/// A team of one thread.
struct HostTeam {
  static constexpr bool kSorts = true;
  static constexpr uint32_t kLanes = 1;

  constexpr uint32_t rank() const { return 0; }
  constexpr uint32_t size() const { return 1; }
  constexpr uint64_t min_of_lanes(uint64_t value) const { return value; }
  constexpr void sync() const {}
  constexpr uint32_t load(const uint32_t* word) const { return *word; }

  constexpr uint32_t add(uint32_t* word, uint32_t value) const { return exchange(word, *word + value); }
  constexpr uint32_t min(uint32_t* word, uint32_t value) const {
    return exchange(word, value < *word ? value : *word);
  }
  constexpr uint32_t max(uint32_t* word, uint32_t value) const {
    return exchange(word, value > *word ? value : *word);
  }
  constexpr uint64_t max(uint64_t* word, uint64_t value) const {
    const uint64_t old = *word;
    *word = value > old ? value : old;
    return old;
  }
  constexpr uint32_t exchange(uint32_t* word, uint32_t value) const {
    const uint32_t old = *word;
    *word = value;
    return old;
  }
  constexpr uint32_t scan(uint32_t n, uint32_t* total) const {
    *total = n;
    return 0;
  }
};

/// Which of the threads that share an item a thread is, and how many they are.
struct Lanes {
  uint32_t lane = 0;
  uint32_t n = 1;
};

template <typename Team>
constexpr uint32_t lane_of(const Team& team) {
  return team.rank() % Team::kLanes;
}
template <typename Team>
constexpr Lanes lanes_of(const Team& team) {
  return {lane_of(team), Team::kLanes};
}
/// As rank() and size(), of groups.
template <typename Team>
constexpr uint32_t group_rank(const Team& team) {
  return team.rank() / Team::kLanes;
}
template <typename Team>
constexpr uint32_t n_groups(const Team& team) {
  return team.size() / Team::kLanes;
}

/// Items that a thread does one after the other, so that numbers ascend with items.
struct Stretch {
  uint32_t begin, end;
};

template <typename Team>
constexpr Stretch stretch_of(const Team& team, uint32_t n) {
  const uint64_t rank = team.rank();
  return {static_cast<uint32_t>(rank * n / team.size()), static_cast<uint32_t>((rank + 1) * n / team.size())};
}

}  // namespace ccl::track
