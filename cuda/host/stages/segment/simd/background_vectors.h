// SPDX-License-Identifier: LGPL-2.1-or-later
/// Lanes of the compiler's vectors, for any processor. Each instruction set includes this file once.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ccl::host {

/// `Byte` and `Word` are vectors of 8-bit and 32-bit numbers, `Half` and `Quarter` are as many 16-bit and
/// 8-bit numbers as a `Word` has. (GCC 12 ignores a vector size that depends on a template's parameter.)
struct Vectors16 {
  using Byte [[gnu::vector_size(16)]] = uint8_t;
  using Word [[gnu::vector_size(16)]] = uint32_t;
  using Half [[gnu::vector_size(8)]] = uint16_t;
  using Quarter [[gnu::vector_size(4)]] = uint8_t;
};

struct Vectors32 {
  using Word [[gnu::vector_size(32)]] = uint32_t;
  using Half [[gnu::vector_size(16)]] = uint16_t;
  using Quarter [[gnu::vector_size(8)]] = uint8_t;
};

struct Vectors64 {
  using Word [[gnu::vector_size(64)]] = uint32_t;
  using Half [[gnu::vector_size(32)]] = uint16_t;
  using Quarter [[gnu::vector_size(16)]] = uint8_t;
};

template <typename Vectors>
struct VectorBytes {
  using Value = typename Vectors::Byte;
  static constexpr uint32_t kWidth = sizeof(Value);

  static Value load(const uint8_t* from) {
    Value value;
    std::memcpy(&value, from, sizeof(value));
    return value;
  }
  static void store(const Value& value, uint8_t* to) { std::memcpy(to, &value, sizeof(value)); }

  static Value splat(uint32_t value) { return Value{} + static_cast<uint8_t>(value); }
  static Value min(const Value& a, const Value& b) { return a < b ? a : b; }
  static Value max(const Value& a, const Value& b) { return a < b ? b : a; }
  static Value add(const Value& a, const Value& b) {
    const Value sum = a + b;
    return sum | to_value(sum < a);
  }
  static Value subtract(const Value& a, const Value& b) { return max(a, b) - b; }
  static Value half(const Value& a) { return a >> 1; }
  static Value at_least(const Value& a, const Value& b) { return to_value(max(a, b) == a); }
  static Value both(const Value& a, const Value& b) { return a & b; }
  static Value either(const Value& a, const Value& b) { return a | b; }
  static Value without(const Value& a, const Value& b) { return a & ~b; }
  static Value select(const Value& mask, const Value& a, const Value& b) { return (mask & a) | (~mask & b); }
  static uint64_t bits(const Value& mask) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < kWidth; ++i) {
      bits |= uint64_t{mask[i] & 1u} << i;
    }
    return bits;
  }

 private:
  template <typename Mask>
  static Value to_value(const Mask& mask) {
    Value value;
    static_assert(sizeof(value) == sizeof(mask));
    std::memcpy(&value, &mask, sizeof(value));
    return value;
  }
};

template <typename Vectors>
struct VectorWords {
  using Value = typename Vectors::Word;
  using Halves = typename Vectors::Half;
  using Quarters = typename Vectors::Quarter;
  static constexpr uint32_t kWidth = sizeof(Quarters);

  static Value load(const uint8_t* from) {
    Quarters value;
    std::memcpy(&value, from, sizeof(value));
    return __builtin_convertvector(value, Value);
  }
  static Value load(const uint16_t* from) {
    Halves value;
    std::memcpy(&value, from, sizeof(value));
    return __builtin_convertvector(value, Value);
  }
  static void store(const Value& value, uint16_t* to) {
    const Halves halves = __builtin_convertvector(value, Halves);
    std::memcpy(to, &halves, sizeof(halves));
  }

  static Value splat(uint32_t value) { return Value{} + value; }
  static Value at_least(const Value& a, const Value& b) {
    const auto mask = a >= b;
    Value value;
    static_assert(sizeof(value) == sizeof(mask));
    std::memcpy(&value, &mask, sizeof(value));
    return value;
  }
  static Value select(const Value& mask, const Value& a, const Value& b) { return (mask & a) | (~mask & b); }
  static bool any(const Value& mask) { return bits(mask) != 0; }
  static uint64_t bits(const Value& mask) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < kWidth; ++i) {
      bits |= uint64_t{mask[i] & 1u} << i;
    }
    return bits;
  }
};

}  // namespace ccl::host
