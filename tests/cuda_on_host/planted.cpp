// Runs one planted fault of a kernel or of the host. `planted none` must report no fault. Every other fault must be
// reported:
// SPDX-License-Identifier: Apache-2.0
//
//   by wrong values           barrier, late_barrier, read, stream
//   by the guards of memory   shared, device
//   by -fsanitize=thread      barrier, late_barrier, sum, blocks, lanes
//   by -fsanitize=address     read, shared, device, freed
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <string>

#include "triad/cuda/device/launch.cuh"

namespace {

using namespace triad;
using triad::cuda::block;
using triad::cuda::warp;

enum class fault { none, barrier, late_barrier, sum, blocks, lanes, read, shared, device, freed, stream };
constexpr char const* names[] = {"none", "barrier", "late_barrier", "sum",   "blocks", "lanes",
                                 "read", "shared",  "device",       "freed", "stream"};

/// y(block) = the sum of x(0 ... 127), four times. Each thread adds values that its neighbours have loaded. With
/// fault::none, the kernel is correct.
struct sums {
  static constexpr char const* name = "sums";
  static constexpr int threads = 128;
  struct shared {
    float tile[threads], part[threads / warp];
  };
  fault planted;

  TRIAD_DEVICE void operator()(block const& b, float const* x, float* y, float* all) const {
    auto& s = b.shared<shared>();
    int const t = b.thread();
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      s.tile[t] = x[t];
      if (planted != fault::barrier) b.sync();
      sum += s.tile[threads - 1 - t];
      if (planted != fault::late_barrier) b.sync();
    }
    if (planted == fault::read && t == 0) sum += x[threads];
    s.tile[t] = sum;
    if (planted == fault::lanes)
      (void)b.shuffle(0, 0);  // a shuffle does not order memory
    else
      b.sync_warp();
    if (b.lane() == 0) {
      float warps = 0;
      for (int l = 0; l < warp; ++l) warps += s.tile[t + l];
      s.part[b.row()] = warps;
    }
    b.sync();
    if (t == 0) y[b.index()] = s.part[0] + s.part[1] + s.part[2] + s.part[3];
    if (planted == fault::sum && b.index() == 0) *all += 1;
    if (planted == fault::blocks && t == 0) *all = 1;
    if (planted == fault::shared && t == 5) s.part[t] = 1;
    if (planted == fault::device && t == 0) y[b.blocks()] = 1;
  }
};

/// An array in device memory, which is freed at the end of the scope.
struct floats {
  triad::cuda::device_memory where;
  std::size_t bytes;
  float* data = static_cast<float*>(where.allocate(bytes));

  floats(triad::cuda::backend const& ex, int count)
      : where(ex.where()), bytes(static_cast<std::size_t>(count) * sizeof(float)) {}
  floats(floats const&) = delete;
  floats& operator=(floats const&) = delete;
  ~floats() { free(); }
  void free() {
    if (data != nullptr) where.deallocate(data);
    data = nullptr;
  }
};

/// One stream copies values, and another stream computes their sums. Returns whether the sums are right in several runs
/// with different orders of the streams.
bool right_sums(fault planted) {
  triad::cuda::backend copies, ex;
  cudaEvent_t copied = nullptr;
  triad::cuda::check(cudaEventCreateWithFlags(&copied, cudaEventDisableTiming), "creating an event");
  constexpr int blocks = 6;
  float values[sums::threads], results[blocks] = {};
  for (int t = 0; t < sums::threads; ++t) values[t] = static_cast<float>(t);
  bool right = true;
  try {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      triad::cuda_on_host::with_settings const order({.seed = seed});
      floats x(copies, sums::threads), y(ex, blocks), all(ex, 1);
      copies.where().from_host(x.data, values, sizeof values);
      triad::cuda::check(cudaEventRecord(copied, copies.stream()), "recording an event");
      if (planted != fault::stream)
        triad::cuda::check(cudaStreamWaitEvent(ex.stream(), copied, 0), "letting a stream wait");
      float const* const from = x.data;
      if (planted == fault::freed) x.free();
      triad::cuda::launch(ex, sums{planted}, blocks, from, y.data, all.data);
      ex.where().to_host(results, y.data, sizeof results);
      for (float r : results) right = right && r == 4 * 127 * 64;
    }
  } catch (std::exception const& e) {
    std::printf("%s\n", e.what());
    right = false;
  }
  (void)cudaEventDestroy(copied);
  return right;
}

}  // namespace

int main(int count, char** words) {
  std::string const word = count > 1 ? words[1] : "none";
  for (int k = 0; k < static_cast<int>(std::size(names)); ++k)
    if (word == names[k]) {
      bool const right = right_sums(static_cast<fault>(k));
      std::printf("%s: %s values\n", names[k], right ? "right" : "wrong");
      return right ? 0 : 1;
    }
  std::fprintf(stderr, "planted: no fault is called %s\n", word.c_str());
  return 2;
}
