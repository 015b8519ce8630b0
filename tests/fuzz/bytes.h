// SPDX-License-Identifier: LGPL-2.1-or-later
/// The input of a fuzzer as a stream of choices. Where it ends, each choice is the first one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz {

class Bytes {
 public:
  Bytes(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool is_empty() const { return size_ == 0; }
  uint8_t byte() { return size_ == 0 ? 0 : (--size_, *data_++); }
  bool flag() { return (byte() & 1) != 0; }
  /// 0 to n − 1; n is at least 1.
  uint32_t below(uint32_t n) {
    uint32_t value = byte();
    for (uint32_t reach = 256; reach < n && reach != 0; reach <<= 8) {
      value = value << 8 | byte();
    }
    return value % n;
  }
  uint32_t from_to(uint32_t least, uint32_t largest) { return least + below(largest - least + 1); }
  /// Any bytes; what is missing is 0.
  void fill(void* memory, size_t size) {
    for (auto* byte = static_cast<uint8_t*>(memory); size > 0; --size) {
      *byte++ = this->byte();
    }
  }
  std::string_view rest() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const uint8_t* data_;
  size_t size_;
};

/// What a target does with an input that is choices. choices.cpp calls it.
void try_input(Bytes* bytes);

/// Ends the program unless it is true.
inline void require(bool is_true, const std::string& otherwise) {
  if (!is_true) {
    std::fprintf(stderr, "%s\n", otherwise.c_str());
    std::abort();
  }
}

}  // namespace fuzz
