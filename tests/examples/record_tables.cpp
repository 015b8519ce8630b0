// SPDX-License-Identifier: LGPL-2.1-or-later
#include "record_tables.h"

#include <cmath>
#include <cstring>
#include <initializer_list>

#include "cudaccl/gstcudaccljson.h"

namespace examples {

namespace {

/// In quotes if a reader needs them.
void append_cell(GString* text, const gchar* cell) {
  if (std::strpbrk(cell, ",\"\r\n") == nullptr) {
    g_string_append(text, cell);
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
void append_flags(GString* text, guint flags) {
  const char* separator = "";
  for (guint bit = 0; bit < 32; ++bit) {
    const gchar* nick = gst_cudaccl_component_flag_nick(bit);
    if ((flags >> bit & 1) != 0 && nick != nullptr) {
      g_string_append_printf(text, "%s%s", separator, nick);
      separator = " ";
    }
  }
}

}  // namespace

const char* const kColumns =
    "source,frame,pts,label,id,age,area,box_x,box_y,box_width,box_height,centroid_x,centroid_y,"
    "moments_xx,moments_xy,moments_yy,perimeter,euler,value,flags";

void append_rows(const GstCudaCclInfo& info, GstClockTime running_time, GString* text) {
  for (guint i = 0; i < info.n_records; ++i) {
    const CclComponent& c = info.records[i];
    append_cell(text, info.source);
    g_string_append_printf(text, ",%" G_GUINT64_FORMAT ",", info.frame);
    if (GST_CLOCK_TIME_IS_VALID(running_time)) {
      g_string_append_printf(text, "%" G_GUINT64_FORMAT, running_time);
    }
    for (const guint value : {c.label, c.id, c.age, c.area, c.x, c.y, c.width, c.height}) {
      g_string_append_printf(text, ",%u", value);
    }
    for (const gfloat value : {c.cx, c.cy, c.mxx, c.mxy, c.myy}) {
      g_string_append_c(text, ',');
      if (std::isfinite(value)) {
        gst_cudaccl_json_append_float(text, value);
      }
    }
    g_string_append_printf(text, ",%u,%d,%u,", c.perimeter, c.euler, c.value);
    append_flags(text, c.flags);
    g_string_append_c(text, '\n');
  }
}

}  // namespace examples
