// SPDX-License-Identifier: LGPL-2.1-or-later
/// The result of a call of the library. No exception leaves the library.
#pragma once

#include <string>
#include <utility>

namespace ccl {

enum class StatusCode {
  kOk,
  kNeedMoreData,     ///< pop() with no frame in flight
  kInvalidArgument,  ///< the caller's values are wrong; nothing was done
  kUnsupported,      ///< valid, but not available on this backend or in this build
  kNoDevice,         ///< no driver, or no GPU with this id
  kOutOfMemory,      ///< not enough host or device memory
  kDeviceError,      ///< a CUDA call failed; the engine must be configured again
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  /// What failed and what to do about it, for people to read. Empty if ok().
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

}  // namespace ccl

/// Returns early from a function that returns Status.
#define CCL_RETURN_IF_ERROR(expression)                        \
  do {                                                         \
    if (::ccl::Status status_ = (expression); !status_.ok()) { \
      return status_;                                          \
    }                                                          \
  } while (false)
