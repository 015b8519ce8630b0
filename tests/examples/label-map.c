/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Reads label maps: prints how many pixels of each frame belong to a component, and to how many.
 *
 *     label-map clip.avi
 */
#include <gst/gst.h>

#include "cudaccl/gstcudaccllabelmap.h"

static void
print_map (const GstCudaCclLabelMap * map, const GstMapInfo * memory)
{
  guint x, y, n_pixels = 0, largest = 0;

  for (y = 0; y < map->height; y++) {
    const guint32 *row = gst_cudaccl_label_map_row (map, memory, y);
    for (x = 0; row && x < map->width; x++) {
      n_pixels += row[x] != 0;
      largest = MAX (largest, row[x]);
    }
  }
  g_print ("frame %" G_GUINT64_FORMAT ": %u pixels in components, the largest label is %u\n", map->frame, n_pixels,
      largest);
}

static void
on_frame (GstElement * identity, GstBuffer * buffer, gpointer user_data)
{
  GstCudaCclLabelMap map;
  GstMapInfo memory;

  (void) identity;
  (void) user_data;
  if (gst_buffer_get_cudaccl_label_map (buffer, &map) && gst_buffer_map (map.labels, &memory, GST_MAP_READ)) {
    print_map (&map, &memory);
    gst_buffer_unmap (map.labels, &memory);
  }
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
      " ! cudaccl output=passthrough label-map=labels ! identity name=labelled signal-handoffs=true ! fakesink", NULL,
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
