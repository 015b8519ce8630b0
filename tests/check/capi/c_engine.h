// SPDX-License-Identifier: LGPL-2.1-or-later
/// An engine of the C interface on the backend under test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "cudaccl/cudaccl.hpp"
#include "fixture.h"
#include "images.h"

namespace ccl::test {

/// Whether a message has this part.
inline testing::AssertionResult says(const char* message, const std::string& part) {
  return (std::string(message).find(part) != std::string::npos ? testing::AssertionSuccess()
                                                               : testing::AssertionFailure())
         << '"' << message << "\" has no \"" << part << '"';
}

inline uint32_t c_backend() {
  return backend() == Backend::kCpu ? CUDACCL_BACKEND_CPU : CUDACCL_BACKEND_CUDA;
}

inline cudaccl::EngineOptions c_options() {
  cudaccl::EngineOptions options;
  options.backend = c_backend();
  return options;
}

inline cudaccl::Input c_input(const Image& image) {
  cudaccl::Input input;
  input.planes[0] = image.pixels();
  input.strides[0] = image.stride;
  return input;
}

inline cudaccl::Config c_config(uint32_t width, uint32_t height) {
  cudaccl::Config config;
  config.width = width;
  config.height = height;
  return config;
}

/// An engine that is configured for the image, and a frame of it.
struct CEngine {
  explicit CEngine(const Image& image) : CEngine(image, c_config(image.width, image.height)) {}
  CEngine(const Image& image, const cudaccl::Config& config) : input(c_input(image)) {
    frame.input = &input;
    frame.settings = &settings;
    engine.configure(config);
  }
  CEngine(const CEngine&) = delete;
  CEngine& operator=(const CEngine&) = delete;

  CudacclStatus run() { return cudaccl_engine_run(engine.get(), &frame, &result); }
  const char* error() const { return cudaccl_last_error(engine.get()); }
  /// Whether the frame is refused as wrong, with this part of a reason.
  testing::AssertionResult refuses(const std::string& part) {
    const CudacclStatus status = run();
    return status == CUDACCL_INVALID_ARGUMENT ? says(error(), part)
                                              : testing::AssertionFailure() << "status " << status;
  }

  cudaccl::Engine engine{c_options()};
  cudaccl::Input input;
  cudaccl::Settings settings;
  cudaccl::Frame frame;
  cudaccl::Result result;
};

}  // namespace ccl::test
