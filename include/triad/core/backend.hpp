// What a backend is: a context whose hooks `do_<operation>` are found by argument-dependent lookup.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "triad/core/buffer.hpp"

namespace triad {

/// A context (threads; a stream and a handle) that names the memory it computes in.
template <class Ex>
concept backend = requires { typename Ex::memory; };

/// The memory of a backend, for buffers and copies: one without state, or the one that the backend returns.
template <backend Ex>
typename Ex::memory memory_of(Ex const& ex) {
  if constexpr (requires { ex.where(); })
    return ex.where();
  else
    return typename Ex::memory{};
}

/// Runs work(), which does the same operations in the same memory whenever the key is the same: what a device may
/// record and replay.  Numbers that change from call to call are set in memory before.
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

/// Whether a backend may record work and replay it, so that batches of few shapes are worth their padding.
template <class Ex>
inline constexpr bool replays =
    requires(Ex& ex, std::uint64_t key, detail::no_work const& work) { do_replay(ex, key, work); };

/// Called before memory that replayed work uses is freed.
template <backend Ex>
void forget_replays(Ex& ex) noexcept {
  if constexpr (requires { do_forget_replays(ex); }) do_forget_replays(ex);
}

/// Runs the planning of another backend and none of its work: a forward pass on it measures scratch memory.
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

/// Runs loop(), which reads or writes elements of views, where a backend computes, and leaves it out where memory is
/// only measured and views have none.  For backends whose memory the host reads; on a device write an operation
/// (docs/writing_a_backend.md).
template <class Ex, class Loop>
void on_host([[maybe_unused]] Ex& ex, Loop&& loop) {
  static_assert(std::is_same_v<typename Ex::memory, host_memory>,
                "on_host: a loop over elements needs memory that the host reads; for a device write an operation "
                "(docs/writing_a_backend.md)");
  if constexpr (executes<Ex>) loop();
}

/// Unwraps measuring<Ex>: the backend whose workspace sizes count.
template <class Ex>
constexpr Ex& planning(Ex& ex) {
  return ex;
}
template <class Ex>
constexpr Ex& planning(measuring<Ex>& ex) {
  return *ex.real;
}

/// Runs run(ws) with a workspace of `bytes` bytes of the scratch memory, and gives them back.  Where memory is only
/// measured the bytes are counted, and run is not compiled: it takes `auto`.
template <class Ex, class Run>
void with_workspace(Ex&, arena& scratch, std::size_t bytes, Run&& run) {
  auto const frame = scratch.open();
  auto const ws = scratch.make_workspace(bytes);
  if constexpr (executes<Ex>) run(ws);
}

}  // namespace triad
