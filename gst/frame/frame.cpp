// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame/frame.h"

#include <optional>
#include <utility>

#include "ccl/checked.h"
#include "memory/cuda_memory.h"
#include "negotiation/color_matrix.h"

namespace cudaccl {

namespace {

/// Whether the buffer's GstVideoMeta, if it has one, describes all of a frame of `info`.
/// gst_video_frame_map() logs a critical for another one, and leaves the planes that it lacks unmapped.
bool has_video_meta_of(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  return meta == nullptr || (meta->format == GST_VIDEO_INFO_FORMAT(&info) &&
                             meta->width >= static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)) &&
                             meta->height >= static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)) &&
                             meta->n_planes >= GST_VIDEO_INFO_N_PLANES(&info));
}

/// The crop rectangle of the buffer, if it has one of the frame's size.
const GstVideoCropMeta* crop_of_frame(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  const bool is_of_frame = crop != nullptr &&
                           crop->width == static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)) &&
                           crop->height == static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info));
  return is_of_frame ? crop : nullptr;
}

}  // namespace

MappedFrame::MappedFrame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags, ccl::Memory memory)
    : info_(info),
      memory_(memory),
      mapped_(has_video_meta_of(buffer, info) && !is_crop_outside(buffer, info) &&
              gst_video_frame_map(
                  &frame_, &info_, buffer,
                  static_cast<GstMapFlags>(flags | static_cast<int>(GST_VIDEO_FRAME_MAP_FLAG_NO_REF) |
                                           (memory == ccl::Memory::kDevice ? kMapCuda : 0)))) {}

bool MappedFrame::mapped() const {
  return mapped_ && holds(0);
}

/// Whether all values of the component are in the memory that is mapped. gst_video_frame_map() does not check
/// that the memory is large enough for the GstVideoMeta.
bool MappedFrame::holds(guint component) const {
  const guint plane = GST_VIDEO_FRAME_COMP_PLANE(&frame_, component);
  const GstMapInfo& memory = frame_.map[frame_.map[plane].data != nullptr ? plane : 0];
  const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, plane);
  const auto start = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, plane)) - memory.data;
  const std::optional<size_t> row = ccl::checked_product(GST_VIDEO_FRAME_COMP_WIDTH(&frame_, component),
                                                         GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, component));
  if (!row || std::cmp_less(stride, *row)) {
    return false;
  }
  const std::optional<size_t> end =
      ccl::checked_end(start, GST_VIDEO_FRAME_COMP_HEIGHT(&frame_, component), stride, *row);
  return end && *end <= memory.size;
}

MappedFrame::~MappedFrame() {
  if (mapped_) {
    gst_video_frame_unmap(&frame_);
  }
}

/// The component's value at the frame's first pixel, or at that of the crop rectangle.
const uint8_t* MappedFrame::first_value(guint component) const {
  const auto* values = static_cast<const uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&frame_, component));
  if (!is_cropped(frame_.buffer, info_)) {
    return values;
  }
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(frame_.buffer);
  const GstVideoFormatInfo* format = frame_.info.finfo;
  const guint row = crop->y >> GST_VIDEO_FORMAT_INFO_H_SUB(format, component);
  const guint column = crop->x >> GST_VIDEO_FORMAT_INFO_W_SUB(format, component);
  return values + static_cast<size_t>(GST_VIDEO_FRAME_COMP_STRIDE(&frame_, component)) * row +
         static_cast<size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, component)) * column;
}

bool MappedFrame::is_plain_luma() const {
  const GstVideoFormatInfo* format = frame_.info.finfo;
  return !GST_VIDEO_FORMAT_INFO_IS_RGB(format) && GST_VIDEO_FORMAT_INFO_DEPTH(format, 0) == 8 &&
         GST_VIDEO_FORMAT_INFO_PSTRIDE(format, 0) == 1;
}

/// The layout of pixels that are no plane of 8-bit luma.
ccl::SourcePixels MappedFrame::source() const {
  const GstVideoFormatInfo* format = frame_.info.finfo;
  ccl::SourcePixels source{.pixels = first_value(0),
                           .stride = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0)),
                           .step = static_cast<uint8_t>(GST_VIDEO_FORMAT_INFO_PSTRIDE(format, 0)),
                           .bits = static_cast<uint8_t>(GST_VIDEO_FORMAT_INFO_DEPTH(format, 0)),
                           .shift = static_cast<uint8_t>(GST_VIDEO_FORMAT_INFO_SHIFT(format, 0))};
  if (GST_VIDEO_FORMAT_INFO_IS_RGB(format)) {
    const auto place = [format](guint component) {
      return static_cast<uint8_t>(GST_VIDEO_FORMAT_INFO_POFFSET(format, component));
    };
    source.pixels -= place(0);  // from the first channel to the pixel
    source.shift = 0;
    source.is_rgb = true;
    source.red = place(GST_VIDEO_COMP_R);
    source.green = place(GST_VIDEO_COMP_G);
    source.blue = place(GST_VIDEO_COMP_B);
    set_luma_weights(info_, &source);
  }
  return source;
}

ccl::InputImage MappedFrame::luma() const {
  ccl::InputImage image{.memory = memory_, .stream = stream()};
  if (is_plain_luma()) {
    image.pixels = first_value(0);
    image.stride = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0));
  } else {
    image.source = source();
  }
  return image;
}

bool MappedFrame::has_chroma() const {
  const GstVideoFormatInfo* format = frame_.info.finfo;
  return GST_VIDEO_FORMAT_INFO_IS_YUV(format) && GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format) >= 3 &&
         GST_VIDEO_FORMAT_INFO_DEPTH(format, 1) == 8 && GST_VIDEO_FORMAT_INFO_W_SUB(format, 1) <= 1 &&
         GST_VIDEO_FORMAT_INFO_H_SUB(format, 1) <= 1;
}

bool MappedFrame::is_chroma_mapped() const {
  return !has_chroma() ||
         (holds(1) && holds(2) &&
          GST_VIDEO_FRAME_COMP_STRIDE(&frame_, 1) == GST_VIDEO_FRAME_COMP_STRIDE(&frame_, 2));
}

ccl::Chroma MappedFrame::chroma() const {
  if (!has_chroma() || !is_chroma_mapped()) {
    return {};
  }
  const GstVideoFormatInfo* format = frame_.info.finfo;
  return {.u = first_value(1),
          .v = first_value(2),
          .stride = static_cast<size_t>(GST_VIDEO_FRAME_COMP_STRIDE(&frame_, 1)),
          .step = static_cast<uint8_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, 1)),
          .shift_x = static_cast<uint8_t>(GST_VIDEO_FORMAT_INFO_W_SUB(format, 1)),
          .shift_y = static_cast<uint8_t>(GST_VIDEO_FORMAT_INFO_H_SUB(format, 1))};
}

ccl::OutputImage MappedFrame::pixels() const {
  ccl::OutputImage image{.pixels = static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0)),
                         .stride = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0)),
                         .memory = memory_,
                         .stream = stream()};
  const GstVideoFormatInfo* format = frame_.info.finfo;
  for (guint plane = 1; GST_VIDEO_FORMAT_INFO_IS_YUV(format) && plane < GST_VIDEO_FRAME_N_PLANES(&frame_);
       ++plane) {
    image.chroma[plane - 1] = static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, plane));
    image.chroma_stride = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, plane));
    image.chroma_row = static_cast<uint32_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame_, plane) *
                                             GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, plane));
    image.chroma_rows = static_cast<uint32_t>(GST_VIDEO_FRAME_COMP_HEIGHT(&frame_, plane));
  }
  return image;
}

void* MappedFrame::stream() const {
  return memory_ == ccl::Memory::kDevice ? stream_of(frame_.buffer) : nullptr;
}

bool is_cropped(GstBuffer* buffer, const GstVideoInfo& info) {
  return gst_buffer_get_video_meta(buffer) != nullptr && crop_of_frame(buffer, info) != nullptr &&
         !is_crop_outside(buffer, info);
}

bool is_crop_outside(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoCropMeta* crop = crop_of_frame(buffer, info);
  if (crop == nullptr) {
    return false;
  }
  const GstVideoMeta* video = gst_buffer_get_video_meta(buffer);
  const guint width = video != nullptr ? video->width : crop->width;
  const guint height = video != nullptr ? video->height : crop->height;
  return crop->x > width || crop->width > width - crop->x || crop->y > height ||
         crop->height > height - crop->y;
}

}  // namespace cudaccl
