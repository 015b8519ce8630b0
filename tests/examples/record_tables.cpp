// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record_tables.h"

#include <cmath>
#include <cstring>
#include <initializer_list>

#include "cudaccl/gstcudaccljson.h"

namespace examples {

namespace {

void append_number(GString* text, guint64 value) {
  g_string_append_printf(text, ",%" G_GUINT64_FORMAT, value);
}

void append_signed(GString* text, gint64 value) {
  g_string_append_printf(text, ",%" G_GINT64_FORMAT, value);
}

void append_numbers(GString* text, std::initializer_list<guint64> values) {
  for (const guint64 value : values) {
    append_number(text, value);
  }
}

void append_floats(GString* text, std::initializer_list<gfloat> values) {
  for (const gfloat value : values) {
    g_string_append_c(text, ',');
    if (std::isfinite(value)) {
      gst_cudaccl_json_append_float(text, value);
    }
  }
}

/// In quotes if a reader needs them; nothing for null.
void append_cell(GString* text, const gchar* cell) {
  if (cell == nullptr || std::strpbrk(cell, ",\"\r\n") == nullptr) {
    g_string_append(text, cell != nullptr ? cell : "");
    return;
  }
  g_string_append_c(text, '"');
  for (; *cell != '\0'; ++cell) {
    g_string_append(text, *cell == '"' ? "\"" : "");
    g_string_append_c(text, *cell);
  }
  g_string_append_c(text, '"');
}

/// The names of the bits that are set, with blanks between them.
void append_flags(GString* text, guint flags, const gchar* (*nick)(guint bit)) {
  const char* separator = "";
  g_string_append_c(text, ',');
  for (guint bit = 0; bit < 32; ++bit) {
    if ((flags >> bit & 1) != 0 && nick(bit) != nullptr) {
      g_string_append_printf(text, "%s%s", separator, nick(bit));
      separator = " ";
    }
  }
}

/// The columns with which the rows of all tables begin.
void append_frame(const GstCudaCclInfo& info, GstClockTime running_time, GString* text) {
  append_cell(text, info.source);
  append_number(text, info.frame);
  if (GST_CLOCK_TIME_IS_VALID(running_time)) {
    append_number(text, running_time);
  } else {
    g_string_append_c(text, ',');
  }
}

void append_components(const GstCudaCclInfo& info, GstClockTime running_time, GString* text) {
  for (guint i = 0; i < info.n_records; ++i) {
    const CclComponent& c = info.records[i];
    append_frame(info, running_time, text);
    append_numbers(text, {c.label, c.id, c.age, c.area, c.x, c.y, c.width, c.height});
    append_floats(text, {c.cx, c.cy, c.mxx, c.mxy, c.myy});
    append_number(text, c.perimeter);
    append_signed(text, c.euler);
    append_number(text, c.value);
    append_flags(text, c.flags, gst_cudaccl_component_flag_nick);
    g_string_append_c(text, '\n');
  }
}

void append_tracks(const GstCudaCclInfo& info, GstClockTime running_time, GString* text) {
  for (guint i = 0; i < info.n_tracks; ++i) {
    const CclTrack& t = info.tracks[i];
    append_frame(info, running_time, text);
    append_numbers(text, {t.id, t.age});
    if (t.component < info.n_records) {
      append_number(text, t.component);
    } else {
      g_string_append_c(text, ',');
    }
    append_signed(text, t.first_time);
    append_signed(text, t.last_time);
    append_numbers(text, {t.x, t.y, t.width, t.height});
    append_floats(text, {t.cx, t.cy, t.vx, t.vy});
    append_numbers(text, {t.parent, t.zones});
    append_flags(text, t.flags, gst_cudaccl_track_flag_nick);
    g_string_append_c(text, '\n');
  }
}

void append_events(const GstCudaCclInfo& info, GstClockTime running_time, GString* text) {
  for (guint i = 0; i < info.n_events; ++i) {
    const CclEvent& event = info.events[i];
    const gchar* place = gst_cudaccl_event_place(&info, &event);
    const bool is_at_line = gst_cudaccl_event_is_at_line(&event);
    append_frame(info, running_time, text);
    g_string_append_c(text, ',');
    append_cell(text, gst_cudaccl_event_nick(event.type));
    append_numbers(text, {event.id, event.other});
    g_string_append_c(text, ',');
    append_cell(text, is_at_line ? nullptr : place);
    g_string_append_c(text, ',');
    append_cell(text, is_at_line ? place : nullptr);
    append_signed(text, event.time);
    append_floats(text, {event.x, event.y});
    g_string_append_c(text, '\n');
  }
}

}  // namespace

const RecordTable kComponentTable = {
    "source,frame,pts,label,id,age,area,box_x,box_y,box_width,box_height,centroid_x,centroid_y,"
    "moments_xx,moments_xy,moments_yy,perimeter,euler,value,flags",
    append_components};

const RecordTable kTrackTable = {
    "source,frame,pts,id,age,component,first_time,last_time,box_x,box_y,box_width,box_height,"
    "centroid_x,centroid_y,velocity_x,velocity_y,parent,zones,flags",
    append_tracks};

const RecordTable kEventTable = {"source,frame,pts,type,id,other,zone,line,time,position_x,position_y",
                                 append_events};

}  // namespace examples
