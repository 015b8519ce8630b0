// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/config.h"

#include <algorithm>
#include <string>

#include "ccl/checked.h"
#include "ccl/engine.h"

namespace ccl {

namespace {

Status out_of_range(const char* name, int64_t value, int64_t least, int64_t largest) {
  return {StatusCode::kInvalidArgument, std::string(name) + " is " + std::to_string(value) + "; " +
                                            std::to_string(least) + " to " + std::to_string(largest) +
                                            " is possible"};
}

/// The ranges of settings.def, which are narrower for the element: here a table of records may have any
/// length, and max_tracks may be 0.
Status validate_ranges(Config config) {
  config.max_components = limits::max_components.least;
  config.max_tracks = std::max(config.max_tracks, limits::max_tracks.least);
#define CCL_CONFIG(id, kind, initial, when, text)                              \
  if (config.id < limits::id.least || config.id > limits::id.largest) {        \
    return out_of_range(#id, config.id, limits::id.least, limits::id.largest); \
  }
#include "ccl/settings.def"
  return {};
}

uint32_t largest_pixel(const InputImage& image) {
  return image.source.pixels != nullptr ? (1u << image.source.bits) - 1 : 255;
}

/// Only what the frame's rule reads.
Status validate_local(const LocalThreshold& local) {
  if (local.radius < 1 || local.radius > kMaxLocalRadius) {
    return out_of_range("the radius of the local threshold", local.radius, 1, kMaxLocalRadius);
  }
  if (local.offset < -kMaxLocalOffset || local.offset > kMaxLocalOffset) {
    return out_of_range("the offset of the local threshold", local.offset, -kMaxLocalOffset, kMaxLocalOffset);
  }
  return {};
}

Status validate_motion(const Motion& motion) {
  if (motion.sensitivity > kMaxSensitivity) {
    return out_of_range("the sensitivity to motion", motion.sensitivity, 0, kMaxSensitivity);
  }
  if (motion.max_change > kOne) {
    return out_of_range("max_change of motion", motion.max_change, 0, kOne);
  }
  return {};
}

Status validate_morphology(const Morphology& morphology) {
  if (morphology.open_radius > kMaxMorphologyRadius) {
    return out_of_range("the radius of opening", morphology.open_radius, 0, kMaxMorphologyRadius);
  }
  if (morphology.close_radius > kMaxMorphologyRadius) {
    return out_of_range("the radius of closing", morphology.close_radius, 0, kMaxMorphologyRadius);
  }
  return {};
}

/// `name` begins the message.
Status validate_size(const char* name, uint32_t width, uint32_t height, const Config& config) {
  if (width == config.width && height == config.height) {
    return {};
  }
  return {StatusCode::kInvalidArgument,
          std::string(name) + " of a frame of " + std::to_string(width) + "×" + std::to_string(height) +
              " pixels, not " + std::to_string(config.width) + "×" + std::to_string(config.height)};
}

/// The segment stage of a frame that makes bits.
Status validate_segmentation(const FrameJob& job, const Config& config) {
  const Foreground foreground = job.settings.rule.foreground;
  if (foreground == Foreground::kLocal) {
    CCL_RETURN_IF_ERROR(validate_local(job.segmentation.local));
  }
  if (foreground == Foreground::kMotion) {
    CCL_RETURN_IF_ERROR(validate_motion(job.segmentation.motion));
  }
  const uint32_t largest = largest_pixel(job.input);
  if (foreground == Foreground::kBinary && job.segmentation.threshold_low > largest) {
    return out_of_range("the low threshold", job.segmentation.threshold_low, 0, largest);
  }
  CCL_RETURN_IF_ERROR(validate_morphology(job.segmentation.morphology));
  return job.regions != nullptr
             ? validate_size("the regions are", job.regions->width(), job.regions->height(), config)
             : Status();
}

/// Without it a stride that wraps, such as a negative one, would lead in front of the image. `name` begins
/// the message.
Status validate_end(const char* name, uint32_t n_rows, size_t stride, size_t row) {
  if (checked_end<ptrdiff_t>(0, n_rows, stride, row)) {
    return {};
  }
  return {StatusCode::kInvalidArgument, std::string(name) + " has a stride of " + std::to_string(stride) +
                                            " bytes, with which its " + std::to_string(n_rows) +
                                            " rows reach beyond the end of memory"};
}

/// Rows of `row` bytes. `name` begins the message.
Status validate_rows(const char* name, const void* pixels, uint32_t n_rows, size_t stride, size_t row) {
  if (pixels == nullptr) {
    return {StatusCode::kInvalidArgument, std::string(name) + " has no pixels: its address is NULL"};
  }
  if (stride < row) {
    return {StatusCode::kInvalidArgument, std::string(name) + " has a stride of " + std::to_string(stride) +
                                              " bytes for rows of " + std::to_string(row) + " bytes"};
  }
  return validate_end(name, n_rows, stride, row);
}

Status validate_chroma(const Chroma& chroma, const Config& config) {
  const auto halved = [](uint32_t length, uint32_t shift) { return (length + (1u << shift) - 1) >> shift; };
  return validate_end("the input's chroma", halved(config.height, chroma.shift_y), chroma.stride,
                      size_t{halved(config.width, chroma.shift_x)} * chroma.step);
}

Status validate_source(const SourcePixels& source, const Config& config) {
  const uint32_t pixel = bytes_read(source);
  if (source.bits < 8 || source.bits + source.shift > 16 || source.step < pixel || source.step > 4 ||
      (source.is_rgb && source.bits != 8)) {
    return {StatusCode::kInvalidArgument, "the pixels of the input have an unknown layout"};
  }
  return validate_rows("the input image", source.pixels, config.height, source.stride,
                       size_t{config.width - 1} * source.step + pixel);
}

Status validate_input(const InputImage& input, const Config& config) {
  if (input.source.pixels != nullptr) {
    CCL_RETURN_IF_ERROR(validate_source(input.source, config));
  } else {
    CCL_RETURN_IF_ERROR(
        validate_rows("the input image", input.pixels, config.height, input.stride, config.width));
  }
  return input.chroma.u != nullptr ? validate_chroma(input.chroma, config) : Status();
}

Status validate_output(const OutputImage& output, const Config& config) {
  return validate_rows("the output image", output.pixels, config.height, output.stride,
                       size_t{config.width} * bytes_per_pixel(config.output));
}

/// `name` begins the message.
Status validate_plane(const char* name, const PlaneImage& plane, const Config& config) {
  const bool has_odd_address = reinterpret_cast<uintptr_t>(plane.values) % sizeof(uint32_t) != 0;
  if (has_odd_address || plane.stride % sizeof(uint32_t) != 0) {
    return {StatusCode::kInvalidArgument, std::string(name) +
                                              (has_odd_address ? " has an address" : " has a stride") +
                                              " that is no multiple of 4 bytes"};
  }
  return validate_rows(name, plane.values, config.height, plane.stride, config.width * sizeof(uint32_t));
}

Status validate_planes(const FrameJob& job, const Config& config) {
  if ((config.planes & kLabelPlane) != 0) {
    CCL_RETURN_IF_ERROR(validate_plane("the plane of labels", job.label_plane, config));
  }
  if ((config.planes & kIdPlane) != 0) {
    CCL_RETURN_IF_ERROR(validate_plane("the plane of ids", job.id_plane, config));
  }
  return (config.planes & kDistancePlane) != 0
             ? validate_plane("the plane of distances", job.distance_plane, config)
             : Status();
}

/// Whether the frame uses memory of a device.
bool is_on_device(const FrameJob& job, const Config& config) {
  return job.input.memory == Memory::kDevice ||
         (config.output != Output::kNone && job.output.memory == Memory::kDevice) ||
         ((config.planes & kLabelPlane) != 0 && job.label_plane.memory == Memory::kDevice) ||
         ((config.planes & kIdPlane) != 0 && job.id_plane.memory == Memory::kDevice) ||
         ((config.planes & kDistancePlane) != 0 && job.distance_plane.memory == Memory::kDevice);
}

}  // namespace

Status validate(const Config& config) {
  if (config.width == 0 || config.height == 0 || config.width > kMaxDimension ||
      config.height > kMaxDimension) {
    return {StatusCode::kInvalidArgument, "a frame of " + std::to_string(config.width) + "×" +
                                              std::to_string(config.height) + " pixels; 1×1 to " +
                                              std::to_string(kMaxDimension) + "×" +
                                              std::to_string(kMaxDimension) + " can be labelled"};
  }
  if (config.max_components == 0) {
    return {StatusCode::kInvalidArgument, "max_components is 0; the table needs at least one record"};
  }
  if ((config.planes & ~(kLabelPlane | kIdPlane | kDistancePlane)) != 0) {
    return {StatusCode::kInvalidArgument,
            "planes is " + std::to_string(config.planes) + ", which has unknown bits"};
  }
  if (config.slots == 0) {
    return {StatusCode::kInvalidArgument, "slots is 0; at least one frame must be in flight"};
  }
  if (config.batch < 1 || config.batch > kMaxBatch) {
    return out_of_range("batch", config.batch, 1, kMaxBatch);
  }
  return validate_ranges(config);
}

Status validate(const FrameJob& job, const Config& config, Backend backend) {
  if (makes_bits(job.settings.rule, job.segmentation, job.regions != nullptr)) {
    CCL_RETURN_IF_ERROR(validate_segmentation(job, config));
  }
  if (job.outlines != nullptr) {
    CCL_RETURN_IF_ERROR(
        validate_size("the outlines are", job.outlines->width(), job.outlines->height(), config));
  }
  if (config.max_tracks != 0 &&
      (job.tracking.confirm_frames < 1 || job.tracking.confirm_frames > kMaxConfirmFrames)) {
    return out_of_range("the number of frames that confirm a track", job.tracking.confirm_frames, 1,
                        kMaxConfirmFrames);
  }
  CCL_RETURN_IF_ERROR(validate_input(job.input, config));
  if (config.output != Output::kNone) {
    CCL_RETURN_IF_ERROR(validate_output(job.output, config));
  }
  CCL_RETURN_IF_ERROR(validate_planes(job, config));
  if (is_on_device(job, config) && backend == Backend::kCpu) {
    return {StatusCode::kInvalidArgument, "an image in the GPU's memory, which the CPU engine cannot reach"};
  }
  return {};
}

Status validate(std::span<const FrameJob> jobs, size_t n_in_flight, const Config& config, Backend backend) {
  if (jobs.empty() || jobs.size() > config.batch) {
    return out_of_range("the number of frames of a push", static_cast<int64_t>(jobs.size()), 1, config.batch);
  }
  if (n_in_flight + jobs.size() > most_in_flight(config)) {
    return {StatusCode::kInvalidArgument, std::to_string(n_in_flight) + " frames of " +
                                              std::to_string(most_in_flight(config)) +
                                              " (slots times batch) are in flight; pop a frame first"};
  }
  for (const FrameJob& job : jobs) {
    CCL_RETURN_IF_ERROR(validate(job, config, backend));
  }
  return {};
}

}  // namespace ccl
