// SPDX-License-Identifier: LGPL-2.1-or-later
/// The algorithms by name: which exist, on which backends they run, and which papers they follow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ccl/status.h"

namespace ccl {

struct Config;

namespace host {
class Labeler;
class Pipeline;
class StreamTracks;
class ThreadPool;
}  // namespace host

namespace device {
class Labeler;
class Pipeline;
}  // namespace device

enum class Backend {
  kCpu,
  kCuda,
};

/// "cpu" or "cuda".
const char* backend_name(Backend backend);

/// See algorithms.def.
enum class Algorithm {
#define CCL_ALGORITHM(enumerator, value, nick, factories, source) enumerator = (value),
#include "ccl/algorithms.def"
};

/// How the CPU runs an algorithm: as a labeler before the stages that all labelers share, or as a pipeline
/// that fuses the stages. At most one is set; none: not on the CPU.
struct HostFactory {
  using MakeLabeler = std::unique_ptr<host::Labeler>(uint32_t width, uint32_t height, host::ThreadPool& pool);
  using MakePipeline = std::unique_ptr<host::Pipeline>(const Config& config, host::ThreadPool& pool,
                                                       host::StreamTracks* tracks);

  MakeLabeler* make_labeler = nullptr;
  MakePipeline* make_pipeline = nullptr;
};

/// The same for the GPU; none in a build without the CUDA part.
struct DeviceFactory {
  using MakeLabeler = std::unique_ptr<device::Labeler>();
  using MakePipeline = Status(const Config& config, std::unique_ptr<device::Pipeline>* pipeline);

  MakeLabeler* make_labeler = nullptr;
  MakePipeline* make_pipeline = nullptr;
};

struct AlgorithmInfo {
  Algorithm algorithm;
  const char* nick;    ///< as in `algorithm=` on a launch line
  const char* source;  ///< the paper it follows
  HostFactory host;
  DeviceFactory device;

  bool runs_on(Backend backend) const;
};

/// Every algorithm, kAuto first. Which of them run on the GPU depends on the build.
std::span<const AlgorithmInfo> algorithms();

/// Finds the algorithm that `algorithm` means on `backend`: kAuto means the first one of the table that runs
/// on it. kUnsupported if it does not run on this backend; the message names those that do.
Status resolve_algorithm(Algorithm algorithm, Backend backend, const AlgorithmInfo** resolved);

}  // namespace ccl
