// SPDX-License-Identifier: LGPL-2.1-or-later
/// A thread paints eight consecutive pixels of the dense image, whatever rows they lie in.
///
/// The kernel before, settle(), makes the colours. It starts when the map is written, and allows this kernel
/// to start then. So this kernel reads the map before it waits for the colours.
#include "device/stages/track/paint.h"

#include "ccl/colors.h"
#include "device/launch.cuh"
#include "device/stages/pixel_of.h"

namespace ccl::device {

namespace {

constexpr uint32_t kPixelsAtOnce = 8;

/// The pixels of a group; the last one of a frame may have fewer. Not from the first-level cache, because the
/// kernel that wrote them is not the one that this kernel waits for.
template <typename T>
__device__ void load_pixels(const T* from, uint32_t n, T* values) {
  constexpr uint32_t kVectors = kPixelsAtOnce * sizeof(T) / sizeof(uint4);
  if (n == kPixelsAtOnce) {
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) {
      reinterpret_cast<uint4*>(values)[i] = __ldcg(reinterpret_cast<const uint4*>(from) + i);
    }
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kPixelsAtOnce; ++i) {
    values[i] = i < n ? __ldcg(from + i) : T{0};
  }
}

template <typename T>
__device__ void store_pixels(const T* values, uint32_t n, T* to) {
  using Vector = std::conditional_t<sizeof(T) == 1, uint2, uint4>;
  constexpr uint32_t kVectors = kPixelsAtOnce * sizeof(T) / sizeof(Vector);
  if (n == kPixelsAtOnce) {
#pragma unroll
    for (uint32_t i = 0; i < kVectors; ++i) {
      __stcs(reinterpret_cast<Vector*>(to) + i, reinterpret_cast<const Vector*>(values)[i]);
    }
    return;
  }
#pragma unroll
  for (uint32_t i = 0; i < kPixelsAtOnce; ++i) {
    if (i < n) {
      to[i] = values[i];
    }
  }
}

/// The source's luma of pixel `i`, as a packed grey.
__device__ uint32_t grey_of(const TrackPaintJob& job, uint32_t i) {
  const uint32_t y = i / job.luma.width;
  const uint32_t x = i - y * job.luma.width;
  return pack(grey(job.luma.pixels[y * job.luma.pitch + x], job.limited_range), job.layout);
}

template <Output kOutput>
__global__ void __launch_bounds__(kBlockThreads) paint_map(TrackPaintJob job) {
  using Pixel = typename PixelOf<kOutput>::Type;
  const uint32_t first = (blockIdx.x * kBlockThreads + threadIdx.x) * kPixelsAtOnce;
  const uint32_t n_pixels = job.luma.width * job.luma.height;
  const uint32_t n = first < n_pixels ? min(kPixelsAtOnce, n_pixels - first) : 0;
  alignas(sizeof(uint4)) IndexMaps::Cell cells[kPixelsAtOnce];
  alignas(sizeof(uint4)) Pixel pixels[kPixelsAtOnce];
  load_pixels(job.maps.map(__ldcg(job.maps.written)) + first, n, cells);
  wait_for_previous_kernel();
  if constexpr (kOutput == Output::kLabels) {
    alignas(sizeof(uint4)) uint32_t labels[kPixelsAtOnce];
    load_pixels(job.labels + first, n, labels);
#pragma unroll
    for (uint32_t i = 0; i < kPixelsAtOnce; ++i) {
      pixels[i] = static_cast<Pixel>(cells[i] != 0 ? min(labels[i], kMaxPaintedLabel) : 0);
    }
  } else if constexpr (kOutput == Output::kMask) {
#pragma unroll
    for (uint32_t i = 0; i < kPixelsAtOnce; ++i) {
      pixels[i] = cells[i] != 0 ? 255 : 0;
    }
  } else {
#pragma unroll
    for (uint32_t i = 0; i < kPixelsAtOnce; ++i) {
      const bool is_same = i > 0 && cells[i] == cells[i > 0 ? i - 1 : 0];
      pixels[i] = is_same ? pixels[i > 0 ? i - 1 : 0] : job.colors[cells[i]];
    }
  }
  if constexpr (kOutput == Output::kOverlay) {
#pragma unroll
    for (uint32_t i = 0; i < kPixelsAtOnce; ++i) {
      const uint32_t under = i < n ? grey_of(job, first + i) : 0;
      pixels[i] = cells[i] != 0 ? blend(pixels[i], under, job.overlay_alpha) : under;
    }
  }
  store_pixels(pixels, n, reinterpret_cast<Pixel*>(job.pixels) + first);
}

template <Output kOutput>
Status paint(const TrackPaintJob& job, cudaStream_t stream) {
  return launch_overlapped("paint_map", paint_map<kOutput>,
                           blocks_for(job.luma.width * job.luma.height, kBlockThreads * kPixelsAtOnce),
                           kBlockThreads, stream, job);
}

}  // namespace

Status paint_tracked(const TrackPaintJob& job, cudaStream_t stream) {
  switch (job.output) {
    case Output::kColorized:
      return paint<Output::kColorized>(job, stream);
    case Output::kOverlay:
      return paint<Output::kOverlay>(job, stream);
    case Output::kLabels:
      return paint<Output::kLabels>(job, stream);
    case Output::kMask:
      return paint<Output::kMask>(job, stream);
    case Output::kNone:
    case Output::kBackground:
    case Output::kForeground:
    case Output::kDistance:
    case Output::kDistance8:  // see shown_output()
      break;
  }
  return {};
}

}  // namespace ccl::device
