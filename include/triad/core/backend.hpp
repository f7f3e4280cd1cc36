// The concept of a backend: a context whose hooks `do_<operation>` are found by argument-dependent lookup.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "triad/core/buffer.hpp"

namespace triad {

/// A context (such as threads, or a stream and a handle) with a type for the memory it computes in.
template <class Ex>
concept backend = requires { typename Ex::memory; };

/// Returns the memory of a backend, for buffers and copies: ex.where() if it exists, else a default-constructed object.
template <backend Ex>
typename Ex::memory memory_of(Ex const& ex) {
  if constexpr (requires { ex.where(); })
    return ex.where();
  else
    return typename Ex::memory{};
}

/// Runs work().  For the same key, work must do the same operations in the same memory, so that a device may record and
/// replay it.  Numbers that differ between calls must be written to memory before the call.
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

/// Must be called before memory of replayed work is freed.
template <backend Ex>
void forget_replays(Ex& ex) noexcept {
  if constexpr (requires { do_forget_replays(ex); }) do_forget_replays(ex);
}

/// A backend that only plans the work of another backend.  A forward pass on it measures scratch memory.
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

/// Runs loop(), which reads or writes elements of views, if a backend computes.  Skips it if memory is only measured,
/// since views then have no elements.  Only for backends with memory that the host can read; for a device write an
/// operation (docs/writing_a_backend.md).
template <class Ex, class Loop>
void on_host([[maybe_unused]] Ex& ex, Loop&& loop) {
  static_assert(std::is_same_v<typename Ex::memory, host_memory>,
                "on_host: a loop over elements needs memory that the host reads; for a device write an operation "
                "(docs/writing_a_backend.md)");
  if constexpr (executes<Ex>) loop();
}

/// Returns the backend by which workspaces are planned; unwraps measuring<Ex>.
template <class Ex>
constexpr Ex& planning(Ex& ex) {
  return ex;
}
template <class Ex>
constexpr Ex& planning(measuring<Ex>& ex) {
  return *ex.real;
}

/// Runs run(ws) with a workspace of `bytes` bytes of the scratch memory, and frees the workspace.  If memory is only
/// measured, the bytes are counted and run is not compiled, so its parameter must be `auto`.
template <class Ex, class Run>
void with_workspace(Ex&, arena& scratch, std::size_t bytes, Run&& run) {
  auto const frame = scratch.open();
  auto const ws = scratch.make_workspace(bytes);
  if constexpr (executes<Ex>) run(ws);
}

}  // namespace triad
