// SPDX-License-Identifier: LGPL-2.1-or-later
/// Owner of a CUDA graph: work that is captured from a stream once and launched as a whole for each frame.
#pragma once

#include <cuda_runtime_api.h>

#include "device/check.h"
#include "device/memory.h"

namespace ccl::device {

class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { reset(); }

  /// Replaces the graph by the work that `enqueue()` enqueues on `stream`. The work does not run yet.
  template <typename Enqueue>
  Status capture(const Stream& stream, Enqueue enqueue) {
    CCL_RETURN_IF_ERROR(check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
                              "cudaStreamBeginCapture"));
    const Status enqueued = catch_bad_alloc(enqueue);
    cudaGraph_t graph = nullptr;
    const Status captured = check(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
    const Status status = !enqueued.ok() ? enqueued : !captured.ok() ? captured : instantiate(graph);
    if (graph != nullptr) {
      static_cast<void>(cudaGraphDestroy(graph));
    }
    return status;
  }

  bool is_captured() const { return executable_ != nullptr; }

  /// Destroys the graph.
  void reset() {
    if (executable_ != nullptr) {
      cudaGraphExecDestroy(executable_);
      executable_ = nullptr;
    }
  }

  Status launch(const Stream& stream) const {
    return check(cudaGraphLaunch(executable_, stream.get()), "cudaGraphLaunch");
  }

 private:
  /// Updates the executable graph if the new graph differs in arguments only; else instantiates a new one.
  Status instantiate(cudaGraph_t graph) {
    if (executable_ != nullptr) {
      cudaGraphExecUpdateResultInfo info{};
      if (cudaGraphExecUpdate(executable_, graph, &info) == cudaSuccess) {
        return {};
      }
      cudaGetLastError();
      reset();
    }
    return check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
  }

  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace ccl::device
