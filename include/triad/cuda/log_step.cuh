// Records the losses and norms of past steps.  One lane of one warp writes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cuda/device/launch.cuh"
#include "triad/ops/log_step.hpp"

namespace triad::cuda {

namespace detail {

template <class T>
struct note_step {
  static constexpr char const* name = "log_step";
  static constexpr int threads = warp;

  TRIAD_DEVICE void operator()(block const& b, std::uint64_t const* step, vec<T const> loss, vec<T const> norm,
                               matrix<T> table) const {
    if (b.thread() != 0) return;
    auto const row = static_cast<index_t>(*step % static_cast<std::uint64_t>(table.extent(0)));
    table(row, 0) = loss(0);
    table(row, 1) = norm(0);
  }
};

}  // namespace detail

template <class T>
void do_log_step(backend& ex, std::uint64_t const* step, vec<T const> loss, vec<T const> norm, matrix<T> table) {
  launch(ex, detail::note_step<T>{}, 1, step, loss, norm, table);
}

}  // namespace triad::cuda
