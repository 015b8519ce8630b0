// SPDX-License-Identifier: LGPL-2.1-or-later
/// NVIDIA NPP's labeler, where the library is on the machine.
#pragma once

#include <memory>
#include <vector>

#include "ccl/status.h"
#include "device/memory.h"
#include "images.h"
#include "measurement.h"
#include "options.h"

namespace ccl::bench {

class Npp {
 public:
  /// kUnsupported where libnppif is not found.
  static Status load(std::unique_ptr<Npp>* npp);

  Npp(const Npp&) = delete;
  Npp& operator=(const Npp&) = delete;
  ~Npp();

  /// Rows "npp-union-find" (labels that are not consecutive) and "npp-union-find+compress" (that are). NPP
  /// labels background regions too, so its count is none of components and is left out.
  Status time(const test::Image& image, Connectivity connectivity, const device::Stream& stream,
              const Repetitions& repetitions, std::vector<Row>* rows) const;

 private:
  struct Functions;

  Npp();
  Status resolve();

  void* library_ = nullptr;
  std::unique_ptr<Functions> functions_;
};

}  // namespace ccl::bench
