// SPDX-License-Identifier: LGPL-2.1-or-later
/// Owner of a CUDA graph: work that is captured from a stream once and launched as a whole for each frame.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

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
    if (graph_ != nullptr) {
      ignore(cudaGraphDestroy(graph_));
    }
    graph_ = graph;
    return status.ok() ? find_nodes() : status;
  }

  bool is_captured() const { return executable_ != nullptr; }

  /// Destroys the graph.
  void reset() {
    if (executable_ != nullptr) {
      ignore(cudaGraphExecDestroy(executable_));
      executable_ = nullptr;
    }
    if (graph_ != nullptr) {
      ignore(cudaGraphDestroy(graph_));
      graph_ = nullptr;
    }
    nodes_.clear();
  }

  /// Replaces the last of a kernel's arguments in the launches from now on. The graph must have been captured
  /// once only since the last reset(): a second capture updates the executable graph, whose nodes are those
  /// of the first one.
  Status set_last_argument(const void* kernel, uint32_t n_arguments, const void* argument) {
    for (const cudaGraphNode_t node : nodes_) {
      cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
      CCL_RETURN_IF_ERROR(check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType"));
      cudaKernelNodeParams parameters{};
      if (type == cudaGraphNodeTypeKernel) {
        CCL_RETURN_IF_ERROR(
            check(cudaGraphKernelNodeGetParams(node, &parameters), "cudaGraphKernelNodeGetParams"));
      }
      if (parameters.func == kernel) {
        std::array<void*, kMostArguments> arguments{};
        std::copy_n(parameters.kernelParams, n_arguments - 1, arguments.begin());
        arguments[n_arguments - 1] = const_cast<void*>(argument);
        parameters.kernelParams = arguments.data();
        return check(cudaGraphExecKernelNodeSetParams(executable_, node, &parameters),
                     "cudaGraphExecKernelNodeSetParams");
      }
    }
    return {StatusCode::kDeviceError, "a CUDA graph does not have the kernel whose argument changes"};
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

  Status find_nodes() {
    size_t n = 0;
    CCL_RETURN_IF_ERROR(check(cudaGraphGetNodes(graph_, nullptr, &n), "cudaGraphGetNodes"));
    nodes_.resize(n);
    return check(cudaGraphGetNodes(graph_, nodes_.data(), &n), "cudaGraphGetNodes");
  }

  static constexpr size_t kMostArguments = 8;

  cudaGraph_t graph_ = nullptr;  ///< what the executable graph was made from
  cudaGraphExec_t executable_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;
};

}  // namespace ccl::device
