// SPDX-License-Identifier: LGPL-2.1-or-later
/// Fills results before a run, so that a field that nobody writes is noticed.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ccl::test {

/// No label, no root, no count and no common pixel when repeated.
inline constexpr uint8_t kPoison = 0xa5;

/// Fills every byte of the value, fields that are added later too.
template <typename T>
void poison(T* value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memset(static_cast<void*>(value), kPoison, sizeof(T));
}

}  // namespace ccl::test
