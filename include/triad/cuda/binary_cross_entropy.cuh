// Cross entropy of several labels at once.  A block computes a chunk of the elements and adds their losses.  A second
// kernel adds the sums of the chunks in order.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/std/cmath>

#include "triad/cuda/elementwise.cuh"
#include "triad/cuda/reduce.cuh"
#include "triad/ops/binary_cross_entropy.hpp"

namespace triad::cuda {

namespace detail {

/// Sets dx, and partial[chunk] to the loss of a chunk of sum_chunk elements.
template <class T>
struct label_losses {
  static constexpr char const* name = "losses of binary_cross_entropy";
  static constexpr int threads = row_threads;
  struct shared {
    double part[row_warps];
  };

  TRIAD_DEVICE void operator()(block const& b, probability_form form, matrix<T const> x,
                               matrix<std::uint8_t const> target, vec<T const> scale, matrix<T> dx,
                               double* partial) const {
    index_t const labels = x.extent(1), count = x.extent(0) * labels, first = b.index() * sum_chunk,
                  end = first + sum_chunk < count ? first + sum_chunk : count;
    T const by = scale(0);
    double sum = 0;
    for (index_t i = first + b.thread(); i < end; i += threads) {
      index_t const r = i / labels, c = i - r * labels;
      auto const t = target(r, c);
      T slope = 0;
      if (t <= 1) {
        T value = 0;
        (form == probability_form::logits ? by_logit(x(r, c), t == 1, value, slope)
                                          : by_log_miss(x(r, c), t == 1, value, slope));
        sum += static_cast<double>(value);
        slope *= by;
      }
      dx(r, c) = slope;
    }
    sum = block_sum(b, b.shared<shared>().part, sum);
    if (b.thread() == 0) partial[b.index()] = sum * static_cast<double>(by);
  }

 private:
  TRIAD_DEVICE static void by_logit(T x, bool yes, T& value, T& slope) {
    T const miss = yes ? -x : x, e = ::cuda::std::exp(miss < T(0) ? miss : -miss);
    T const p = (miss < T(0) ? e : T(1)) / (T(1) + e);
    value = (miss > T(0) ? miss : T(0)) + ::cuda::std::log1p(e);
    slope = yes ? -p : p;
  }
  TRIAD_DEVICE static void by_log_miss(T x, bool yes, T& value, T& slope) {
    T const s = x - T(least_log_miss);
    T const hit = s < T(-1) ? ::cuda::std::log1p(-::cuda::std::exp(s)) : ::cuda::std::log(-::cuda::std::expm1(s));
    value = yes ? -hit : -s;
    slope = yes ? T(1) / ::cuda::std::expm1(-s) : T(-1);
  }
};

}  // namespace detail

template <class T>
std::size_t do_binary_cross_entropy_workspace(backend&, matrix<T const> x) {
  return static_cast<std::size_t>(blocks_for(x.extent(0) * x.extent(1), sum_chunk)) * sizeof(double);
}

template <class T>
void do_binary_cross_entropy(backend& ex, probability_form form, matrix<T const> x, matrix<std::uint8_t const> target,
                             vec<T const> scale, vec<T> loss, matrix<T> dx, workspace ws) {
  index_t const chunks = blocks_for(x.extent(0) * x.extent(1), sum_chunk);
  if (chunks == 0) return do_fill(ex, T(0), loss);
  auto* const partial = reinterpret_cast<double*>(ws.data);
  launch(ex, detail::label_losses<T>{}, chunks, form, x, target, scale, dx, partial);
  launch(ex, detail::join_sums<T, false>{}, 1, static_cast<double const*>(partial), chunks, loss);
}

}  // namespace triad::cuda
