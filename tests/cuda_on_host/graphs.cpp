// The CUDA runtime's stream capture and graphs, on the host. A graph is the list of steps that were queued in a stream
// during capture. A launch queues these steps again.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "tests/cuda_on_host/machine.hpp"

using namespace triad::cuda_on_host;

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode mode) {
  one_call const guard;
  if (s == nullptr) return answer(cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured");
  if (auto const status = known(s, "stream"); status != cudaSuccess) return status;
  if (s->capture != nullptr) return answer(cudaErrorIllegalState, "the stream is captured already");
  s->capture = std::make_unique<CUgraph_st>();
  s->spoilt = false;
  s->mode = mode;
  s->captured_by = std::this_thread::get_id();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* graph) {
  one_call const guard;
  *graph = nullptr;
  if (auto const status = known(s, "stream"); status != cudaSuccess) return status;
  if (s->capture == nullptr) return answer(cudaErrorIllegalState, "the stream is not captured");
  auto captured = std::exchange(s->capture, nullptr);
  if (s->spoilt) return answer(cudaErrorStreamCaptureInvalidated, "");
  *graph = captured.release();
  the_machine().handles[*graph] = "graph";
  return cudaSuccess;
}

cudaStreamCaptureMode& triad::cuda_on_host::mode_of_thread() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread());
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* status) {
  one_call const guard;
  *status = cudaStreamCaptureStatusNone;
  if (s == nullptr) {  // the default stream would wait for a blocking stream
    auto const& all = the_machine().streams;
    bool const blocking =
        std::any_of(all.begin(), all.end(), [](auto* other) { return other->blocking && other->capture != nullptr; });
    return blocking ? answer(cudaErrorStreamCaptureImplicit, "") : cudaSuccess;
  }
  if (auto const unknown = known(s, "stream"); unknown != cudaSuccess) return unknown;
  if (s->capture != nullptr) *status = s->spoilt ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* ready, cudaGraph_t graph, unsigned long long) {
  one_call const guard;
  if (auto const status = known(graph, "graph"); status != cudaSuccess) return status;
  *ready = new CUgraphExec_st{graph->steps};
  the_machine().handles[*ready] = "graph instance";
  return cudaSuccess;
}

/// The steps are queued one by one. So steps of other streams may run between them, as on a device.
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t s) {
  one_call const guard;
  if (auto const status = known(graph, "graph instance"); status != cudaSuccess) return status;
  for (auto const& one : graph->steps)
    if (auto const status = submit(s, one); status != cudaSuccess) return status;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return destroy(graph, "graph"); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) { return destroy(graph, "graph instance"); }
