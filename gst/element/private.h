// SPDX-License-Identifier: LGPL-2.1-or-later
/// What an element has, for the sources of this folder.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <mutex>
#include <optional>
#include <utility>

#include "ccl/config.h"
#include "element/backend.h"
#include "element/guard.h"
#include "frame/frame_duration.h"
#include "frame/frame_path.h"
#include "negotiation/caps.h"
#include "negotiation/negotiation.h"
#include "properties/live_properties.h"
#include "properties/properties.h"
#include "report/statistics.h"

namespace cudaccl {

/// The C++ side of the element.
struct Private {
  explicit Private(GstBaseTransform* element)
      : properties(element),
        negotiation(element, &backend, &properties),
        path(element, &backend, &negotiation, &statistics) {}

  std::mutex lock;                         ///< for the one below, which any thread may use
  std::optional<ccl::Output> kept_output;  ///< negotiate for this output, not for that of the properties
  LiveProperties properties;

  std::optional<guint> stream;  ///< a hash of its id
  FrameDuration frame_duration;
  Statistics statistics;
  Backend backend;  ///< any thread may use context() and processor(), only the path the rest
  Negotiation negotiation;
  FramePath path;

  /// What `function` returns. After an exception `failed`, and an error of the element, unless it has failed
  /// already: nothing leaves any more.
  template <typename Result, typename Function>
  Result guarded(Result failed, Function function) noexcept {
    try {
      return function();
    } catch (const std::exception&) {
      path.fail_for_memory();
      return failed;
    }
  }

  /// Whether a STREAM_START is that of another stream than that of the frames before, as behind `concat`.
  bool is_another_stream(GstEvent* event) {
    const gchar* id = nullptr;
    gst_event_parse_stream_start(event, &id);
    const std::optional<guint> last = std::exchange(stream, g_str_hash(id));
    return last && *last != *stream;
  }

  Properties snapshot() const { return properties.snapshot(); }

  /// Whether another output was kept before.
  bool keep_output(std::optional<ccl::Output> output) {
    const std::lock_guard guard(lock);
    return std::exchange(kept_output, output).has_value();
  }

  /// The rule that follows from the properties. Until the backend in use is known, `backend` decides about
  /// CUDA memory.
  CapsRule wanted_caps_rule() const {
    const BackendChoice active = backend.processor().backend;
    const Properties wanted = snapshot();
    const BackendChoice choice = active != BackendChoice::kAuto ? active : wanted.backend;
    return {.output = wanted.output, .has_cuda = choice != BackendChoice::kCpu};
  }

  /// The rule for this negotiation: that of the properties, unless another output is kept.
  CapsRule caps_rule() {
    CapsRule rule = wanted_caps_rule();
    const std::lock_guard guard(lock);
    rule.output = kept_output.value_or(rule.output);
    return rule;
  }
};

}  // namespace cudaccl

struct GstCudaCcl {
  GstBaseTransform parent;
  cudaccl::Private* priv;
};
