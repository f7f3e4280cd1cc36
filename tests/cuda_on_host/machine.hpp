// Declarations that the source files of the stand-in for the CUDA runtime share: streams as queues, the list of
// allocated memory, and errors with explanations.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/cuda_on_host/runtime.hpp"

namespace triad::cuda_on_host {

/// The number of times that an event was recorded, and the number of these recordings that have been reached.
struct recordings {
  std::uint64_t made = 0, reached = 0;
  std::chrono::steady_clock::time_point at;
};

/// One step in a stream: some work, an event to record, or an event to wait for.
struct step {
  std::function<void()> work = {};
  std::shared_ptr<recordings> records = {}, awaits = {};
  std::uint64_t which = 0;  // number of the recording
};

}  // namespace triad::cuda_on_host

// The header of the CUDA runtime only declares these types.
struct CUgraph_st {
  std::vector<triad::cuda_on_host::step> steps;
};
struct CUgraphExec_st {
  std::vector<triad::cuda_on_host::step> steps;
};
struct CUevent_st {
  std::shared_ptr<triad::cuda_on_host::recordings> recordings = std::make_shared<triad::cuda_on_host::recordings>();
  bool timed = true;
  CUstream_st* captured = nullptr;  // the stream that recorded the event last, if it was being captured
};
struct CUstream_st {
  bool blocking = true;  // the stream and the default stream wait for each other's work
  std::deque<triad::cuda_on_host::step> queue = {};
  std::string fault = {};
  bool asked = false;  // the fault was returned to the caller
  std::unique_ptr<CUgraph_st> capture = {};
  bool spoilt = false;  // the capture has become invalid
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id captured_by = {};
};

namespace triad::cuda_on_host {

struct machine {
  std::recursive_mutex door;                          // allows one call at a time
  std::map<char const*, std::size_t> device, pinned;  // the address of each piece, and its size in bytes
  std::map<void const*, char const*> handles;         // kind: "stream", "event", "graph", "graph instance"
  std::vector<CUstream_st*> streams;
  CUstream_st default_stream;
  int blas_handles = 0;
  counts counted;
  std::vector<std::string> complaints;

  ~machine();
};

machine& the_machine();

/// Makes other threads of the host wait during a call.
struct one_call {
  std::lock_guard<std::recursive_mutex> lock{the_machine().door};
};

/// Stores an error for cudaGetLastError and its explanation for cudaGetErrorString. Returns the error.
cudaError_t answer(cudaError_t, std::string const& why);
/// Makes all captures in progress invalid. Calls that are forbidden while a stream is captured use this function.
cudaError_t unless_captured(char const* call);
/// The mode that cudaThreadExchangeStreamCaptureMode has set in this thread.
cudaStreamCaptureMode& mode_of_thread();
/// Returns cudaErrorInvalidResourceHandle if there is no such object.
cudaError_t known(void const* handle, char const* kind);

/// Implements a call that destroys an object.
template <class Handle>
cudaError_t destroy(Handle* handle, char const* kind) {
  one_call const guard;
  if (auto const status = known(handle, kind); status != cudaSuccess) return status;
  the_machine().handles.erase(handle);
  delete handle;
  return cudaSuccess;
}

/// Appends a step to a stream, or to the graph into which the stream is being captured.
cudaError_t submit(cudaStream_t, step);

/// Runs one step of one stream. If several streams can continue, the seed decides which one does.
void advance_once();
/// Runs steps until done() is true.
template <class Done>
void advance_until(Done done) {
  while (!done()) advance_once();
}
/// Runs steps until every stream is empty.
void advance_all();

}  // namespace triad::cuda_on_host
