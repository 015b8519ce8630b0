// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame.h"

#include "cuda_memory.h"

namespace cudaccl {

MappedFrame::MappedFrame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags, ccl::Memory memory)
    : info_(info),
      memory_(memory),
      mapped_(gst_video_frame_map(
          &frame_, &info_, buffer,
          static_cast<GstMapFlags>(flags | static_cast<int>(GST_VIDEO_FRAME_MAP_FLAG_NO_REF) |
                                   (memory == ccl::Memory::kDevice ? kMapCuda : 0)))) {}

bool MappedFrame::mapped() const {
  if (!mapped_) {
    return false;
  }
  // gst_video_frame_map() does not check that the memory is large enough for the GstVideoMeta.
  const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0);
  const GstMapInfo& memory = frame_.map[0];
  const auto start = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0)) - memory.data;
  const auto row =
      static_cast<size_t>(GST_VIDEO_FRAME_WIDTH(&frame_) * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame_, 0));
  const auto rows = static_cast<size_t>(GST_VIDEO_FRAME_HEIGHT(&frame_));
  return start >= 0 && stride > 0 && static_cast<size_t>(stride) >= row &&
         static_cast<size_t>(start) + (rows - 1) * static_cast<size_t>(stride) + row <= memory.size;
}

MappedFrame::~MappedFrame() {
  if (mapped_) {
    gst_video_frame_unmap(&frame_);
  }
}

ccl::InputImage MappedFrame::luma() const {
  const auto* pixels = static_cast<const uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0));
  const auto stride = static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0));
  if (is_cropped(frame_.buffer, info_)) {
    const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(frame_.buffer);
    pixels += crop->y * stride + crop->x;
  }
  return {pixels, stride, memory_, stream()};
}

ccl::OutputImage MappedFrame::pixels() const {
  return {static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0)),
          static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0)), memory_, stream()};
}

void* MappedFrame::stream() const {
  return memory_ == ccl::Memory::kDevice ? stream_of(frame_.buffer) : nullptr;
}

bool is_cropped(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  const GstVideoMeta* video = gst_buffer_get_video_meta(buffer);
  const auto width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info));
  const auto height = static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info));
  return crop != nullptr && video != nullptr && crop->width == width && crop->height == height &&
         crop->x <= video->width && width <= video->width - crop->x && crop->y <= video->height &&
         height <= video->height - crop->y;
}

}  // namespace cudaccl
