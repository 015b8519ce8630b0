// SPDX-License-Identifier: LGPL-2.1-or-later
/// Requests of memory that fail on purpose.
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "faults.h"

namespace faults {

namespace {

void* allocate(size_t alignment, size_t size) {
  void* memory = nullptr;
  if (!fails() && posix_memalign(&memory, alignment, size != 0 ? size : 1) == 0) {
    count_living(1);
    return memory;
  }
  return nullptr;
}

void* allocate_or_throw(size_t alignment, size_t size) {
  if (void* memory = allocate(alignment, size)) {
    return memory;
  }
  throw std::bad_alloc();
}

void release(void* memory) {
  if (memory != nullptr) {
    count_living(-1);
    std::free(memory);
  }
}

}  // namespace

}  // namespace faults

// Every form that no other is defined by.
void* operator new(size_t size) {
  return faults::allocate_or_throw(alignof(std::max_align_t), size);
}

void* operator new(size_t size, std::align_val_t alignment) {
  return faults::allocate_or_throw(static_cast<size_t>(alignment), size);
}

void operator delete(void* memory) noexcept {
  faults::release(memory);
}

void operator delete(void* memory, size_t) noexcept {
  faults::release(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
  faults::release(memory);
}

void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  faults::release(memory);
}

/// The C interface gives it to the caller, and frees it by free(), which is not counted.
extern "C" void* aligned_alloc(size_t alignment, size_t size) {
  void* memory = nullptr;
  if (faults::fails() || posix_memalign(&memory, alignment, size) != 0) {
    errno = ENOMEM;
    return nullptr;
  }
  return memory;
}
