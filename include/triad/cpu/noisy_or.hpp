// Noisy or over the tokens of a sentence.  Grids are computed in parallel.  A register holds the same sum for several
// columns of p.
// SPDX-License-Identifier: Apache-2.0
//
// In float, forward computes only one logarithm for each sum.  It multiplies the factors 1 - x(t) of all tokens, and
// removes the power of two from the product after every six factors, because each factor can be as small as 1e-6.
// Where the product is close to 1, it has lost the digits of small x(t).  So forward also computes P = 1 - product by
// P += x(t) (product before t), which adds positive numbers.  log(1 - P) uses P there.
#pragma once

#include <algorithm>
#include <concepts>
#include <type_traits>

#include "triad/cpu/backend.hpp"
#include "triad/cpu/kernels/constant.hpp"
#include "triad/cpu/kernels/log.hpp"
#include "triad/cpu/kernels/parallel.hpp"
#include "triad/reference/noisy_or.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace detail {

/// Computes `Vectors` vectors of one row of s.  `last` reads and writes the last vector.  p is the row of the first
/// token, and weight(t) is kappa q.
template <int Vectors, class Last, class Weight>
[[gnu::always_inline]] inline void noisy_or_vectors(Last const& last, float const* p, index_t stride, index_t tokens,
                                                    Weight const& weight, float* s) {
  using namespace simd;
  constexpr index_t together = 6;
  constexpr std::size_t vectors = Vectors;
  floats product[vectors], found[vectors];
  ints exponent[vectors];
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) product[v] = broadcast(1), found[v] = floats{}, exponent[v] = ints{};
  for (index_t first = 0; first < tokens; first += together) {
    for (index_t t = first; t < std::min(first + together, tokens); ++t, p += stride) {
      float const w = weight(t);
#pragma GCC unroll 4
      for (int v = 0; v < Vectors; ++v) {
        floats const x = (v + 1 < Vectors ? load(p + v * lanes) : last.load(p + v * lanes)) * w;
        found[v] += x * product[v];
        product[v] *= 1.0f - x;
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) exponent[v] += take_exponent(product[v]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) {
    floats const sum = if_finite(found[v], log(product[v], -found[v], exponent[v]));
    v + 1 < Vectors ? store(s + v * lanes, sum) : last.store(s + v * lanes, sum);
  }
}

/// Computes one row of s with `width` columns.  p is the row of the first token, and weight(t) is kappa q.
template <class Weight>
void noisy_or_row(float const* p, index_t stride, index_t tokens, index_t width, Weight const& weight, float* s) {
  constexpr int most = simd::registers == 32 ? 4 : 2;  // vectors; their products, sums and exponents stay in registers
  for (index_t r = 0; r < width; r += most * simd::lanes)
    with_constant<most>(simd::vectors(width - r), [&](auto vectors) {
      constexpr int count = decltype(vectors)::value;
      index_t const left = width - r - (count - 1) * simd::lanes;
      auto const compute = [&](auto const& last) {
        noisy_or_vectors<count>(last, p + r, stride, tokens, weight, s + r);
      };
      left < simd::lanes ? compute(simd::tail(left)) : compute(simd::whole());
    });
}

inline void noisy_or_of(noisy_or_grid<float> const& grid, matrix<float const> p, matrix<float> s) {
  index_t const width = p.extent(1);
  if (grid.rows == 0) return reference::detail::noisy_or_of(grid, p, s);
  if (width == 0) return;
  for (index_t a = 0; a < grid.outer; ++a)
    for (index_t c = 0; c < grid.inner; ++c) {
      auto const weight = [&](index_t t) { return static_cast<float>(noisy_or_kappa) * grid.weight(t, a, c); };
      noisy_or_row(&p(grid.row, 0), p.stride(0), grid.rows, width, weight, &s(grid.first + a * grid.inner + c, 0));
    }
}

inline void noisy_or_grad_of(noisy_or_grid<float> const& grid, matrix<float const> p, matrix<float const> ds,
                             matrix<float> dp, matrix<float> drole) {
  using namespace simd;
  constexpr float kappa = static_cast<float>(noisy_or_kappa);
  index_t const width = p.extent(1), roles = grid.role.extent(1);
  if (width == 0) return reference::detail::noisy_or_grad_of(grid, p, ds, dp, drole);
  alignas(64) float parts[lanes * lanes];
  for (index_t t = 0; t < grid.rows; ++t) {
    index_t const cell = grid.cell + t * grid.columns;
    float const* const from = &p(grid.row + t, 0);
    float* const to = &dp(grid.row + t, 0);
    std::fill_n(to, width, 0.0f);
    for (index_t a = 0; a < grid.columns; ++a)
      for (index_t k = 0; k < roles; ++k) drole(cell + a, k) = 0;
    index_t a = 0, c = 0;  // the next sum
    for (index_t first = 0; first < grid.sums(); first += lanes) {
      int const count = static_cast<int>(std::min<index_t>(lanes, grid.sums() - first));
      index_t of_a[lanes], of_c[lanes];
      for (int i = 0; i < lanes; ++i) {
        floats sum{};
        if (i < count) {
          float const q = grid.weight(t, a, c);
          float const* const slope = &ds(grid.first + first + i, 0);
          each_vector(width, [&](index_t r, auto part) {
            floats const x = part.load(from + r), h = part.load(slope + r) * kappa / (1.0f - x * (kappa * q));
            part.store(to + r, part.load(to + r) - h * q);
            sum += h * x;
          });
          of_a[i] = a, of_c[i] = c;
          if (++c == grid.inner) c = 0, ++a;
        }
        store(parts + i * lanes, sum);
      }
      if (roles == 0) continue;
      floats const dq = -sums(parts);
      for (int i = 0; i < count; ++i) {
        index_t const at_a = cell + of_a[i], at_c = cell + of_c[i];
        drole(at_a, 0) += roles > 1 ? dq[i] * grid.role(at_c, 1) : dq[i];
        if (roles > 1) drole(at_c, 1) += dq[i] * grid.role(at_a, 0);
      }
    }
  }
}

}  // namespace detail

template <std::floating_point T>
void do_noisy_or(backend& ex, grid_batch const& g, matrix<T const> p, matrix<T const> role, matrix<T> s) {
  bool const rows = p.stride(1) == 1 && s.stride(1) == 1;
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    noisy_or_grid<T> const grid(g, graph, role);
    if constexpr (std::is_same_v<T, float>)
      if (rows) return detail::noisy_or_of(grid, p, s);
    reference::detail::noisy_or_of(grid, p, s);
  });
}

template <std::floating_point T>
void do_noisy_or_grad(backend& ex, grid_batch const& g, matrix<T const> p, matrix<T const> role, matrix<T const> ds,
                      matrix<T> dp, matrix<T> drole) {
  bool const rows = p.stride(1) == 1 && ds.stride(1) == 1 && dp.stride(1) == 1;
  parallel_for(ex, g.dims.graphs, [&](index_t graph, int) {
    noisy_or_grid<T> const grid(g, graph, role);
    if constexpr (std::is_same_v<T, float>)
      if (rows) return detail::noisy_or_grad_of(grid, p, ds, dp, drole);
    reference::detail::noisy_or_grad_of(grid, p, ds, dp, drole);
  });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
