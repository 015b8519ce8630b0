// SPDX-License-Identifier: LGPL-2.1-or-later
/// A reader of JSON (RFC 8259) for short documents that people write and a program reads once. It is strict,
/// except that comments (/* … */ and // …) are allowed.
///
/// It is not a parser of GLib or of another library, because libcudaccl depends on none; and it throws
/// nothing but std::bad_alloc: where libstdc++ was loaded before GStreamer's libunwind, as by NumPy or
/// PyTorch, an exception can end the process. What it does for a document is bounded before it is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ccl/status.h"

namespace ccl::json {

inline constexpr size_t kMaxBytes = size_t{1} << 20;
inline constexpr size_t kMaxDepth = 32;        ///< arrays and objects around a value
inline constexpr size_t kMaxValues = 100'000;  ///< of a document
inline constexpr size_t kMaxMembers = 100;     ///< of an object

enum class Kind : uint8_t { kNull, kBoolean, kNumber, kString, kArray, kObject };

struct Value {
  Kind kind = Kind::kNull;
  bool is_integer = false;         ///< a number without fraction and exponent
  double number = 0;               ///< NaN if it is too large or too small for a double
  std::string text;                ///< UTF-8 without the character 0
  std::vector<Value> elements;     ///< of an array, or the members of an object
  std::vector<std::string> names;  ///< of the members; no two are equal

  /// Null if the object has no such member.
  const Value* member(std::string_view name) const;
};

/// kInvalidArgument with the line and the character if the text is not such a document.
Status parse(std::string_view text, Value* value);

bool is_utf8(std::string_view text);

}  // namespace ccl::json
