// SPDX-License-Identifier: LGPL-2.1-or-later
#include "allocation.h"

namespace cudaccl {

namespace {

/// What a pool is to give.
struct PoolRequest {
  GstCaps* caps;  // borrowed from the query
  guint size;
  guint min;
  guint max;
  bool video_meta;
};

/// Consumes the configuration, as gst_buffer_pool_set_config() does.
bool configure_pool(GstBufferPool* pool, const PoolRequest& request) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, request.caps, request.size, request.min, request.max);
  if (request.video_meta) {
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  }
  if (gst_buffer_pool_set_config(pool, config)) {
    return true;
  }
  // The pool changed what it cannot do; take that if it still gives whole frames.
  config = gst_buffer_pool_get_config(pool);
  if (!gst_buffer_pool_config_validate_params(config, request.caps, request.size, request.min, request.max)) {
    gst_structure_free(config);
    return false;
  }
  return gst_buffer_pool_set_config(pool, config);
}

}  // namespace

void propose_allocation(GstQuery* query) {
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
}

gboolean decide_allocation(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (caps == nullptr || !gst_video_info_from_caps(&info, caps)) {
    return FALSE;
  }
  GstBufferPool* pool = nullptr;
  PoolRequest request{
      .caps = caps,
      .size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)),
      .min = 0,
      .max = 0,
      .video_meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE};
  const bool offered = gst_query_get_n_allocation_pools(query) > 0;
  if (offered) {
    guint size = 0;
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &request.min, &request.max);
    request.size = MAX(size, request.size);
  }
  if (pool != nullptr && !configure_pool(pool, request)) {
    gst_clear_object(&pool);
  }
  if (pool == nullptr) {
    pool = gst_video_buffer_pool_new();
    request.max = 0;
    if (!configure_pool(pool, request)) {
      gst_object_unref(pool);
      return FALSE;
    }
  }
  if (offered) {
    gst_query_set_nth_allocation_pool(query, 0, pool, request.size, request.min, request.max);
  } else {
    gst_query_add_allocation_pool(query, pool, request.size, request.min, request.max);
  }
  gst_object_unref(pool);
  return TRUE;
}

void decide_no_allocation(GstQuery* query) {
  while (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_remove_nth_allocation_pool(query, 0);
  }
}

}  // namespace cudaccl
