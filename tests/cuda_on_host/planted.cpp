// Faults that only sanitizers see, one for each run: `planted none` must be silent, every other one must end with a report.
// SPDX-License-Identifier: Apache-2.0
//
// With -fsanitize=thread: barrier, late_barrier, sum, blocks, lanes.  With -fsanitize=address: shared, device, freed.
#include <cstdio>
#include <cstring>
#include <string>

#include "triad/cuda/launch.cuh"

namespace {

using namespace triad;
using triad::cuda::block;
using triad::cuda::warp;

enum class fault { none, barrier, late_barrier, sum, blocks, lanes, shared, device, freed };
constexpr char const* names[] = {"none", "barrier", "late_barrier", "sum", "blocks", "lanes", "shared", "device", "freed"};

/// y(block) = the sum of x(0 ... 127), four times, each thread adding what its neighbours loaded; right with fault::none.
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
    s.tile[t] = sum;
    if (planted == fault::lanes)
      (void)b.shuffle(0, 0);  // orders no memory
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

}  // namespace

int main(int count, char** words) {
  std::string const word = count > 1 ? words[1] : "none";
  fault planted = fault::none;
  for (int k = 0; k < 9; ++k)
    if (word == names[k]) planted = static_cast<fault>(k);

  triad::cuda::backend ex;
  auto const m = ex.where();
  constexpr int blocks = 6;
  float values[sums::threads], results[blocks] = {};
  for (int t = 0; t < sums::threads; ++t) values[t] = static_cast<float>(t);
  auto* const x = static_cast<float*>(m.allocate(sizeof values));
  auto* const y = static_cast<float*>(m.allocate(sizeof results));
  auto* const all = static_cast<float*>(m.allocate(sizeof(float)));
  m.from_host(x, values, sizeof values);
  bool right = true;
  for (int k = 0; k < 3; ++k) {
    if (planted == fault::freed && k == 2) m.deallocate(x);
    triad::cuda::launch(ex, sums{planted}, blocks, static_cast<float const*>(x), y, all);
    m.to_host(results, y, sizeof results);
    for (float r : results) right = right && r == 4 * 127 * 64;
  }
  if (planted != fault::freed) m.deallocate(x);
  m.deallocate(y);
  m.deallocate(all);
  std::printf("%s: %s values\n", word.c_str(), right ? "right" : "wrong");
  return planted == fault::none && !right;
}
