/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Reads the component records of a frame, its tracks and its events in C or C++. Nothing but GStreamer is
 * linked. No function reads outside of the metadata, whatever it holds:
 *
 *     GstCudaCclInfo info;
 *     if (gst_buffer_get_cudaccl_info (buffer, &info)) {
 *       for (guint i = 0; i < info.n_records; i++)
 *         g_print ("%u px at %.1f,%.1f\n", info.records[i].area, info.records[i].cx, info.records[i].cy);
 *     }
 *
 * A buffer has one such metadata of each cudaccl that it went through:
 *
 *     gpointer state = NULL;
 *     while (gst_buffer_iterate_cudaccl_info (buffer, &state, &info))
 *       g_print ("%s found %u components\n", info.source, info.n_components);
 *
 * The metadata is a GstCustomMeta, so any language with GStreamer bindings can read it (see README).
 */
#ifndef GST_CUDACCL_META_H
#define GST_CUDACCL_META_H

#include <gst/gst.h>
#include <string.h>

#include "ccl/component.h"
#include "ccl/grey.h"
#include "ccl/polygon.h"
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
#define GST_CUDACCL_META_VERSION 1u

/**
 * Fields of the structure, version 1: `layout-version`, `width`, `height`, `n-components` (guint), `source` (string),
 * `frame` (guint64), `overflow`, `labels-saturated` (gboolean), `level` (guint), `relearning` (gboolean), `components`
 * (GBytes: an array of CclComponent, ascending labels). Up to 3 bytes of padding follow the records of each GBytes, so
 * the number of records is its size divided by that of a record, rounded down.
 *
 * Only with `track=true`: `tracks` (GBytes: an array of CclTrack, ascending ids), `events` (GBytes: an array of
 * CclEvent), `zones`, `lines` (GstValueArray of strings: their names, by index). Only with `features=grey`: `grey`
 * (GBytes: an array of CclGrey, one for each of `components`). Only with `features=rectangle`, `hull`, `contour` or
 * `inradius`: `polygons` (GBytes: an array of CclPolygon), `vertices` (GBytes: an array of CclVertex),
 * `polygons-truncated` (gboolean). Only if the time of day is known: `utc` (guint64), `utc-clock` (string).
 */
typedef struct _GstCudaCclInfo {
  const gchar *source;        /**< the element: its property `meta-name`, or its name. Borrowed from the buffer, as all
                                   pointers here; valid as long as its metadata */
  guint64 frame;              /**< number of the frame in the stream of that element, from 0 */
  GstClockTime utc;           /**< when the frame was captured: nanoseconds since 1970 in UTC. GST_CLOCK_TIME_NONE: not
                                   known, as for files */
  const gchar *utc_clock;     /**< which clock gave it: `camera`, its own, or `system`, that of the machine which received
                                   the frame; NULL: not known */
  guint width, height;        /**< of the frame that the records' coordinates refer to */
  guint n_components;         /**< components that the filter keeps: the true count */
  gboolean overflow;          /**< n_components > n_records: only the largest have a record */
  gboolean labels_saturated;  /**< output=labels, and labels above 65535 were written as 65535 */
  guint level;                /**< foreground=otsu: the threshold of this frame; else 0 */
  gboolean relearning;        /**< foreground=motion: the background is being learned, nothing is foreground */
  const CclComponent *records;
  guint n_records;
  gboolean is_tracked;        /**< FALSE: without tracks, what follows is empty */
  const CclTrack *tracks;     /**< with their components: see gst_cudaccl_track_component() */
  guint n_tracks;
  const CclEvent *events;
  guint n_events;
  const GValue *zones;        /**< names: see gst_cudaccl_event_place(); NULL if there are none */
  const GValue *lines;
  gboolean has_grey;          /**< FALSE: `grey` is empty */
  const CclGrey *grey;        /**< in the order of `records` */
  guint n_grey;
  gboolean has_polygons;      /**< FALSE: what follows is empty */
  const CclPolygon *polygons; /**< largest components first */
  guint n_polygons;
  const CclVertex *vertices;  /**< CclPolygon::first is an index of it */
  guint n_vertices;
  gboolean polygons_truncated; /**< some components have no polygons, because they had too many vertices */
} GstCudaCclInfo;

/**
 * Finds the records of a field, and how many there are; NULL and 0 if there are none. FALSE if the field is
 * missing, no array of such records, or not aligned.
 */
static inline gboolean
gst_cudaccl_get_records (const GstStructure * structure, const gchar * field, gsize record_size,
    gconstpointer * records, guint * n_records)
{
  const gsize max_padding = 3, alignment = sizeof (gint64);
  const GValue *value = gst_structure_get_value (structure, field);
  gsize size = 0;
  gconstpointer data = NULL;

  if (!value || !G_VALUE_HOLDS (value, G_TYPE_BYTES))
    return FALSE;
  if (g_value_get_boxed (value))
    data = g_bytes_get_data ((GBytes *) g_value_get_boxed (value), &size);
  if (size % record_size > max_padding || size / record_size > G_MAXUINT || (guintptr) data % alignment != 0)
    return FALSE;
  *n_records = (guint) (size / record_size);
  *records = *n_records > 0 ? data : NULL;
  return TRUE;
}

/** Finds an array of names. FALSE if the field is missing, or anything but an array of strings. */
static inline gboolean
gst_cudaccl_get_names (const GstStructure * structure, const gchar * field, const GValue ** names)
{
  const GValue *value = gst_structure_get_value (structure, field);
  guint i;

  if (!value || !GST_VALUE_HOLDS_ARRAY (value))
    return FALSE;
  for (i = 0; i < gst_value_array_get_size (value); i++) {
    const GValue *name = gst_value_array_get_value (value, i);
    if (!G_VALUE_HOLDS_STRING (name) || !g_value_get_string (name))
      return FALSE;
  }
  *names = value;
  return TRUE;
}

/** Fills in the time of day, unless it is not known. FALSE if a part of it is missing or not as it must be. */
static inline gboolean
gst_cudaccl_get_time_of_day (const GstStructure * structure, GstCudaCclInfo * info)
{
  info->utc = GST_CLOCK_TIME_NONE;
  if (!gst_structure_has_field (structure, "utc"))
    return TRUE;
  info->utc_clock = gst_structure_get_string (structure, "utc-clock");
  return gst_structure_get_uint64 (structure, "utc", &info->utc) && info->utc_clock;
}

/** Fills in tracks and events, unless there are none. FALSE if a part of it is missing or not as it must be. */
static inline gboolean
gst_cudaccl_get_tracking (const GstStructure * structure, GstCudaCclInfo * info)
{
  gconstpointer tracks, events;

  info->is_tracked = gst_structure_has_field (structure, "tracks");
  if (!info->is_tracked)
    return TRUE;
  if (!gst_cudaccl_get_records (structure, "tracks", sizeof (CclTrack), &tracks, &info->n_tracks)
      || !gst_cudaccl_get_records (structure, "events", sizeof (CclEvent), &events, &info->n_events)
      || !gst_cudaccl_get_names (structure, "zones", &info->zones)
      || !gst_cudaccl_get_names (structure, "lines", &info->lines))
    return FALSE;
  info->tracks = (const CclTrack *) tracks;
  info->events = (const CclEvent *) events;
  return TRUE;
}

/** Fills in the grey statistics, unless there are none. FALSE if there is not one for each component. */
static inline gboolean
gst_cudaccl_get_grey (const GstStructure * structure, GstCudaCclInfo * info)
{
  gconstpointer grey;

  info->has_grey = gst_structure_has_field (structure, "grey");
  if (!info->has_grey)
    return TRUE;
  if (!gst_cudaccl_get_records (structure, "grey", sizeof (CclGrey), &grey, &info->n_grey)
      || info->n_grey != info->n_records)
    return FALSE;
  info->grey = (const CclGrey *) grey;
  return TRUE;
}

/**
 * Fills in the polygons, unless there are none. FALSE if a part is missing, a polygon has vertices that are, or all
 * together have more than there are: polygons that share vertices would give JSON without a bound.
 */
static inline gboolean
gst_cudaccl_get_polygons (const GstStructure * structure, GstCudaCclInfo * info)
{
  gconstpointer polygons, vertices;
  guint i, left;

  info->has_polygons = gst_structure_has_field (structure, "polygons");
  if (!info->has_polygons)
    return TRUE;
  if (!gst_cudaccl_get_records (structure, "polygons", sizeof (CclPolygon), &polygons, &info->n_polygons)
      || !gst_cudaccl_get_records (structure, "vertices", sizeof (CclVertex), &vertices, &info->n_vertices)
      || !gst_structure_get_boolean (structure, "polygons-truncated", &info->polygons_truncated))
    return FALSE;
  info->polygons = (const CclPolygon *) polygons;
  info->vertices = (const CclVertex *) vertices;
  left = info->n_vertices;
  for (i = 0; i < info->n_polygons; i++) {
    if (info->polygons[i].first > info->n_vertices || info->polygons[i].n_vertices > left
        || info->polygons[i].n_vertices > info->n_vertices - info->polygons[i].first)
      return FALSE;
    left -= info->polygons[i].n_vertices;
  }
  return TRUE;
}

/** The grey statistics of a record of @info; NULL if there are none. */
static inline const CclGrey *
gst_cudaccl_component_grey (const GstCudaCclInfo * info, const CclComponent * component)
{
  const gsize index = (gsize) (component - info->records);

  return index < info->n_grey ? &info->grey[index] : NULL;
}

/** The kind of a polygon as a word, such as `hull`; NULL for a kind that this header does not know. */
static inline const gchar *
gst_cudaccl_polygon_nick (guint kind)
{
  static const gchar *const nicks[] = { NULL, "rectangle", "hull", "outline", "hole", "circle" };

  return kind < G_N_ELEMENTS (nicks) ? nicks[kind] : NULL;
}

/**
 * Fills @info from the structure of a GstCudaCclMeta of any version. Returns FALSE and leaves @info as it is if a
 * field that this header knows is missing, has another type, or is an array that does not end with a record, or if
 * the frame has no pixels.
 */
static inline gboolean
gst_structure_get_cudaccl_info (const GstStructure * structure, GstCudaCclInfo * info)
{
  GstCudaCclInfo found;
  gconstpointer records;
  guint version;

  memset (&found, 0, sizeof (found));
  found.source = gst_structure_get_string (structure, "source");
  if (!gst_structure_get_uint (structure, "layout-version", &version) || version < 1 || !found.source
      || !gst_structure_get_uint64 (structure, "frame", &found.frame)
      || !gst_structure_get_uint (structure, "width", &found.width) || found.width == 0
      || !gst_structure_get_uint (structure, "height", &found.height) || found.height == 0
      || !gst_structure_get_uint (structure, "n-components", &found.n_components)
      || !gst_structure_get_boolean (structure, "overflow", &found.overflow)
      || !gst_structure_get_boolean (structure, "labels-saturated", &found.labels_saturated)
      || !gst_structure_get_uint (structure, "level", &found.level)
      || !gst_structure_get_boolean (structure, "relearning", &found.relearning)
      || !gst_cudaccl_get_records (structure, "components", sizeof (CclComponent), &records,
          &found.n_records)
      || !gst_cudaccl_get_time_of_day (structure, &found) || !gst_cudaccl_get_tracking (structure, &found)
      || !gst_cudaccl_get_grey (structure, &found) || !gst_cudaccl_get_polygons (structure, &found))
    return FALSE;
  found.records = (const CclComponent *) records;
  *info = found;
  return TRUE;
}

/**
 * Fills @info from the next metadata on @buffer, in the order in which elements attached them, so that of the last
 * cudaccl comes last. @state is NULL at first. Returns FALSE and leaves @info as it is if there is none left.
 * Metadata that gst_structure_get_cudaccl_info() refuses is left out.
 */
static inline gboolean
gst_buffer_iterate_cudaccl_info (GstBuffer * buffer, gpointer * state, GstCudaCclInfo * info)
{
  const GstMetaInfo *meta_info = gst_meta_get_info (GST_CUDACCL_META_NAME);
  GstMeta *meta;

  if (!meta_info)
    return FALSE;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, state, meta_info->api)))
    if (gst_structure_get_cudaccl_info (gst_custom_meta_get_structure ((GstCustomMeta *) meta), info))
      return TRUE;
  return FALSE;
}

/**
 * Fills @info from the metadata that the element with this source attached to @buffer. Returns FALSE and leaves @info
 * as it is if there is none.
 */
static inline gboolean
gst_buffer_get_cudaccl_info_by_source (GstBuffer * buffer, const gchar * source, GstCudaCclInfo * info)
{
  gpointer state = NULL;
  GstCudaCclInfo next;

  while (gst_buffer_iterate_cudaccl_info (buffer, &state, &next))
    if (strcmp (next.source, source) == 0) {
      *info = next;
      return TRUE;
    }
  return FALSE;
}

/**
 * Fills @info from the metadata that was attached to @buffer last. Returns FALSE and leaves @info as it is if there is
 * none.
 */
static inline gboolean
gst_buffer_get_cudaccl_info (GstBuffer * buffer, GstCudaCclInfo * info)
{
  gpointer state = NULL;
  gboolean is_found = FALSE;

  while (gst_buffer_iterate_cudaccl_info (buffer, &state, info))
    is_found = TRUE;
  return is_found;
}

/** The record of the component that shows a track of @info; NULL if none does. */
static inline const CclComponent *
gst_cudaccl_track_component (const GstCudaCclInfo * info, const CclTrack * track)
{
  return track->component < info->n_records ? &info->records[track->component] : NULL;
}

/** The type of an event as a word, such as `entered`; NULL for a type that this header does not know. */
static inline const gchar *
gst_cudaccl_event_nick (guint type)
{
  return ccl_event_nick (type);
}

/** Whether CclEvent::where is the index of a line. */
static inline gboolean
gst_cudaccl_event_is_at_line (const CclEvent * event)
{
  return ccl_event_is_at_line (event->type) != 0;
}

/** The name of the zone or line of an event of @info; NULL if the event is at none. */
static inline const gchar *
gst_cudaccl_event_place (const GstCudaCclInfo * info, const CclEvent * event)
{
  const GValue *names = gst_cudaccl_event_is_at_line (event) ? info->lines : info->zones;

  if (!names || event->where >= gst_value_array_get_size (names))
    return NULL;
  return g_value_get_string (gst_value_array_get_value (names, event->where));
}

G_END_DECLS

#endif /* GST_CUDACCL_META_H */
