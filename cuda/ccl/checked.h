// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sizes of what comes from outside: arithmetic that has no result where a number does not fit into the type
/// of the result, as one below 0 into size_t. Sizes that follow from a Config alone need none of it:
/// validate() bounds what they are made of.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>

namespace ccl {

template <std::integral Size = size_t, std::integral... Numbers>
constexpr std::optional<Size> checked_sum(Numbers... numbers) {
  Size sum = 0;
  const bool fits = !(__builtin_add_overflow(sum, numbers, &sum) || ...);
  return fits ? std::optional<Size>(sum) : std::nullopt;
}

template <std::integral Size = size_t, std::integral... Numbers>
constexpr std::optional<Size> checked_product(Numbers... numbers) {
  Size product = 1;
  const bool fits = !(__builtin_mul_overflow(product, numbers, &product) || ...);
  return fits ? std::optional<Size>(product) : std::nullopt;
}

/// Where an image ends that begins at `start`: the byte behind the last one of its last row. Rows have
/// `row` bytes, and begin `stride` bytes after each other. There is at least one.
template <std::integral Size = size_t>
constexpr std::optional<Size> checked_end(std::integral auto start, std::integral auto rows,
                                          std::integral auto stride, std::integral auto row) {
  const std::optional<Size> rows_before = checked_sum<Size>(rows, -1);
  const std::optional<Size> before = rows_before ? checked_product<Size>(*rows_before, stride) : std::nullopt;
  return before ? checked_sum<Size>(start, *before, row) : std::nullopt;
}

}  // namespace ccl
