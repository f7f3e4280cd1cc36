// Tests the GPU kernels of examples/python, on the stand-in for a GPU.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "../../examples/python/src/kernels_cuda.cu"
#include "tests/torch_kernels.hpp"

namespace cuda_on_host_torch_tests {

struct memory_on_device {
  std::vector<void*> all;
  void* room(std::size_t bytes) {
    all.push_back(nullptr);
    check(cudaMalloc(&all.back(), bytes), "allocating");
    return all.back();
  }
  void* put(void const* values, std::size_t bytes) {
    auto* const there = room(bytes + 64);
    check(cudaMemcpy(there, values, bytes, cudaMemcpyHostToDevice), "copying");
    return there;
  }
  void get(void* values, void const* there, std::size_t bytes) const {
    check(cudaDeviceSynchronize(), "waiting");
    check(cudaMemcpy(values, there, bytes, cudaMemcpyDeviceToHost), "copying back");
  }
  ~memory_on_device() {
    for (auto* p : all) (void)cudaFree(p);
  }
};

/// A stream, and memory for calls to work in, as PyTorch gives them.  All calls use the same memory, because their work
/// is in one stream.
struct caller {
  static constexpr std::int64_t most = std::int64_t{8} << 20;
  memory_on_device memory;
  void* scratch = memory.room(most);
  triad_place place{};

  caller() {
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    place.stream = stream;
    place.memory = [](void* context, std::int64_t bytes) { return bytes <= most ? context : nullptr; };
    place.memory_context = scratch;
  }
  caller(caller const&) = delete;
  caller& operator=(caller const&) = delete;
  ~caller() {
    triad_cuda_kernels_end();
    (void)cudaStreamDestroy(stream());
  }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(place.stream); }
};

TEST_CASE("the kernels that Python calls on a GPU are the reference's") {
  caller c;
  triad::test::check_torch_kernels(*triad_cuda_kernels_table(), c.place, c.memory);
}

/// Triangular attention of stacked projections, with dropout, and its gradient.
struct stacked_call {
  index_t rows = 0, heads = 2, width = 4;
  triad_triangle_call c{};
  float *x, *d_output, *output, *dx;
  std::uint64_t* seed;

  /// Without `sizes`, the call has 3 graphs of 5 nodes.
  stacked_call(caller& at, std::vector<index_t> const& sizes) {
    for (auto const n : sizes) rows += n * n;
    if (sizes.empty()) rows = 3 * 25, c.nodes = 5;
    c.graphs = sizes.empty() ? 3 : std::ssize(sizes);
    c.sizes = sizes.empty() ? nullptr : sizes.data();
    auto const d = heads * width;
    auto const room = [&](index_t numbers) {
      return static_cast<float*>(at.memory.room(static_cast<std::size_t>(numbers) * sizeof(float) + 64));
    };
    x = room(rows * 4 * d), dx = room(rows * 4 * d), output = room(rows * d), d_output = room(rows * d);
    seed = static_cast<std::uint64_t*>(at.memory.room(sizeof *seed));
    c.place = at.place;
    c.rows = rows, c.heads = heads, c.width = width, c.dropout = 0.3, c.seed = seed, c.fill = -1e9;
    triad_rows *const in[] = {&c.query, &c.key, &c.left, &c.right}, *const out[] = {&c.d_query, &c.d_key, &c.d_left,
                                                                                    &c.d_right};
    for (index_t p = 0; p < 4; ++p) *in[p] = {x + p * d, 4 * d}, *out[p] = {dx + p * d, 4 * d};
    c.output = {output, d}, c.d_output = {d_output, d};
    c.maximum = room(rows * heads), c.inverse_sum = room(rows * heads);
  }
  void put(std::uint64_t numbers) const {
    auto const d = heads * width;
    auto const copy = [&](void* to, auto const& values) {
      check(cudaMemcpy(to, values.data(), values.size() * sizeof values[0], cudaMemcpyHostToDevice), "copying");
    };
    copy(x, triad::test::torch_numbers<float>(rows * 4 * d, numbers));
    copy(d_output, triad::test::torch_numbers<float>(rows * d, numbers + 1));
    copy(seed, std::vector<std::uint64_t>{numbers});
    check(cudaDeviceSynchronize(), "waiting");  // the caller's stream does not wait for the default stream
  }
  void run() const {
    auto const& kernels = *triad_cuda_kernels_table();
    REQUIRE(triad::test::torch_call(kernels.triangle, c) == "");
    REQUIRE(triad::test::torch_call(kernels.triangle_grad, c) == "");
  }
  std::vector<float> results(caller const& at) const {
    auto const d = static_cast<std::size_t>(heads * width), all = static_cast<std::size_t>(rows) * d;
    std::vector<float> found(all * 5);
    at.memory.get(found.data(), output, all * sizeof(float));
    at.memory.get(found.data() + all, dx, 4 * all * sizeof(float));
    return found;
  }
};

TEST_CASE("a CUDA graph of the caller can hold triangular attention and its gradient") {
  std::vector<index_t> none, few{3, 0, 7, 5}, many(230);  // three launches write the sizes of many
  for (std::size_t g = 0; g < many.size(); ++g) many[g] = static_cast<index_t>(g % 4);
  for (auto const* sizes : {&none, &few, &many}) {
    CAPTURE(sizes->size());
    caller at;
    stacked_call const call(at, *sizes);
    call.put(1);
    call.run();  // a first call, outside of the graph
    check(cudaDeviceSynchronize(), "waiting");
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    check(cudaStreamBeginCapture(at.stream(), cudaStreamCaptureModeGlobal), "beginning to capture");
    call.run();
    check(cudaStreamEndCapture(at.stream(), &graph), "ending the capture");
    check(cudaGraphInstantiate(&ready, graph, 0), "making a graph");
    for (std::uint64_t numbers : {5, 9}) {  // other numbers and another seed in the same memory
      call.put(numbers);
      call.run();
      auto const expected = call.results(at);
      call.put(100);
      call.run();
      REQUIRE(call.results(at) != expected);
      call.put(numbers);
      check(cudaGraphLaunch(ready, at.stream()), "replaying");
      CHECK(call.results(at) == expected);
    }
    check(cudaGraphExecDestroy(ready), "destroying a graph");
    check(cudaGraphDestroy(graph), "destroying a graph");
  }
}

TEST_CASE("a first call on a GPU that is captured is refused, and so is a call without memory") {
  caller at;
  stacked_call call(at, {});
  call.put(1);
  auto const& kernels = *triad_cuda_kernels_table();
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(at.stream(), cudaStreamCaptureModeGlobal), "beginning to capture");
  CHECK_THAT(triad::test::torch_call(kernels.triangle, call.c), triad::test::contains("expected a call before it"));
  check(cudaStreamEndCapture(at.stream(), &graph), "ending the capture");
  check(cudaGraphDestroy(graph), "destroying a graph");
  call.run();
  check(cudaDeviceSynchronize(), "waiting");
  call.c.place.memory = [](void*, std::int64_t) -> void* { return nullptr; };
  CHECK_THAT(triad::test::torch_call(kernels.triangle, call.c),
             triad::test::contains("CUDA out of memory: triangular attention needs "));
  call.c.place.memory = nullptr;
  CHECK_THAT(triad::test::torch_call(kernels.triangle, call.c), triad::test::contains("expected place.memory"));
}

}  // namespace cuda_on_host_torch_tests
