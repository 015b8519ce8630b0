// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/runs/dispatch.h"

#include <algorithm>
#include <limits>

#include "device/check.h"
#include "device/launch.cuh"
#include "device/runs/form.h"
#include "device/runs/kernels.h"
#include "device/runs/park.cuh"
#include "device/runs/tile.cuh"

namespace ccl::device::runs {

namespace {

Kernel kernel_for(Form form, const Purpose& purpose) {
  switch (form) {
    case Form::kParked:
      return kernel_of<Form::kParked>(purpose);
    case Form::kPixels:
      return kernel_of<Form::kPixels>(purpose);
    case Form::kBits:
      return kernel_of<Form::kBits>(purpose);
    case Form::kFiltered:
      return kernel_of<Form::kFiltered>(purpose);
    case Form::kFilteredParked:
      return kernel_of<Form::kFilteredParked>(purpose);
    case Form::kGeneral:
      break;
  }
  return kernel_of<Form::kGeneral>(purpose);
}

Status get_attribute(cudaDeviceAttr attribute, int* value) {
  int device = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  return check(cudaDeviceGetAttribute(value, attribute, device), "cudaDeviceGetAttribute");
}

/// The shared memory that blocks of a kernel ask for: so much that a multiprocessor holds no more than
/// kBlocksPerMultiprocessor. Three blocks on some and one or none on others would delay all.
Status find_shared_bytes(const Kernel& kernel, size_t* bytes) {
  int of_multiprocessor = 0;
  CCL_RETURN_IF_ERROR(get_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, &of_multiprocessor));
  *bytes = std::max(kernel.tile_bytes, size_t(of_multiprocessor) / (kBlocksPerMultiprocessor + 1) + 1);
  return {};
}

/// Writes how many blocks of a kernel a multiprocessor holds; 0 if its tile does not fit.
Status find_occupancy(const Kernel& kernel, uint32_t tile_width, int* n_blocks) {
  int most_bytes = 0;
  CCL_RETURN_IF_ERROR(get_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most_bytes));
  size_t bytes = 0;
  CCL_RETURN_IF_ERROR(find_shared_bytes(kernel, &bytes));
  if (bytes > static_cast<size_t>(most_bytes)) {
    *n_blocks = 0;
    return {};
  }
  CCL_RETURN_IF_ERROR(check(cudaFuncSetAttribute(kernel.process, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 static_cast<int>(bytes)),
                            "cudaFuncSetAttribute of runs"));
  return check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   n_blocks, kernel.process, static_cast<int>(threads_for(tile_width)), bytes),
               "cudaOccupancyMaxActiveBlocksPerMultiprocessor of runs");
}

/// Calls visit(kernel) for every kernel of frames of values, or of binary frames, until one fails.
template <typename Visit>
Status for_each_kernel(bool has_values, uint32_t tile_width, Visit visit) {
  for (const Form form : kForms) {
    if (has_values && form == Form::kBits) {
      continue;
    }
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const bool has_features : {false, true}) {
        CCL_RETURN_IF_ERROR(visit(kernel_for(form, {has_values, connectivity, has_features, tile_width})));
      }
    }
  }
  return {};
}

template <uint32_t kWidth>
uint32_t most_vectors(uint32_t max_runs) {
  // Pairs of rows have fewer runs.
  static_assert(vectors_of<TileOf<RunKind::kPair, kWidth>>(0) <=
                vectors_of<TileOf<RunKind::kRow, kWidth>>(0));
  return vectors_of<TileOf<RunKind::kRow, kWidth>>(max_runs);
}

}  // namespace

Status find_resident_blocks(bool has_values, uint32_t tile_width, uint32_t* n_blocks) {
  int n_multiprocessors = 0;
  CCL_RETURN_IF_ERROR(get_attribute(cudaDevAttrMultiProcessorCount, &n_multiprocessors));
  int least = std::numeric_limits<int>::max();
  CCL_RETURN_IF_ERROR(for_each_kernel(has_values, tile_width, [&](const Kernel& kernel) -> Status {
    int n = 0;
    CCL_RETURN_IF_ERROR(find_occupancy(kernel, tile_width, &n));
    least = std::min(least, n);
    return {};
  }));
  *n_blocks = static_cast<uint32_t>(least * n_multiprocessors);
  return {};
}

size_t parked_bytes(bool has_values, uint32_t tile_width, uint32_t max_runs) {
  return sizeof(uint4) * (has_values            ? vectors_of<TileOf<RunKind::kValue, kNarrow>>(max_runs)
                          : tile_width == kWide ? most_vectors<kWide>(max_runs)
                                                : most_vectors<kNarrow>(max_runs));
}

Status process_tiles(const Tiles& tiles, const uint32_t* frame_bits, uint32_t n_blocks,
                     const Emitter& emitter, const PaintRule& rule, const Filter* full_filter,
                     uint8_t* pixels, cudaStream_t stream) {
  const Filter filter = full_filter != nullptr ? *full_filter : Filter::neutral();
  const uint32_t features = emitter.settings.features | features_of(filter);
  const Kernel kernel =
      kernel_for(form_of(tiles, frame_bits != nullptr, n_blocks, emitter, rule, full_filter != nullptr),
                 {.has_values = tiles.frame.rule.foreground == Foreground::kValues,
                  .connectivity = emitter.settings.connectivity,
                  .has_features = features != 0 && emitter.emission != Emission::kNone,
                  .tile_width = tiles.tile_width});
  // The bits are what the previous kernel writes, and the first that this one reads.
  bool is_overlapped = false;
  if (frame_bits != nullptr) {
    CCL_RETURN_IF_ERROR(can_overlap(reinterpret_cast<const void*>(kernel.process), &is_overlapped));
  }
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(std::min(n_blocks, tiles.count()));
  config.blockDim = dim3(threads_for(tiles.tile_width));
  CCL_RETURN_IF_ERROR(find_shared_bytes(kernel, &config.dynamicSmemBytes));
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = is_overlapped ? 2 : 1;
  return check(cudaLaunchKernelEx(&config, kernel.process, tiles, emitter, rule, pixels, frame_bits, filter),
               "cudaLaunchKernelEx of runs");
}

}  // namespace ccl::device::runs
