/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Reads the component records of a frame in C or C++. Nothing but GStreamer is linked:
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

G_BEGIN_DECLS

/** Name of the GstCustomMeta and of its structure. */
#define GST_CUDACCL_META_NAME "GstCudaCclMeta"

/**
 * Fields of the structure: `layout-version`, `width`, `height`, `n-components` (guint), `overflow`,
 * `labels-saturated` (gboolean), `level` (guint), `relearning` (gboolean), `components` (GBytes: an array of
 * CclComponent, ascending labels).
 */
typedef struct _GstCudaCclInfo {
  guint width, height;        /**< of the frame that the records' coordinates refer to */
  guint n_components;         /**< components that the filter keeps: the true count */
  gboolean overflow;          /**< n_components > n_records: only the largest have a record */
  gboolean labels_saturated;  /**< output=labels, and labels above 65535 were written as 65535 */
  guint level;                /**< foreground=otsu: the threshold of this frame; else 0 */
  gboolean relearning;        /**< foreground=motion: the background is being learned, nothing is foreground */
  const CclComponent *records; /**< borrowed from the buffer; valid as long as its metadata is */
  guint n_records;
} GstCudaCclInfo;

/**
 * Fills @info from the component records on @buffer. Returns FALSE and leaves @info as it is if the buffer has
 * none, or if this header does not know their layout.
 */
static inline gboolean
gst_buffer_get_cudaccl_info (GstBuffer * buffer, GstCudaCclInfo * info)
{
  GstCustomMeta *meta = gst_buffer_get_custom_meta (buffer, GST_CUDACCL_META_NAME);
  GstStructure *structure = meta ? gst_custom_meta_get_structure (meta) : NULL;
  const GValue *records = structure ? gst_structure_get_value (structure, "components") : NULL;
  GstCudaCclInfo found;
  guint version = 0;
  gsize size = 0;

  if (!records || !gst_structure_get_uint (structure, "layout-version", &version)
      || version != CCL_COMPONENT_LAYOUT_VERSION
      || !gst_structure_get_uint (structure, "width", &found.width)
      || !gst_structure_get_uint (structure, "height", &found.height)
      || !gst_structure_get_uint (structure, "n-components", &found.n_components)
      || !gst_structure_get_boolean (structure, "overflow", &found.overflow)
      || !gst_structure_get_boolean (structure, "labels-saturated", &found.labels_saturated)
      || !gst_structure_get_uint (structure, "level", &found.level)
      || !gst_structure_get_boolean (structure, "relearning", &found.relearning))
    return FALSE;
  found.records = (const CclComponent *)
      g_bytes_get_data ((GBytes *) g_value_get_boxed (records), &size);
  found.n_records = (guint) (size / sizeof (CclComponent));
  *info = found;
  return TRUE;
}

G_END_DECLS

#endif /* GST_CUDACCL_META_H */
