// Tests the stand-ins for the CUDA runtime and for cuBLAS. Work runs in the order of its stream, and not before a call
// waits for it. Wrong calls are reported.
// Tests cuda/backend.cuh and cuda/device/status.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <cublas_v2.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "triad/cuda/device/launch.cuh"

namespace cuda_on_host_runtime_tests {

using namespace triad;
using triad::cuda::block;
using triad::cuda_on_host::leaks;
using triad::cuda_on_host::settings;
using triad::cuda_on_host::take_complaints;
using triad::cuda_on_host::with_settings;
using triad::test::contains;

/// Returns the explanation of a failed call.
std::string message_of(cudaError_t status) {
  (void)cudaGetLastError();
  return status == cudaSuccess ? "" : std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
}

struct stream {
  cudaStream_t s = nullptr;
  explicit stream(unsigned flags = cudaStreamNonBlocking) {
    REQUIRE(cudaStreamCreateWithFlags(&s, flags) == cudaSuccess);
  }
  stream(stream const&) = delete;
  ~stream() { (void)cudaStreamDestroy(s); }
  operator cudaStream_t() const { return s; }
};

struct event {
  cudaEvent_t e = nullptr;
  event() { REQUIRE(cudaEventCreate(&e) == cudaSuccess); }
  event(event const&) = delete;
  ~event() { (void)cudaEventDestroy(e); }
  operator cudaEvent_t() const { return e; }
};

struct memory {
  float* p = nullptr;
  explicit memory(index_t n, bool pinned = false) : pinned_(pinned) {
    auto const bytes = static_cast<std::size_t>(n) * sizeof(float);
    void* q = nullptr;
    REQUIRE((pinned ? cudaMallocHost(&q, bytes) : cudaMalloc(&q, bytes)) == cudaSuccess);
    p = static_cast<float*>(q);
  }
  memory(memory const&) = delete;
  ~memory() { (void)(pinned_ ? cudaFreeHost(p) : cudaFree(p)); }
  operator float*() const { return p; }

 private:
  bool pinned_;
};

cudaError_t put(float* to, std::vector<float> const& v, cudaStream_t s) {
  return cudaMemcpyAsync(to, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice, s);
}
cudaError_t get(std::vector<float>& v, float const* from, cudaStream_t s) {
  return cudaMemcpyAsync(v.data(), from, v.size() * sizeof(float), cudaMemcpyDeviceToHost, s);
}
std::vector<float> waited_for(float const* from, index_t n, cudaStream_t s) {
  std::vector<float> v(static_cast<std::size_t>(n));
  REQUIRE(get(v, from, s) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(s) == cudaSuccess);
  return v;
}

/// y(i) = a x(i) + 1 for i < n, by one block.
struct affine {
  static constexpr char const* name = "affine";
  static constexpr int threads = 32;
  TRIAD_DEVICE void operator()(block const& b, float a, float const* x, float* y, index_t n) const {
    for (index_t i = b.thread(); i < n; i += threads) y[i] = a * x[i] + 1;
  }
};
cudaError_t start(cudaStream_t s, float a, float const* x, float* y, index_t n) {
  return triad::cuda::detail::start(s, affine{}, 1, 0, a, x, y, n);
}

/// A kernel that fails.
struct faulty {
  static constexpr char const* name = "faulty";
  static constexpr int threads = 64;
  TRIAD_DEVICE void operator()(block const& b) const {
    if (b.thread() > 3) b.sync();
  }
};

using floats = std::vector<float>;

// ---- order ----------------------------------------------------------------------------------------------------------

TEST_CASE("a stream does what it was given, in order; what was copied from may change at once") {
  for (bool deferred : {true, false}) {
    with_settings const scope({.deferred = deferred});
    stream const s;
    memory const x(3), y(3);
    floats v{1, 2, 3};
    REQUIRE(put(x, v, s) == cudaSuccess);
    v = {7, 7, 7};
    REQUIRE(start(s, 2, x, y, 3) == cudaSuccess);
    REQUIRE(start(s, 10, y, x, 2) == cudaSuccess);
    REQUIRE(cudaMemsetAsync(y, 0, 4, s) == cudaSuccess);
    CHECK(waited_for(y, 3, s) == floats{0, 5, 7});
    CHECK(waited_for(x, 3, s) == floats{31, 51, 3});
  }
}

TEST_CASE("pinned memory is read when the copy is done, not when it is queued") {
  stream const s;
  memory const pinned(1, true), x(1);
  *pinned = 1;
  REQUIRE(cudaMemcpyAsync(x, pinned, 4, cudaMemcpyHostToDevice, s) == cudaSuccess);
  *pinned = 2;  // the mistake: the copy may read this value
  CHECK(waited_for(x, 1, s) == floats{2});
}

TEST_CASE("who reads before waiting, or what was never written, reads NaN") {
  stream const s;
  memory const x(1);
  CHECK(std::isnan(waited_for(x, 1, s)[0]));
  floats v{0};
  REQUIRE(put(x, {5}, s) == cudaSuccess);
  REQUIRE(get(v, x, s) == cudaSuccess);
  CHECK(std::isnan(v[0]));
  REQUIRE(cudaStreamSynchronize(s) == cudaSuccess);
  CHECK(v[0] == 5);
}

TEST_CASE("a missing wait between streams shows in many orders, and one that is there in none") {
  auto const wrong = [](bool waits) {
    int count = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      with_settings const scope({.seed = seed});
      stream const first, second;
      event const done;
      memory const x(1), y(1);
      REQUIRE(put(x, {1}, first) == cudaSuccess);
      REQUIRE(start(first, 3, x, x, 1) == cudaSuccess);
      REQUIRE(cudaEventRecord(done, first) == cudaSuccess);
      if (waits) REQUIRE(cudaStreamWaitEvent(second, done, 0) == cudaSuccess);
      REQUIRE(start(second, 1, x, y, 1) == cudaSuccess);
      count += waited_for(y, 1, second) != floats{5};
    }
    return count;
  };
  CHECK(wrong(true) == 0);
  CHECK(wrong(false) > 10);
}

TEST_CASE("cudaMemcpy waits for blocking streams alone") {
  memory const x(1), y(1);
  float v = 0;
  stream const own, blocking(cudaStreamDefault);
  REQUIRE(put(x, {1}, own) == cudaSuccess);
  REQUIRE(put(y, {1}, blocking) == cudaSuccess);
  REQUIRE(cudaMemcpy(&v, x, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(std::isnan(v));
  REQUIRE(cudaMemcpy(&v, y, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(v == 1);
}

TEST_CASE("events tell when the stream has come to them") {
  stream const s;
  event const begin, end;
  memory const x(1);
  float milliseconds = -1;
  CHECK_THAT(message_of(cudaEventElapsedTime(&milliseconds, begin, end)), contains("without a time"));
  REQUIRE(cudaEventRecord(begin, s) == cudaSuccess);
  REQUIRE(put(x, {1}, s) == cudaSuccess);
  REQUIRE(cudaEventRecord(end, s) == cudaSuccess);
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end) == cudaErrorNotReady);
  CHECK(cudaEventQuery(end) == cudaErrorNotReady);
  REQUIRE(cudaEventSynchronize(end) == cudaSuccess);
  CHECK(cudaEventQuery(end) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess);
  CHECK(milliseconds >= 0);
}

// ---- misuse ---------------------------------------------------------------------------------------------------------

TEST_CASE("copies of the wrong memory, or beyond its end, are refused") {
  stream const s;
  memory const x(2);
  floats v(8);
  auto* const host = v.data();
  CHECK_THAT(message_of(cudaMemcpyAsync(host, host, 4, cudaMemcpyHostToDevice, s)),
             contains("cudaErrorInvalidValue") && contains("direction"));
  CHECK_THAT(message_of(cudaMemcpyAsync(host, x, 4, cudaMemcpyHostToDevice, s)), contains("direction"));
  CHECK_THAT(message_of(cudaMemcpyAsync(x, x, 4, cudaMemcpyDeviceToHost, s)), contains("direction"));
  CHECK_THAT(message_of(cudaMemcpyAsync(x, host, 9, cudaMemcpyHostToDevice, s)), contains("beyond the end"));
  CHECK_THAT(message_of(cudaMemsetAsync(host, 0, 4, s)), contains("not device memory"));
  CHECK(cudaMemcpyAsync(x, host, 8, cudaMemcpyDefault, s) == cudaSuccess);
}

TEST_CASE("what was not made cannot be given back, nor twice") {
  float v = 0;
  memory const pinned(1, true);
  CHECK_THAT(message_of(cudaFree(&v)), contains("none of its own"));
  CHECK_THAT(message_of(cudaFree(pinned)), contains("none of its own"));
  void* p = nullptr;
  REQUIRE(cudaMalloc(&p, 8) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
  CHECK(cudaFree(p) != cudaSuccess);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(take_complaints().size() == 3);
  (void)cudaGetLastError();
}

TEST_CASE("what is never given back is counted") {
  auto const before = leaks();
  {
    memory const x(5);
    event const e;
    stream const s;
    CHECK(leaks() != before);
    CHECK_THAT(leaks(), contains("device allocation") && contains("event") && contains("stream"));
  }
  CHECK(leaks() == before);
}

TEST_CASE("handles that do not exist are refused") {
  cudaStream_t old = nullptr;
  {
    stream const s;
    old = s;
  }
  CHECK_THAT(message_of(cudaStreamSynchronize(old)), contains("no such stream"));
  CHECK_THAT(message_of(cudaGraphLaunch(nullptr, nullptr)), contains("no such graph instance"));
}

TEST_CASE("a kernel's fault is reported by the next call on its stream, and other streams go on") {
  stream const other;
  memory const x(1);
  REQUIRE(put(x, {1}, other) == cudaSuccess);
  {
    stream const s;
    REQUIRE(triad::cuda::detail::start(s, faulty{}, 2, 0) == cudaSuccess);
    CHECK_THAT(message_of(cudaStreamSynchronize(s)), contains("cudaErrorLaunchFailure") &&
                                                         contains("kernel faulty, block 0 of 2") &&
                                                         contains("runtime_test.cpp"));
    CHECK_THROWS_WITH(triad::cuda::check(cudaMemsetAsync(x, 0, 4, s), "clearing"),
                      contains("CUDA, while clearing") && contains("kernel faulty"));
  }
  CHECK(waited_for(x, 1, other) == floats{1});
  CHECK(take_complaints().empty());
  (void)cudaGetLastError();
  {
    stream const s;
    REQUIRE(triad::cuda::detail::start(s, faulty{}, 2, 0) == cudaSuccess);
  }
  auto const complaints = take_complaints();
  REQUIRE(complaints.size() == 1);
  CHECK_THAT(complaints[0], contains("was not asked") && contains("kernel faulty"));
  (void)cudaGetLastError();
}

#if !defined(__SANITIZE_ADDRESS__)  // ASan stops at the access itself
TEST_CASE("what a kernel writes just outside of device memory is found") {
  stream const s;
  memory const x(4), y(4);
  REQUIRE(put(x, {1, 2, 3, 4}, s) == cudaSuccess);
  REQUIRE(start(s, 1, x, y + 1, 4) == cudaSuccess);
  CHECK_THAT(message_of(cudaStreamSynchronize(s)), contains("just outside of 16 bytes"));
}
#endif

// ---- capture --------------------------------------------------------------------------------------------------------

TEST_CASE("a captured stream does nothing until its graph is launched, then the same again and again") {
  stream const s;
  memory const x(1);
  REQUIRE(put(x, {1}, s) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  auto status = cudaStreamCaptureStatusNone;
  REQUIRE(cudaStreamIsCapturing(s, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  REQUIRE(start(s, 2, x, x, 1) == cudaSuccess);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  REQUIRE(cudaStreamEndCapture(s, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(waited_for(x, 1, s) == floats{1});
  for (float expected : {3.0f, 7.0f, 15.0f}) {
    REQUIRE(cudaGraphLaunch(ready, s) == cudaSuccess);
    CHECK(waited_for(x, 1, s) == floats{expected});
  }
  REQUIRE(cudaGraphExecDestroy(ready) == cudaSuccess);
}

TEST_CASE("a thread may allow calls that a capture forbids") {
  stream const s;
  void* p = nullptr;
  auto mode = cudaStreamCaptureModeRelaxed;
  REQUIRE(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(mode == cudaStreamCaptureModeGlobal);
  CHECK(cudaMalloc(&p, 4) == cudaSuccess);
  CHECK(cudaFree(p) == cudaSuccess);
  REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(mode == cudaStreamCaptureModeRelaxed);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(s, &graph) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE("whether the default stream is captured cannot be asked while a blocking stream is") {
  cudaStream_t blocking = nullptr;
  cudaGraph_t graph = nullptr;
  cudaStreamCaptureStatus status{};
  REQUIRE(cudaStreamCreate(&blocking) == cudaSuccess);
  CHECK(cudaStreamIsCapturing(nullptr, &status) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cudaStreamIsCapturing(nullptr, &status) == cudaErrorStreamCaptureImplicit);
  (void)cudaGetLastError();
  REQUIRE(cudaStreamEndCapture(blocking, &graph) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(blocking) == cudaSuccess);
}

TEST_CASE("what a capture forbids is refused, and spoils it") {
  stream const s, other;
  event const outside;
  memory const x(1);
  float v = 0;
  void* p = nullptr;
  REQUIRE(cudaEventRecord(outside, other) == cudaSuccess);
  auto const forbidden = [&](auto&& call) {
    REQUIRE(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    auto const status = call();
    CHECK(start(s, 1, x, x, 1) == cudaErrorStreamCaptureInvalidated);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(s, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(graph == nullptr);
    (void)cudaGetLastError();
    return status;
  };
  CHECK(forbidden([&] { return cudaStreamSynchronize(s); }) == cudaErrorStreamCaptureUnsupported);
  CHECK(forbidden([&] { return cudaDeviceSynchronize(); }) == cudaErrorStreamCaptureUnsupported);
  CHECK(forbidden([&] { return cudaMalloc(&p, 4); }) == cudaErrorStreamCaptureUnsupported);
  CHECK(forbidden([&] { return cudaFree(x); }) == cudaErrorStreamCaptureUnsupported);
  CHECK(forbidden([&] { return cudaMemcpyAsync(x, &v, 4, cudaMemcpyHostToDevice, s); }) ==
        cudaErrorStreamCaptureUnsupported);
  CHECK(forbidden([&] { return cudaMemcpyAsync(&v, x, 4, cudaMemcpyDeviceToHost, s); }) ==
        cudaErrorStreamCaptureUnsupported);
  CHECK(forbidden([&] { return cudaStreamWaitEvent(s, outside, 0); }) == cudaErrorStreamCaptureIsolation);
  CHECK(forbidden([&] { return cudaEventQuery(outside); }) == cudaErrorStreamCaptureUnsupported);
  CHECK(forbidden([&] { return cudaEventSynchronize(outside); }) == cudaErrorStreamCaptureUnsupported);
  CHECK(start(s, 1, x, x, 1) == cudaSuccess);
  CHECK(cudaStreamSynchronize(s) == cudaSuccess);
}

// ---- cuBLAS ---------------------------------------------------------------------------------------------------------

struct blas {
  cublasHandle_t h = nullptr;
  explicit blas(cudaStream_t s) {
    REQUIRE(cublasCreate(&h) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasSetStream(h, s) == CUBLAS_STATUS_SUCCESS);
  }
  blas(blas const&) = delete;
  ~blas() { (void)cublasDestroy(h); }
};

TEST_CASE("factors are rounded as the compute type says, and sums are not") {
  stream const s;
  blas const handle(s);
  memory const a(2), b(2), c(1);
  float const fine = 1 + 0x1p-11f, one = 1, zero = 0;
  REQUIRE(put(a, {fine, 0x1p-20f}, s) == cudaSuccess);
  REQUIRE(put(b, {1, 1}, s) == cudaSuccess);
  auto const product = [&](cublasComputeType_t how) {
    REQUIRE(cublasGemmEx(handle.h, CUBLAS_OP_T, CUBLAS_OP_N, 1, 1, 2, &one, a, CUDA_R_32F, 2, b, CUDA_R_32F, 2, &zero,
                         c, CUDA_R_32F, 1, how, CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS);
    return waited_for(c, 1, s)[0];
  };
  CHECK(product(CUBLAS_COMPUTE_32F) == fine + 0x1p-20f);
  CHECK(product(CUBLAS_COMPUTE_32F_FAST_TF32) == 1 + 0x1p-10f + 0x1p-20f);
  CHECK(product(CUBLAS_COMPUTE_32F_FAST_16BF) == 1 + 0x1p-20f);
}

TEST_CASE("a batch of products is each product, also with factors that are turned or shared") {
  stream const s;
  blas const handle(s);
  memory const a(12), b(6), c(8);
  float const one = 1, zero = 0;
  // Two matrices (3, 2). They are stored by columns and read transposed.
  REQUIRE(put(a, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, s) == cudaSuccess);
  REQUIRE(put(b, {1, 0, 2, 0, 1, 1}, s) == cudaSuccess);  // (3, 2), the same for both products
  REQUIRE(cublasSgemmStridedBatched(handle.h, CUBLAS_OP_T, CUBLAS_OP_N, 2, 2, 3, &one, a, 3, 6, b, 3, 0, &zero, c, 2, 4,
                                    2) == CUBLAS_STATUS_SUCCESS);
  CHECK(waited_for(c, 8, s) == floats{7, 16, 5, 11, 25, 34, 17, 23});
}

TEST_CASE("products that are not modelled, and those of the wrong memory, are refused") {
  stream const s;
  blas const handle(s);
  memory const a(4);
  float const one = 1, zero = 0;
  float host[4] = {};
  auto const product = [&](float const* x, int leading, cudaDataType type, cublasComputeType_t how) {
    return cublasGemmEx(handle.h, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, x, type, leading, a, type, 2, &zero, a, type,
                        2, how, CUBLAS_GEMM_DEFAULT);
  };
  CHECK(product(a, 2, CUDA_R_16BF, CUBLAS_COMPUTE_32F) == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(product(a, 2, CUDA_R_32F, CUBLAS_COMPUTE_16F) == CUBLAS_STATUS_NOT_SUPPORTED);
  CHECK(product(a, 1, CUDA_R_32F, CUBLAS_COMPUTE_32F) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(cublasSetWorkspace(handle.h, host, 16) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(product(host, 2, CUDA_R_32F, CUBLAS_COMPUTE_32F) == CUBLAS_STATUS_SUCCESS);
  CHECK_THAT(message_of(cudaStreamSynchronize(s)), contains("the left factors is not"));
}

// ---- through the backend --------------------------------------------------------------------------------------------

TEST_CASE("a backend records work the second time and replays it") {
  triad::cuda::backend ex;
  auto const m = ex.where();
  auto* const x = static_cast<float*>(m.allocate(4));
  m.zero(x, 4);
  for (int k = 0; k < 4; ++k)
    do_replay(ex, 1, [&] { triad::cuda::launch(ex, affine{}, 1, 2.0f, static_cast<float const*>(x), x, index_t{1}); });
  float v = 0;
  m.to_host(&v, x, 4);
  CHECK(v == 15);
  CHECK(ex.recordings().replayed() == 3);
  m.deallocate(x);
}

}  // namespace cuda_on_host_runtime_tests
