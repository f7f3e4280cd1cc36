// The engine: runs the threads of a grid, one at a time, on one thread of the host; and what a thread can ask of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace triad::cuda_on_host {

/// A kernel did what a device, or this stand-in, does not allow.  The message says which kernel, block, thread and
/// line.
struct fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct grid {
  char const* name;
  int threads;  // of a block: a multiple of 32, at most 1024
  std::int64_t blocks;
  std::size_t shared_bytes;
};

/// What a thread knows of itself.
struct thread_info {
  int thread, threads;
  std::int64_t index, blocks;
  void* shared;
  std::size_t shared_bytes;
};

/// Runs body(kernel, thread) for all threads of all blocks, one block after the other.  Throws `fault`; the engine
/// stays usable.
void run(grid const&, void (*body)(void const* kernel, thread_info const&), void const* kernel);

template <class F>
void run(grid const& g, F const& f) {
  run(g, [](void const* kernel, thread_info const& t) { (*static_cast<F const*>(kernel))(t); }, &f);
}

/// Grids that were run since the program began.
std::uint64_t grids_run();

// ---- for threads of a grid ------------------------------------------------------------------------------------------

struct place {
  char const* file;
  int line;
};

void barrier(place);
void warp_barrier(place);
/// Of 4 or 8 bytes, as bits.  `from` counts modulo 32, as on a device.
std::uint64_t shuffle(std::uint64_t bits, int from, place);
std::uint64_t shuffle_xor(std::uint64_t bits, int mask, place);
unsigned ballot(bool yes, place);
/// Ends the grid with a fault.
[[noreturn]] void fail(std::string const& message);

}  // namespace triad::cuda_on_host
