// The concept of a backend: a context whose hooks `do_<operation>` are found by argument-dependent lookup.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "triad/core/buffer.hpp"

namespace triad {

/// A context, such as a number of threads, or a CUDA stream and a cuBLAS handle.  Its member type `memory` allocates
/// and copies the memory that its hooks compute in.
template <class Ex>
concept backend = requires { typename Ex::memory; };

/// Returns the object that allocates and copies a backend's memory: ex.where() if that exists, else a
/// default-constructed `memory`.
template <backend Ex>
typename Ex::memory memory_of(Ex const& ex) {
  if constexpr (requires { ex.where(); })
    return ex.where();
  else
    return typename Ex::memory{};
}

/// Runs work(), or replays what a device recorded in an earlier call with the same key.  So calls with the same key
/// must do the same operations in the same memory.  Numbers that differ between calls must be written to memory before
/// the call.
template <backend Ex, class Work>
void replay(Ex& ex, std::uint64_t key, Work&& work) {
  if constexpr (requires { do_replay(ex, key, work); })
    do_replay(ex, key, work);
  else
    work();
}

namespace detail {
struct no_work {
  void operator()() const {}
};
}  // namespace detail

/// Whether a backend may record work and replay it, so that padding batches to a few shapes is worthwhile.
template <class Ex>
inline constexpr bool replays =
    requires(Ex& ex, std::uint64_t key, detail::no_work const& work) { do_replay(ex, key, work); };

/// Discards all recorded work.  Must be called before memory that recorded work uses is freed.
template <backend Ex>
void forget_replays(Ex& ex) noexcept {
  if constexpr (requires { do_forget_replays(ex); }) do_forget_replays(ex);
}

/// A backend that computes nothing and only plans the memory that the backend *real needs.  A forward pass on it
/// measures scratch memory.
template <class Ex>
struct measuring {
  using memory = typename Ex::memory;
  Ex* real;
};

/// Whether a backend computes; false for measuring<Ex>, which only plans memory.
template <class Ex>
inline constexpr bool executes = true;
template <class Ex>
inline constexpr bool executes<measuring<Ex>> = false;

/// Runs loop(), which reads or writes elements of views, if a backend computes.  Skips loop() if memory is only
/// measured, since views then have no elements.  The memory of the backend must be one that the host can read; for a
/// device, write an operation instead (docs/writing_a_backend.md).
template <class Ex, class Loop>
void on_host([[maybe_unused]] Ex& ex, Loop&& loop) {
  static_assert(std::is_same_v<typename Ex::memory, host_memory>,
                "on_host: a loop over elements needs memory that the host reads; for a device write an operation "
                "(docs/writing_a_backend.md)");
  if constexpr (executes<Ex>) loop();
}

/// Returns the backend that plans the workspaces: *ex.real if ex is a measuring<Ex>, else ex itself.
template <class Ex>
constexpr Ex& planning(Ex& ex) {
  return ex;
}
template <class Ex>
constexpr Ex& planning(measuring<Ex>& ex) {
  return *ex.real;
}

/// Takes a workspace ws of `bytes` bytes from the scratch memory, calls run(ws), and frees the workspace.  If memory is
/// only measured, the bytes are counted, but run is not called.  The parameter of run must be `auto`, so that its body
/// is not compiled in that case.
template <class Ex, class Run>
void with_workspace(Ex&, arena& scratch, std::size_t bytes, Run&& run) {
  auto const frame = scratch.open();
  auto const ws = scratch.make_workspace(bytes);
  if constexpr (executes<Ex>) run(ws);
}

}  // namespace triad
