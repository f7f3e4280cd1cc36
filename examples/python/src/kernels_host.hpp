// The backend of a call on the host, and the scratch memory of its thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels.h"
#include "triad/core/buffer.hpp"
#include "triad/cpu/backend.hpp"

namespace triad_torch {

inline triad::cpu::backend host(triad_place const& place) {
  triad::cpu::backend ex(static_cast<int>(place.threads));
  ex.borrowed = place.borrowed;
  return ex;
}

/// A thread keeps up to this number of bytes of scratch memory between its calls, so that training does not allocate
/// memory in every call.
inline constexpr std::size_t most_kept = std::size_t{256} << 20;
inline triad::buffer<>& memory_of_thread() {
  thread_local triad::buffer<> memory;
  return memory;
}

/// Calls run(backend, arena) twice. The first call measures the scratch memory and computes nothing. The second call
/// computes.
template <class Run>
void planned_and_run(triad::cpu::backend& ex, Run&& run) {
  triad::measuring<triad::cpu::backend> planner{&ex};
  auto const bytes = triad::planned_bytes([&](triad::arena& scratch) { run(planner, scratch); });
  auto& kept = memory_of_thread();
  triad::buffer<> large;
  if (bytes > most_kept)
    large = triad::buffer<>(bytes);
  else if (bytes > kept.bytes()) {
    // The old buffer is freed first.
    kept = {};
    kept = triad::buffer<>(bytes);
  }
  auto scratch = (bytes > most_kept ? large : kept).place();
  run(ex, scratch);
}

inline constexpr auto copy_rows = [](auto* to, auto const* from, triad::index_t rows, triad::index_t columns,
                                     triad::index_t stride) {
  for (triad::index_t r = 0; r < rows; ++r) std::copy_n(from + r * stride, columns, to + r * columns);
};

}  // namespace triad_torch
