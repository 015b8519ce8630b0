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

/// The columns with which rows begin.
void append_frame(const GstCudaCclInfo& info, GstClockTime running_time, GString* text) {
  append_cell(text, info.source);
  append_number(text, info.frame);
  if (GST_CLOCK_TIME_IS_VALID(running_time)) {
    append_number(text, running_time);
  } else {
    g_string_append_c(text, ',');
  }
}

}  // namespace

const char* const kColumns =
    "source,frame,pts,label,id,age,area,box_x,box_y,box_width,box_height,centroid_x,centroid_y,"
    "moments_xx,moments_xy,moments_yy,perimeter,euler,value,flags";

void append_rows(const GstCudaCclInfo& info, GstClockTime running_time, GString* text) {
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

}  // namespace examples
