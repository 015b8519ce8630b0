// SPDX-License-Identifier: LGPL-2.1-or-later
/// The debug category of the plugin.
#pragma once

#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN(gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug
