// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ccl::host {

/// Calls visit(place) for all bytes with this value.
template <typename Visit>
void for_each_byte(const uint8_t* begin, const uint8_t* end, uint8_t value, Visit visit) {
  const auto find = [&] {
    return static_cast<const uint8_t*>(std::memchr(begin, value, static_cast<size_t>(end - begin)));
  };
  for (const uint8_t* at = find(); at != nullptr; at = find()) {
    visit(at);
    begin = at + 1;
  }
}

}  // namespace ccl::host
