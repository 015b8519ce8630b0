// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>

#include "element/gstcudaccl.h"
#include "metadata/label_map.h"
#include "metadata/metadata.h"

static gboolean plugin_init(GstPlugin* plugin) {
  return cudaccl::register_component_meta(plugin) && cudaccl::register_label_map_meta(plugin) &&
         GST_ELEMENT_REGISTER(cudaccl, plugin);
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudaccl, "Connected components in live video",
                  plugin_init, PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
