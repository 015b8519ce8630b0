// SPDX-License-Identifier: LGPL-2.1-or-later
#include "faults.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace faults {

namespace {

std::atomic<bool> is_armed = false;
std::atomic<bool> failed = false;
std::atomic<uint64_t> requests = 0;
std::atomic<int64_t> living = 0;
Plan current;

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

void begin(const Plan& plan) {
  current = plan;
  requests = 0;
  failed = false;
}

void calm() {
  current = {};
}

bool has_failed() {
  return failed;
}

uint64_t n_requests() {
  return requests;
}

bool fails() {
  if (!is_armed) {
    return false;
  }
  const uint64_t n = ++requests;
  const bool does_fail = n == current.first || (current.is_lasting && n > current.first);
  failed = failed || does_fail;
  return does_fail;
}

int64_t n_living() {
  return living;
}

void count_living(int64_t change) {
  living += change;
}

Armed::Armed() {
  is_armed = true;
}

Armed::~Armed() {
  is_armed = false;
}

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
