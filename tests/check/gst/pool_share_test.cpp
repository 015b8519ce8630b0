// SPDX-License-Identifier: LGPL-2.1-or-later
/// Elements that keep buffers of one pool share it.
#include <gtest/gtest.h>

#include <string>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 36;
constexpr uint32_t kHeight = 17;

void discard_output(GstHarness* h) {
  while (GstBuffer* out = gst_harness_try_pull(h)) {
    gst_buffer_unref(out);
  }
}

/// Configures the pool for at most `max` buffers. Upstream asks for pools, as in a negotiation.
void begin_pool(GstHarness* h, GstBufferPool* pool, guint max) {
  const Ref<GstCaps> caps(gst_pad_get_current_caps(h->srcpad));
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps.get(), kWidth * kHeight, 0, max);
  ASSERT_TRUE(gst_buffer_pool_set_config(pool, config));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool, TRUE));
  const Ref<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
  gst_pad_peer_query(h->srcpad, query.get());
}

}  // namespace

/// Upstream always gets a buffer at once, also from a pool that comes again with fewer of them.
TEST(PoolShare, TwoElementsLeaveBuffersUpstream) {
  const std::string element = "cudaccl backend=" + backend() + " pipeline-depth=8 output=";
  for (const char* output : {"colorized", "labels", "passthrough"}) {
    const Ref<GstHarness> h(gst_harness_new_parse((element + "passthrough ! " + element + output).c_str()));
    gst_harness_set_src_caps_str(h.get(), caps_text("GRAY8", kWidth, kHeight).c_str());
    const Ref<GstBufferPool> pool(gst_buffer_pool_new());
    for (const guint max : {20u, 4u, 6u}) {
      begin_pool(h.get(), pool.get(), max);
      for (guint64 frame = 0; frame < 60; ++frame) {
        GstBufferPoolAcquireParams no_wait{};
        no_wait.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
        GstBuffer* buffer = nullptr;
        ASSERT_EQ(gst_buffer_pool_acquire_buffer(pool.get(), &buffer, &no_wait), GST_FLOW_OK)
            << output << ", " << max << " buffers, frame " << frame;
        GST_BUFFER_PTS(buffer) = frame * kFrameDuration;
        ASSERT_EQ(gst_harness_push(h.get(), buffer), GST_FLOW_OK);
        discard_output(h.get());
      }
      ASSERT_TRUE(gst_harness_push_event(h.get(), gst_event_new_gap(0, kFrameDuration)));
      discard_output(h.get());
      ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), FALSE));
    }
  }
}

}  // namespace cudaccl::test
