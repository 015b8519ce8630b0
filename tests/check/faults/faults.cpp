// SPDX-License-Identifier: LGPL-2.1-or-later
#include "faults.h"

#include <atomic>

namespace faults {

namespace {

std::atomic<bool> is_armed = false;
std::atomic<bool> failed = false;
std::atomic<uint64_t> requests = 0;
std::atomic<int64_t> living = 0;
Plan current;

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
