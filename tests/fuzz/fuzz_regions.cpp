// SPDX-License-Identifier: LGPL-2.1-or-later
/// Documents of regions: what is read can be set, and a frame has them; what is refused says why.
#include <vector>

#include "frame_case.h"

namespace fuzz {

static void run_frame(const CudacclRegions* regions) {
  constexpr uint32_t kWidth = 24;
  constexpr uint32_t kHeight = 16;
  cudaccl::Config config;
  config.width = kWidth;
  config.height = kHeight;
  config.output = CUDACCL_OUTPUT_COLORIZED;
  config.max_tracks = 4;
  config.threads = 1;
  require_ok(cudaccl_engine_configure(engine(), &config), "configure");
  require_ok(cudaccl_engine_set_regions(engine(), regions), "set_regions");
  const std::vector<uint8_t> pixels(size_t{kWidth} * kHeight, 255);
  std::vector<uint8_t> painted(pixels.size() * 4);
  cudaccl::Input input;
  input.planes[0] = pixels.data();
  input.strides[0] = kWidth;
  cudaccl::Output output;
  output.pixels = painted.data();
  output.stride = size_t{kWidth} * 4;
  cudaccl::Settings settings;
  settings.draw_regions = 1;
  cudaccl::Frame frame;
  frame.input = &input;
  frame.output = &output;
  frame.settings = &settings;
  cudaccl::Result result;
  require_ok(cudaccl_engine_run(engine(), &frame, &result), "run");
  require(result.n_zones == regions->n_zones, "a frame has other zones");
  const bool has_mask = regions->n_include > 0 || regions->n_exclude > 0;
  require(has_mask || result.n_labels == 1, "regions without polygons hide pixels");
  require_ok(cudaccl_engine_set_regions(engine(), nullptr), "set_regions");
}

}  // namespace fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || data[0] != '{') {
    return -1;  // the path of a file
  }
  CudacclRegions* regions = nullptr;
  const CudacclStatus status = cudaccl_regions_read(reinterpret_cast<const char*>(data), size, &regions);
  if (status == CUDACCL_OK) {
    fuzz::run_frame(regions);
  } else {
    fuzz::require(status == CUDACCL_INVALID_ARGUMENT && regions == nullptr, "another failure");
    fuzz::require(*cudaccl_last_error(nullptr) != 0, "a refusal without a reason");
  }
  cudaccl_regions_free(regions);
  return 0;
}
