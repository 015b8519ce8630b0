// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <gst/gst.h>

GST_ELEMENT_REGISTER_DECLARE(cudaccl)

/// The debug category of the plugin.
GST_DEBUG_CATEGORY_EXTERN(gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug
