// Triangular attention by the papers' method, which stores the products v1 * v2 of all triangles: B n^3 d floats.
// SPDX-License-Identifier: Apache-2.0
//
// The results, the BLAS and the threads are those of layers/triangular_attention.hpp.  Each operation is one pass over
// its arrays:
//
//   forward    s(h, l) = q(:, l) k(l, :)' by BLAS;  p = softmax over l;  m(i, l, j) = v1(i, l) * v2(l, j);
//              o(i, j) = sum_l p m(i, l, j)
//   backward   dp = do . m and dm = p do in one pass, dm replaces m;  ds = p (dp - sum_l p dp);  dq, dk by BLAS; dv1(i,
//              l) = sum_j dm * v2(l, j);  dv2(l, j) = sum_i dm * v1(i, l)
//
// The papers' programs are slower than this code.  They also store dm, dm * v1 and dm * v2, and transpose arrays
// between operations.
#pragma once

#include <algorithm>
#include <cmath>

#include "triad/cpu/cpu.hpp"
#include "triad/cpu/kernels/simd.hpp"
#include "triad/layers/triangular_attention.hpp"

namespace bench {

using triad::index_t;

/// The full form of attention, without bias, dropout and mask.  All graphs of a batch have the same size.
struct materialising_attention {
  using layer_type = triad::triangular_attention<float>;
  using input = layer_type::input;
  using output = layer_type::output;
  template <class S>
  using fields = layer_type::fields<S>;
  using flat = triad::vec<float>;

  layer_type inner;

  index_t width() const { return inner.width(); }

  struct saved {
    triad::tensor<float, triad::dyn, triad::dyn> projected;  // (rows, 4 d)
    flat weights;                                            // (b, h, l, i, j): p
    flat products;                                           // (b, i, l, j, d): m, and in backward dm
    triad::tensor<float, triad::dyn, triad::dyn> mixed;      // (rows, d)
  };

  template <class S = float>
  fields<S> plan_params(triad::arena& place) const {
    return inner.plan_params<S>(place);
  }
  saved plan_saved(triad::arena& place, triad::graph_dims dims, triad::keep = triad::keep::everything) const {
    auto const projected = place.make<triad::tensor<float, triad::dyn, triad::dyn>>(dims.rows, 4 * width());
    auto const weights = place.make<flat>(dims.triangles * inner.heads()),
               products = place.make<flat>(dims.triangles * width());
    return {projected, weights, products, place.make<triad::tensor<float, triad::dyn, triad::dyn>>(dims.rows, width())};
  }

  template <class Ex>
  void forward(Ex& ex, triad::call const& c, fields<float const> w, input const& in, saved const& s, output y) const {
    inner.stacked().forward(ex, c, w.stacked, in.x, {}, s.projected);
    if constexpr (triad::executes<Ex>) {
      sizes const z(*this, in);
      auto const x = inner.split(triad::read_only(s.projected));
      scores(ex, z, x, s.weights.data_handle());
      softmax(ex, z, s.weights.data_handle());
      multiply(ex, z, x, s.products.data_handle());
      weigh(ex, z, s.weights.data_handle(), s.products.data_handle(), s.mixed.data_handle());
    }
    inner.mixer().forward(ex, c, w.output, s.mixed, {}, y);
  }

  template <class Ex>
  void backward(Ex& ex, triad::call const& c, fields<float const> w, input const& in, saved const& s,
                triad::const_view<output> dy, output dx, fields<float> gradient) const {
    auto const frame = c.scratch->open();
    auto const d_o = c.scratch->make<output>(in.x.extent(0), width());
    auto const d_projected = c.scratch->make<output>(in.x.extent(0), 4 * width());
    auto const d_weights = c.scratch->make<flat>(s.weights.extent(0));
    inner.mixer().backward(ex, c, w.output, s.mixed, {}, dy, d_o, gradient.output);
    if constexpr (triad::executes<Ex>) {
      sizes const z(*this, in);
      auto const x = inner.split(triad::read_only(s.projected));
      auto const d = inner.split(d_projected);
      weigh_grad(ex, z, s.weights.data_handle(), d_o.data_handle(), s.products.data_handle(), d_weights.data_handle());
      softmax_grad(ex, z, s.weights.data_handle(), d_weights.data_handle());
      scores_grad(ex, z, x, d_weights.data_handle(), d);
      multiply_grad(ex, z, x, s.products.data_handle(), d);
    }
    inner.stacked().backward(ex, c, w.stacked, in.x, {}, d_projected, dx, gradient.stacked);
  }

 private:
  using inputs = triad::triangle_projections<float const>;
  using outputs = triad::triangle_projections<float>;

  struct sizes {
    index_t b, n, d, h, k;
    float scale;
    sizes(materialising_attention const& m, input const& in)
        : b(in.graphs.dims.graphs),
          n(in.graphs.dims.max_nodes),
          d(m.width()),
          h(m.inner.heads()),
          k(d / h),
          scale(1 / std::sqrt(static_cast<float>(k))) {
      TRIAD_EXPECTS(b * n * n * n == in.graphs.dims.triangles,
                    "materialising_attention: the graphs must be of one size");
    }
  };

  /// Returns the columns of head `head` in the rows of graph g, (n, n, k), as n matrices.  If `by_row`, there is one
  /// matrix for each first index, otherwise one for each second index.
  template <class S>
  static triad::matrices<S> nodes(sizes const& z, triad::matrix<S> m, index_t g, index_t head, bool by_row) {
    index_t const line = m.stride(0);
    return {&m(g * z.n * z.n, head * z.k),
            {triad::extents<triad::dyn, triad::dyn, triad::dyn>(z.n, z.n, z.k),
             cuda::std::array<index_t, 3>{by_row ? z.n * line : line, by_row ? line : z.n * line, 1}}};
  }
  /// Returns n matrices (n, n), one after another.  If `transposed`, each matrix is transposed.
  template <class S>
  static triad::matrices<S> squares(index_t n, S* data, bool transposed = false) {
    return {data,
            {triad::extents<triad::dyn, triad::dyn, triad::dyn>(n, n, n),
             cuda::std::array<index_t, 3>{n * n, transposed ? 1 : n, transposed ? n : 1}}};
  }
  template <class S>
  static triad::matrices<S> transposed(triad::matrices<S> m) {
    return {m.data_handle(),
            {triad::extents<triad::dyn, triad::dyn, triad::dyn>(m.extent(0), m.extent(2), m.extent(1)),
             cuda::std::array<index_t, 3>{m.stride(0), m.stride(2), m.stride(1)}}};
  }

  /// Calls f(graph, head) for all heads of all graphs, on all threads.  Each thread has its own serial backend.
  template <class F>
  static void each_head(triad::cpu::backend& ex, sizes const& z, F&& f) {
    triad::cpu::parallel_for(ex, z.b * z.h, [&](index_t task, int) {
      triad::cpu::backend one(1);
      f(one, task / z.h, task % z.h);
    });
  }

  static void scores(triad::cpu::backend& ex, sizes const& z, inputs const& x, float* s) {
    each_head(ex, z, [&](auto& one, index_t g, index_t head) {
      triad::batched_matmul<triad::cpu::backend, float>(one, nodes(z, x.query, g, head, false),
                                                        transposed(nodes(z, x.key, g, head, true)),
                                                        squares(z.n, s + (g * z.h + head) * z.n * z.n * z.n));
    });
  }

  /// Divides the edges (i, j) of every graph and head into parts.  Calls f(first weight, number of edges, stride from l
  /// to l + 1) for each part.
  template <class F>
  static void each_stretch(triad::cpu::backend& ex, sizes const& z, F&& f) {
    index_t const edges = z.n * z.n, stretch = 512, stretches = (edges + stretch - 1) / stretch;
    triad::cpu::parallel_for(ex, z.b * z.h * stretches, [&](index_t task, int) {
      index_t const first = task % stretches * stretch;
      f(task / stretches * edges * z.n + first, std::min(stretch, edges - first), edges);
    });
  }

  static void softmax(triad::cpu::backend& ex, sizes const& z, float* weights) {
    each_stretch(ex, z, [&](index_t first, index_t count, index_t stride) {
      triad::simd::each_vector(count, [&](index_t e, auto part) {
        float* const s = weights + first + e;
        auto maximum = part.load(s) * z.scale;
        for (index_t l = 1; l < z.n; ++l) maximum = triad::simd::max(maximum, part.load(s + l * stride) * z.scale);
        triad::simd::floats sum{};
        for (index_t l = 0; l < z.n; ++l) {
          auto const p = triad::simd::exp_nonpositive(part.load(s + l * stride) * z.scale - maximum);
          sum += p;
          part.store(s + l * stride, p);
        }
        for (index_t l = 0; l < z.n; ++l) part.store(s + l * stride, part.load(s + l * stride) / sum);
      });
    });
  }

  /// Replaces dp by ds / sqrt(k).
  static void softmax_grad(triad::cpu::backend& ex, sizes const& z, float const* weights, float* d_weights) {
    each_stretch(ex, z, [&](index_t first, index_t count, index_t stride) {
      triad::simd::each_vector(count, [&](index_t e, auto part) {
        float const* const p = weights + first + e;
        float* const dp = d_weights + first + e;
        triad::simd::floats delta{};
        for (index_t l = 0; l < z.n; ++l) delta += part.load(p + l * stride) * part.load(dp + l * stride);
        for (index_t l = 0; l < z.n; ++l)
          part.store(dp + l * stride, part.load(p + l * stride) * (part.load(dp + l * stride) - delta) * z.scale);
      });
    });
  }

  static void multiply(triad::cpu::backend& ex, sizes const& z, inputs const& x, float* products) {
    triad::cpu::parallel_for(ex, z.b * z.n, [&](index_t task, int) {
      index_t const edge = task / z.n * z.n * z.n, i = task % z.n;
      for (index_t l = 0; l < z.n; ++l)
        for (index_t j = 0; j < z.n; ++j) {
          float const *const left = &x.left_value(edge + i * z.n + l, 0), *const right =
                                                                              &x.right_value(edge + l * z.n + j, 0);
          float* const to = products + ((task * z.n + l) * z.n + j) * z.d;
          triad::simd::each_vector(
              z.d, [&](index_t c, auto part) { part.store(to + c, part.load(left + c) * part.load(right + c)); });
        }
    });
  }

  /// Returns the weights of node i: p(i, l, j) is at offset l n^2 + j, and heads are n^3 apart.
  static float const* weights_of(sizes const& z, float const* weights, index_t graph, index_t i) {
    return weights + (graph * z.h * z.n * z.n + i) * z.n;
  }

  static void weigh(triad::cpu::backend& ex, sizes const& z, float const* weights, float const* products, float* o) {
    triad::cpu::parallel_for(ex, z.b * z.n, [&](index_t task, int) {
      float const* const p = weights_of(z, weights, task / z.n, task % z.n);
      float* const to = o + task * z.n * z.d;
      std::fill_n(to, z.n * z.d, 0.0f);
      for (index_t l = 0; l < z.n; ++l)
        for (index_t j = 0; j < z.n; ++j)
          for (index_t head = 0; head < z.h; ++head) {
            float const weight = p[(head * z.n + l) * z.n * z.n + j];
            float const* const m = products + ((task * z.n + l) * z.n + j) * z.d + head * z.k;
            float* const sum = to + j * z.d + head * z.k;
            triad::simd::each_vector(z.k, [&](index_t c, auto part) {
              part.store(sum + c, part.load(sum + c) + weight * part.load(m + c));
            });
          }
    });
  }

  /// Computes dp from m.  Then replaces m by dm.
  static void weigh_grad(triad::cpu::backend& ex, sizes const& z, float const* weights, float const* d_o,
                         float* products, float* d_weights) {
    triad::cpu::parallel_for(ex, z.b * z.n, [&](index_t task, int) {
      index_t const graph = task / z.n, i = task % z.n;
      auto const at = weights_of(z, weights, graph, i) - weights;
      constexpr int lanes = triad::simd::lanes;
      alignas(64) float partial[lanes * lanes];
      for (index_t l = 0; l < z.n; ++l)
        for (index_t head = 0; head < z.h; ++head)
          for (index_t j0 = 0; j0 < z.n; j0 += lanes) {
            auto const first = at + (head * z.n + l) * z.n * z.n + j0;
            index_t const count = std::min<index_t>(lanes, z.n - j0);
            for (index_t j = 0; j < count; ++j) {
              float const weight = weights[first + j];
              float* const m = products + ((task * z.n + l) * z.n + j0 + j) * z.d + head * z.k;
              float const* const gradient = d_o + (task * z.n + j0 + j) * z.d + head * z.k;
              triad::simd::floats dot{};
              triad::simd::each_vector(z.k, [&](index_t c, auto part) {
                auto const g = part.load(gradient + c);
                dot += g * part.load(m + c);
                part.store(m + c, weight * g);
              });
              triad::simd::store(partial + j * lanes, dot);
            }
            triad::simd::tail(count).store(d_weights + first, triad::simd::sums(partial));
          }
    });
  }

  static void scores_grad(triad::cpu::backend& ex, sizes const& z, inputs const& x, float const* ds, outputs const& d) {
    each_head(ex, z, [&](auto& one, index_t g, index_t head) {
      float const* const here = ds + (g * z.h + head) * z.n * z.n * z.n;
      triad::batched_matmul<triad::cpu::backend, float>(one, squares(z.n, here), nodes(z, x.key, g, head, true),
                                                        nodes(z, d.query, g, head, false));
      triad::batched_matmul<triad::cpu::backend, float>(
          one, squares(z.n, here, true), nodes(z, x.query, g, head, false), nodes(z, d.key, g, head, true));
    });
  }

  static void multiply_grad(triad::cpu::backend& ex, sizes const& z, inputs const& x, float const* dm,
                            outputs const& d) {
    // A row of dv1 is a sum over j, and a row of dv2 is a sum over i.
    auto const gather = [&](float const* from, index_t stride, float const* values, index_t value_stride, float* to) {
      std::fill_n(to, z.d, 0.0f);
      for (index_t r = 0; r < z.n; ++r, from += stride, values += value_stride)
        triad::simd::each_vector(z.d, [&](index_t c, auto part) {
          part.store(to + c, part.load(to + c) + part.load(from + c) * part.load(values + c));
        });
    };
    triad::cpu::parallel_for(ex, z.b * z.n, [&](index_t task, int) {
      index_t const edge = task / z.n * z.n * z.n, i = task % z.n;
      for (index_t l = 0; l < z.n; ++l)
        gather(dm + (task * z.n + l) * z.n * z.d, z.d, &x.right_value(edge + l * z.n, 0), x.right_value.stride(0),
               &d.left_value(edge + i * z.n + l, 0));
    });
    triad::cpu::parallel_for(ex, z.b * z.n, [&](index_t task, int) {
      index_t const graph = task / z.n, edge = graph * z.n * z.n, l = task % z.n;
      for (index_t j = 0; j < z.n; ++j)
        gather(dm + ((graph * z.n * z.n + l) * z.n + j) * z.d, z.n * z.n * z.d, &x.left_value(edge + l, 0),
               z.n * x.left_value.stride(0), &d.right_value(edge + l * z.n + j, 0));
    });
  }
};

}  // namespace bench
