// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/algorithm.h"

#include <array>
#include <cstddef>

namespace ccl {

// Each factory is defined in the file of its labeler or pipeline, and is called only through the table.

namespace host {
HostFactory::MakePipeline make_runs_pipeline;
#define CCL_ALGORITHM(enumerator, value, nick, factories, source) factories
#define ON_CPU(name) HostFactory::MakeLabeler make_##name;
#define ON_GPU(name)
#define ON_BOTH(name) ON_CPU(name)
#define FUSED(name)
#include "ccl/algorithms.def"
}  // namespace host

namespace device {
DeviceFactory::MakePipeline make_runs_pipeline;
#define CCL_ALGORITHM(enumerator, value, nick, factories, source) factories
#define ON_CPU(name)
#define ON_GPU(name) DeviceFactory::MakeLabeler make_##name;
#define ON_BOTH(name) ON_GPU(name)
#define FUSED(name)
#include "ccl/algorithms.def"
}  // namespace device

namespace {

#ifdef CCL_HAVE_DEVICE
constexpr bool kHasDevice = true;
#else
constexpr bool kHasDevice = false;
#endif

/// Names the factory only in builds that have it.
template <auto make>
constexpr DeviceFactory on_device() {
  if constexpr (!kHasDevice) {
    return {};
  } else if constexpr (std::is_same_v<decltype(make), DeviceFactory::MakePipeline*>) {
    return {.make_pipeline = make};
  } else {
    return {.make_labeler = make};
  }
}

constexpr HostFactory kNotOnHost;
constexpr DeviceFactory kNotOnDevice;

#define CCL_ALGORITHM(enumerator, value, nick, factories, source) \
  AlgorithmInfo{Algorithm::enumerator, nick, source, factories},
#define ON_CPU(name) {.make_labeler = host::make_##name}, kNotOnDevice
#define ON_GPU(name) kNotOnHost, on_device<device::make_##name>()
#define ON_BOTH(name) {.make_labeler = host::make_##name}, on_device<device::make_##name>()
#define FUSED(name) \
  {.make_pipeline = host::make_##name##_pipeline}, on_device<device::make_##name##_pipeline>()
constexpr std::array kAlgorithms = {
#include "ccl/algorithms.def"
};

/// Two rows with one value would be one algorithm: the first of them would run for both names.
consteval bool has_each_value_once() {
  std::array<bool, kAlgorithms.size()> is_used = {};
  for (const AlgorithmInfo& info : kAlgorithms) {
    const auto value = static_cast<size_t>(info.algorithm);
    if (value >= is_used.size() || is_used[value]) {
      return false;
    }
    is_used[value] = true;
  }
  return true;
}
static_assert(has_each_value_once(),
              "algorithms.def: a new row has the next value, and no value is used twice");

}  // namespace

const char* backend_name(Backend backend) {
  return backend == Backend::kCpu ? "cpu" : "cuda";
}

bool AlgorithmInfo::runs_on(Backend backend) const {
  return backend == Backend::kCpu ? host.make_labeler != nullptr || host.make_pipeline != nullptr
                                  : device.make_labeler != nullptr || device.make_pipeline != nullptr;
}

std::span<const AlgorithmInfo> algorithms() {
  return kAlgorithms;
}

Status resolve_algorithm(Algorithm algorithm, Backend backend, const AlgorithmInfo** resolved) {
  std::string nick = "unknown";
  std::string available;
  for (const AlgorithmInfo& info : std::span(kAlgorithms).subspan(1)) {
    const bool is_meant = algorithm == Algorithm::kAuto || algorithm == info.algorithm;
    if (is_meant && info.runs_on(backend)) {
      *resolved = &info;
      return {};
    }
    if (is_meant) {
      nick = info.nick;
    }
    if (info.runs_on(backend)) {
      available += (available.empty() ? "" : ", ") + std::string(info.nick);
    }
  }
  return {StatusCode::kUnsupported, "algorithm '" + nick + "' does not exist on backend '" +
                                        backend_name(backend) + "', which has: " + available};
}

}  // namespace ccl
