// SPDX-License-Identifier: LGPL-2.1-or-later
#include "analytics/instance_mask.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "ccl/checked.h"

namespace cudaccl {

namespace {

/// With the default of `max-objects`, 256, the mask has the only format that segmentationoverlay draws.
constexpr size_t kMostIn8Bits = 256;

constexpr GstVideoFormat kGray16 =
    G_BYTE_ORDER == G_LITTLE_ENDIAN ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY16_BE;

const ccl::Status kNoMaskMemory{ccl::StatusCode::kOutOfMemory, "not enough memory for a mask of the objects"};

guint pixel_size(GstVideoFormat format) {
  return format == GST_VIDEO_FORMAT_GRAY8 ? sizeof(uint8_t) : sizeof(uint16_t);
}

/// Once for each buffer of the pool: rows have no padding, and segmentationoverlay reads them so.
void describe(GstBuffer* mask, GstVideoFormat format, guint width, guint height) {
  gsize offsets[GST_VIDEO_MAX_PLANES] = {};  // before GStreamer 1.24 the function takes no constant arrays
  gint strides[GST_VIDEO_MAX_PLANES] = {static_cast<gint>(width * pixel_size(format))};
  GstVideoMeta* meta = gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, format, width, height,
                                                      1, offsets, strides);
  meta->meta.flags = static_cast<GstMetaFlags>(meta->meta.flags | GST_META_FLAG_POOLED);
}

template <typename Pixel>
void write(const LabelImage& image, const std::vector<uint16_t>& values, void* out) {
  const size_t n_pixels = size_t{image.width} * image.height;
  std::transform(image.labels, image.labels + n_pixels, static_cast<Pixel*>(out),
                 [&values](uint32_t label) -> Pixel {
                   return label < values.size() ? static_cast<Pixel>(values[label]) : Pixel{0};
                 });
}

}  // namespace

size_t InstanceMask::limit(size_t max_objects) {
  return max_objects <= kMostIn8Bits ? std::numeric_limits<uint8_t>::max()
                                     : std::numeric_limits<uint16_t>::max();
}

ccl::Status InstanceMask::make(const LabelImage& image, std::span<const CclComponent> objects,
                               size_t max_objects, Owned<GstBuffer>* mask) {
  const bool is_8_bit = max_objects <= kMostIn8Bits;
  CCL_RETURN_IF_ERROR(prepare(image.width, image.height, is_8_bit ? GST_VIDEO_FORMAT_GRAY8 : kGray16));
  GstBuffer* acquired = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool_, &acquired, nullptr) != GST_FLOW_OK) {
    return kNoMaskMemory;
  }
  Owned<GstBuffer> made(acquired);
  const std::span<const CclComponent> shown = objects.first(std::min(objects.size(), limit(max_objects)));
  uint32_t last = 0;
  for (const CclComponent& c : shown) {
    last = std::max(last, c.label);
  }
  values_.assign(last + size_t{1}, 0);
  for (size_t i = 0; i < shown.size(); ++i) {
    values_[shown[i].label] = static_cast<uint16_t>(i + 1);
  }
  GstMapInfo map;
  if (!gst_buffer_map(made.get(), &map, GST_MAP_WRITE)) {
    return kNoMaskMemory;
  }
  if (is_8_bit) {
    write<uint8_t>(image, values_, map.data);
  } else {
    write<uint16_t>(image, values_, map.data);
  }
  gst_buffer_unmap(made.get(), &map);
  if (gst_buffer_get_video_meta(made.get()) == nullptr) {
    describe(made.get(), format_, width_, height_);
  }
  *mask = std::move(made);
  return {};
}

/// A pool of GStreamer's own for pictures would pad their rows.
ccl::Status InstanceMask::prepare(guint width, guint height, GstVideoFormat format) {
  if (pool_ != nullptr && width == width_ && height == height_ && format == format_) {
    return {};
  }
  clear();
  const std::optional<guint> bytes = ccl::checked_product<guint>(width, height, pixel_size(format));
  if (!bytes) {
    return {ccl::StatusCode::kUnsupported, "GStreamer cannot allocate a mask of 4 GiB or more"};
  }
  pool_ = gst_buffer_pool_new();
  width_ = width;
  height_ = height;
  format_ = format;
  GstStructure* config = gst_buffer_pool_get_config(pool_);
  gst_buffer_pool_config_set_params(config, nullptr, *bytes, 0, 0);
  if (gst_buffer_pool_set_config(pool_, config) && gst_buffer_pool_set_active(pool_, TRUE)) {
    return {};
  }
  clear();
  return kNoMaskMemory;
}

void InstanceMask::clear() {
  if (pool_ != nullptr) {
    gst_buffer_pool_set_active(pool_, FALSE);
    gst_clear_object(&pool_);
  }
}

}  // namespace cudaccl
