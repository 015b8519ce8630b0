// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory/zeroed_pool.h"

#include <gst/video/video.h>

namespace {

struct GstCudaCclZeroedPool {
  GstVideoBufferPool parent;
};

struct GstCudaCclZeroedPoolClass {
  GstVideoBufferPoolClass parent_class;
};

G_DEFINE_TYPE(GstCudaCclZeroedPool, gst_cuda_ccl_zeroed_pool, GST_TYPE_VIDEO_BUFFER_POOL)

/// Once per buffer: a buffer that returns to the pool keeps its padding.
GstFlowReturn gst_cuda_ccl_zeroed_pool_alloc_buffer(GstBufferPool* pool, GstBuffer** buffer,
                                                    GstBufferPoolAcquireParams* params) {
  const GstFlowReturn flow =
      GST_BUFFER_POOL_CLASS(gst_cuda_ccl_zeroed_pool_parent_class)->alloc_buffer(pool, buffer, params);
  if (flow == GST_FLOW_OK) {
    gst_buffer_memset(*buffer, 0, 0, gst_buffer_get_size(*buffer));
  }
  return flow;
}

void gst_cuda_ccl_zeroed_pool_class_init(GstCudaCclZeroedPoolClass* klass) {
  GST_BUFFER_POOL_CLASS(klass)->alloc_buffer = gst_cuda_ccl_zeroed_pool_alloc_buffer;
}

void gst_cuda_ccl_zeroed_pool_init(GstCudaCclZeroedPool*) {}

}  // namespace

namespace cudaccl {

GstBufferPool* new_zeroed_pool() {
  auto* pool = static_cast<GstBufferPool*>(g_object_new(gst_cuda_ccl_zeroed_pool_get_type(), nullptr));
  gst_object_ref_sink(pool);
  return pool;
}

}  // namespace cudaccl
