// Tests work in a stream of the caller: its order, its copies, and CUDA graphs of the caller that contain it.
// Tests cuda/backend.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include "session.hpp"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/matmul.cuh"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/matmul.hpp"

namespace cuda_on_host_callers_stream_tests {

using namespace triad;
using triad::cuda::check;
using floats = std::vector<float>;

/// A backend and a stream of the caller.
struct callers {
  triad::cuda::backend ex;
  cudaStream_t stream = nullptr;

  callers() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream"); }
  callers(callers const&) = delete;
  callers& operator=(callers const&) = delete;
  ~callers() {
    ex.queue_in(ex.own_stream());
    ex.synchronize();
    (void)cudaStreamDestroy(stream);
  }
};

/// Computes y = 0 + a b + a b in memory of a backend.
struct twice_the_product {
  static constexpr index_t rows = 3, terms = 5, columns = 4;

  explicit twice_the_product(triad::cuda::backend& e)
      : ex(e),
        memory(memory_of(e)),
        a(rows * terms * 4, memory),
        b(terms * columns * 4, memory),
        y(rows * columns * 4, memory) {}

  void put(float first) {
    floats x(rows * terms), z(terms * columns);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = first + static_cast<float>(i);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = first - static_cast<float>(i % 3);
    memory.from_host(a.data(), x.data(), a.bytes());
    memory.from_host(b.data(), z.data(), b.bytes());
    expected.assign(rows * columns, 0.0F);
    for (index_t i = 0; i < rows; ++i)
      for (index_t j = 0; j < columns; ++j)
        for (index_t l = 0; l < terms; ++l)
          expected[static_cast<std::size_t>(i * columns + j)] +=
              2 * x[static_cast<std::size_t>(i * terms + l)] * z[static_cast<std::size_t>(l * columns + j)];
  }
  void run() {
    auto const part = [](auto& m, index_t r, index_t c) { return make_matrix(static_cast<float*>(m.data()), r, c, c); };
    auto const result = part(y, rows, columns);
    fill(ex, 0.0F, make_vec(result.data_handle(), rows * columns));
    for (int time = 0; time < 2; ++time)
      matmul_add(ex, matrix<float const>(part(a, rows, terms)), matrix<float const>(part(b, terms, columns)), result);
  }
  floats get() const {
    floats found(rows * columns);
    memory.to_host(found.data(), y.data(), y.bytes());
    return found;
  }

  triad::cuda::backend& ex;
  triad::cuda::device_memory memory;
  buffer<triad::cuda::device_memory> a, b, y;
  floats expected;
};

TEST_CASE("copies, products and kernels go to the stream that a backend is given, also for older memory") {
  callers on;
  twice_the_product work(on.ex);
  for (auto* stream : {on.stream, on.ex.own_stream(), cudaStream_t{nullptr}, on.stream}) {
    on.ex.queue_in(stream);
    CHECK(on.ex.stream() == stream);
    work.put(stream == nullptr ? 1.0F : 3.0F);
    on.ex.queue_in(on.ex.own_stream());
    on.ex.queue_in(stream);
    work.run();
    on.ex.queue_in(on.stream);
    CHECK(work.get() == work.expected);
  }
}

TEST_CASE("a CUDA graph of the caller can hold a backend's work") {
  callers on;
  on.ex.queue_in(on.stream);
  twice_the_product work(on.ex);
  work.put(1);
  work.run();
  CHECK(work.get() == work.expected);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeGlobal), "beginning to capture");
  replay(on.ex, 7, [&] { work.run(); });  // does not capture on its own
  check(cudaStreamEndCapture(on.stream, &graph), "ending the capture");
  check(cudaGraphInstantiate(&ready, graph, 0), "making a graph");
  for (float const first : {4.0F, -2.0F}) {
    work.put(first);
    check(cudaGraphLaunch(ready, on.stream), "replaying");
    CHECK(work.get() == work.expected);
  }
  check(cudaGraphExecDestroy(ready), "destroying a graph");
  check(cudaGraphDestroy(graph), "destroying a graph");
}

TEST_CASE("a backend records only work in its own stream") {
  callers on;
  twice_the_product work(on.ex);
  work.put(2);
  auto const three_times = [&] {
    for (int i = 0; i < 3; ++i) replay(on.ex, 9, [&] { work.run(); });
    return on.ex.recordings().replayed();
  };
  auto const recorded = three_times();
  CHECK(recorded == 2);
  CHECK(work.get() == work.expected);
  on.ex.queue_in(on.stream);
  CHECK(three_times() == recorded);
  CHECK(work.get() == work.expected);
}

TEST_CASE("copies through page-locked memory arrive whole when streams change between them") {
  callers on;
  auto const memory = memory_of(on.ex);
  constexpr std::size_t copies = 300, each = 3000;  // 7.2 MB: both halves of the memory are used several times
  buffer<triad::cuda::device_memory> there(copies * each * sizeof(std::uint64_t), memory);
  std::vector<std::uint64_t> here(each), back(copies * each);
  for (std::size_t i = 0; i < copies; ++i) {
    on.ex.queue_in(i / 7 % 2 == 0 ? on.ex.own_stream() : on.stream);
    std::fill(here.begin(), here.end(), i);
    memory.from_host(static_cast<std::uint64_t*>(there.data()) + i * each, here.data(), each * sizeof(std::uint64_t));
  }
  memory.to_host(back.data(), there.data(), there.bytes());
  for (std::size_t i = 0; i < back.size(); ++i) REQUIRE(back[i] == i / each);
}

}  // namespace cuda_on_host_callers_stream_tests
