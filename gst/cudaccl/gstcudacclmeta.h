/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Reads the component records of a frame, its tracks and its events in C or C++. Nothing but GStreamer is
 * linked:
 *
 *     GstCudaCclInfo info;
 *     if (gst_buffer_get_cudaccl_info (buffer, &info)) {
 *       for (guint i = 0; i < info.n_records; i++)
 *         g_print ("%u px at %.1f,%.1f\n", info.records[i].area, info.records[i].cx, info.records[i].cy);
 *     }
 *
 * The metadata is a GstCustomMeta, so any language with GStreamer bindings can read it (see README).
 */
#ifndef GST_CUDACCL_META_H
#define GST_CUDACCL_META_H

#include <gst/gst.h>

#include "ccl/component.h"
#include "ccl/track.h"

G_BEGIN_DECLS

/** Name of the GstCustomMeta and of its structure. */
#define GST_CUDACCL_META_NAME "GstCudaCclMeta"

/**
 * The version of the structure says which fields it has. Later versions add fields, and this number grows; the
 * fields of earlier versions keep their names, types and meaning, and their records keep their layout. What
 * must change gets a field with a new name. So a reader of version 1 reads what it knows from all later
 * versions, and finds out that a field is missing.
 */
#define GST_CUDACCL_META_VERSION 2u

/**
 * Fields of the structure, version 1: `layout-version`, `width`, `height`, `n-components` (guint), `overflow`,
 * `labels-saturated` (gboolean), `level` (guint), `relearning` (gboolean), `components` (GBytes: an array of
 * CclComponent, ascending labels).
 *
 * Version 2, only with `track=true`: `tracks` (GBytes: an array of CclTrack, ascending ids), `events` (GBytes:
 * an array of CclEvent), `zones`, `lines` (GstValueArray of strings: their names, by index).
 */
typedef struct _GstCudaCclInfo {
  guint width, height;        /**< of the frame that the records' coordinates refer to */
  guint n_components;         /**< components that the filter keeps: the true count */
  gboolean overflow;          /**< n_components > n_records: only the largest have a record */
  gboolean labels_saturated;  /**< output=labels, and labels above 65535 were written as 65535 */
  guint level;                /**< foreground=otsu: the threshold of this frame; else 0 */
  gboolean relearning;        /**< foreground=motion: the background is being learned, nothing is foreground */
  const CclComponent *records; /**< borrowed from the buffer, as all that follows; valid as long as its metadata */
  guint n_records;
  gboolean is_tracked;        /**< FALSE: without tracks, what follows is empty */
  const CclTrack *tracks;     /**< CclTrack::component is an index of `records` */
  guint n_tracks;
  const CclEvent *events;
  guint n_events;
  const GValue *zones;        /**< names: see gst_cudaccl_event_place(); NULL if there are none */
  const GValue *lines;
} GstCudaCclInfo;

/** The records of a field, and how many there are; NULL and 0 if there is no such field. */
static inline const void *
gst_cudaccl_get_records (const GstStructure * structure, const gchar * field, gsize record_size, guint * n_records)
{
  const GValue *value = gst_structure_get_value (structure, field);
  gsize size = 0;
  const void *records = value && G_VALUE_HOLDS (value, G_TYPE_BYTES) && g_value_get_boxed (value)
      ? g_bytes_get_data ((GBytes *) g_value_get_boxed (value), &size) : NULL;

  *n_records = (guint) (size / record_size);
  return records;
}

/**
 * Fills @info from the metadata on @buffer. Returns FALSE and leaves @info as it is if the buffer has none, or if
 * it lacks the component records that this header knows.
 */
static inline gboolean
gst_buffer_get_cudaccl_info (GstBuffer * buffer, GstCudaCclInfo * info)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, GST_CUDACCL_META_NAME);
  GstStructure *structure = meta ? gst_custom_meta_get_structure (meta) : NULL;
  GstCudaCclInfo found;
  guint version = 0;

  if (!structure || !gst_structure_has_field_typed (structure, "components", G_TYPE_BYTES)
      || !gst_structure_get_uint (structure, "layout-version", &version) || version < 1
      || !gst_structure_get_uint (structure, "width", &found.width)
      || !gst_structure_get_uint (structure, "height", &found.height)
      || !gst_structure_get_uint (structure, "n-components", &found.n_components)
      || !gst_structure_get_boolean (structure, "overflow", &found.overflow)
      || !gst_structure_get_boolean (structure, "labels-saturated", &found.labels_saturated)
      || !gst_structure_get_uint (structure, "level", &found.level)
      || !gst_structure_get_boolean (structure, "relearning", &found.relearning))
    return FALSE;
  found.records = (const CclComponent *)
      gst_cudaccl_get_records (structure, "components", sizeof (CclComponent), &found.n_records);
  found.is_tracked = gst_structure_has_field (structure, "tracks");
  found.tracks = (const CclTrack *)
      gst_cudaccl_get_records (structure, "tracks", sizeof (CclTrack), &found.n_tracks);
  found.events = (const CclEvent *)
      gst_cudaccl_get_records (structure, "events", sizeof (CclEvent), &found.n_events);
  found.zones = gst_structure_get_value (structure, "zones");
  found.lines = gst_structure_get_value (structure, "lines");
  *info = found;
  return TRUE;
}

/** The type of an event as a word, such as `entered`; NULL for a type that this header does not know. */
static inline const gchar *
gst_cudaccl_event_nick (guint type)
{
  static const gchar *const nicks[] = {
    NULL, "born", "died", "merged", "split", "entered", "left", "dwelled", "crossed-left", "crossed-right",
    "crowded", "started", "stopped"
  };

  return type < G_N_ELEMENTS (nicks) ? nicks[type] : NULL;
}

/** Whether CclEvent::where is the index of a line. */
static inline gboolean
gst_cudaccl_event_is_at_line (const CclEvent * event)
{
  return event->type == CCL_EVENT_CROSSED_LEFT || event->type == CCL_EVENT_CROSSED_RIGHT;
}

/** The name of the zone or line of an event of @info; NULL if the event is at none. */
static inline const gchar *
gst_cudaccl_event_place (const GstCudaCclInfo * info, const CclEvent * event)
{
  const GValue *names = gst_cudaccl_event_is_at_line (event) ? info->lines : info->zones;

  if (event->where == CCL_NO_PLACE || !names || !GST_VALUE_HOLDS_ARRAY (names)
      || event->where >= gst_value_array_get_size (names))
    return NULL;
  return g_value_get_string (gst_value_array_get_value (names, event->where));
}

G_END_DECLS

#endif /* GST_CUDACCL_META_H */
