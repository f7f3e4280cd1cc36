// The CUDA runtime's functions for devices, errors and memory, on the host.
// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_on_host/runtime.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "tests/cuda_on_host/engine.hpp"
#include "tests/cuda_on_host/guarded.hpp"
#include "tests/cuda_on_host/machine.hpp"

namespace triad::cuda_on_host {

namespace {

constexpr int shared_bytes = 48 * 1024, granted_shared_bytes = 163 * 1024;  // as on sm_80

struct error_text {
  cudaError_t code;
  char const *name, *text;
};
constexpr error_text errors[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
     "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "the default stream would depend on a blocking stream that is capturing"},
};
error_text const& of(cudaError_t code) {
  for (auto const& e : errors)
    if (e.code == code) return e;
  static constexpr error_text unknown{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"};
  return unknown;
}

// As in the CUDA runtime, each thread of the host has its own error.
thread_local cudaError_t last = cudaSuccess, explained = cudaSuccess;
thread_local std::string why_explained, sentence;

std::map<char const*, std::size_t>::const_iterator piece_at(std::map<char const*, std::size_t> const& pieces,
                                                            void const* p) {
  auto after = pieces.upper_bound(static_cast<char const*>(p));
  return after == pieces.begin() ? pieces.end() : std::prev(after);
}

cudaError_t allocate(std::map<char const*, std::size_t>& pieces, void** p, std::size_t bytes, char const* call) {
  one_call const guard;
  if (p == nullptr) return answer(cudaErrorInvalidValue, std::string(call) + " of a null pointer");
  *p = nullptr;
  if (auto const status = unless_captured(call); status != cudaSuccess) return status;
  if (bytes == 0) return cudaSuccess;
  try {
    *p = allocate_guarded(bytes);
  } catch (std::bad_alloc const&) {
    return answer(cudaErrorMemoryAllocation, std::to_string(bytes) + " bytes");
  }
  pieces[static_cast<char const*>(*p)] = bytes;
  ++the_machine().counted.allocations;
  return cudaSuccess;
}

/// Waits for all work and frees memory, as cudaFree does.
cudaError_t give_back(std::map<char const*, std::size_t>& pieces, void* p, char const* call) {
  one_call const guard;
  if (p == nullptr) return cudaSuccess;
  if (auto const status = unless_captured(call); status != cudaSuccess) return status;
  ++the_machine().counted.waits;
  advance_all();
  auto const found = pieces.find(static_cast<char const*>(p));
  if (found == pieces.end()) {
    complain(std::string(call) + " of a pointer that it did not make, or of one a second time");
    return answer(cudaErrorInvalidValue, "the pointer is none of its own");
  }
  if (!guards_hold(p, found->second))
    complain(std::string(call) + ": the host wrote outside of " + std::to_string(found->second) + " bytes");
  free_guarded(p, found->second);
  pieces.erase(found);
  return cudaSuccess;
}

std::string count(std::size_t n, std::string const& what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

}  // namespace

machine& the_machine() {
  static machine m;
  return m;
}

machine::~machine() {
  for (auto* s : streams)
    if (!s->fault.empty() && !s->asked) complaints.push_back("a stream is at fault and was not asked: " + s->fault);
  if (auto const left = leaks(); !left.empty()) complaints.push_back("never given back: " + left);
  if (complaints.empty()) return;
  for (auto const& c : complaints) std::fprintf(stderr, "cuda on host: %s\n", c.c_str());
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

cudaError_t answer(cudaError_t code, std::string const& why) {
  last = explained = code;
  why_explained = why;
  return code;
}

cudaError_t known(void const* handle, char const* kind) {
  auto const& handles = the_machine().handles;
  auto const found = handles.find(handle);
  if (found != handles.end() && std::strcmp(found->second, kind) == 0) return cudaSuccess;
  return answer(cudaErrorInvalidResourceHandle, std::string("there is no such ") + kind);
}

bool on_device(void const* p, std::size_t bytes) {
  one_call const guard;
  auto const& pieces = the_machine().device;
  auto const found = piece_at(pieces, p);
  if (found == pieces.end()) return false;
  auto const at = static_cast<std::size_t>(static_cast<char const*>(p) - found->first);
  return at <= found->second && bytes <= found->second - at;
}

void complain(std::string const& text) {
  one_call const guard;
  the_machine().complaints.push_back(text);
}

std::vector<std::string> take_complaints() {
  one_call const guard;
  return std::exchange(the_machine().complaints, {});
}

std::string leaks() {
  machine const& m = the_machine();
  std::string text;
  auto const add = [&](std::string const& s) { text += (text.empty() ? "" : ", ") + s; };
  auto const memory = [&](auto const& pieces, char const* what) {
    std::size_t bytes = 0;
    for (auto const& [p, n] : pieces) bytes += n;
    if (!pieces.empty()) add(count(pieces.size(), what) + " (" + std::to_string(bytes) + " bytes)");
  };
  memory(m.device, "device allocation");
  memory(m.pinned, "pinned allocation");
  std::map<std::string, std::size_t> kinds;
  for (auto const& [p, kind] : m.handles) ++kinds[kind];
  for (auto const& [kind, n] : kinds) add(count(n, kind));
  if (m.blas_handles > 0) add(count(static_cast<std::size_t>(m.blas_handles), "cuBLAS handle"));
  return text;
}

counts counted() {
  one_call const guard;
  return the_machine().counted;
}

void count_blas_handles(int change) {
  one_call const guard;
  the_machine().blas_handles += change;
}

}  // namespace triad::cuda_on_host

using namespace triad::cuda_on_host;

// ---- errors ---------------------------------------------------------------------------------------------------------

char const* cudaGetErrorName(cudaError_t code) { return of(code).name; }

char const* cudaGetErrorString(cudaError_t code) {
  if (code != explained || code == cudaSuccess || why_explained.empty()) return of(code).text;
  one_call const guard;
  for (auto* s : the_machine().streams)
    if (s->fault == why_explained) s->asked = true;
  sentence = std::string(of(code).text) + ": " + why_explained;
  return sentence.c_str();
}

cudaError_t cudaPeekAtLastError() { return last; }
cudaError_t cudaGetLastError() { return std::exchange(last, cudaSuccess); }

// ---- devices --------------------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return device == 0 ? cudaSuccess : answer(cudaErrorInvalidDevice, "there is device 0 alone");
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return cudaSetDevice(device);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimX:
      *value = 0x7fffffff;
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = 32;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = 4;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = shared_bytes;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = granted_shared_bytes;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 8;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      return cudaSuccess;
    default:
      return answer(cudaErrorNotSupported, "the stand-in does not know this attribute");
  }
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int device) {
  if (device != 0) return cudaSetDevice(device);
  *p = {};
  std::strcpy(p->name, "stand-in on the host");
  p->totalGlobalMem = std::size_t{1} << 34;
  p->sharedMemPerBlock = shared_bytes;
  p->sharedMemPerBlockOptin = granted_shared_bytes;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->maxGridSize[0] = 0x7fffffff;
  p->multiProcessorCount = 4;
  p->major = 8;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{1} << 34;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(void const*, cudaFuncAttribute attribute, int value) {
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value > granted_shared_bytes)
    return answer(cudaErrorInvalidValue,
                  std::to_string(value) + " bytes of shared memory; a block has 163 KiB at most");
  return cudaSuccess;
}

// ---- memory ---------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** p, std::size_t bytes) { return allocate(the_machine().device, p, bytes, "cudaMalloc"); }
cudaError_t cudaFree(void* p) { return give_back(the_machine().device, p, "cudaFree"); }
cudaError_t cudaMallocHost(void** p, std::size_t bytes) {
  return allocate(the_machine().pinned, p, bytes, "cudaMallocHost");
}
cudaError_t cudaHostAlloc(void** p, std::size_t bytes, unsigned) {
  return allocate(the_machine().pinned, p, bytes, "cudaHostAlloc");
}
cudaError_t cudaFreeHost(void* p) { return give_back(the_machine().pinned, p, "cudaFreeHost"); }
