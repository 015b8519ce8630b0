// SPDX-License-Identifier: LGPL-2.1-or-later
/// Memory beside a page that cannot be accessed: a byte too far is a fault, where a sanitizer sees only
/// compiled accesses.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace ccl::test {

enum class Side : uint8_t { kBegin, kEnd };

/// `size` bytes that begin or end at such a page; the process ends if there is no memory.
class Guarded {
 public:
  Guarded(size_t size, Side side) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    const size_t inside = (size + page_ - 1) / page_ * page_;
    mapped_ = inside + page_;
    void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::abort();
    }
    memory_ = static_cast<uint8_t*>(memory);
    const bool is_end = side == Side::kEnd;
    if (mprotect(memory_ + (is_end ? inside : 0), page_, PROT_NONE) != 0) {
      std::abort();
    }
    data_ = memory_ + (is_end ? inside - size : page_);
  }
  ~Guarded() {
    if (memory_ != nullptr) {
      munmap(memory_, mapped_);
    }
  }
  Guarded(Guarded&& other) noexcept
      : page_(other.page_),
        mapped_(other.mapped_),
        memory_(std::exchange(other.memory_, nullptr)),
        data_(other.data_) {}
  Guarded& operator=(Guarded&&) = delete;

  uint8_t* data() const { return data_; }

 private:
  size_t page_;
  size_t mapped_ = 0;
  uint8_t* memory_ = nullptr;
  uint8_t* data_ = nullptr;
};

}  // namespace ccl::test
