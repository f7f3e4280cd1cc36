// What the parts of the stand-in for the CUDA runtime share: streams as queues, memory that is known, answers that
// explain themselves.
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

/// How often an event was recorded, and how many of these recordings have been reached.
struct recordings {
  std::uint64_t made = 0, reached = 0;
  std::chrono::steady_clock::time_point at;
};

/// One thing in a stream: work, or an event that is recorded or waited for.
struct step {
  std::function<void()> work = {};
  std::shared_ptr<recordings> records = {}, awaits = {};
  std::uint64_t which = 0;  // of the recordings
};

}  // namespace triad::cuda_on_host

// The runtime's header leaves these types to us.
struct CUgraph_st {
  std::vector<triad::cuda_on_host::step> steps;
};
struct CUgraphExec_st {
  std::vector<triad::cuda_on_host::step> steps;
};
struct CUevent_st {
  std::shared_ptr<triad::cuda_on_host::recordings> recordings = std::make_shared<triad::cuda_on_host::recordings>();
  bool timed = true;
  CUstream_st* captured = nullptr;  // recorded there last, while it was captured
};
struct CUstream_st {
  bool blocking = true;  // waits for the default stream, which waits for it
  std::deque<triad::cuda_on_host::step> queue = {};
  std::string fault = {};
  bool asked = false;  // the fault was read
  std::unique_ptr<CUgraph_st> capture = {};
  bool spoilt = false;  // the capture
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id captured_by = {};
};

namespace triad::cuda_on_host {

struct machine {
  std::recursive_mutex door;                          // calls come in one by one
  std::map<char const*, std::size_t> device, pinned;  // first byte, bytes
  std::map<void const*, char const*> handles;         // "stream", "event", "graph", "graph instance"
  std::vector<CUstream_st*> streams;
  CUstream_st default_stream;
  int blas_handles = 0;
  counts counted;
  std::vector<std::string> complaints;

  ~machine();
};

machine& the_machine();

/// Keeps other threads of the host out while a call is served.
struct one_call {
  std::lock_guard<std::recursive_mutex> lock{the_machine().door};
};

/// Remembers an error for cudaGetLastError, and what cudaGetErrorString is to say of it.
cudaError_t answer(cudaError_t, std::string const& why);
/// Of a call that must not come while a stream is captured: spoils the captures, if there are any.
cudaError_t unless_captured(char const* call);
/// cudaErrorInvalidResourceHandle if there is no such thing.
cudaError_t known(void const* handle, char const* kind);

/// What a call that destroys something does.
template <class Handle>
cudaError_t destroy(Handle* handle, char const* kind) {
  one_call const guard;
  if (auto const status = known(handle, kind); status != cudaSuccess) return status;
  the_machine().handles.erase(handle);
  delete handle;
  return cudaSuccess;
}

/// Puts a step into a stream, or into the graph that the stream is captured in.
cudaError_t submit(cudaStream_t, step);

/// One step of one stream: of several that can go on, whichever the seed says.
void advance_once();
/// Until done().
template <class Done>
void advance_until(Done done) {
  while (!done()) advance_once();
}
/// Until every stream is empty.
void advance_all();

}  // namespace triad::cuda_on_host
