// SPDX-License-Identifier: LGPL-2.1-or-later
/// Metadata as text, to compare what different processes read.
#pragma once

#include <gst/gst.h>

#include <string>

namespace cudaccl::test {

/// One line for the buffer, and one for each GstCudaCclMeta: all that its reader gives,
/// with each byte of the records.
std::string dump_metas(GstBuffer* buffer);

}  // namespace cudaccl::test
