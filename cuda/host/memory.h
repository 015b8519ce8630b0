// SPDX-License-Identifier: LGPL-2.1-or-later
/// Memory for what is written before it is read.
#pragma once

#include <cstddef>
#include <memory>

namespace ccl::host {

template <typename T>
std::unique_ptr<T[]> uninitialized(size_t count) {
  return std::make_unique_for_overwrite<T[]>(count);
}

}  // namespace ccl::host
