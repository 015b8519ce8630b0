// SPDX-License-Identifier: LGPL-2.1-or-later
#include "result_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <vector>

#include "ccl/checked.h"

namespace cudaccl_python {

namespace {

constexpr size_t kPage = 4096;
constexpr size_t kLeastPooled = 8 * kPage;  // malloc() keeps what is smaller
constexpr size_t kHuge = size_t{4} << 20;   // NumPy, too, asks for pages of 2 MiB from here on

/// Four sizes between powers of two, so that results of about the same size have the same. Pages that a
/// result does not reach are not written, and take no memory. There are at most PTRDIFF_MAX bytes.
size_t rounded(size_t bytes) {
  if (bytes < kLeastPooled) {
    return std::max(bytes, size_t{1});
  }
  const size_t step = std::bit_ceil(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

/// Null if there is not enough. What the pool may keep is not of malloc(), whose heap keeps what is freed as
/// long as something newer lies above it.
void* allocate(size_t bytes) {
  if (bytes < kLeastPooled) {
    return std::malloc(bytes);
  }
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    return nullptr;
  }
#ifdef MADV_HUGEPAGE
  if (bytes >= kHuge) {
    madvise(data, bytes, MADV_HUGEPAGE);  // it is only faster: a failure does not matter
  }
#endif
  return data;
}

/// Of allocate(), with the same size.
void release(void* data, size_t bytes) {
  if (bytes < kLeastPooled) {
    std::free(data);
  } else {
    munmap(data, bytes);
  }
}

class Pool {
 public:
  /// Reserved, because a destructor that fills the pool must not run out of memory.
  Pool() { idle_.reserve(ResultMemory::kMostIdle / kLeastPooled); }

  /// What died last of this size, because the cache may still have it; or null.
  void* take(size_t bytes) {
    const auto found =
        std::find_if(idle_.rbegin(), idle_.rend(), [=](const Block& block) { return block.bytes == bytes; });
    if (found == idle_.rend()) {
      return nullptr;
    }
    void* const data = found->data;
    idle_.erase(std::next(found).base());
    bytes_ -= bytes;
    return data;
  }

  void give(void* data, size_t bytes) {
    size_t n_freed = 0;
    for (; bytes_ + bytes > ResultMemory::kMostIdle; ++n_freed) {
      bytes_ -= idle_[n_freed].bytes;
      release(idle_[n_freed].data, idle_[n_freed].bytes);
    }
    idle_.erase(idle_.begin(), idle_.begin() + static_cast<ptrdiff_t>(n_freed));
    idle_.push_back({data, bytes});
    bytes_ += bytes;
  }

  void clear() {
    for (const Block& block : idle_) {
      release(block.data, block.bytes);
    }
    idle_.clear();
    bytes_ = 0;
  }

  size_t bytes() const { return bytes_; }

 private:
  struct Block {
    void* data;
    size_t bytes;
  };

  std::vector<Block> idle_;  // the oldest one first
  size_t bytes_ = 0;
};

/// Never destroyed: results may outlive the module.
Pool& pool() {
  static auto* const only = new Pool;
  return *only;
}

}  // namespace

ResultMemory::ResultMemory(size_t bytes) : bytes_(bytes) {
  if (!ccl::checked_sum<ptrdiff_t>(bytes)) {
    throw std::bad_alloc();
  }
  const size_t whole = rounded(bytes);
  data_ = whole < kLeastPooled ? nullptr : pool().take(whole);
  if (data_ == nullptr) {
    data_ = allocate(whole);
  }
  if (data_ == nullptr) {
    free_idle();
    data_ = allocate(whole);
  }
  if (data_ == nullptr) {
    throw std::bad_alloc();
  }
}

ResultMemory::~ResultMemory() {
  const size_t whole = rounded(bytes_);
  if (whole < kLeastPooled || whole > kMostIdle) {
    release(data_, whole);
  } else {
    pool().give(data_, whole);
  }
}

size_t ResultMemory::idle_bytes() {
  return pool().bytes();
}

void ResultMemory::free_idle() {
  pool().clear();
}

}  // namespace cudaccl_python
