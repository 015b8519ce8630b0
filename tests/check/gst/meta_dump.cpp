// SPDX-License-Identifier: LGPL-2.1-or-later
#include "meta_dump.h"

#include <iomanip>
#include <sstream>

#include "cudaccl/gstcudacclmeta.h"

namespace cudaccl::test {

namespace {

template <typename Record>
void write_records(std::ostream& out, const char* name, const Record* records, guint count) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(records);
  out << ' ' << count << ' ' << name << ' ' << std::hex << std::setfill('0');
  for (size_t i = 0; i < count * sizeof(Record); ++i) {
    out << std::setw(2) << unsigned{bytes[i]};
  }
  out << std::dec;
}

void write_names(std::ostream& out, const char* name, const GValue* names) {
  const guint count = names != nullptr ? gst_value_array_get_size(names) : 0;
  out << ' ' << name;
  for (guint i = 0; i < count; ++i) {
    out << ' ' << std::quoted(g_value_get_string(gst_value_array_get_value(names, i)));
  }
}

}  // namespace

std::string dump_metas(GstBuffer* buffer) {
  std::ostringstream out;
  out << "buffer\n";
  gpointer state = nullptr;
  GstCudaCclInfo info;
  while (gst_buffer_iterate_cudaccl_info(buffer, &state, &info)) {
    out << "  " << std::quoted(info.source) << " frame " << info.frame << ' ' << info.width << 'x'
        << info.height << ' ' << info.n_components << ' ' << info.overflow << info.labels_saturated
        << info.relearning << ' ' << info.level << (info.is_tracked ? " tracked" : "");
    write_records(out, "components", info.records, info.n_records);
    write_records(out, "tracks", info.tracks, info.n_tracks);
    write_records(out, "events", info.events, info.n_events);
    write_names(out, "zones", info.zones);
    write_names(out, "lines", info.lines);
    if (info.has_grey) {
      write_records(out, "grey", info.grey, info.n_grey);
    }
    if (info.has_polygons) {
      write_records(out, "polygons", info.polygons, info.n_polygons);
      write_records(out, "vertices", info.vertices, info.n_vertices);
      out << ' ' << info.polygons_truncated;
    }
    out << '\n';
  }
  return out.str();
}

}  // namespace cudaccl::test
