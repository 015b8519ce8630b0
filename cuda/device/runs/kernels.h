// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels that dispatch.cu chooses from. general_kernels.cu, parked_kernels.cu, plain_kernels.cu,
/// filtered_kernels.cu and batch_kernels.cu compile those of one or two forms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/rule.h"
#include "device/runs/batch.h"
#include "device/runs/emission.h"
#include "device/runs/form.h"
#include "device/runs/paint_rule.h"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

/// A kernel, and the shared memory that its blocks use.
template <typename... Parameters>
struct KernelOf {
  void (*process)(Parameters...);
  size_t tile_bytes;

  const void* address() const { return reinterpret_cast<const void*>(process); }
};
using Kernel = KernelOf<Tiles, Emitter, PaintRule, uint8_t*, const uint32_t*, FullFilter>;
using BatchKernel = KernelOf<Tiles, Emitter, PaintRule, Batch>;

/// What a kernel is compiled for, apart from its form.
struct Purpose {
  bool has_values;
  Connectivity connectivity;
  bool has_features;
  uint32_t tile_width;
};

/// `kForm` is not Form::kBits for frames of values.
template <Form kForm>
Kernel kernel_of(const Purpose& purpose);

/// `kForm` is Form::kGeneral or Form::kPixels.
template <Form kForm>
BatchKernel batch_kernel_of(const Purpose& purpose);

}  // namespace ccl::device::runs
