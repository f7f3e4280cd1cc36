// Cross entropy of several labels at once.  Chunks of rows are computed in parallel.  The sums of the chunks are added
// in order, so the result has the same bits with any number of threads.
// SPDX-License-Identifier: Apache-2.0
//
// Logits in float are computed in vectors.  In the form log_misses, a label that is absent needs no function, and few
// labels are present.  So the absent labels of a row are computed in vectors, and then the present ones one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "triad/cpu/kernels/log.hpp"
#include "triad/cpu/kernels/parallel.hpp"
#include "triad/cpu/reduce.hpp"
#include "triad/reference/binary_cross_entropy.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// Sets dx to the gradient of one row of logits, and returns the loss of the row without `scale`.
inline float labels_by_logits(float const* x, std::uint8_t const* target, index_t labels, float scale, float* dx) {
  using namespace simd;
  floats sums{};
  each_vector(labels, [&](index_t c, auto part) {
    std::int32_t wide[lanes];
    std::fill_n(wide, lanes, 2);
    std::copy_n(target + c, std::min<index_t>(lanes, labels - c), wide);
    ints t;
    std::memcpy(&t, wide, sizeof t);
    floats const given = part.load(x + c), miss = t == 1 ? -given : given;
    floats const e = exp_nonpositive(-max(-miss, miss)), whole = 1.0f + e;
    floats const value = max(floats{}, miss) + if_finite(e, log(whole, e, ints{}));
    floats const p = (miss < 0.0f ? e : broadcast(1)) / whole, slope = scale * (t == 1 ? -p : p);
    ints const counted = t <= 1;
    sums += counted != 0 ? value : floats{};
    part.store(dx + c, counted != 0 ? slope : floats{});
  });
  float some[lanes];
  store(some, sums);
  float total = 0;
  for (float const s : some) total += s;
  return total;
}

/// The same for a row of log_misses.
template <class T>
T labels_by_log_misses(T const* x, std::uint8_t const* target, index_t labels, T scale, T* dx) {
  T total = 0;
#pragma omp simd reduction(+ : total)
  for (index_t c = 0; c < labels; ++c) {
    total += target[c] == 0 ? T(least_log_miss) - x[c] : T(0);
    dx[c] = target[c] == 0 ? -scale : T(0);
  }
  for (index_t c = 0; c < labels; ++c)
    if (target[c] == 1) {
      reference::detail::label_loss<T> const one(probability_form::log_misses, x[c], true);
      total += one.value;
      dx[c] = scale * one.slope;
    }
  return total;
}

/// The number of rows in a chunk.
inline index_t label_chunk(index_t labels) { return std::max<index_t>(1, sum_chunk / std::max<index_t>(1, labels)); }

}  // namespace detail

template <std::floating_point T>
std::size_t do_binary_cross_entropy_workspace(backend&, matrix<T const> x) {
  return static_cast<std::size_t>(chunks_of(x.extent(0), detail::label_chunk(x.extent(1)))) * sizeof(double);
}

template <std::floating_point T>
void do_binary_cross_entropy(backend& ex, probability_form form, matrix<T const> x, matrix<std::uint8_t const> target,
                             vec<T const> scale, vec<T> loss, matrix<T> dx, workspace ws) {
  index_t const rows = x.extent(0), labels = x.extent(1), chunk = detail::label_chunk(labels);
  bool const logits = form == probability_form::logits;
  if (rows == 0 || labels == 0 || x.stride(1) != 1 || target.stride(1) != 1 || dx.stride(1) != 1)
    return reference::do_binary_cross_entropy(ex, form, x, target, scale, loss, dx, ws);
  auto* const partial = reinterpret_cast<double*>(ws.data);
  T const by = scale(0);
  parallel_rows(ex, rows, chunk, [&](index_t first, index_t count, int) {
    double sum = 0;
    for (index_t r = first; r < first + count; ++r) {
      T const* const from = &x(r, 0);
      std::uint8_t const* const wanted = &target(r, 0);
      T* const to = &dx(r, 0);
      if (!logits)
        sum += static_cast<double>(detail::labels_by_log_misses(from, wanted, labels, by, to));
      else if constexpr (std::is_same_v<T, float>)
        sum += static_cast<double>(detail::labels_by_logits(from, wanted, labels, by, to));
      else
        for (index_t c = 0; c < labels; ++c) {
          to[c] = T(0);
          if (wanted[c] > 1) continue;
          reference::detail::label_loss<T> const one(form, from[c], wanted[c] == 1);
          sum += static_cast<double>(one.value);
          to[c] = by * one.slope;
        }
    }
    partial[first / chunk] = sum;
  });
  double total = 0;
  for (index_t c = 0; c < chunks_of(rows, chunk); ++c) total += partial[c];
  loss(0) = static_cast<T>(static_cast<double>(by) * total);
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
