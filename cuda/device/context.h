// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CUDA context that an engine uses.
///
/// The driver's functions are looked up through the statically linked runtime, so that the library loads on
/// machines without a driver. The context is pushed before and popped after every use, so that the current
/// context of the caller's thread does not change.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ccl/devices.h"
#include "ccl/engine.h"
#include "ccl/status.h"

namespace ccl::device {

struct Driver;

class Context final : public Device, public std::enable_shared_from_this<Context> {
 public:
  /// Creates the context that `options` describe. Returns kNoDevice if there is no driver, no GPU, or no GPU
  /// with this id.
  static Status create(const DeviceOptions& options, std::shared_ptr<Context>* context);

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  /// Releases the primary context if create() retained it, else the caller's context.
  ~Context() override;

  int id() const override { return device_; }
  void* context() const override { return handle_; }
  Status allocate_host(size_t bytes, std::shared_ptr<uint8_t>* memory) override;
  Status allocate(size_t bytes, std::shared_ptr<uint8_t>* memory) override;

  /// See ccl::list_devices().
  static Status list(std::vector<DeviceDescription>* devices);

  /// The GPU's name and compute capability.
  const std::string& description() const { return description_; }

 private:
  friend class CurrentContext;

  Context();

  template <typename Allocator>
  Status allocate_with(size_t bytes, std::shared_ptr<uint8_t>* memory);
  Status count_devices(int* count) const;
  Status find_device(int device_id);
  Status describe();
  Status describe(int device, DeviceDescription* description) const;

  std::unique_ptr<Driver> driver_;
  std::shared_ptr<void> caller_context_;  ///< the context that the caller passed, if any
  void* handle_ = nullptr;                ///< CUcontext
  int device_ = 0;                        ///< CUdevice, which is the device id
  bool is_retained_ = false;
  std::string description_;
};

/// Guard: a context is the thread's current one while the guard exists.
class CurrentContext {
 public:
  explicit CurrentContext(const Context& context);
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext();

  /// The result of making the context current. Unless it is ok, the context must not be used.
  const Status& status() const { return status_; }

 private:
  const Context& context_;
  Status status_;
};

}  // namespace ccl::device
