// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/planes.h"

#include "device/check.h"
#include "device/stages/plane.h"
#include "device/transfers.h"

namespace ccl::device {

static_assert(kLabelPlane == 1u << 0 && kIdPlane == 1u << 1, "a plane's index is that of its bit");

Status Planes::configure(const Config& config) {
  config_ = config;
  for (uint32_t i = 0; i < kCount; ++i) {
    if (has(i) && config.output_memory == Memory::kHost) {
      CCL_RETURN_IF_ERROR(allocate(i));
    }
  }
  return {};
}

Status Planes::allocate(uint32_t i) {
  return values_[i].data() != nullptr ? Status()
                                      : values_[i].allocate(size_t{config_.width} * config_.height);
}

Status Planes::place(const FrameJob& job, const Timeline& timeline, const Stream& stream) {
  downloads_late_ = false;
  for (uint32_t i = 0; i < kCount; ++i) {
    if (!has(i)) {
      continue;
    }
    CCL_RETURN_IF_ERROR(timeline.follow_output(stream, image(job, i).stream, job.input.stream));
    if (is_downloaded(job, i)) {
      CCL_RETURN_IF_ERROR(allocate(i));
      downloads_late_ = downloads_late_ || !is_page_locked(image(job, i).values);
    }
  }
  return {};
}

uint32_t* Planes::label_map(const FrameJob& job) const {
  constexpr uint32_t kLabels = 0;
  constexpr uintptr_t kAlignment = 16;
  if (!has(kLabels) || pitch(job, kLabels) != config_.width) {
    return nullptr;
  }
  uint32_t* map = values(job, kLabels);
  return reinterpret_cast<uintptr_t>(map) % kAlignment == 0 ? map : nullptr;
}

bool Planes::needs_write(const FrameJob& job, const FrameLabels& labels) const {
  for (uint32_t i = 0; i < kCount; ++i) {
    if (has(i) && values(job, i) != labels.labels) {
      return true;
    }
  }
  return false;
}

Status Planes::write(const FrameJob& job, const FrameLabels& labels, const FrameBuffers& frame,
                     const Stream& stream) const {
  for (uint32_t i = 0; i < kCount; ++i) {
    if (!has(i) || values(job, i) == labels.labels) {
      continue;
    }
    const bool shows_ids = 1u << i == kIdPlane && frame.is_tracked;
    CCL_RETURN_IF_ERROR(write_plane({.frame = labels,
                                     .counts = frame.counts,
                                     .records = shows_ids ? frame.records : nullptr,
                                     .max_components = config_.max_components,
                                     .width = config_.width,
                                     .height = config_.height,
                                     .values = values(job, i),
                                     .pitch = pitch(job, i)},
                                    stream.get()));
  }
  return {};
}

Status Planes::download(const FrameJob& job, const Stream& stream) const {
  for (uint32_t i = 0; i < kCount; ++i) {
    if (is_downloaded(job, i)) {
      const PlaneImage& to = image(job, i);
      CCL_RETURN_IF_ERROR(
          check(cudaMemcpy2DAsync(to.values, to.stride, values_[i].data(), row_bytes(), row_bytes(),
                                  config_.height, cudaMemcpyDeviceToHost, stream.get()),
                "cudaMemcpy2DAsync of a plane"));
    }
  }
  return {};
}

}  // namespace ccl::device
