// The concept of a backend.  An operation calls the function `do_<operation>` of the backend, which argument-dependent
// lookup finds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "triad/core/buffer.hpp"

namespace triad {

/// A backend holds what operations need, such as the number of threads, or a CUDA stream and a cuBLAS handle.  The
/// member type `memory` allocates and copies the memory in which operations compute.
template <class Ex>
concept backend = requires { typename Ex::memory; };

/// Returns the object that allocates and copies a backend's memory.  This is ex.where() if the backend has this
/// function, else a default-constructed `memory`.
template <backend Ex>
typename Ex::memory memory_of(Ex const& ex) {
  if constexpr (requires { ex.where(); })
    return ex.where();
  else
    return typename Ex::memory{};
}

/// Whether a backend may round the factors of products to bfloat16.  Such a backend has a function rounds_from(), and
/// its hooks of products read and write matrices of bfloat16 (core/kept_factor.hpp).
template <class Ex>
concept rounds_factors = requires(Ex const& ex) { ex.rounds_from(); };

/// Returns the smallest extent of the products whose factors a backend rounds to bfloat16.  0 if it rounds none.
template <backend Ex>
std::int64_t rounds_from(Ex const& ex) {
  if constexpr (rounds_factors<Ex>)
    return ex.rounds_from();
  else
    return 0;
}

/// Runs work().  A device may record the operations of work(), and replay the recording when replay() is called again
/// with the same key.  So all calls with the same key must do the same operations in the same memory.  Numbers that
/// differ between these calls must be written to memory before the call.
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

/// Whether a backend may record work and replay the recording.  For such a backend, padding batches to a few shapes
/// saves time.
template <class Ex>
inline constexpr bool replays =
    requires(Ex& ex, std::uint64_t key, detail::no_work const& work) { do_replay(ex, key, work); };

/// Discards all recordings.  Call this function before you free memory that a recording uses.
template <backend Ex>
void forget_replays(Ex& ex) noexcept {
  if constexpr (requires { do_forget_replays(ex); }) do_forget_replays(ex);
}

/// A backend that computes nothing.  A forward pass on this backend measures the scratch memory that the backend *real
/// needs.
template <class Ex>
struct measuring {
  using memory = typename Ex::memory;
  Ex* real;
};

/// Whether a backend computes.  The value is false for measuring<Ex>, which only measures memory.
template <class Ex>
inline constexpr bool executes = true;
template <class Ex>
inline constexpr bool executes<measuring<Ex>> = false;

/// Runs loop(), which reads or writes elements of views.  If memory is only measured, does not run loop(), because the
/// views then have no elements.  The host must be able to read the backend's memory.  For a device, write an operation
/// instead (docs/writing_a_backend.md).
template <class Ex, class Loop>
void on_host([[maybe_unused]] Ex& ex, Loop&& loop) {
  static_assert(std::is_same_v<typename Ex::memory, host_memory>,
                "on_host: a loop over elements needs memory that the host reads; for a device write an operation "
                "(docs/writing_a_backend.md)");
  if constexpr (executes<Ex>) loop();
}

/// Returns the backend whose workspaces are planned: *ex.real if ex is a measuring<Ex>, else ex.
template <class Ex>
constexpr Ex& planning(Ex& ex) {
  return ex;
}
template <class Ex>
constexpr Ex& planning(measuring<Ex>& ex) {
  return *ex.real;
}

/// Takes a workspace ws of `bytes` bytes from the scratch memory, calls run(ws), and frees the workspace.  If memory is
/// only measured, the bytes are counted, but run is not called.  The parameter of run must have the type `auto`, so
/// that the body of run is not compiled in this case.
template <class Ex, class Run>
void with_workspace(Ex&, arena& scratch, std::size_t bytes, Run&& run) {
  auto const frame = scratch.open();
  auto const ws = scratch.make_workspace(bytes);
  if constexpr (executes<Ex>) run(ws);
}

}  // namespace triad
