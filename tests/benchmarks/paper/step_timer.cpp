// SPDX-License-Identifier: LGPL-2.1-or-later
#include "paper/step_timer.h"

#include <cuda_runtime_api.h>

#include <memory>
#include <type_traits>

#include "device/check.h"

namespace ccl::bench {

namespace {

using device::check;
using device::Event;

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { static_cast<void>(cudaGraphDestroy(graph)); }
};
struct DestroyExecutable {
  void operator()(cudaGraphExec_t graph) const { static_cast<void>(cudaGraphExecDestroy(graph)); }
};
using GraphOwner = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph>;
using ExecutableOwner = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyExecutable>;

Status capture(const device::Stream& stream, const std::function<Status()>& enqueue, GraphOwner* graph) {
  CCL_RETURN_IF_ERROR(check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal),
                            "cudaStreamBeginCapture"));
  const Status enqueued = enqueue();
  cudaGraph_t captured = nullptr;
  const Status ended = check(cudaStreamEndCapture(stream.get(), &captured), "cudaStreamEndCapture");
  graph->reset(captured);
  return enqueued.ok() ? ended : enqueued;
}

// CUDA 13 reports edges in addition to nodes.

/// A node of a chain and the edge to it, if there is one before: a kernel that may come early has an edge of
/// a kind of its own.
struct ChainNode {
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  cudaGraphEdgeData edge{};
#endif
};

Status find_next(cudaGraphNode_t node, ChainNode* next, size_t* n_next) {
  cudaGraphNode_t* to = next != nullptr ? &next->node : nullptr;
#if CUDART_VERSION >= 13000
  return check(cudaGraphNodeGetDependentNodes(node, to, next != nullptr ? &next->edge : nullptr, n_next),
               "cudaGraphNodeGetDependentNodes");
#else
  return check(cudaGraphNodeGetDependentNodes(node, to, n_next), "cudaGraphNodeGetDependentNodes");
#endif
}

Status disconnect(cudaGraph_t graph, cudaGraphNode_t from, const ChainNode& to) {
#if CUDART_VERSION >= 13000
  return check(cudaGraphRemoveDependencies(graph, &from, &to.node, &to.edge, 1),
               "cudaGraphRemoveDependencies");
#else
  return check(cudaGraphRemoveDependencies(graph, &from, &to.node, 1), "cudaGraphRemoveDependencies");
#endif
}

Status connect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
#if CUDART_VERSION >= 13000
  return check(cudaGraphAddDependencies(graph, &from, &to, nullptr, 1), "cudaGraphAddDependencies");
#else
  return check(cudaGraphAddDependencies(graph, &from, &to, 1), "cudaGraphAddDependencies");
#endif
}

/// The graph's nodes in the order they run.
Status find_chain(cudaGraph_t graph, std::vector<ChainNode>* chain) {
  const Status no_chain{StatusCode::kUnsupported, "what was captured is no chain of kernels"};
  size_t n = 0;
  CCL_RETURN_IF_ERROR(check(cudaGraphGetRootNodes(graph, nullptr, &n), "cudaGraphGetRootNodes"));
  while (n == 1) {
    ChainNode next;
    CCL_RETURN_IF_ERROR(chain->empty()
                            ? check(cudaGraphGetRootNodes(graph, &next.node, &n), "cudaGraphGetRootNodes")
                            : find_next(chain->back().node, &next, &n));
    chain->push_back(next);
    CCL_RETURN_IF_ERROR(find_next(next.node, nullptr, &n));
  }
  return n == 0 ? Status{} : no_chain;
}

/// "memset" and the like for what is no kernel.
std::string name_of(cudaGraphNode_t node) {
  cudaKernelNodeParams kernel{};
  const char* name = nullptr;
  if (cudaGraphKernelNodeGetParams(node, &kernel) == cudaSuccess &&
      cudaFuncGetName(&name, kernel.func) == cudaSuccess) {
    return name;
  }
  cudaGetLastError();
  return "no kernel";
}

/// Puts an event before the chain and one after each of its nodes.
Status add_events(cudaGraph_t graph, const std::vector<ChainNode>& chain, const std::vector<Event>& events) {
  cudaGraphNode_t event = nullptr;
  const auto add = [&](const cudaGraphNode_t* after, size_t i) {
    return check(cudaGraphAddEventRecordNode(&event, graph, after, after != nullptr ? 1 : 0, events[i].get()),
                 "cudaGraphAddEventRecordNode");
  };
  CCL_RETURN_IF_ERROR(add(nullptr, 0));
  CCL_RETURN_IF_ERROR(connect(graph, event, chain.front().node));
  for (size_t i = 0; i < chain.size(); ++i) {
    CCL_RETURN_IF_ERROR(add(&chain[i].node, i + 1));
    if (i + 1 < chain.size()) {
      CCL_RETURN_IF_ERROR(disconnect(graph, chain[i].node, chain[i + 1]));
      CCL_RETURN_IF_ERROR(connect(graph, event, chain[i + 1].node));
    }
  }
  return {};
}

/// Takes from a kernel the leave to come before the one before it has ended. What has none refuses, which is
/// as good.
void keep_from_coming_early(cudaGraphNode_t node) {
  const cudaLaunchAttributeValue none{};
  if (cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeProgrammaticStreamSerialization, &none) !=
      cudaSuccess) {
    cudaGetLastError();
  }
}

/// Names the steps of a captured graph and puts events between them.
Status distinguish(cudaGraph_t graph, std::vector<Event>* events, std::vector<Step>* steps) {
  std::vector<ChainNode> chain;
  CCL_RETURN_IF_ERROR(find_chain(graph, &chain));
  *events = std::vector<Event>(chain.size() + 1);
  for (Event& event : *events) {
    CCL_RETURN_IF_ERROR(event.create());
  }
  for (const ChainNode& next : chain) {
    keep_from_coming_early(next.node);
    steps->push_back({.kernel = name_of(next.node)});
  }
  return add_events(graph, chain, *events);
}

}  // namespace

Status time_steps(const device::Stream& stream, const std::function<Status()>& enqueue, int n_runs,
                  std::vector<Step>* steps) {
  GraphOwner graph;
  std::vector<Event> events;
  CCL_RETURN_IF_ERROR(capture(stream, enqueue, &graph));
  if (const Status status = distinguish(graph.get(), &events, steps); !status.ok()) {
    cudaGetLastError();
    steps->clear();
    return {StatusCode::kUnsupported, status.message()};
  }
  cudaGraphExec_t instance = nullptr;
  CCL_RETURN_IF_ERROR(check(cudaGraphInstantiate(&instance, graph.get(), 0), "cudaGraphInstantiate"));
  const ExecutableOwner executable(instance);

  std::vector<std::vector<float>> times(steps->size());
  for (int run = 0; run <= n_runs; ++run) {
    CCL_RETURN_IF_ERROR(check(cudaGraphLaunch(executable.get(), stream.get()), "cudaGraphLaunch"));
    CCL_RETURN_IF_ERROR(stream.synchronize());
    for (size_t i = 0; run > 0 && i < times.size(); ++i) {  // the first run warms up
      float us = 0;
      CCL_RETURN_IF_ERROR(events[i + 1].elapsed_since(events[i], &us));
      times[i].push_back(us);
    }
  }
  for (size_t i = 0; i < times.size(); ++i) {
    (*steps)[i].us = median(times[i]);
  }
  return {};
}

}  // namespace ccl::bench
