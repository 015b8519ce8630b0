/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Reads the label map of a frame in C or C++: the label or the id of each pixel, which `label-map=labels` or
 * `label-map=ids` attaches to its buffer. Nothing but GStreamer is linked. No function reads outside of the map,
 * whatever the metadata holds:
 *
 *     GstCudaCclLabelMap map;
 *     GstMapInfo memory;
 *     if (gst_buffer_get_cudaccl_label_map (buffer, &map) && gst_buffer_map (map.labels, &memory, GST_MAP_READ)) {
 *       const guint32 *row = gst_cudaccl_label_map_row (&map, &memory, 10);
 *       g_print ("the pixel at 20,10 has the label %u\n", row[20]);
 *       gst_buffer_unmap (map.labels, &memory);
 *     }
 *
 * A buffer has one label map of each cudaccl that it went through with `label-map`.
 */
#ifndef GST_CUDACCL_LABEL_MAP_H
#define GST_CUDACCL_LABEL_MAP_H

#include <gst/gst.h>
#include <string.h>

G_BEGIN_DECLS

/** Name of the GstCustomMeta and of its structure. */
#define GST_CUDACCL_LABEL_MAP_NAME "GstCudaCclLabelMap"

/**
 * Fields of the structure: `source` (string), `frame` (guint64), `width`, `height`, `stride` (guint), `kind` (string:
 * `labels` or `ids`), `labels` (GstBufferList of one buffer: GStreamer has no text form for a list, so a map is never
 * written as text where a buffer goes to another process). Later versions add fields, and these keep name, type and
 * meaning.
 */
typedef struct _GstCudaCclLabelMap {
  const gchar *source; /**< the element, as in GstCudaCclInfo. Borrowed from the buffer, as `labels` */
  guint64 frame;       /**< number of the frame, as in GstCudaCclInfo: it joins the map with the records */
  guint width, height; /**< of the frame that was labelled */
  guint stride;        /**< bytes from one row's start to the next one's; a multiple of 4 */
  gboolean is_ids;     /**< FALSE: CclComponent::label of each pixel; TRUE: CclComponent::id. 0: no component */
  GstBuffer *labels;   /**< 32-bit values in native byte order. With a reference it may be kept as long as wanted; it
                            must not be written, because others read it too */
} GstCudaCclLabelMap;

/** The buffer of a field. NULL if the field is missing, or anything but a list with a buffer. */
static inline GstBuffer *
gst_cudaccl_get_listed_buffer (const GstStructure * structure, const gchar * field)
{
  const GValue *value = gst_structure_get_value (structure, field);
  GstBufferList *list;

  if (!value || !G_VALUE_HOLDS (value, GST_TYPE_BUFFER_LIST))
    return NULL;
  list = (GstBufferList *) g_value_get_boxed (value);
  return list && gst_buffer_list_length (list) > 0 ? gst_buffer_list_get (list, 0) : NULL;
}

/** Whether the buffer has as many bytes as the sizes of @map need. */
static inline gboolean
gst_cudaccl_label_map_is_whole (const GstCudaCclLabelMap * map)
{
  const guint64 row = (guint64) map->width * sizeof (guint32);

  return map->width > 0 && map->height > 0 && map->stride % sizeof (guint32) == 0 && map->stride >= row
      && (guint64) (map->height - 1) * map->stride + row <= gst_buffer_get_size (map->labels);
}

/**
 * Fills @map from the structure of a GstCudaCclLabelMap. Returns FALSE and leaves @map as it is if a field is missing,
 * has another type, or if the buffer is smaller than the map.
 */
static inline gboolean
gst_structure_get_cudaccl_label_map (const GstStructure * structure, GstCudaCclLabelMap * map)
{
  GstCudaCclLabelMap found;
  const gchar *kind = gst_structure_get_string (structure, "kind");

  memset (&found, 0, sizeof (found));
  found.source = gst_structure_get_string (structure, "source");
  found.labels = gst_cudaccl_get_listed_buffer (structure, "labels");
  if (!found.source || !found.labels || !kind
      || !gst_structure_get_uint64 (structure, "frame", &found.frame)
      || !gst_structure_get_uint (structure, "width", &found.width)
      || !gst_structure_get_uint (structure, "height", &found.height)
      || !gst_structure_get_uint (structure, "stride", &found.stride)
      || !gst_cudaccl_label_map_is_whole (&found))
    return FALSE;
  found.is_ids = strcmp (kind, "ids") == 0;
  if (!found.is_ids && strcmp (kind, "labels") != 0)
    return FALSE;
  *map = found;
  return TRUE;
}

/**
 * Fills @map from the next label map on @buffer, in the order in which elements attached them. @state is NULL at first.
 * Returns FALSE and leaves @map as it is if there is none left. Those that gst_structure_get_cudaccl_label_map()
 * refuses are left out.
 */
static inline gboolean
gst_buffer_iterate_cudaccl_label_map (GstBuffer * buffer, gpointer * state, GstCudaCclLabelMap * map)
{
  const GstMetaInfo *meta_info = gst_meta_get_info (GST_CUDACCL_LABEL_MAP_NAME);
  GstMeta *meta;

  if (!meta_info)
    return FALSE;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, state, meta_info->api)))
    if (gst_structure_get_cudaccl_label_map (gst_custom_meta_get_structure ((GstCustomMeta *) meta), map))
      return TRUE;
  return FALSE;
}

/**
 * Fills @map from the label map that the element with this source attached to @buffer. Returns FALSE and leaves @map
 * as it is if there is none.
 */
static inline gboolean
gst_buffer_get_cudaccl_label_map_by_source (GstBuffer * buffer, const gchar * source, GstCudaCclLabelMap * map)
{
  gpointer state = NULL;
  GstCudaCclLabelMap next;

  while (gst_buffer_iterate_cudaccl_label_map (buffer, &state, &next))
    if (strcmp (next.source, source) == 0) {
      *map = next;
      return TRUE;
    }
  return FALSE;
}

/**
 * Fills @map from the label map that was attached to @buffer last. Returns FALSE and leaves @map as it is if there is
 * none.
 */
static inline gboolean
gst_buffer_get_cudaccl_label_map (GstBuffer * buffer, GstCudaCclLabelMap * map)
{
  gpointer state = NULL;
  GstCudaCclLabelMap last;

  memset (&last, 0, sizeof (last));
  while (gst_buffer_iterate_cudaccl_label_map (buffer, &state, &last));
  if (!last.labels)
    return FALSE;
  *map = last;
  return TRUE;
}

/**
 * The `width` values of row @y of @map, of which @memory is `labels`, mapped; NULL if the row is outside. With
 * GST_MAP_READ alone it is memory of the host, and GStreamer copies a map that lies in CUDA memory.
 */
static inline const guint32 *
gst_cudaccl_label_map_row (const GstCudaCclLabelMap * map, const GstMapInfo * memory, guint y)
{
  const guint64 start = (guint64) y * map->stride, row = (guint64) map->width * sizeof (guint32);

  if (y >= map->height || row > memory->size || start > memory->size - row)
    return NULL;
  return (const guint32 *) (gconstpointer) (memory->data + start);
}

G_END_DECLS

#endif /* GST_CUDACCL_LABEL_MAP_H */
