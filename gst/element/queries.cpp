// SPDX-License-Identifier: LGPL-2.1-or-later
#include "element/queries.h"

#include "element/events.h"
#include "negotiation/caps.h"

namespace cudaccl {

GstClockTime latency_of(const Private& priv) {
  return priv.snapshot().pipeline_depth * priv.frame_duration.get();
}

void report_latency_change(GstCudaCcl* self, GstClockTime before) {
  if (latency_of(*self->priv) != before) {
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
  }
}

namespace {

/// Adds our latency to upstream's.
gboolean answer_latency(GstCudaCcl* self, GstQuery* query) {
  if (!gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(self), query)) {
    return FALSE;
  }
  gboolean is_live = FALSE;
  GstClockTime min = 0;
  GstClockTime max = 0;
  gst_query_parse_latency(query, &is_live, &min, &max);
  const GstClockTime ours = latency_of(*self->priv);
  gst_query_set_latency(query, is_live, min + ours, GST_CLOCK_TIME_IS_VALID(max) ? max + ours : max);
  return TRUE;
}

}  // namespace

std::optional<gboolean> answer(GstCudaCcl* self, GstPadDirection direction, GstQuery* query) {
  GstBaseTransform* transform = GST_BASE_TRANSFORM(self);
  Private* priv = self->priv;
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      priv->backend.context().answer(GST_ELEMENT(self), query)) {
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC) {
    return answer_latency(self, query);
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    // GstBaseTransform would call transform_caps() for each way, and `output` may change in between. If no
    // caps are possible with `output`, the output in force answers: the next frame restores that property.
    const bool is_src = direction == GST_PAD_SRC;
    const CapsRule rule = priv->wanted_caps_rule();
    CapsRule fallback = rule;
    if (const std::optional<Properties> in_force = priv->properties.in_force()) {
      fallback.output = in_force->output;
    }
    answer_caps(is_src ? transform->srcpad : transform->sinkpad,
                is_src ? transform->sinkpad : transform->srcpad, query, rule, fallback);
    return TRUE;
  }
  const bool must_drain = direction == GST_PAD_SINK && is_serialized(query);
  return must_drain && priv->path.drain() != GST_FLOW_OK ? std::optional(FALSE) : std::nullopt;
}

}  // namespace cudaccl
