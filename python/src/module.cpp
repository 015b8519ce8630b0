// SPDX-License-Identifier: LGPL-2.1-or-later
// The module cudaccl._core. _core.pyi describes it for the code in Python, which is its only user.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ccl/checked.h"
#include "engine.h"
#include "regions.h"
#include "result_memory.h"

namespace cudaccl_python {

namespace {

/// An array of another library, by DLPack. It keeps the memory alive.
class Imported {
 public:
  explicit Imported(nb::ndarray<nb::ro> array) : array_(std::move(array)) {}

  uintptr_t address() const { return reinterpret_cast<uintptr_t>(array_.data()); }
  nb::tuple shape() const {
    nb::list sizes;
    for (size_t axis = 0; axis < array_.ndim(); ++axis) {
      sizes.append(array_.shape(axis));
    }
    return nb::tuple(sizes);
  }
  nb::tuple strides() const {
    nb::list bytes;
    for (size_t axis = 0; axis < array_.ndim(); ++axis) {
      const auto stride = ccl::checked_product<int64_t>(array_.stride(axis), array_.itemsize());
      if (!stride) {
        throw nb::value_error("the array has a stride that no memory has");
      }
      bytes.append(*stride);
    }
    return nb::tuple(bytes);
  }
  /// As NumPy's: b1, u1, u2 and so on.
  std::string kind() const {
    const nb::dlpack::dtype type = array_.dtype();
    const char letter = type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Bool)   ? 'b'
                        : type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::UInt) ? 'u'
                        : type.code == static_cast<uint8_t>(nb::dlpack::dtype_code::Int)  ? 'i'
                                                                                          : 'f';
    return letter + std::to_string(array_.itemsize());
  }
  int device_type() const { return array_.device_type(); }
  int device_id() const { return array_.device_id(); }

 private:
  nb::ndarray<nb::ro> array_;
};

int get_block_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Block& block = *nb::inst_ptr<Block>(self);
  // The protocol allows no null address, not even of no bytes.
  static const char kNothing = 0;
  void* data = const_cast<void*>(block.bytes > 0 ? block.data : &kNothing);
  return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(block.bytes), /*readonly=*/1, flags);
}

PyType_Slot block_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_block_buffer)},
    {0, nullptr},
};

int get_result_buffer(PyObject* self, Py_buffer* view, int flags) {
  const ResultMemory& memory = *nb::inst_ptr<ResultMemory>(self);
  return PyBuffer_FillInfo(view, self, memory.data(), static_cast<Py_ssize_t>(memory.bytes()), /*readonly=*/0,
                           flags);
}

PyType_Slot result_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_result_buffer)},
    {0, nullptr},
};

int get_memory_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Memory& memory = *nb::inst_ptr<Memory>(self);
  if (memory.on_device()) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, "the memory is on a GPU");
    return -1;
  }
  return PyBuffer_FillInfo(view, self, memory.data(), static_cast<Py_ssize_t>(memory.bytes()), /*readonly=*/0,
                           flags);
}

PyType_Slot memory_slots[] = {
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_memory_buffer)},
    {0, nullptr},
};

/// A capsule of DLPack for an array in GPU memory: `kind` is i4, u4, u2 or u1.
nb::object export_array(nb::handle_t<Memory> self, const nb::tuple& shape, const std::string& kind,
                        int device_id) {
  std::vector<size_t> sizes;
  for (const nb::handle size : shape) {
    sizes.push_back(nb::cast<size_t>(size));
  }
  const nb::dlpack::dtype type = kind == "i4"   ? nb::dtype<int32_t>()
                                 : kind == "u4" ? nb::dtype<uint32_t>()
                                 : kind == "u2" ? nb::dtype<uint16_t>()
                                                : nb::dtype<uint8_t>();
  return nb::cast(nb::ndarray<>(nb::cast<Memory&>(self).data(), sizes.size(), sizes.data(), self,
                                /*strides=*/nullptr, type, nb::device::cuda::value, device_id));
}

nb::list algorithms() {
  nb::list found;
  for (size_t index = 0; index < cudaccl_algorithm_count(); ++index) {
    CudacclAlgorithmInfo info;
    cudaccl_algorithm_info_init(&info, sizeof info);
    if (const CudacclStatus status = cudaccl_algorithm_info(index, &info); status != CUDACCL_OK) {
      raise_status(status, cudaccl_last_error(nullptr));
    }
    found.append(nb::make_tuple(info.name, info.source, info.on_cpu != 0, info.on_cuda != 0));
  }
  return found;
}

/// By the field `type` of an event.
nb::list event_types() {
  nb::list names;
  names.append("");
  for (uint32_t type = 1; type < CCL_EVENT_COUNT; ++type) {
    names.append(ccl_event_nick(type));
  }
  return names;
}

int device_count() {
  int32_t count = 0;
  if (const CudacclStatus status = cudaccl_device_count(&count); status != CUDACCL_OK) {
    raise_status(status, cudaccl_last_error(nullptr));
  }
  return count;
}

/// Addresses, strides, and the bytes from an image to the next one. The caller's work with earlier results is
/// on the image's stream, too.
using Place = std::tuple<uintptr_t, size_t, ptrdiff_t>;

void push(Engine& engine, size_t n_images, Place image, bool on_device, uintptr_t stream, Place labels,
          Place ids, Place distances, Place output, bool results_on_device, int64_t time,
          bool resets_background, bool resets_tracks) {
  std::vector<Images> frames(n_images);
  for (size_t i = 0; i < n_images; ++i) {
    const auto at = [&](const Place& place, bool is_on_device) {
      const auto [address, stride, step] = place;
      return Image{.address = address != 0 ? address + i * step : 0,
                   .stride = stride,
                   .on_device = is_on_device,
                   .stream = stream};
    };
    frames[i] = {at(image, on_device), at(labels, results_on_device), at(ids, results_on_device),
                 at(distances, results_on_device), at(output, results_on_device)};
  }
  engine.push(frames, {.time = time, .resets_background = resets_background, .resets_tracks = resets_tracks});
}

nb::tuple pop(nb::handle_t<Engine> self) {
  return nb::cast<Engine&>(self).pop(self);
}

}  // namespace

NB_MODULE(_core, module) {
  nb::set_leak_warnings(false);  // a daemon thread may have engines and results when the interpreter ends
  nb::class_<Block>(module, "Block", nb::type_slots(block_slots));
  nb::class_<Imported>(module, "Imported")
      .def(nb::init<nb::ndarray<nb::ro>>())
      .def_prop_ro("address", &Imported::address)
      .def_prop_ro("shape", &Imported::shape)
      .def_prop_ro("strides", &Imported::strides)
      .def_prop_ro("kind", &Imported::kind)
      .def_prop_ro("device_type", &Imported::device_type)
      .def_prop_ro("device_id", &Imported::device_id);
  nb::class_<Engine>(module, "Engine")
      .def(nb::init<uint32_t, int32_t>())
      .def_prop_ro("backend", &Engine::backend)
      .def_prop_ro("device_id", &Engine::device_id)
      .def_prop_ro("description", &Engine::description)
      .def("configure", &Engine::configure)
      .def("set", &Engine::set)
      .def("set_format", &Engine::set_format)
      .def("set_regions", &Engine::set_regions)
      .def("push", &push)
      .def("pop", &pop)
      .def("flush", &Engine::flush);
  nb::class_<Memory>(module, "Memory", nb::type_slots(memory_slots))
      .def(nb::init<Engine&, bool, size_t>())
      .def_prop_ro("address", &Memory::address)
      .def("export", &export_array);
  nb::class_<ResultMemory>(module, "ResultMemory", nb::type_slots(result_slots))
      .def(nb::init<size_t>())
      .def_prop_ro_static("most_idle", [](nb::handle) { return ResultMemory::kMostIdle; })
      .def_static("idle_bytes", &ResultMemory::idle_bytes)
      .def_static("free_idle", &ResultMemory::free_idle);
  module.def("algorithms", &algorithms);
  module.def("choices", &choices);
  module.def("device_count", &device_count);
  module.def("event_types", &event_types);
  module.def("has_cuda", [] { return cudaccl_has_cuda() != 0; });
  module.def("region_names", &region_names);
  module.def("version", &cudaccl_version);
  module.attr("NO_TIME") = CUDACCL_NO_TIME;
}

}  // namespace cudaccl_python
