// SPDX-License-Identifier: LGPL-2.1-or-later
/// Input images, painted images, and planes of labels.
#include <iterator>
#include <string>

#include "capi/convert.h"
#include "capi/structs.h"
#include "ccl/color_matrix.h"

namespace ccl::capi {

namespace {

/// How pixels of a format lie in memory.
struct Format {
  const char* name;
  uint8_t n_planes;
  uint8_t step;  ///< bytes from one pixel of the first plane to the next
  bool is_rgb;   ///< of the first plane
  uint8_t red;   ///< place of the channel in a pixel
  uint8_t blue;
  uint8_t chroma_step;  ///< bytes from one value of U to the next
};

constexpr Format kFormats[] = {
    {"gray8", 1, 1, false, 0, 0, 0}, {"gray16", 1, 2, false, 0, 0, 0}, {"RGB", 1, 3, true, 0, 2, 0},
    {"BGR", 1, 3, true, 2, 0, 0},    {"RGBA", 1, 4, true, 0, 2, 0},    {"BGRA", 1, 4, true, 2, 0, 0},
    {"NV12", 2, 1, false, 0, 0, 2},  {"I420", 3, 1, false, 0, 0, 1},
};
static_assert(std::size(kFormats) == CUDACCL_FORMAT_I420 + 1);

constexpr LumaWeights kWeights[] = {kBt709, kBt601, kBt2020};
static_assert(CUDACCL_MATRIX_BT709 == 0 && CUDACCL_MATRIX_BT601 == 1 && CUDACCL_MATRIX_BT2020 == 2);

Status check_plane(const CudacclInput& given, const Format& format, uint32_t index, size_t row) {
  const auto name = [&] { return "plane " + std::to_string(index) + " of the " + format.name + " input"; };
  if (given.planes[index] == nullptr) {
    return refuse(name() + " is NULL");
  }
  if (given.strides[index] < row) {
    return refuse(name() + " has a stride of " + std::to_string(given.strides[index]) +
                  " bytes for rows of " + std::to_string(row));
  }
  return {};
}

Status check_planes(const CudacclInput& given, const Format& format, const Config& config) {
  const size_t chroma_row = (size_t{config.width} + 1) / 2 * format.chroma_step;
  for (uint32_t i = 0; i < format.n_planes; ++i) {
    const size_t row = i == 0 ? size_t{config.width} * format.step : chroma_row;
    CCL_RETURN_IF_ERROR(check_plane(given, format, i, row));
  }
  if (given.format == CUDACCL_FORMAT_I420 && given.strides[1] != given.strides[2]) {
    return refuse("the planes of U and V have different strides, " + std::to_string(given.strides[1]) +
                  " and " + std::to_string(given.strides[2]) + " bytes; they must be equal");
  }
  const bool is_odd = (reinterpret_cast<uintptr_t>(given.planes[0]) | given.strides[0]) % 2 != 0;
  if (given.format == CUDACCL_FORMAT_GRAY16 && is_odd) {
    return refuse("the address or the stride of a gray16 input is odd; both must be even");
  }
  return {};
}

Status check(const CudacclInput& given, const Format& format) {
  CCL_RETURN_IF_ERROR(check_range("CudacclInput::memory", given.memory, 0, CUDACCL_MEMORY_DEVICE));
  CCL_RETURN_IF_ERROR(check_range("CudacclInput::matrix", given.matrix, 0, CUDACCL_MATRIX_BT2020));
  CCL_RETURN_IF_ERROR(check_range("CudacclInput::range", given.range, 0, CUDACCL_RANGE_LIMITED));
  CCL_RETURN_IF_ERROR(check_range("CudacclInput::reserved", given.reserved, 0, 0));
  if (format.is_rgb && given.range == CUDACCL_RANGE_LIMITED) {
    return refuse(std::string("a limited range is not possible with ") + format.name);
  }
  return {};
}

/// Whether the frame's chroma is read. If not, it need not be uploaded.
bool reads_chroma(const FrameJob& job, const Config& config) {
  return job.settings.rule.foreground == Foreground::kMotion || config.output == Output::kOverlay ||
         config.output == Output::kForeground || config.output == Output::kBackground;
}

const uint8_t* bytes(const void* plane) {
  return static_cast<const uint8_t*>(plane);
}

Chroma chroma_of(const CudacclInput& given, const Format& format) {
  return {.u = bytes(given.planes[1]),
          .v = format.n_planes == 3 ? bytes(given.planes[2]) : bytes(given.planes[1]) + 1,
          .stride = given.strides[1],
          .step = format.chroma_step,
          .shift_x = 1,
          .shift_y = 1};
}

SourcePixels source_of(const CudacclInput& given, const Format& format) {
  SourcePixels source = {.pixels = bytes(given.planes[0]), .stride = given.strides[0], .step = format.step};
  if (format.is_rgb) {
    source.is_rgb = true;
    source.red = format.red;
    source.green = 1;
    source.blue = format.blue;
    set_luma_weights(kWeights[given.matrix], &source);
  } else {
    source.bits = static_cast<uint8_t>(given.bits);
  }
  return source;
}

}  // namespace

Status find_largest_value(const CudacclInput& input, uint32_t* largest) {
  CCL_RETURN_IF_ERROR(check_range("CudacclInput::format", input.format, 0, CUDACCL_FORMAT_I420));
  if (input.format == CUDACCL_FORMAT_GRAY16) {
    CCL_RETURN_IF_ERROR(check_range("CudacclInput::bits", input.bits, 9, 16));
  }
  *largest = input.format == CUDACCL_FORMAT_GRAY16 ? (1u << input.bits) - 1 : 255;
  return {};
}

Status convert(const CudacclInput& given, const Config& config, FrameJob* job) {
  const Format& format = kFormats[given.format];
  CCL_RETURN_IF_ERROR(check(given, format));
  CCL_RETURN_IF_ERROR(check_planes(given, format, config));
  job->input.memory = static_cast<Memory>(given.memory);
  job->input.stream = given.stream;
  if (format.step > 1) {
    job->input.source = source_of(given, format);
  } else {
    job->input.pixels = bytes(given.planes[0]);
    job->input.stride = given.strides[0];
  }
  if (format.n_planes > 1 && reads_chroma(*job, config)) {
    job->input.chroma = chroma_of(given, format);
  }
  const bool is_limited =
      given.range == CUDACCL_RANGE_DEFAULT ? format.n_planes > 1 : given.range == CUDACCL_RANGE_LIMITED;
  job->settings.limited_range = is_limited;
  job->settings.matrix = color_matrix(kWeights[given.matrix], is_limited);
  return {};
}

Status convert(const CudacclOutput* given, const Config& config, FrameJob* job) {
  if (config.output == Output::kNone) {
    return {};
  }
  if (given == nullptr) {
    return refuse(
        "the frame has no output image; set CudacclFrame::output, or configure CUDACCL_OUTPUT_NONE");
  }
  CudacclOutput output;
  CCL_RETURN_IF_ERROR(read(given, &output));
  CCL_RETURN_IF_ERROR(check_range("CudacclOutput::memory", output.memory, 0, CUDACCL_MEMORY_DEVICE));
  CCL_RETURN_IF_ERROR(check_range("CudacclOutput::reserved", output.reserved, 0, 0));
  job->output = {.pixels = static_cast<uint8_t*>(output.pixels),
                 .stride = output.stride,
                 .memory = static_cast<Memory>(output.memory),
                 .stream = output.stream};
  return {};
}

namespace {

/// Leaves what is wrong with the values and the stride to the engine.
Status convert_plane(const char* name, const CudacclPlane* given, const Config& config, PlaneImage* image) {
  if (given == nullptr) {
    return refuse("the frame has no plane of " + std::string(name) +
                  "; set it in CudacclFrame, or do not configure it in CudacclConfig::planes");
  }
  CudacclPlane plane;
  CCL_RETURN_IF_ERROR(read(given, &plane));
  CCL_RETURN_IF_ERROR(check_range("CudacclPlane::memory", plane.memory, 0, CUDACCL_MEMORY_DEVICE));
  CCL_RETURN_IF_ERROR(check_range("CudacclPlane::reserved", plane.reserved, 0, 0));
  *image = {.values = plane.values,
            .stride = plane.stride != 0 ? plane.stride : size_t{config.width} * sizeof(uint32_t),
            .memory = static_cast<Memory>(plane.memory),
            .stream = plane.stream};
  return {};
}

}  // namespace

Status convert_planes(const CudacclFrame& given, const Config& config, FrameJob* job) {
  if ((config.planes & kLabelPlane) != 0) {
    CCL_RETURN_IF_ERROR(convert_plane("labels", given.labels, config, &job->label_plane));
  }
  if ((config.planes & kIdPlane) != 0) {
    CCL_RETURN_IF_ERROR(convert_plane("ids", given.ids, config, &job->id_plane));
  }
  if ((config.planes & kDistancePlane) != 0) {
    CCL_RETURN_IF_ERROR(convert_plane("distances", given.distances, config, &job->distance_plane));
  }
  return {};
}

}  // namespace ccl::capi
