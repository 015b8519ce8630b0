// SPDX-License-Identifier: LGPL-2.1-or-later
/// Owning pointers to GStreamer's objects.
#pragma once

#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <memory>

namespace cudaccl::test {

struct Unref {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
  void operator()(GstBufferPool* pool) const { gst_object_unref(pool); }
  void operator()(GstBus* bus) const { gst_object_unref(bus); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstControlSource* source) const { gst_object_unref(source); }
  void operator()(GstElement* element) const { gst_object_unref(element); }
  void operator()(GstEvent* event) const { gst_event_unref(event); }
  void operator()(GstHarness* harness) const { gst_harness_teardown(harness); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
  void operator()(GstPad* pad) const { gst_object_unref(pad); }
  void operator()(GstQuery* query) const { gst_query_unref(query); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstStructure* structure) const { gst_structure_free(structure); }
};

template <typename T>
using Ref = std::unique_ptr<T, Unref>;

struct FreeText {
  void operator()(gchar* text) const { g_free(text); }
};
using Text = std::unique_ptr<gchar, FreeText>;

struct FreeError {
  void operator()(GError* error) const { g_error_free(error); }
};
using Error = std::unique_ptr<GError, FreeError>;

/// Another reference to the object.
template <typename T>
Ref<T> share(T* object) {
  return Ref<T>(static_cast<T*>(gst_object_ref(object)));
}

}  // namespace cudaccl::test
