// Turns a number known at run time into a compile-time constant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

#include "triad/core/mdspan.hpp"
#include "triad/cpu/kernels/compiled_for.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

/// Calls f(std::integral_constant<int, N>()), where N is the smaller of `count` and Most.  `count` must be at least 1.
template <int Most, class F>
void with_constant(index_t count, F&& f) {
  if constexpr (Most > 1)
    if (count < Most) return with_constant<Most - 1>(count, std::forward<F>(f));
  f(std::integral_constant<int, Most>());
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
