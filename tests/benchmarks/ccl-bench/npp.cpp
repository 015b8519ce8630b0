// SPDX-License-Identifier: LGPL-2.1-or-later
/// The library is looked for when the program runs: it is several hundred megabytes with what it needs, and
/// a benchmark built without it must still time it where it is. Hence NPP's declarations (CUDA 12 and 13)
/// are repeated here, as far as they are used.
#include "npp.h"

#include <dlfcn.h>

#include "device/check.h"
#include "device_timer.h"

namespace ccl::bench {

namespace {

using device::check;

struct NppiSize {
  int width, height;
};

/// The last field is a workspace in newer versions and reserved in older ones.
struct NppStreamContext {
  cudaStream_t stream;
  int device, multiprocessors, threads_per_multiprocessor, threads_per_block;
  size_t shared_bytes_per_block;
  int major, minor;
  unsigned int stream_flags;
  int workspace;
};

/// NppiNorm: which neighbours a pixel has.
enum NppiNorm { kEightWay = 0, kFourWay = 1 };

Status check_npp(int status, const char* call) {
  return status == 0
             ? Status{}
             : Status{StatusCode::kDeviceError, std::string(call) + ": NPP status " + std::to_string(status)};
}

Status make_context(const device::Stream& stream, NppStreamContext* context) {
  cudaDeviceProp properties{};
  int id = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&id), "cudaGetDevice"));
  CCL_RETURN_IF_ERROR(check(cudaGetDeviceProperties(&properties, id), "cudaGetDeviceProperties"));
  *context = {.stream = stream.get(),
              .device = id,
              .multiprocessors = properties.multiProcessorCount,
              .threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor,
              .threads_per_block = properties.maxThreadsPerBlock,
              .shared_bytes_per_block = properties.sharedMemPerBlock,
              .major = properties.major,
              .minor = properties.minor,
              .stream_flags = 0,
              .workspace = 0};
  return check(cudaStreamGetFlags(stream.get(), &context->stream_flags), "cudaStreamGetFlags");
}

}  // namespace

// Sizes of buffers are int in some versions and size_t in others; a size_t that is 0 before the call takes
// either, on the little-endian machines that CUDA runs on.
struct Npp::Functions {
  int (*label_bytes)(NppiSize, size_t*);
  int (*label)(uint8_t*, int, uint32_t*, int, NppiSize, NppiNorm, uint8_t*, NppStreamContext);
  int (*compress_bytes)(int, size_t*);
  int (*compress)(uint32_t*, int, NppiSize, int, int*, uint8_t*, NppStreamContext);
};

Npp::Npp() : functions_(std::make_unique<Functions>()) {}

Npp::~Npp() {
  if (library_ != nullptr) {
    dlclose(library_);
  }
}

Status Npp::load(std::unique_ptr<Npp>* npp) {
  std::unique_ptr<Npp> made(new Npp);
  for (const char* name : {"libnppif.so", "libnppif.so.13", "libnppif.so.12",
                           "/usr/local/cuda/lib64/libnppif.so.13", "/usr/local/cuda/lib64/libnppif.so.12"}) {
    made->library_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (made->library_ != nullptr) {
      CCL_RETURN_IF_ERROR(made->resolve());
      *npp = std::move(made);
      return {};
    }
  }
  return {StatusCode::kUnsupported, "NVIDIA NPP (libnppif) is not on this machine"};
}

Status Npp::resolve() {
  bool is_complete = true;
  const auto find = [&](const char* name, auto* function) {
    void* address = dlsym(library_, name);
    is_complete = is_complete && address != nullptr;
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(address);
  };
  find("nppiLabelMarkersUFGetBufferSize_32u_C1R", &functions_->label_bytes);
  find("nppiLabelMarkersUF_8u32u_C1R_Ctx", &functions_->label);
  find("nppiCompressMarkerLabelsGetBufferSize_32u_C1R", &functions_->compress_bytes);
  find("nppiCompressMarkerLabelsUF_32u_C1IR_Ctx", &functions_->compress);
  return is_complete ? Status{} : Status{StatusCode::kUnsupported, "this NPP lacks the labelling functions"};
}

Status Npp::time(const test::Image& image, Connectivity connectivity, const device::Stream& stream,
                 const Repetitions& repetitions, std::vector<Row>* rows) const {
  NppStreamContext context{};
  CCL_RETURN_IF_ERROR(make_context(stream, &context));
  const NppiSize size{static_cast<int>(image.width), static_cast<int>(image.height)};
  const int n_pixels = size.width * size.height;
  const int label_pitch = size.width * static_cast<int>(sizeof(uint32_t));
  size_t label_bytes = 0;
  size_t compress_bytes = 0;
  CCL_RETURN_IF_ERROR(check_npp(functions_->label_bytes(size, &label_bytes), "LabelMarkersUFGetBufferSize"));
  CCL_RETURN_IF_ERROR(
      check_npp(functions_->compress_bytes(n_pixels, &compress_bytes), "CompressMarkerLabelsGetBufferSize"));
  device::DeviceArray<uint8_t> input;
  device::DeviceArray<uint32_t> labels;
  device::DeviceArray<uint8_t> label_buffer;
  device::DeviceArray<uint8_t> compress_buffer;
  CCL_RETURN_IF_ERROR(input.allocate(static_cast<size_t>(n_pixels)));
  CCL_RETURN_IF_ERROR(labels.allocate(static_cast<size_t>(n_pixels)));
  CCL_RETURN_IF_ERROR(label_buffer.allocate(label_bytes));
  CCL_RETURN_IF_ERROR(compress_buffer.allocate(compress_bytes));
  CCL_RETURN_IF_ERROR(
      check(cudaMemcpy2DAsync(input.data(), image.width, image.pixels(), image.stride, image.width,
                              image.height, cudaMemcpyHostToDevice, stream.get()),
            "cudaMemcpy2DAsync of an image"));
  const auto label = [&] {
    return check_npp(functions_->label(input.data(), size.width, labels.data(), label_pitch, size,
                                       connectivity == Connectivity::k8 ? kEightWay : kFourWay,
                                       label_buffer.data(), context),
                     "nppiLabelMarkersUF_8u32u_C1R_Ctx");
  };
  int n_regions = 0;
  const auto compress = [&] {
    return check_npp(functions_->compress(labels.data(), label_pitch, size, n_pixels, &n_regions,
                                          compress_buffer.data(), context),
                     "nppiCompressMarkerLabelsUF_32u_C1IR_Ctx");
  };
  Row row{.backend = "npp",
          .algorithm = "npp-union-find",
          .mode = "peer",
          .output = "labels",
          .connectivity = static_cast<uint32_t>(connectivity),
          .image = image.name,
          .width = image.width,
          .height = image.height};
  DeviceTimer timer(stream);
  CCL_RETURN_IF_ERROR(timer.run(
      repetitions, [&] { return label(); }, &row.times));
  rows->push_back(row);
  row.algorithm += "+compress";
  row.times = {};
  CCL_RETURN_IF_ERROR(timer.run(
      repetitions,
      [&] {
        CCL_RETURN_IF_ERROR(label());
        return compress();
      },
      &row.times));
  rows->push_back(row);
  return {};
}

}  // namespace ccl::bench
