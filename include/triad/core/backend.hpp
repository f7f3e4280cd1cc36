// What a backend is: a context whose hooks `do_<operation>` are found by argument-dependent lookup.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <type_traits>

#include "triad/core/buffer.hpp"

namespace triad {

/// A context (threads; a stream and a handle) that names the memory it computes in.
template <class Ex>
concept backend = requires { typename Ex::memory; };

/// Runs the planning of another backend and none of its work: a forward pass on it measures scratch memory.
template <class Ex>
struct measuring {
  using memory = typename Ex::memory;
  Ex* real;
};

template <class Ex>
inline constexpr bool executes = true;
template <class Ex>
inline constexpr bool executes<measuring<Ex>> = false;

/// The backend whose workspace sizes count.
template <class Ex>
constexpr Ex& planning(Ex& ex) { return ex; }
template <class Ex>
constexpr Ex& planning(measuring<Ex>& ex) { return *ex.real; }

}  // namespace triad
