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

BatchKernel batch_kernel_for(Form form, const Purpose& purpose) {
  return form == Form::kPixels ? batch_kernel_of<Form::kPixels>(purpose)
                               : batch_kernel_of<Form::kGeneral>(purpose);
}

Status get_attribute(cudaDeviceAttr attribute, int* value) {
  int device = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  return check(cudaDeviceGetAttribute(value, attribute, device), "cudaDeviceGetAttribute");
}

/// The shared memory that blocks of a kernel ask for: so much that a multiprocessor holds no more than
/// kBlocksPerMultiprocessor. Three blocks on some and one or none on others would delay all.
Status find_shared_bytes(size_t tile_bytes, size_t* bytes) {
  int of_multiprocessor = 0;
  CCL_RETURN_IF_ERROR(get_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, &of_multiprocessor));
  *bytes = std::max(tile_bytes, size_t(of_multiprocessor) / (kBlocksPerMultiprocessor + 1) + 1);
  return {};
}

/// Writes how many blocks of a kernel a multiprocessor holds; 0 if its tile does not fit.
template <typename AnyKernel>
Status find_occupancy(const AnyKernel& kernel, uint32_t tile_width, int* n_blocks) {
  int most_bytes = 0;
  CCL_RETURN_IF_ERROR(get_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most_bytes));
  size_t bytes = 0;
  CCL_RETURN_IF_ERROR(find_shared_bytes(kernel.tile_bytes, &bytes));
  if (bytes > static_cast<size_t>(most_bytes)) {
    *n_blocks = 0;
    return {};
  }
  CCL_RETURN_IF_ERROR(
      check(cudaFuncSetAttribute(kernel.address(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(bytes)),
            "cudaFuncSetAttribute of runs"));
  return check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   n_blocks, kernel.address(), static_cast<int>(threads_for(tile_width)), bytes),
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
        const Purpose purpose{has_values, connectivity, has_features, tile_width};
        CCL_RETURN_IF_ERROR(visit(kernel_for(form, purpose)));
        CCL_RETURN_IF_ERROR(visit(batch_kernel_for(form, purpose)));
      }
    }
  }
  return {};
}

/// The kernel for frames whose results need these features.
Purpose purpose_of(const Tiles& tiles, const Emitter& emitter, uint32_t features) {
  return {.has_values = tiles.frame.rule.foreground == Foreground::kValues,
          .connectivity = emitter.settings.connectivity,
          .has_features = features != 0 && emitter.emission != Emission::kNone,
          .tile_width = tiles.tile_width};
}

/// Enqueues a kernel whose blocks wait for one another. `is_overlapped`: it calls wait_for_previous_kernel().
template <typename... Parameters>
Status launch_tiles(const KernelOf<Parameters...>& kernel, dim3 blocks, uint32_t tile_width,
                    bool is_overlapped, cudaStream_t stream, const Parameters&... parameters) {
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads_for(tile_width));
  CCL_RETURN_IF_ERROR(find_shared_bytes(kernel.tile_bytes, &config.dynamicSmemBytes));
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = is_overlapped ? 2 : 1;
  return check(cudaLaunchKernelEx(&config, kernel.process, parameters...), "cudaLaunchKernelEx of runs");
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
  CCL_RETURN_IF_ERROR(for_each_kernel(has_values, tile_width, [&](const auto& kernel) -> Status {
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
                     const Emitter& emitter, const PaintRule& rule, const FullFilter* full_filter,
                     uint8_t* pixels, cudaStream_t stream) {
  const FullFilter filter = full_filter != nullptr ? *full_filter : FullFilter{};
  const Kernel kernel =
      kernel_for(form_of(tiles, frame_bits != nullptr, n_blocks, emitter, rule, full_filter != nullptr),
                 purpose_of(tiles, emitter, emitter.settings.features | features_of(filter.filter)));
  // The bits are what the previous kernel writes, and the first that this one reads.
  bool is_overlapped = false;
  if (frame_bits != nullptr) {
    CCL_RETURN_IF_ERROR(can_overlap(kernel.address(), &is_overlapped));
  }
  return launch_tiles(kernel, dim3(std::min(n_blocks, tiles.count())), tiles.tile_width, is_overlapped,
                      stream, tiles, emitter, rule, pixels, frame_bits, filter);
}

Status process_batch(const Tiles& tiles, uint32_t n_groups, const Emitter& emitter, const PaintRule& rule,
                     const Batch& batch, cudaStream_t stream) {
  const Form form =
      form_of(tiles, /*has_bits=*/false, tiles.count(), emitter, rule, /*is_full_filter=*/false);
  return launch_tiles(batch_kernel_for(form, purpose_of(tiles, emitter, emitter.settings.features)),
                      dim3(tiles.count(), std::min(n_groups, batch.n_frames)), tiles.tile_width,
                      /*is_overlapped=*/false, stream, tiles, emitter, rule, batch);
}

}  // namespace ccl::device::runs
