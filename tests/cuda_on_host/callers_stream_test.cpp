// Tests work in a stream of the caller: its order, its copies, and CUDA graphs of the caller that contain it.
// Tests cuda/backend.cuh.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "session.hpp"
#include "triad/cuda/backend.cuh"
#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/layer_norm.cuh"
#include "triad/cuda/matmul.cuh"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/layer_norm.hpp"
#include "triad/ops/matmul.hpp"

namespace cuda_on_host_callers_stream_tests {

using namespace triad;
using triad::cuda::check;
using triad::test::random_values;
using floats = std::vector<float>;

/// A backend and a stream of the caller.
struct callers {
  triad::cuda::backend ex;
  cudaStream_t stream = nullptr;

  callers() { check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream"); }
  callers(callers const&) = delete;
  callers& operator=(callers const&) = delete;
  ~callers() {
    (void)cudaDeviceSynchronize();
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
  float first = 1;
  for (auto* stream : {on.stream, on.ex.own_stream(), cudaStream_t{nullptr}, on.stream}) {
    on.ex.queue_in(stream);
    CHECK(on.ex.stream() == stream);
    work.put(first++);
    on.ex.queue_in(on.ex.own_stream());
    on.ex.queue_in(stream);
    work.run();
    on.ex.queue_in(on.stream);
    CHECK(work.get() == work.expected);
    work.memory.zero(work.y.data(), work.y.bytes());
    on.ex.queue_in(stream);
    CHECK(work.get() == floats(work.expected.size()));
  }
}

/// Captures work() in a stream, and returns the graph.
template <class Work>
cudaGraphExec_t captured(cudaStream_t stream, Work&& work) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning to capture");
  work();
  check(cudaStreamEndCapture(stream, &graph), "ending the capture");
  check(cudaGraphInstantiate(&ready, graph, 0), "making a graph");
  check(cudaGraphDestroy(graph), "destroying a graph");
  return ready;
}

TEST_CASE("a CUDA graph of the caller can hold a backend's work") {
  callers on;
  on.ex.queue_in(on.stream);
  twice_the_product work(on.ex);
  work.put(1);
  auto const repeated = [&] { replay(on.ex, 7, [&] { work.run(); }); };  // must not capture on its own
  for (int time = 0; time < 2; ++time) repeated();
  CHECK(work.get() == work.expected);
  auto* const graph = captured(on.stream, repeated);
  for (float const first : {4.0F, -2.0F}) {
    work.put(first);
    check(cudaGraphLaunch(graph, on.stream), "replaying");
    CHECK(work.get() == work.expected);
  }
  check(cudaGraphExecDestroy(graph), "destroying a graph");
}

TEST_CASE("the gradient of a norm counts its blocks in every stream and in a CUDA graph") {
  callers on;
  triad::cuda::backend ex(std::move(on.ex));
  triad::test::session<triad::cuda::backend> s(ex);
  constexpr index_t rows = 100, columns = 3;  // four blocks
  auto const x = s.put(random_values<float>(rows * columns, 1), rows, columns),
             dx = s.put(floats(rows * columns), rows, columns);
  auto const of_row = s.put(random_values<float>(rows, 2)), gain = s.put(random_values<float>(columns, 3)),
             dgain = s.put(floats(columns)), dbias = s.put(floats(columns));
  s.with_scratch([&](auto& here, call const& c) {
    auto const add = [&] {
      layer_norm_grad(here, *c.scratch, x, gain, of_row, of_row, x, no_matrix<float const>(), dx, dgain, dbias);
    };
    if constexpr (!executes<std::decay_t<decltype(here)>>) {
      add();
    } else {
      auto const sum = [&] { return s.get(dgain.data_handle(), 1)[0]; };
      add();
      float const once = sum();
      CHECK(once != 0);
      here.queue_in(on.stream);
      add();
      auto* const graph = captured(on.stream, add);
      for (int time = 0; time < 3; ++time) check(cudaGraphLaunch(graph, on.stream), "replaying");
      here.queue_in(here.own_stream());
      add();
      CHECK(std::abs(sum() - 6 * once) <= 1e-5F * std::abs(once));
      check(cudaGraphExecDestroy(graph), "destroying a graph");
    }
  });
}

TEST_CASE("a backend enters and leaves a stream that is captured") {
  callers on;
  cudaStream_t third = nullptr;
  check(cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking), "creating a stream");
  twice_the_product work(on.ex);
  on.ex.queue_in(on.stream);
  work.put(1);  // copies through page-locked memory, whose events the capture must not touch
  on.ex.queue_in(on.ex.own_stream());
  work.put(2);
  auto* const graph = captured(on.stream, [&] {
    on.ex.queue_in(on.stream);
    work.run();
    on.ex.queue_in(on.ex.own_stream());
  });
  check(cudaDeviceSynchronize(), "waiting");
  check(cudaGraphLaunch(graph, on.stream), "replaying");
  on.ex.queue_in(on.stream);
  CHECK(work.get() == work.expected);
  // The third stream waits for the own stream, which the captured stream could not do.
  on.ex.queue_in(on.ex.own_stream());
  work.put(5);
  work.run();
  check(cudaGraphExecDestroy(captured(on.stream, [&] { on.ex.queue_in(on.stream); })), "destroying a graph");
  on.ex.queue_in(third);
  CHECK(work.get() == work.expected);
  work.put(6);  // both halves of the page-locked memory still work
  work.run();
  CHECK(work.get() == work.expected);
  on.ex.queue_in(on.ex.own_stream());
  on.ex.synchronize();
  check(cudaGraphExecDestroy(graph), "destroying a graph");
  check(cudaStreamDestroy(third), "destroying a stream");
}

TEST_CASE("a backend that entered a stream during its capture waits after it") {
  callers on;
  twice_the_product work(on.ex);
  work.put(3);
  work.run();
  check(cudaGraphExecDestroy(captured(on.stream, [&] { on.ex.queue_in(on.stream); })), "destroying a graph");
  on.ex.queue_in(on.stream);
  CHECK(work.get() == work.expected);
}

TEST_CASE("copies that were queued before a capture keep their page-locked memory") {
  callers on;
  auto const memory = memory_of(on.ex);
  constexpr std::size_t numbers = 200000, copies = 8;  // 1.6 MB each: both halves of the memory are used
  buffer<triad::cuda::device_memory> there(copies * numbers * sizeof(std::uint64_t), memory);
  std::vector<std::uint64_t> here(numbers), back(copies * numbers);
  auto const put = [&](std::size_t i) {
    std::fill(here.begin(), here.end(), i);
    memory.from_host(static_cast<std::uint64_t*>(there.data()) + i * numbers, here.data(),
                     numbers * sizeof(std::uint64_t));
  };
  on.ex.queue_in(on.stream);
  put(0);
  auto* const graph = captured(on.stream, [&] { on.ex.queue_in(on.ex.own_stream()); });
  for (std::size_t i = 1; i < copies; ++i) put(i);
  check(cudaGraphExecDestroy(graph), "destroying a graph");
  check(cudaDeviceSynchronize(), "waiting");
  memory.to_host(back.data(), there.data(), there.bytes());
  for (std::size_t i = 0; i < back.size(); ++i) REQUIRE(back[i] == i / numbers);
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
  work.put(3);
  CHECK(three_times() == recorded);
  CHECK(work.get() == work.expected);
}

TEST_CASE("a backend that has moved works in the caller's stream, and copies from memory made before") {
  callers on;
  twice_the_product before(on.ex);
  on.ex.queue_in(on.stream);
  before.put(1);
  triad::cuda::backend moved(std::move(on.ex));
  CHECK(moved.stream() == on.stream);
  CHECK(moved.own_stream() != nullptr);
  {
    twice_the_product work(moved);
    work.put(3);
    work.run();
    CHECK(work.get() == work.expected);
  }
  moved.queue_in(moved.own_stream());
  moved.synchronize();
}

TEST_CASE("copies through page-locked memory arrive whole when streams change between them") {
  callers on;
  auto const memory = memory_of(on.ex);
  constexpr std::size_t copies = 300, each = 3000;  // 7.2 MB: both halves of the memory are used several times
  buffer<triad::cuda::device_memory> there(copies * each * sizeof(std::uint64_t), memory);
  check(cudaDeviceSynchronize(), "waiting");
  for (bool const ordered : {true, false}) {
    std::vector<std::uint64_t> here(each), back(copies * each);
    for (std::size_t i = 0; i < copies; ++i) {
      auto* const stream = i / 7 % 2 == 0 ? on.ex.own_stream() : on.stream;
      if (ordered)
        on.ex.queue_in(stream);
      else
        on.ex.queue_in_unordered(stream);
      std::fill(here.begin(), here.end(), ordered ? i : copies + i);
      memory.from_host(static_cast<std::uint64_t*>(there.data()) + i * each, here.data(), each * sizeof(std::uint64_t));
    }
    if (!ordered) check(cudaDeviceSynchronize(), "waiting");
    memory.to_host(back.data(), there.data(), there.bytes());
    for (std::size_t i = 0; i < back.size(); ++i) REQUIRE(back[i] == i / each + (ordered ? 0 : copies));
  }
}

}  // namespace cuda_on_host_callers_stream_tests
