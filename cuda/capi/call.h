// SPDX-License-Identifier: LGPL-2.1-or-later
/// A call of the C interface: its status, the text of the last failure, and no exception.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "ccl/status.h"
#include "cudaccl/cudaccl.h"

namespace ccl::capi {

/// The text of the last failure.
class LastError {
 public:
  void set(const Status& status) noexcept {
    fixed_ = "not enough memory for the text of an error";
    try {
      text_ = status.message();
      fixed_ = nullptr;
    } catch (const std::bad_alloc&) {  // the fixed text stays
    }
  }
  /// `text` lives as long as the program.
  void set(const char* text) noexcept { fixed_ = text; }
  const char* text() const noexcept { return fixed_ != nullptr ? fixed_ : text_.c_str(); }

 private:
  std::string text_;
  const char* fixed_ = nullptr;
};

/// The last error of this thread's calls that have no engine.
LastError& thread_error();

constexpr CudacclStatus to_c(StatusCode code) {
  return static_cast<CudacclStatus>(code);
}
static_assert(to_c(StatusCode::kOk) == CUDACCL_OK);
static_assert(to_c(StatusCode::kNeedMoreData) == CUDACCL_NEED_MORE_DATA);
static_assert(to_c(StatusCode::kInvalidArgument) == CUDACCL_INVALID_ARGUMENT);
static_assert(to_c(StatusCode::kUnsupported) == CUDACCL_UNSUPPORTED);
static_assert(to_c(StatusCode::kNoDevice) == CUDACCL_NO_DEVICE);
static_assert(to_c(StatusCode::kOutOfMemory) == CUDACCL_OUT_OF_MEMORY);
static_assert(to_c(StatusCode::kDeviceError) == CUDACCL_DEVICE_ERROR);

/// Calls `function`, which returns a Status.
template <typename Function>
CudacclStatus call(LastError* error, Function function) noexcept {
  try {
    const Status status = function();
    if (!status.ok()) {
      error->set(status);
    }
    return to_c(status.code());
  } catch (const std::exception&) {  // the standard library throws nothing else here than for lack of memory
    error->set("not enough memory");
    return CUDACCL_OUT_OF_MEMORY;
  }
}

}  // namespace ccl::capi
