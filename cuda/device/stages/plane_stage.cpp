// SPDX-License-Identifier: LGPL-2.1-or-later
/// The planes of a frame as a stage of a slot: where a kernel writes them, and their copies to the host.
#include "device/check.h"
#include "device/stage.h"
#include "device/stages/plane.h"

namespace ccl::device {

namespace {

static_assert(kLabelPlane == 1u << 0 && kIdPlane == 1u << 1 && kDistancePlane == 1u << 2,
              "a plane's index is that of its bit");
constexpr uint32_t kPlanes = 3;

class PlaneStage final : public Stage {
 public:
  using Stage::Stage;

  /// Allocates memory for planes that go to the host, if the output does.
  Status configure() override;
  /// The kernels' stream waits for the users of the planes' memory.
  Status prepare() override;
  Status complete() override;
  Status download() override;

 private:
  bool has(uint32_t i) const { return (slot_.config.planes >> i & 1) != 0; }
  const PlaneImage& image(uint32_t i) const {
    const PlaneImage* const images[kPlanes] = {&slot_.job.label_plane, &slot_.job.id_plane,
                                               &slot_.job.distance_plane};
    return *images[i];
  }
  bool is_downloaded(uint32_t i) const { return has(i) && image(i).memory == Memory::kHost; }
  /// Where kernels write the plane, and its rows' distance in values.
  uint32_t* values(uint32_t i) const { return is_downloaded(i) ? values_[i].data() : image(i).values; }
  size_t pitch(uint32_t i) const {
    return is_downloaded(i) ? slot_.config.width : image(i).stride / sizeof(uint32_t);
  }
  Status allocate(uint32_t i);
  uint32_t* label_map() const;

  DeviceArray<uint32_t> values_[kPlanes];  ///< dense, of planes that go to the host
};

Status PlaneStage::configure() {
  for (uint32_t i = 0; i < kPlanes; ++i) {
    if (has(i) && slot_.config.output_memory == Memory::kHost) {
      CCL_RETURN_IF_ERROR(allocate(i));
    }
  }
  return {};
}

Status PlaneStage::allocate(uint32_t i) {
  const size_t n_pixels = size_t{slot_.config.width} * slot_.config.height;
  return values_[i].data() != nullptr ? Status() : values_[i].allocate(n_pixels);
}

Status PlaneStage::prepare() {
  for (uint32_t i = 0; i < kPlanes; ++i) {
    if (!has(i)) {
      continue;
    }
    CCL_RETURN_IF_ERROR(slot_.timeline.follow_output(slot_.stream, image(i).stream, slot_.job.input.stream));
    if (is_downloaded(i)) {
      CCL_RETURN_IF_ERROR(allocate(i));
      slot_.downloads_late = slot_.downloads_late || !is_page_locked(image(i).values);
    }
  }
  slot_.buffers.needs_labels = true;
  slot_.buffers.label_map = label_map();
  return {};
}

/// A plane of labels in which the pipeline may leave the labels of all components, so that no kernel must
/// copy them; null if there is none. Tracks need labels until the next frame, when the plane is the caller's
/// again.
uint32_t* PlaneStage::label_map() const {
  constexpr uint32_t kLabels = 0;
  constexpr uintptr_t kAlignment = 16;
  const bool keeps_all = !slot_.buffers.is_tracked && slot_.buffers.strong_bits == nullptr &&
                         !slot_.job.settings.filter.is_active(slot_.config.width * slot_.config.height);
  if (!keeps_all || !has(kLabels) || pitch(kLabels) != slot_.config.width) {
    return nullptr;
  }
  uint32_t* map = values(kLabels);
  return reinterpret_cast<uintptr_t>(map) % kAlignment == 0 ? map : nullptr;
}

/// Writes planes that are not yet what the labels are, after the records.
Status PlaneStage::complete() {
  const FrameLabels labels = slot_.labels();
  for (uint32_t i = 0; i < kPlanes; ++i) {
    if (!has(i) || values(i) == labels.labels) {
      continue;
    }
    const bool shows_ids = 1u << i == kIdPlane && slot_.buffers.is_tracked;
    CCL_RETURN_IF_ERROR(write_plane({.frame = labels,
                                     .counts = slot_.buffers.counts,
                                     .records = shows_ids ? slot_.buffers.records : nullptr,
                                     .shows_squares = 1u << i == kDistancePlane,
                                     .max_components = slot_.config.max_components,
                                     .width = slot_.config.width,
                                     .height = slot_.config.height,
                                     .values = values(i),
                                     .pitch = pitch(i)},
                                    stream()));
    slot_.is_extended = true;
  }
  return {};
}

Status PlaneStage::download() {
  const size_t row = slot_.config.width * sizeof(uint32_t);
  for (uint32_t i = 0; i < kPlanes; ++i) {
    if (is_downloaded(i)) {
      CCL_RETURN_IF_ERROR(check(cudaMemcpy2DAsync(image(i).values, image(i).stride, values_[i].data(), row,
                                                  row, slot_.config.height, cudaMemcpyDeviceToHost, stream()),
                                "cudaMemcpy2DAsync of a plane"));
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<Stage> make_plane_stage(SlotFrame* slot, const EngineStages&) {
  return slot->config.planes != 0 ? std::make_unique<PlaneStage>(slot) : nullptr;
}

}  // namespace ccl::device
