// SPDX-License-Identifier: LGPL-2.1-or-later
/// Structs of the C interface that begin with their size: how a program and a library of different versions
/// understand each other.
///
/// A field that the caller's struct does not have gets its default. A field that the library does not have
/// must be 0, which is what an init function of this library sets it to.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>

#include "ccl/status.h"
#include "cudaccl/cudaccl.h"

namespace ccl::capi {

/// A struct of more bytes was not initialised.
inline constexpr size_t kLargestStruct = size_t{64} << 10;

/// What the library knows about a struct.
template <typename T>
struct StructInfo;

/// Whether the fields of a struct are rows of settings.def, which settings.cpp compares with its size.
template <typename T>
inline constexpr bool grows_by_table = std::is_same_v<T, CudacclSettings>;

// X(type, stem of its functions, last field of version 1, which never changes; last field)
#define CCL_VERSIONED_STRUCTS(X)                            \
  X(CudacclAlgorithmInfo, algorithm_info, on_cuda, on_cuda) \
  X(CudacclDeviceInfo, device_info, memory, memory)         \
  X(CudacclEngineOptions, engine_options, context, context) \
  X(CudacclConfig, config, batch, batch)                    \
  X(CudacclSettings, settings, reserved, reserved)          \
  X(CudacclRegions, regions, n_lines, n_lines)              \
  X(CudacclInput, input, stream, stream)                    \
  X(CudacclOutput, output, stream, stream)                  \
  X(CudacclPlane, plane, stream, stream)                    \
  X(CudacclFrame, frame, reset_tracks, distances)           \
  X(CudacclResult, result, download_us, download_us)        \
  X(CudacclShapes, shapes, reserved, reserved)

#define CCL_STRUCT_INFO(Type, stem, first_last_field, last_field)                                           \
  template <>                                                                                               \
  struct StructInfo<Type> {                                                                                 \
    static constexpr const char* kName = #Type;                                                             \
    static constexpr const char* kInit = "cudaccl_" #stem "_init";                                          \
    static constexpr size_t kFirstSize = offsetof(Type, first_last_field) + sizeof(Type::first_last_field); \
    static constexpr size_t kLastSize = offsetof(Type, last_field) + sizeof(Type::last_field);              \
    static_assert(kFirstSize % alignof(Type) == 0 && (grows_by_table<Type> || sizeof(Type) == kLastSize),   \
                  "padding, in which a later field would not be seen");                                     \
  };
CCL_VERSIONED_STRUCTS(CCL_STRUCT_INFO)
#undef CCL_STRUCT_INFO

/// The struct with the default of every field: 0, except those that defaults.cpp specializes.
template <typename T>
T defaults() {
  return {};
}
template <>
CudacclEngineOptions defaults();
template <>
CudacclConfig defaults();
template <>
CudacclSettings defaults();
template <>
CudacclRegions defaults();
template <>
CudacclInput defaults();
template <>
CudacclFrame defaults();

/// Sets the first `struct_size` bytes.
template <typename T>
void init(T* given, size_t struct_size) {
  if (given == nullptr || struct_size < sizeof(size_t)) {
    return;
  }
  const T whole = defaults<T>();
  std::memset(static_cast<void*>(given), 0, struct_size);
  std::memcpy(static_cast<void*>(given), &whole, std::min(struct_size, sizeof(T)));
  given->struct_size = struct_size;
}

/// Whether the struct was initialised.
template <typename T>
Status check_size(const T* given) {
  using Info = StructInfo<T>;
  if (given == nullptr) {
    return {StatusCode::kInvalidArgument, std::string("the ") + Info::kName + " is NULL"};
  }
  if (given->struct_size < Info::kFirstSize || given->struct_size > kLargestStruct) {
    return {StatusCode::kInvalidArgument, std::string(Info::kName) + "::struct_size is " +
                                              std::to_string(given->struct_size) + "; call " + Info::kInit +
                                              "() first"};
  }
  return {};
}

/// Reads a struct of the caller into `whole`.
template <typename T>
Status read(const T* given, T* whole) {
  CCL_RETURN_IF_ERROR(check_size(given));
  *whole = defaults<T>();
  std::memcpy(static_cast<void*>(whole), given, std::min(given->struct_size, sizeof(T)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (given->struct_size > sizeof(T) && std::any_of(bytes + sizeof(T), bytes + given->struct_size,
                                                    [](unsigned char byte) { return byte != 0; })) {
    return {StatusCode::kUnsupported,
            std::string("a field of ") + StructInfo<T>::kName +
                " is set that this version of libcudaccl does not have; update the library"};
  }
  return {};
}

/// Writes a struct of which check_size() was ok.
template <typename T>
void write(const T& whole, T* given) {
  const size_t struct_size = given->struct_size;
  std::memcpy(static_cast<void*>(given), &whole, std::min(struct_size, sizeof(T)));
  given->struct_size = struct_size;
}

}  // namespace ccl::capi
