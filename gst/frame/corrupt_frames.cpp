// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame/corrupt_frames.h"

#include <algorithm>
#include <optional>
#include <string>

#include "ccl/checked.h"
#include "element/debug.h"
#include "frame/frame.h"

namespace cudaccl {

namespace {

std::string frame_name(GstVideoFormat format, guint width, guint height) {
  return std::string(gst_video_format_to_string(format)) + " " + std::to_string(width) + "x" +
         std::to_string(height);
}

std::string frame_name(const GstVideoInfo& info) {
  return frame_name(GST_VIDEO_INFO_FORMAT(&info), static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                    static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)));
}

template <typename Number>
std::string bytes(Number number) {
  return std::to_string(number) + " bytes";
}

int64_t row_bytes(const GstVideoInfo& info, guint component) {
  return int64_t{GST_VIDEO_INFO_COMP_WIDTH(&info, component)} * GST_VIDEO_INFO_COMP_PSTRIDE(&info, component);
}

/// What gst_video_frame_map() maps: the meta's frame may be larger than that of the caps.
GstVideoInfo info_of_meta(const GstVideoInfo& info, const GstVideoMeta& meta) {
  GstVideoInfo mapped = info;
  mapped.width = static_cast<gint>(meta.width);
  mapped.height = static_cast<gint>(meta.height);
  return mapped;
}

/// The bytes up to the end of the last row of any plane, if there can be so many.
std::optional<gsize> bytes_needed(const GstVideoInfo& info, const gsize* offsets, const gint* strides) {
  gsize last = 0;
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c) {
    const guint plane = GST_VIDEO_INFO_COMP_PLANE(&info, c);
    const std::optional<gsize> end = ccl::checked_end(offsets[plane], GST_VIDEO_INFO_COMP_HEIGHT(&info, c),
                                                      MAX(strides[plane], 0), row_bytes(info, c));
    if (!end) {
      return std::nullopt;
    }
    last = std::max(last, *end);
  }
  return last;
}

bool is_power_of_ten(uint64_t number) {
  while (number >= 10 && number % 10 == 0) {
    number /= 10;
  }
  return number == 1;
}

}  // namespace

CorruptFrames::Cause CorruptFrames::find_cause(GstBuffer* buffer, const GstVideoInfo& info) {
  const gsize size = gst_buffer_get_size(buffer);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (is_crop_outside(buffer, info)) {
    return kCrop;
  }
  if (meta == nullptr) {
    return size < GST_VIDEO_INFO_SIZE(&info) ? kSizeByCaps : kOther;
  }
  if (meta->format != GST_VIDEO_INFO_FORMAT(&info) ||
      meta->width < static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)) ||
      meta->height < static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info))) {
    return kFrameOfMeta;
  }
  if (meta->n_planes < GST_VIDEO_INFO_N_PLANES(&info)) {
    return kPlanesOfMeta;
  }
  const GstVideoInfo mapped = info_of_meta(info, *meta);
  if (meta->stride[0] < row_bytes(mapped, 0)) {
    return kStrideOfMeta;
  }
  const std::optional<gsize> needed = bytes_needed(mapped, meta->offset, meta->stride);
  return !needed || size < *needed ? kSizeByMeta : kOther;
}

void CorruptFrames::warn(GstBuffer* buffer, const GstVideoInfo& info) {
  const gsize size = gst_buffer_get_size(buffer);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  const Cause cause = find_cause(buffer, info);
  const uint64_t count = ++counts_[cause];
  if (!is_power_of_ten(count)) {
    return;
  }
  const GstVideoInfo mapped = meta != nullptr ? info_of_meta(info, *meta) : info;
  const std::string wanted = frame_name(info);
  const std::string by_caps = frame_name(mapped) != wanted ? "; the caps say " + wanted : "";
  std::string why = "a buffer of " + bytes(size);
  switch (cause) {
    case kSizeByCaps:
      why += " without video meta; by the caps, " + wanted + " has a stride of " +
             bytes(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0)) + " and needs " + bytes(GST_VIDEO_INFO_SIZE(&info));
      break;
    case kCrop: {
      const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
      why += " whose crop rectangle begins at " + std::to_string(crop->x) + ", " + std::to_string(crop->y) +
             ": " + wanted + " is not all in " + frame_name(mapped);
      break;
    }
    case kFrameOfMeta:
      why += " whose video meta says " + frame_name(meta->format, meta->width, meta->height) +
             "; the caps say " + wanted;
      break;
    case kPlanesOfMeta:
      why += " whose video meta has " + std::to_string(meta->n_planes) + " planes; " + wanted + " has " +
             std::to_string(GST_VIDEO_INFO_N_PLANES(&info));
      break;
    case kStrideOfMeta:
      why += " whose video meta has a stride of " + bytes(meta->stride[0]) + "; a row of " +
             frame_name(mapped) + " needs " + bytes(row_bytes(mapped, 0)) + by_caps;
      break;
    case kSizeByMeta: {
      const std::optional<gsize> needed = bytes_needed(mapped, meta->offset, meta->stride);
      why += "; according to its video meta, " + frame_name(mapped) + " has a stride of " +
             bytes(meta->stride[0]) + ", begins at byte " + std::to_string(meta->offset[0]) + " and needs " +
             (needed ? bytes(*needed) : "more bytes than there are") + by_caps;
      break;
    }
    default:
      why += " cannot be mapped as " + wanted;
      break;
  }
  const std::string frames = count == 1 ? "a corrupt frame" : std::to_string(count) + " corrupt frames";
  GST_ELEMENT_WARNING(element_, STREAM, FORMAT, ("Dropped %s: %s", frames.c_str(), why.c_str()), (nullptr));
}

}  // namespace cudaccl
