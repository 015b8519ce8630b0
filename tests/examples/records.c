/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * The smallest program that reads the records: prints how many components each frame has.
 *
 *     records clip.avi
 */
#include <gst/gst.h>

#include "cudaccl/gstcudacclmeta.h"

static void
on_frame (GstElement * identity, GstBuffer * buffer, gpointer user_data)
{
  GstCudaCclInfo info;

  (void) identity;
  (void) user_data;
  if (gst_buffer_get_cudaccl_info (buffer, &info))
    g_print ("%" GST_TIME_FORMAT "  %u components\n", GST_TIME_ARGS (GST_BUFFER_PTS (buffer)),
        info.n_components);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  GstElement *pipeline, *part;
  GstMessage *message;
  int result = 0;

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("usage: %s VIDEO\n", argv[0]);
    return 2;
  }
  pipeline = gst_parse_launch_full ("filesrc name=file ! decodebin ! videoconvert"
      " ! cudaccl output=passthrough ! identity name=labelled signal-handoffs=true ! fakesink", NULL,
      GST_PARSE_FLAG_FATAL_ERRORS, &error);
  if (!pipeline) {
    g_printerr ("error: %s\n", error->message);
    return 1;
  }
  part = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  g_object_set (part, "location", argv[1], NULL);
  gst_object_unref (part);
  part = gst_bin_get_by_name (GST_BIN (pipeline), "labelled");
  g_signal_connect (part, "handoff", G_CALLBACK (on_frame), NULL);
  gst_object_unref (part);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), GST_CLOCK_TIME_NONE,
      GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("error: %s\n", error->message);
    g_error_free (error);
    result = 1;
  }
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  return result;
}
