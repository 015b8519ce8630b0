// SPDX-License-Identifier: LGPL-2.1-or-later
/// A thread writes one value. Neighbouring threads read neighbouring labels, and mostly the same label, so
/// what they look up is in the cache.
#include "device/stages/plane.h"

#include "ccl/parts.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kBits = 32;  ///< of a word

/// The squared distance of a pixel, or 0 if the filter does not keep its component.
__device__ uint32_t shown_square(const FrameLabels& frame, size_t pixel) {
  const uint32_t label = frame.labels[pixel];
  return label != 0 && __ldg(frame.marks + label - 1) != 0 ? frame.squares[pixel] : 0;
}

/// What pixels of a component become; `label` is not 0.
__device__ uint32_t value_of(const PlaneJob& job, bool has_records, uint32_t label) {
  const FrameLabels& frame = job.frame;
  uint32_t record = label - 1;
  if (frame.is_kept != nullptr) {
    const uint32_t word = __ldg(frame.is_kept + label / kBits);
    const uint32_t bit = label % kBits;
    if ((word >> bit & 1) == 0) {
      return 0;
    }
    record = __ldg(frame.kept_before + label / kBits) + __popc(word & bits_below(bit));
  } else if (frame.marks != nullptr) {
    if (__ldg(frame.marks + label - 1) == 0) {
      return 0;
    }
    record = __ldg(frame.record_index + label - 1);
  }
  if (job.records == nullptr) {
    return label;
  }
  return has_records ? __ldg(&job.records[record].id) : 0;
}

__global__ void __launch_bounds__(kBlockThreads) write_values(PlaneJob job) {
  const uint32_t x = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t y = blockIdx.y;
  if (x >= job.width) {
    return;
  }
  const size_t pixel = size_t{y} * job.width + x;
  if (job.shows_squares) {
    job.values[y * job.pitch + x] = shown_square(job.frame, pixel);
    return;
  }
  const bool has_records = job.counts->n_components <= job.max_components;
  const uint32_t label = job.frame.labels[pixel];
  job.values[y * job.pitch + x] = label != 0 ? value_of(job, has_records, label) : 0;
}

__device__ void write_height(uint16_t height, uint16_t* pixel) {
  *pixel = height;
}

__device__ void write_height(uint16_t height, uint8_t* pixel) {
  *pixel = whole_pixels(height);
}

template <typename Pixel>
__global__ void __launch_bounds__(kBlockThreads)
    write_distance_pixels(FrameLabels frame, uint32_t n_pixels, Pixel* pixels) {
  const uint32_t pixel = blockIdx.x * kBlockThreads + threadIdx.x;
  if (pixel < n_pixels) {
    write_height(height_of(shown_square(frame, pixel)), pixels + pixel);
  }
}

template <typename Pixel>
Status launch_distances(const FrameLabels& frame, uint32_t n_pixels, Pixel* pixels, cudaStream_t stream) {
  return launch("write_distance_pixels", write_distance_pixels<Pixel>, blocks_for(n_pixels, kBlockThreads),
                kBlockThreads, stream, frame, n_pixels, pixels);
}

}  // namespace

Status write_plane(const PlaneJob& job, cudaStream_t stream) {
  return launch("write_values", write_values, dim3(blocks_for(job.width, kBlockThreads), job.height),
                kBlockThreads, stream, job);
}

Status write_distances(const FrameLabels& frame, uint32_t n_pixels, Output output, uint8_t* pixels,
                       cudaStream_t stream) {
  return output == Output::kDistance8
             ? launch_distances(frame, n_pixels, pixels, stream)
             : launch_distances(frame, n_pixels, reinterpret_cast<uint16_t*>(pixels), stream);
}

}  // namespace ccl::device
