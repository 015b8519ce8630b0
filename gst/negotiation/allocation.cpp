// SPDX-License-Identifier: LGPL-2.1-or-later
#include "negotiation/allocation.h"

#include "memory/zeroed_pool.h"
#include "negotiation/caps.h"

namespace cudaccl {

namespace {

/// What a pool must provide.
struct PoolRequest {
  GstCaps* caps;  // borrowed from the query
  guint size;
  guint min;
  guint max;
  bool video_meta;
  GstAllocator* allocator;  // borrowed; null is the default one
  GstAllocationParams params;
};

/// False if the pool cannot provide it.
bool configure_pool(GstBufferPool* pool, const PoolRequest& request) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, request.caps, request.size, request.min, request.max);
  gst_buffer_pool_config_set_allocator(config, request.allocator, &request.params);
  if (request.video_meta) {
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  }
  if (gst_buffer_pool_set_config(pool, config)) {
    return true;
  }
  // The pool changed what it cannot do. Accept that if its buffers still hold whole frames.
  config = gst_buffer_pool_get_config(pool);
  if (!gst_buffer_pool_config_validate_params(config, request.caps, request.size, request.min, request.max)) {
    gst_structure_free(config);
    return false;
  }
  return gst_buffer_pool_set_config(pool, config);
}

/// The request of a query for frames of `info`. The caller owns the allocator in it.
PoolRequest make_request(GstQuery* query, GstCaps* caps, const GstVideoInfo& info) {
  PoolRequest request{
      .caps = caps,
      .size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)),
      .min = 0,
      .max = 0,
      .video_meta = gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE,
      .allocator = nullptr,
      .params = {}};
  gst_allocation_params_init(&request.params);
  if (gst_query_get_n_allocation_params(query) > 0) {
    gst_query_parse_nth_allocation_param(query, 0, &request.allocator, &request.params);
  }
  return request;
}

/// Whether the pool takes memory from any allocator. Pools of other types have their own kind of memory.
bool is_plain_pool(GstBufferPool* pool) {
  return G_OBJECT_TYPE(pool) == GST_TYPE_VIDEO_BUFFER_POOL || G_OBJECT_TYPE(pool) == GST_TYPE_BUFFER_POOL;
}

/// GstBaseTransform proposes the rest of the query to upstream, whose memory is not downstream's.
void remove_memory_metas(GstQuery* query) {
  const GQuark memory = g_quark_from_static_string(GST_META_TAG_MEMORY_STR);
  for (guint i = gst_query_get_n_allocation_metas(query); i-- > 0;) {
    if (gst_meta_api_type_has_tag(gst_query_parse_nth_allocation_meta(query, i, nullptr), memory)) {
      gst_query_remove_nth_allocation_meta(query, i);
    }
  }
}

/// Offers a pool on a GPU. Its frames have padded rows only if the query has GstVideoMeta. False if there is
/// none to offer.
bool propose_pool(GstQuery* query, Backend* backend, guint depth) {
  GstCaps* caps = nullptr;
  gboolean needs_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &needs_pool);
  const bool has_video_meta =
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE;
  GstVideoInfo info;
  if (!backend->is_cuda() || caps == nullptr || !gst_video_info_from_caps(&info, caps) ||
      (is_cuda_caps(caps) && !has_video_meta)) {  // pools of CUDA memory pad rows
    return false;
  }
  PoolRequest request{.caps = caps,
                      .size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)),
                      .min = depth + 2,  // in flight, one being pushed, one being filled
                      .max = 0,
                      .video_meta = has_video_meta,
                      .allocator = nullptr,
                      .params = {}};
  gst_allocation_params_init(&request.params);
  GstBufferPool* pool = nullptr;
  if (is_cuda_caps(caps)) {
    pool = backend->context().new_pool();
  } else {
    request.allocator = backend->pinned_allocator();
    gst_query_add_allocation_param(query, request.allocator, &request.params);
    pool = gst_video_buffer_pool_new();
  }
  const bool is_good = pool != nullptr && configure_pool(pool, request);
  if (is_good) {
    // The pool may have chosen larger buffers.
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_get_params(config, nullptr, &request.size, nullptr, nullptr);
    gst_structure_free(config);
    gst_query_add_allocation_pool(query, needs_pool ? pool : nullptr, request.size, request.min, 0);
  }
  gst_clear_object(&pool);
  return is_good;
}

/// Asks for larger pools, because frames stay in flight.
void add_frames_in_flight(GstQuery* query, guint depth) {
  for (guint i = 0; i < gst_query_get_n_allocation_pools(query); ++i) {
    GstBufferPool* pool = nullptr;
    guint size = 0;
    guint min = 0;
    guint max = 0;
    gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &min, &max);
    min += depth;
    gst_query_set_nth_allocation_pool(query, i, pool, size, min, max != 0 ? MAX(min, max) : 0);
    gst_clear_object(&pool);
  }
}

}  // namespace

void propose_allocation(GstQuery* query, Backend* backend, guint depth) {
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
  propose_pool(query, backend, depth);
}

bool forward_allocation(GstQuery* query, GstPad* src_pad, Backend* backend, guint depth) {
  const bool is_answered = gst_pad_peer_query(src_pad, query) != FALSE;
  if (gst_query_get_n_allocation_pools(query) > 0) {
    add_frames_in_flight(query, depth);
    return is_answered;
  }
  return propose_pool(query, backend, depth) || is_answered;
}

gboolean decide_allocation(GstQuery* query, Backend* backend, guint depth) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstVideoInfo info;
  if (caps == nullptr || !gst_video_info_from_caps(&info, caps)) {
    return FALSE;
  }
  const bool is_cuda = is_cuda_caps(caps);
  PoolRequest request = make_request(query, caps, info);
  GstBufferPool* pool = nullptr;
  const bool offered = gst_query_get_n_allocation_pools(query) > 0;
  if (offered) {
    guint size = 0;
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &request.min, &request.max);
    request.size = MAX(size, request.size);
  }
  request.min += depth;
  if (request.max != 0 && request.max < request.min) {
    request.min = request.max;  // when the pool is empty, frames in flight are sent
  }
  if (is_cuda && pool != nullptr && !backend->context().has_pool(pool)) {
    gst_clear_object(&pool);
  }
  if (!is_cuda && request.allocator == nullptr && (pool == nullptr || is_plain_pool(pool)) &&
      backend->is_cuda()) {
    request.allocator = GST_ALLOCATOR(gst_object_ref(backend->pinned_allocator()));
  }
  if (pool != nullptr && !configure_pool(pool, request)) {
    gst_clear_object(&pool);
  }
  if (pool == nullptr) {
    pool = is_cuda ? backend->context().new_pool() : new_zeroed_pool();
    request.max = 0;
    if (pool != nullptr && !configure_pool(pool, request)) {
      gst_clear_object(&pool);
    }
  }
  gst_clear_object(&request.allocator);
  if (pool == nullptr) {
    return FALSE;
  }
  if (offered) {
    gst_query_set_nth_allocation_pool(query, 0, pool, request.size, request.min, request.max);
  } else {
    gst_query_add_allocation_pool(query, pool, request.size, request.min, request.max);
  }
  gst_object_unref(pool);
  remove_memory_metas(query);
  return TRUE;
}

void decide_no_allocation(GstQuery* query) {
  while (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_remove_nth_allocation_pool(query, 0);
  }
}

}  // namespace cudaccl
