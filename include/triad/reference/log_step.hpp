// The table of losses and norms of past steps, directly from its definition in ops/log_step.hpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/ops/log_step.hpp"
#include "triad/reference/backend.hpp"

namespace triad::TRIAD_REFERENCE {

template <class T>
void do_log_step(backend&, std::uint64_t const* step, vec<T const> loss, vec<T const> norm, matrix<T> table) {
  auto const row = static_cast<index_t>(*step % static_cast<std::uint64_t>(table.extent(0)));
  table(row, 0) = loss(0);
  table(row, 1) = norm(0);
}

}  // namespace triad::TRIAD_REFERENCE
