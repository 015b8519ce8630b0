/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Writes the metadata of a frame as JSON, in C or C++. Nothing but GStreamer is linked:
 *
 *     GstCudaCclInfo info;
 *     if (gst_buffer_get_cudaccl_info (buffer, &info)) {
 *       GString *json = g_string_new (NULL);
 *       gst_cudaccl_info_append_json (&info, GST_CLOCK_TIME_NONE, json);
 *       g_print ("%s\n", json->str);
 *       g_string_free (json, TRUE);
 *     }
 *
 * docs/json.md explains the keys, docs/records.schema.json is the JSON Schema.
 */
#ifndef GST_CUDACCL_JSON_H
#define GST_CUDACCL_JSON_H

#include <float.h>
#include <math.h>
#include <string.h>

#include "gstcudacclmeta.h"

G_BEGIN_DECLS

/** Value of the key `schema`. It changes if a key changes or goes; new keys may come without. */
#define GST_CUDACCL_JSON_SCHEMA "cudaccl-1"

/** Whether a decimal number that reads as @number reads as @value, also for a reader that never makes it a double. */
static inline gboolean
gst_cudaccl_json_reads_as (gdouble number, gfloat value)
{
  return (gfloat) number == value && (gfloat) nextafter (number, number > value ? DBL_MAX : -DBL_MAX) == value;
}

/**
 * Appends a number in the shortest form that reads back as the same float, in every locale. It has a point or an
 * exponent, so that every reader takes it for a real number. JSON has no infinity and no NaN: they are `null`.
 */
static inline void
gst_cudaccl_json_append_float (GString * json, gfloat value)
{
  static const gchar *const formats[] = { "%.6g", "%.7g", "%.8g", "%.9g" };
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  guint i;

  if (!isfinite (value)) {
    g_string_append (json, "null");
    return;
  }
  for (i = 0; i < G_N_ELEMENTS (formats); i++) {
    g_ascii_formatd (text, sizeof (text), formats[i], value);
    if (gst_cudaccl_json_reads_as (g_ascii_strtod (text, NULL), value))
      break;
  }
  g_string_append (json, text);
  if (!strpbrk (text, ".e"))
    g_string_append (json, ".0");
}

/** Appends an array of numbers. */
static inline void
gst_cudaccl_json_append_floats (GString * json, const gfloat * values, guint n_values)
{
  guint i;

  for (i = 0; i < n_values; i++) {
    g_string_append_c (json, i == 0 ? '[' : ',');
    gst_cudaccl_json_append_float (json, values[i]);
  }
  g_string_append_c (json, ']');
}

/** Appends a string with its quotes; NULL is `null`. Bytes that are not UTF-8 become U+FFFD. */
static inline void
gst_cudaccl_json_append_string (GString * json, const gchar * string)
{
  gchar *text = string ? g_utf8_make_valid (string, -1) : NULL;
  const gchar *c;

  if (!text) {
    g_string_append (json, "null");
    return;
  }
  g_string_append_c (json, '"');
  for (c = text; *c; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_printf (json, "\\%c", *c);
    else if ((guchar) *c < 0x20)
      g_string_append_printf (json, "\\u%04x", (guint) *c);
    else
      g_string_append_c (json, *c);
  }
  g_string_append_c (json, '"');
  g_free (text);
}

/** Appends an unsigned number; @none is `null`. */
static inline void
gst_cudaccl_json_append_count (GString * json, guint64 value, guint64 none)
{
  if (value == none)
    g_string_append (json, "null");
  else
    g_string_append_printf (json, "%" G_GUINT64_FORMAT, value);
}

/** Returns the name of this bit of `CclComponent.flags`, or `NULL` if it has none. */
static inline const gchar *
gst_cudaccl_component_flag_nick (guint bit)
{
  static const gchar *const nicks[] = { "touches_border", "newborn", "merged", "split", NULL, "scaled", "cut" };

  return bit < G_N_ELEMENTS (nicks) ? nicks[bit] : NULL;
}

/** Returns the name of this bit of `CclTrack.flags`, or `NULL` if it has none. */
static inline const gchar *
gst_cudaccl_track_flag_nick (guint bit)
{
  static const gchar *const nicks[] = {
    "confirmed", "predicted", "merged", "fragmented", "newborn", "split", "touches_border"
  };

  return bit < G_N_ELEMENTS (nicks) ? nicks[bit] : NULL;
}

/** Appends the names of the bits that are set. A bit without a name is left out. */
static inline void
gst_cudaccl_json_append_flags (GString * json, guint flags, const gchar * (*nick) (guint bit))
{
  const gchar *separator = "";
  guint i;

  g_string_append_c (json, '[');
  for (i = 0; i < 32; i++) {
    if (!(flags & (1u << i)) || !nick (i))
      continue;
    g_string_append_printf (json, "%s\"%s\"", separator, nick (i));
    separator = ",";
  }
  g_string_append_c (json, ']');
}

/** Appends the grey statistics of a component as an object. */
static inline void
gst_cudaccl_json_append_grey (GString * json, const CclGrey * grey)
{
  const gfloat centroid[] = { grey->cx, grey->cy };

  g_string_append_printf (json, "{\"sum\":%" G_GUINT64_FORMAT ",\"min\":%u,\"max\":%u,\"mean\":", (guint64) grey->sum,
      grey->min, grey->max);
  gst_cudaccl_json_append_float (json, grey->mean);
  g_string_append (json, ",\"variance\":");
  gst_cudaccl_json_append_float (json, grey->variance);
  g_string_append (json, ",\"centroid\":");
  gst_cudaccl_json_append_floats (json, centroid, G_N_ELEMENTS (centroid));
  g_string_append_c (json, '}');
}

/** Appends one component of @info as an object, with its grey statistics if there are any. */
static inline void
gst_cudaccl_json_append_component (GString * json, const GstCudaCclInfo * info, const CclComponent * c)
{
  const CclGrey *grey = gst_cudaccl_component_grey (info, c);
  const gfloat centroid[] = { c->cx, c->cy };
  const gfloat moments[] = { c->mxx, c->mxy, c->myy };

  g_string_append_printf (json, "{\"label\":%u,\"id\":%u,\"age\":%u,\"area\":%u,\"box\":[%u,%u,%u,%u],\"centroid\":",
      c->label, c->id, c->age, c->area, c->x, c->y, c->width, c->height);
  gst_cudaccl_json_append_floats (json, centroid, G_N_ELEMENTS (centroid));
  g_string_append (json, ",\"moments\":");
  gst_cudaccl_json_append_floats (json, moments, G_N_ELEMENTS (moments));
  g_string_append_printf (json, ",\"perimeter\":%u,\"euler\":%d,\"value\":%u,\"flags\":", c->perimeter, c->euler,
      c->value);
  gst_cudaccl_json_append_flags (json, c->flags, gst_cudaccl_component_flag_nick);
  if (grey) {
    g_string_append (json, ",\"grey\":");
    gst_cudaccl_json_append_grey (json, grey);
  }
  g_string_append_c (json, '}');
}

/** Appends the names of the zones that a track is in. */
static inline void
gst_cudaccl_json_append_zones (GString * json, guint bits, const GValue * zones)
{
  const guint n_zones = zones && GST_VALUE_HOLDS_ARRAY (zones) ? MIN (gst_value_array_get_size (zones), 32) : 0;
  const gchar *separator = "";
  guint i;

  g_string_append_c (json, '[');
  for (i = 0; i < n_zones; i++) {
    const GValue *name = gst_value_array_get_value (zones, i);

    if (!(bits & (1u << i)) || !G_VALUE_HOLDS_STRING (name))
      continue;
    g_string_append (json, separator);
    gst_cudaccl_json_append_string (json, g_value_get_string (name));
    separator = ",";
  }
  g_string_append_c (json, ']');
}

/** Appends one track of @info as an object. The index of a component that has no record is `null`. */
static inline void
gst_cudaccl_json_append_track (GString * json, const GstCudaCclInfo * info, const CclTrack * t)
{
  const gfloat centroid[] = { t->cx, t->cy };
  const gfloat velocity[] = { t->vx, t->vy };

  g_string_append_printf (json, "{\"id\":%u,\"age\":%u,\"component\":", t->id, t->age);
  gst_cudaccl_json_append_count (json, MIN (t->component, info->n_records), info->n_records);
  g_string_append_printf (json, ",\"first_time\":%" G_GINT64_FORMAT ",\"last_time\":%" G_GINT64_FORMAT,
      (gint64) t->first_time, (gint64) t->last_time);
  g_string_append_printf (json, ",\"box\":[%u,%u,%u,%u],\"centroid\":", t->x, t->y, t->width, t->height);
  gst_cudaccl_json_append_floats (json, centroid, G_N_ELEMENTS (centroid));
  g_string_append (json, ",\"velocity\":");
  gst_cudaccl_json_append_floats (json, velocity, G_N_ELEMENTS (velocity));
  g_string_append_printf (json, ",\"parent\":%u,\"zones\":", t->parent);
  gst_cudaccl_json_append_zones (json, t->zones, info->zones);
  g_string_append (json, ",\"flags\":");
  gst_cudaccl_json_append_flags (json, t->flags, gst_cudaccl_track_flag_nick);
  g_string_append_c (json, '}');
}

/** Appends the key `utc`, text of RFC 3339 such as "2026-11-25T08:30:00.040000000Z", if the time of day is known. */
static inline void
gst_cudaccl_json_append_utc (GString * json, const GstCudaCclInfo * info)
{
  GDateTime *second = info->utc_clock ? g_date_time_new_from_unix_utc ((gint64) (info->utc / GST_SECOND)) : NULL;
  gchar *text;

  if (!second)
    return;
  text = g_date_time_format (second, "%Y-%m-%dT%H:%M:%S");
  g_string_append_printf (json, ",\"utc\":\"%s.%09uZ\"", text, (guint) (info->utc % GST_SECOND));
  g_free (text);
  g_date_time_unref (second);
}

/** Appends one event of @info as an object. */
static inline void
gst_cudaccl_json_append_event (GString * json, const GstCudaCclInfo * info, const CclEvent * event)
{
  const gchar *place = gst_cudaccl_event_place (info, event);
  const gboolean is_at_line = gst_cudaccl_event_is_at_line (event);
  const gfloat position[] = { event->x, event->y };

  g_string_append (json, "{\"type\":");
  gst_cudaccl_json_append_string (json, gst_cudaccl_event_nick (event->type));
  g_string_append_printf (json, ",\"id\":%u,\"other\":%u,\"zone\":", event->id, event->other);
  gst_cudaccl_json_append_string (json, is_at_line ? NULL : place);
  g_string_append (json, ",\"line\":");
  gst_cudaccl_json_append_string (json, is_at_line ? place : NULL);
  g_string_append_printf (json, ",\"time\":%" G_GINT64_FORMAT, (gint64) event->time);
  gst_cudaccl_json_append_utc (json, info);
  g_string_append (json, ",\"position\":");
  gst_cudaccl_json_append_floats (json, position, G_N_ELEMENTS (position));
  g_string_append_c (json, '}');
}

/** Appends one polygon of @info as an object. */
static inline void
gst_cudaccl_json_append_polygon (GString * json, const GstCudaCclInfo * info, const CclPolygon * polygon)
{
  guint i;

  g_string_append_printf (json, "{\"label\":%u,\"id\":%u,\"kind\":", polygon->label, polygon->id);
  gst_cudaccl_json_append_string (json, gst_cudaccl_polygon_nick (polygon->kind));
  g_string_append (json, ",\"vertices\":[");
  for (i = 0; i < polygon->n_vertices; i++) {
    const CclVertex *vertex = &info->vertices[polygon->first + i];
    const gfloat point[] = { vertex->x, vertex->y };

    g_string_append (json, i == 0 ? "" : ",");
    gst_cudaccl_json_append_floats (json, point, G_N_ELEMENTS (point));
  }
  g_string_append (json, "]}");
}

/** Appends the keys of the frame itself, without the end of the object. */
static inline void
gst_cudaccl_json_append_frame (GString * json, const GstCudaCclInfo * info, GstClockTime running_time)
{
  g_string_append (json, "{\"schema\":\"" GST_CUDACCL_JSON_SCHEMA "\",\"source\":");
  gst_cudaccl_json_append_string (json, info->source);
  g_string_append_printf (json, ",\"frame\":%" G_GUINT64_FORMAT ",\"pts\":", info->frame);
  gst_cudaccl_json_append_count (json, running_time, GST_CLOCK_TIME_NONE);
  gst_cudaccl_json_append_utc (json, info);
  if (info->utc_clock) {
    g_string_append (json, ",\"utc_clock\":");
    gst_cudaccl_json_append_string (json, info->utc_clock);
  }
  g_string_append_printf (json, ",\"width\":%u,\"height\":%u,\"n_components\":%u,\"overflow\":%s,\"relearning\":%s",
      info->width, info->height, info->n_components, info->overflow ? "true" : "false",
      info->relearning ? "true" : "false");
  g_string_append_printf (json, ",\"level\":%u", info->level);
}

/**
 * Appends the frame as one JSON object on one line, without a newline, as docs/records.schema.json describes it.
 * @running_time is that of the buffer, from gst_segment_to_running_time(); GST_CLOCK_TIME_NONE: not known.
 */
static inline void
gst_cudaccl_info_append_json (const GstCudaCclInfo * info, GstClockTime running_time, GString * json)
{
  guint i;

  gst_cudaccl_json_append_frame (json, info, running_time);
  g_string_append (json, ",\"components\":[");
  for (i = 0; i < info->n_records; i++) {
    g_string_append (json, i == 0 ? "" : ",");
    gst_cudaccl_json_append_component (json, info, &info->records[i]);
  }
  if (info->is_tracked) {
    g_string_append (json, "],\"tracks\":[");
    for (i = 0; i < info->n_tracks; i++) {
      g_string_append (json, i == 0 ? "" : ",");
      gst_cudaccl_json_append_track (json, info, &info->tracks[i]);
    }
    g_string_append (json, "],\"events\":[");
    for (i = 0; i < info->n_events; i++) {
      g_string_append (json, i == 0 ? "" : ",");
      gst_cudaccl_json_append_event (json, info, &info->events[i]);
    }
  }
  if (info->has_polygons) {
    g_string_append_printf (json, "],\"polygons_truncated\":%s,\"polygons\":[",
        info->polygons_truncated ? "true" : "false");
    for (i = 0; i < info->n_polygons; i++) {
      g_string_append (json, i == 0 ? "" : ",");
      gst_cudaccl_json_append_polygon (json, info, &info->polygons[i]);
    }
  }
  g_string_append (json, "]}");
}

G_END_DECLS

#endif /* GST_CUDACCL_JSON_H */
