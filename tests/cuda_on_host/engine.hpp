// The engine runs the threads of a grid, one at a time, on one thread of the host. Also declares the functions that
// threads call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace triad::cuda_on_host {

/// Thrown if a kernel does what a device, or this stand-in, does not allow. The message has the kernel, block, thread
/// and line.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct grid {
  char const* name;
  int threads;  // threads of a block: a multiple of 32, at most 1024
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

/// Runs body(kernel, thread) for all threads of all blocks, one block after the other. After it throws `fault`, the
/// engine can be used again.
void run(grid const&, void (*body)(void const* kernel, thread_info const&), void const* kernel);

template <class F>
void run(grid const& g, F const& f) {
  run(g, [](void const* kernel, thread_info const& t) { (*static_cast<F const*>(kernel))(t); }, &f);
}

/// The number of grids that were run since the program started.
std::uint64_t grids_run();

// ---- functions for threads of a grid --------------------------------------------------------------------------------

struct place {
  char const* file;
  int line;
};

void barrier(place);
void warp_barrier(place);
/// Exchanges the bits of 4 or 8 bytes. `from` is taken modulo 32, as on a device.
std::uint64_t shuffle(std::uint64_t bits, int from, place);
std::uint64_t shuffle_xor(std::uint64_t bits, int mask, place);
unsigned ballot(bool yes, place);
/// Ends the grid with a fault.
[[noreturn]] void fail(std::string const& message);

}  // namespace triad::cuda_on_host
