// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory/label_map_pool.h"

#include "memory/active_pool.h"
#include "negotiation/caps.h"

namespace cudaccl {

namespace {

const ccl::Status kNoMapMemory{ccl::StatusCode::kOutOfMemory, "not enough memory for a label map"};

}  // namespace

ccl::Status LabelMapPool::acquire(Backend* backend, const FrameCaps& caps, GstBuffer** buffer) {
  if (!serves(backend, caps)) {
    CCL_RETURN_IF_ERROR(prepare(backend, caps));
  }
  return gst_buffer_pool_acquire_buffer(pool_, buffer, nullptr) == GST_FLOW_OK ? ccl::Status() : kNoMapMemory;
}

/// The engine may have moved to another context since the last frame.
bool LabelMapPool::serves(Backend* backend, const FrameCaps& caps) const {
  if (pool_ == nullptr || is_cuda_ != caps.out_is_cuda ||
      GST_VIDEO_INFO_WIDTH(&info_) != GST_VIDEO_INFO_WIDTH(&caps.in) ||
      GST_VIDEO_INFO_HEIGHT(&info_) != GST_VIDEO_INFO_HEIGHT(&caps.in)) {
    return false;
  }
  return is_cuda_ ? backend->context().has_pool(pool_) : allocator_ == backend->pinned_allocator();
}

ccl::Status LabelMapPool::prepare(Backend* backend, const FrameCaps& caps) {
  clear();
  const auto width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(&caps.in));
  const auto height = static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&caps.in));
  if (is_too_large(ccl::Output::kColorized, caps.in)) {  // 4 bytes a pixel, too
    return {ccl::StatusCode::kUnsupported, "GStreamer cannot allocate a label map of 4 GiB or more"};
  }
  gst_video_info_set_format(&info_, GST_VIDEO_FORMAT_RGBA, width, height);
  is_cuda_ = caps.out_is_cuda;
  allocator_ = is_cuda_ ? nullptr : backend->pinned_allocator();
  pool_ = is_cuda_ ? backend->context().new_pool() : gst_video_buffer_pool_new();
  if (pool_ == nullptr) {
    return {ccl::StatusCode::kDeviceError, "there is no CUDA context for a label map"};
  }
  GstCaps* pool_caps = gst_video_info_to_caps(&info_);
  if (is_cuda_) {
    gst_caps_set_features(pool_caps, 0, gst_caps_features_new(kCudaMemoryFeature, nullptr));
  }
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  GstStructure* config = gst_buffer_pool_get_config(pool_);
  gst_buffer_pool_config_set_params(config, pool_caps, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info_)), 0, 0);
  gst_buffer_pool_config_set_allocator(config, allocator_, &params);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_caps_unref(pool_caps);
  if (gst_buffer_pool_set_config(pool_, config) && activate_pool(pool_)) {
    return {};
  }
  clear();
  return kNoMapMemory;
}

void LabelMapPool::clear() {
  if (pool_ != nullptr) {
    gst_buffer_pool_set_active(pool_, FALSE);
    gst_clear_object(&pool_);
  }
  allocator_ = nullptr;
}

}  // namespace cudaccl
