// SPDX-License-Identifier: LGPL-2.1-or-later
/// Records in a GstStructure.
#pragma once

#include <gst/gst.h>

#include <algorithm>
#include <span>

namespace cudaccl {

/// Sets a field to an array of records. Zeros make its size a positive multiple of three: GstStructure's text
/// form, by which buffers cross processes, loses GBytes that are empty or whose base64 form needs padding.
template <typename Record>
void set_records(GstStructure* structure, const char* field, std::span<const Record> records) {
  constexpr gsize kStep = 3;
  const gsize size = records.size_bytes();
  const gsize padded = std::max(kStep, (size + kStep - 1) / kStep * kStep);
  auto* data = static_cast<guint8*>(g_malloc(padded));
  std::copy_n(reinterpret_cast<const guint8*>(records.data()), size, data);
  std::fill(data + size, data + padded, guint8{0});
  GBytes* bytes = g_bytes_new_take(data, padded);
  gst_structure_set(structure, field, G_TYPE_BYTES, bytes, nullptr);
  g_bytes_unref(bytes);
}

}  // namespace cudaccl
