// SPDX-License-Identifier: LGPL-2.1-or-later
/// The defaults of all fields: those of the engine and of settings.def.
#include <concepts>

#include "capi/structs.h"
#include "ccl/choices.h"
#include "ccl/engine.h"

namespace ccl::capi {

using namespace kind;

template <>
CudacclEngineOptions defaults() {
  CudacclEngineOptions options{};
  options.backend = CUDACCL_BACKEND_AUTO;
  options.device_id = DeviceOptions{}.device_id;
  return options;
}

template <>
CudacclConfig defaults() {
  const Config engine;
  CudacclConfig config{};
  config.algorithm = "auto";
  config.output = CUDACCL_OUTPUT_NONE;
  config.order = CUDACCL_ORDER_RGBA;
  config.slots = engine.slots;
  config.batch = engine.batch;
#define CCL_CONFIG(id, kind, initial, when, text) config.id = engine.id;
#include "ccl/settings.def"
  return config;
}

namespace {

/// A default as a number.
template <typename Kind, typename Initial>
constexpr auto number_of(Kind kind, Initial initial) {
  if constexpr (std::same_as<Kind, Enum> || std::same_as<Kind, Flags>) {
    return value_of(kLibraryChoices, kind.type, initial);
  } else {
    return initial;
  }
}

}  // namespace

template <>
CudacclSettings defaults() {
  CudacclSettings settings{};
#define CCL_SETTING(id, member, kind, initial, when, text) settings.id = number_of(kind, initial);
#define CCL_REAL(id, member, one, initial, text) settings.id = initial;
#define CCL_TIME(id, field, member, least, largest, initial, text) settings.field = initial;
#define CCL_FIELD(id, member, kind, initial, text) settings.id = initial;
#include "ccl/settings.def"
  return settings;
}

template <>
CudacclRegions defaults() {
  CudacclRegions regions{};
  regions.is_relative = 1;
  return regions;
}

template <>
CudacclInput defaults() {
  CudacclInput input{};
  input.bits = 16;
  return input;
}

template <>
CudacclFrame defaults() {
  CudacclFrame frame{};
  frame.time = CUDACCL_NO_TIME;
  return frame;
}

}  // namespace ccl::capi

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define CCL_INIT(Type, stem, first_last_field, last_field)      \
  void cudaccl_##stem##_init(Type* given, size_t struct_size) { \
    ccl::capi::init(given, struct_size);                        \
  }
// NOLINTEND(bugprone-macro-parentheses)
CCL_VERSIONED_STRUCTS(CCL_INIT)
