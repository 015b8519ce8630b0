/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An application that has a CUDA context of its own and lets the pipeline work in it, so that what the
 * elements write is memory that the application's kernels can read where it is:
 *
 *     cuda-context [FRAMES]
 *
 * The context is handed over when an element asks for one on the bus, before it makes any. */
#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#include <gst/gst.h>
#include <stdlib.h>

/* What a test's runner takes for "cannot be tried here". */
#define SKIPPED 77

/* On whatever thread posts the message: an element waits for the answer. */
static GstBusSyncReply answer_context(GstBus* bus, GstMessage* message, gpointer ours) {
  const gchar* type = NULL;
  (void)bus;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT &&
      gst_message_parse_context_type(message, &type) && g_str_equal(type, GST_CUDA_CONTEXT_TYPE)) {
    GstContext* context = gst_context_new_cuda_context(ours);
    gst_element_set_context(GST_ELEMENT(GST_MESSAGE_SRC(message)), context);
    gst_context_unref(context);
  }
  return GST_BUS_PASS;
}

/* A frame of RGBA pixels at an address that is valid in the application's context. */
static GstPadProbeReturn see_frame(GstPad* pad, GstPadProbeInfo* info, gpointer ours) {
  GstMemory* memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
  GstMapInfo map;
  (void)pad;
  if (gst_is_cuda_memory(memory) && gst_memory_map(memory, &map, GST_MAP_READ | GST_MAP_CUDA)) {
    g_print("%" G_GSIZE_FORMAT " bytes at device address %p, in %s context\n", map.size, (void*)map.data,
            GST_CUDA_MEMORY_CAST(memory)->context == ours ? "our" : "another");
    gst_memory_unmap(memory, &map);
  }
  return GST_PAD_PROBE_OK;
}

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  if (!gst_cuda_load_library()) {
    g_printerr("no CUDA driver is installed\n");
    return SKIPPED;
  }
  /* Here a new one. A CUcontext that exists is wrapped with gst_cuda_context_new_wrapped(). */
  GstCudaContext* ours = gst_cuda_context_new(0);
  if (ours == NULL) {
    g_printerr("no CUDA device was found\n");
    return SKIPPED;
  }

  gchar* text = g_strdup_printf(
      "videotestsrc num-buffers=%s pattern=ball ! cudaccl backend=cuda ! "
      "video/x-raw(memory:CUDAMemory),format=RGBA ! fakesink name=sink",
      argc > 1 ? argv[1] : "3");
  GstElement* pipeline = gst_parse_launch(text, NULL);
  g_free(text);
  GstBus* bus = gst_element_get_bus(pipeline);
  gst_bus_set_sync_handler(bus, answer_context, ours, NULL);
  GstElement* sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstPad* pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, see_frame, ours, NULL);

  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage* end = gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const int status = GST_MESSAGE_TYPE(end) == GST_MESSAGE_EOS ? EXIT_SUCCESS : EXIT_FAILURE;
  if (status != EXIT_SUCCESS) {
    GError* error = NULL;
    gst_message_parse_error(end, &error, NULL);
    g_printerr("%s\n", error->message);
    g_error_free(error);
  }
  gst_message_unref(end);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pad);
  gst_object_unref(sink);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  gst_object_unref(ours);
  return status;
}
