// SPDX-License-Identifier: LGPL-2.1-or-later
/// Structs of any bytes and any size: a call succeeds or says why it does not, and reads nothing behind a
/// struct.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "frame_case.h"

namespace fuzz {

namespace {

/// A struct as a caller of another version may have it, on the heap, so that a sanitizer sees its end.
template <typename T>
class Struct {
 public:
  explicit Struct(Bytes* bytes) {
    constexpr size_t kLater = sizeof(T) + 16;
    constexpr size_t kSizes[] = {sizeof(T), kLater, sizeof(T) - 8, 8, 0};
    const size_t kind = bytes->below(16);
    size_ = kSizes[kind < 5 ? kind : 0];
    const size_t allocated = std::max(size_, sizeof(size_t));
    memory_ = std::make_unique<uint8_t[]>(allocated);
    const T initial = make_initial();
    std::memcpy(memory_.get(), &initial, std::min(allocated, sizeof(T)));
    // Few fields, so that a refusal of one does not hide all others.
    for (uint32_t n = bytes->below(6); n > 0 && size_ >= 2 * sizeof(size_t); --n) {
      const size_t words = size_ / 4 - 2;
      const size_t at = 8 + 4 * size_t{bytes->below(static_cast<uint32_t>(words))};
      uint32_t value = bytes->below(4) != 3 ? bytes->byte() : bytes->below(UINT32_MAX);
      std::memcpy(memory_.get() + at, &value, sizeof value);
    }
    std::memcpy(memory_.get(), &size_, sizeof size_);
  }

  T* get() { return reinterpret_cast<T*>(memory_.get()); }
  bool has(size_t offset) const { return size_ >= offset; }

 private:
  static T make_initial();

  size_t size_ = 0;
  std::unique_ptr<uint8_t[]> memory_;
};

template <>
CudacclConfig Struct<CudacclConfig>::make_initial() {
  CudacclConfig config;
  cudaccl_config_init(&config, sizeof config);
  config.width = 20;
  config.height = 10;
  config.max_components = 16;
  config.threads = 1;
  return config;
}

template <>
CudacclSettings Struct<CudacclSettings>::make_initial() {
  CudacclSettings settings;
  cudaccl_settings_init(&settings, sizeof settings);
  return settings;
}

template <>
CudacclInput Struct<CudacclInput>::make_initial() {
  CudacclInput input;
  cudaccl_input_init(&input, sizeof input);
  return input;
}

/// Whether the call succeeded; if not, it has a reason.
bool is_ok(CudacclStatus status) {
  require(status == CUDACCL_OK || *cudaccl_last_error(engine()) != 0, "a failure without a reason");
  require(status != CUDACCL_DEVICE_ERROR && status != CUDACCL_NEED_MORE_DATA, "a failure that cannot be");
  return status == CUDACCL_OK;
}

/// What a caller must promise: sizes that there is memory for, and pointers to it.
void keep_promises(Struct<CudacclConfig>* config) {
  CudacclConfig* c = config->get();
  if (config->has(offsetof(CudacclConfig, batch))) {
    c->algorithm = "auto";
    c->width %= 41;
    c->height %= 21;
    c->max_components %= 1000;
    c->max_tracks %= 100;
    c->threads %= 4;
    c->batch %= 4;
  }
}

void keep_promises(Struct<CudacclInput>* input, const std::vector<uint8_t>& pixels) {
  if (!input->has(offsetof(CudacclInput, memory))) {
    return;
  }
  for (int i = 0; i < 3; ++i) {
    input->get()->planes[i] = pixels.data();
    input->get()->strides[i] = 160;  // 40 pixels of four bytes
  }
  if (input->has(sizeof(CudacclInput))) {
    input->get()->stream = nullptr;
  }
}

}  // namespace

void try_input(Bytes* bytes) {
  Struct<CudacclConfig> config(bytes);
  keep_promises(&config);
  if (!is_ok(cudaccl_engine_configure(engine(), config.get()))) {
    return;
  }
  std::vector<uint8_t> pixels(160 * 20);
  Struct<CudacclInput> input(bytes);
  keep_promises(&input, pixels);
  Struct<CudacclSettings> settings(bytes);
  bytes->fill(pixels.data(), pixels.size());
  std::vector<uint8_t> painted(160 * 20);
  std::vector<uint32_t> planes(3 * 40 * 20);
  cudaccl::Output output;
  output.pixels = painted.data();
  output.stride = 160;
  cudaccl::Plane plane[3];
  for (size_t i = 0; i < 3; ++i) {
    plane[i].values = planes.data() + i * 40 * 20;
  }
  cudaccl::Frame frame;
  frame.input = input.get();
  frame.output = &output;
  frame.labels = &plane[0];
  frame.ids = &plane[1];
  frame.distances = &plane[2];
  frame.settings = settings.get();
  for (int i = 0; i < 2; ++i) {
    frame.time = i;
    cudaccl::Result result;
    cudaccl::Shapes shapes;
    if (is_ok(cudaccl_engine_run(engine(), &frame, &result))) {
      require(result.n_records <= result.n_components, "more records than components");
      require_ok(cudaccl_engine_shapes(engine(), 8, &shapes), "shapes");
    }
  }
}

}  // namespace fuzz
