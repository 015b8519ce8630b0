// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/graph_cache.h"

#include <algorithm>

namespace ccl::device {

GraphCache::Entry* GraphCache::find_captured(const Key& key) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.graph.is_captured() && entry.key == key;
  });
  return found != entries_.end() ? &*found : nullptr;
}

GraphCache::Entry* GraphCache::least_recently_used() {
  return &*std::min_element(entries_.begin(), entries_.end(),
                            [](const Entry& a, const Entry& b) { return a.last_use < b.last_use; });
}

void GraphCache::clear() {
  for (Entry& entry : entries_) {
    entry.graph.reset();
  }
}

}  // namespace ccl::device
