// SPDX-License-Identifier: LGPL-2.1-or-later
/// What most sources include of others' headers, compiled once; see cuda/pch/ccl.h.
#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>
