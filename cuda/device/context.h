// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CUDA context an engine works in.
///
/// The driver is reached through the statically linked runtime, so that the library loads where there is
/// no driver, and the context is pushed and popped around every use, so that the caller's thread keeps the
/// context it had.
#pragma once

#include <memory>
#include <string>

#include "ccl/engine.h"
#include "ccl/status.h"

namespace ccl::device {

struct Driver;

class Context final : public Device, public std::enable_shared_from_this<Context> {
 public:
  /// The context that `options` ask for. kNoDevice where there is no driver, no GPU, or none with this id.
  static Status create(const DeviceOptions& options, std::shared_ptr<Context>* context);

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// Releases the primary context if create() retained it, else the caller's.
  ~Context() override;

  int id() const override { return device_; }
  void* context() const override { return handle_; }
  Status allocate_host(size_t bytes, std::shared_ptr<uint8_t>* memory) override;

  /// The GPU's name and compute capability.
  const std::string& description() const { return description_; }

 private:
  friend class CurrentContext;

  Context();

  Status find_device(int device_id);
  Status describe();

  std::unique_ptr<Driver> driver_;
  std::shared_ptr<void> callers_;  ///< the context that the caller gave, if any
  void* handle_ = nullptr;         ///< CUcontext
  int device_ = 0;                 ///< CUdevice, which is the ordinal
  bool is_retained_ = false;
  std::string description_;
};

/// Makes a context the thread's current one as long as the guard lives.
class CurrentContext {
 public:
  explicit CurrentContext(const Context& context);
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();

  /// Whether the context could be made current; nothing may be done in it otherwise.
  const Status& status() const { return status_; }

 private:
  const Context& context_;
  Status status_;
};

}  // namespace ccl::device
