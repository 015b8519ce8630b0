// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element's properties: one struct that a frame takes a copy of, and one table that declares them.
#pragma once

#include <gst/gst.h>

#include "ccl/config.h"

namespace cudaccl {

/// More frames than this are never in flight beyond the one at hand.
inline constexpr guint kMaxPipelineDepth = 8;

enum class BackendChoice { kAuto, kCuda, kCpu };

/// Flags of the `metadata` property.
enum Metadata : guint {
  kMetadataComponents = 1u << 0,
  kMetadataRoi = 1u << 1,
  kMetadataAnalytics = 1u << 2,  // in builds with GStreamer's analytics library
};

struct Properties {
  BackendChoice backend = BackendChoice::kAuto;
  int cuda_device_id = -1;
  ccl::Algorithm algorithm = ccl::Algorithm::kAuto;
  ccl::Output output = ccl::Output::kColorized;  // kNone is `passthrough`
  guint max_components = ccl::Config{}.max_components;
  guint threads = ccl::Config{}.threads;
  guint pipeline_depth = 0;
  guint threshold = 0;  // 0: what suits the sink format
  double overlay_alpha = 0.5;
  ccl::Settings settings;  // less what follows from the two above and the sink format
  guint metadata = kMetadataComponents;
  guint max_objects = 256;
  bool post_messages = false;
};

/// Installs all read-write properties, ids from 1 on.
void install_properties(GObjectClass* klass);

/// True if `id` is a property of the table; `*properties` or `*value` then has its value.
bool set_property(Properties* properties, guint id, const GValue* value);
bool get_property(const Properties& properties, guint id, GValue* value);

/// The first id free for properties that are not in the table.
guint next_property_id();

/// GType of `backend` and `active-backend`.
GType backend_type();

}  // namespace cudaccl
