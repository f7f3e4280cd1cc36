// The engine runs the threads of a grid, one at a time, on a single thread of the host. This header also declares the
// functions that threads of a grid call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace triad::cuda_on_host {

/// The exception if a kernel does something that a device or this stand-in does not allow. The message names the
/// kernel, the block, the thread and the line.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct grid {
  char const* name;
  int threads;  // number of threads in a block: a multiple of 32, at most 1024
  std::int64_t blocks;
  std::size_t shared_bytes;
};

/// The indices of a thread.
struct thread_info {
  int thread, threads;
  std::int64_t index, blocks;
  void* shared;
  std::size_t shared_bytes;
};

/// Runs body(kernel, thread) for all threads of all blocks, one block after another. The engine can be used again after
/// run() has thrown `fault`.
void run(grid const&, void (*body)(void const* kernel, thread_info const&), void const* kernel);

template <class F>
void run(grid const& g, F const& f) {
  run(g, [](void const* kernel, thread_info const& t) { (*static_cast<F const*>(kernel))(t); }, &f);
}

/// The number of grids that have run since the program started.
std::uint64_t grids_run();

// ---- functions for threads of a grid --------------------------------------------------------------------------------

struct place {
  char const* file;
  int line;
};

void barrier(place);
void warp_barrier(place);
/// Exchanges 4 or 8 bytes between lanes. `from` is taken modulo 32, as on a device.
std::uint64_t shuffle(std::uint64_t bits, int from, place);
std::uint64_t shuffle_xor(std::uint64_t bits, int mask, place);
unsigned ballot(bool yes, place);
/// Ends the grid with a fault.
[[noreturn]] void fail(std::string const& message);

}  // namespace triad::cuda_on_host
