// Attention with sequences and heads in parallel.  A task computes a tile of queries at a time.  BLAS computes the
// matrix products, and vector kernels compute the steps between the products.
// SPDX-License-Identifier: Apache-2.0
//
// BLAS computes even the products of matrices of 8 x 8, because OpenBLAS has fast kernels for small products.  Our own
// register kernels are slower, because they need transposed factors.  Times are in microseconds per head, forward /
// backward, in float on one AVX-512 core.  The times in parentheses are those of the products alone:
//
//   n = 8, k = 16   0.7 / 0.9   (0.3 / 0.7)         n = 32, k = 64    3.8 / 8.2   (3.0 / 7.4)
//   n = 20, k = 16  1.6 / 2.1   (0.6 / 1.4)         n = 50, k = 128  17.1 / 37.8  (14.4 / 35)
#pragma once

#include <algorithm>
#include <concepts>

#include "triad/core/views.hpp"
#include "triad/cpu/kernels/attention_rows.hpp"
#include "triad/cpu/matmul.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace attending {

/// The size of `tiles` tiles of scores, in bytes.
template <class T>
std::size_t tile_bytes(attention_sequences const& s, index_t tiles) {
  return static_cast<std::size_t>(tiles * tile * padded<T>(s.keys.longest)) * sizeof(T);
}

/// Throws contract_violation if a sequence has more than keys.longest keys, because the scratch memory is planned for
/// keys.longest keys.
inline void expect_measured(sequence_batch const& keys) {
  for (index_t b = 0; b < keys.count; ++b)
    TRIAD_EXPECTS(keys.size(b) <= keys.longest, "attention: sequence " + std::to_string(b) + " has " +
                                                    std::to_string(keys.size(b)) + " keys, expected at most " +
                                                    std::to_string(keys.longest) + ", the batch's `longest`");
}

/// Calls f(head, bits, memory) for every head of every sequence.  `bits` are the dropout bits, and `memory` is the
/// scratch memory of the thread.
template <class T, class F>
void each_head(backend& ex, attention_options const& options, attention_sequences const& s, index_t d, index_t tiles,
               workspace ws, F&& f) {
  expect_measured(s.keys);
  keep_source const source(options.dropout);
  parallel_for(ex, s.queries.count * options.heads, [&](index_t task, int thread) {
    index_t const b = task / options.heads;
    keep_bits bits(source);
    f(head<T>{options, s, task % options.heads, d / options.heads, s.queries.size(b), s.keys.size(b),
              s.queries.begin(b), s.keys.begin(b)},
      bits, reinterpret_cast<T*>(ws.data + static_cast<std::size_t>(thread) * tile_bytes<T>(s, tiles)));
  });
}

}  // namespace attending

template <class T>
std::size_t do_attention_workspace(backend& ex, attention_options const&, attention_sequences const& s,
                                   attention_operands<T const> const&) {
  return static_cast<std::size_t>(ex.threads) * attending::tile_bytes<T>(s, 1);
}
template <class T>
std::size_t do_attention_grad_workspace(backend& ex, attention_options const&, attention_sequences const& s,
                                        attention_operands<T const> const&) {
  return static_cast<std::size_t>(ex.threads) * attending::tile_bytes<T>(s, 2);
}

template <std::floating_point T>
void do_attention(backend& ex, attention_options const& options, attention_sequences const& s,
                  attention_operands<T const> const& x, relative_forward<T> const& relative, vec<T> lse,
                  matrix<T> context, workspace ws) {
  attending::each_head<T>(ex, options, s, x.query.extent(1), 1, ws,
                          [&](attending::head<T> const& at, attending::keep_bits& bits, T* scores) {
                            backend one(1);
                            for (index_t first = 0; first < at.queries; first += attending::tile) {
                              index_t const count = std::min(attending::tile, at.queries - first),
                                            depth = at.seen(first + count - 1), across = attending::padded<T>(depth);
                              auto const p = make_matrix(scores, count, depth, across);
                              do_matmul(one, at.of_queries(x.query, first, count),
                                        matrix<T const>(transposed(at.of_keys(x.key, depth))), p, false, epilogue<T>{});
                              for (index_t i = 0; i < count; ++i) {
                                T* const row = scores + i * across;
                                if (options.reach > 0) attending::add_by_offset(at, first + i, relative.bias, row);
                                lse(at.statistic(first + i)) = attending::weigh(at, bits, first + i, across, row);
                                if (options.reach > 0)
                                  attending::sum_by_offset(at, first + i, row, relative.offset_weights);
                              }
                              do_matmul(one, matrix<T const>(p), at.of_keys(x.value, depth),
                                        at.of_queries(context, first, count), false, epilogue<T>{});
                            }
                          });
}

template <std::floating_point T>
void do_attention_grad(backend& ex, attention_options const& options, attention_sequences const& s,
                       attention_operands<T const> const& x, relative_backward<T> const& relative, vec<T const> lse,
                       matrix<T const> context, matrix<T const> dc, attention_operands<T> const& dx, workspace ws) {
  attending::each_head<T>(
      ex, options, s, x.query.extent(1), 2, ws,
      [&](attending::head<T> const& at, attending::keep_bits& bits, T* scores) {
        backend one(1);
        T* const slopes = scores + attending::tile * attending::padded<T>(s.keys.longest);
        auto const multiply = [&](matrix<T const> a, matrix<T const> b, matrix<T> to, bool add) {
          do_matmul(one, a, b, to, add, epilogue<T>{});
        };
        for (index_t first = 0; first < at.queries; first += attending::tile) {
          index_t const count = std::min(attending::tile, at.queries - first), depth = at.seen(first + count - 1),
                        across = attending::padded<T>(depth);
          auto const p = make_matrix(scores, count, depth, across), ds = make_matrix(slopes, count, depth, across);
          auto const query = at.of_queries(x.query, first, count), gradient = at.of_queries(dc, first, count),
                     result = at.of_queries(context, first, count);
          auto const key = at.of_keys(x.key, depth);
          multiply(query, transposed(key), p, false);
          multiply(gradient, transposed(at.of_keys(x.value, depth)), ds, false);
          for (index_t i = 0; i < count; ++i) {
            T *const row = scores + i * across, *const steep = slopes + i * across;
            if (options.reach > 0) {
              attending::add_by_offset(at, first + i, relative.bias, row);
              attending::add_by_offset(at, first + i, relative.d_offset_weights, steep);
            }
            attending::slope(at, bits, first + i, across, lse(at.statistic(first + i)),
                             attending::dot(gradient, result, i), row, steep);
            if (options.reach > 0) attending::sum_by_offset(at, first + i, steep, relative.d_bias);
          }
          multiply(ds, key, at.of_queries(dx.query, first, count), false);
          multiply(transposed(ds), query, at.of_keys(dx.key, depth), first > 0);
          multiply(transposed(p), gradient, at.of_keys(dx.value, depth), first > 0);
          if (first == 0) at.clear_keys(dx, depth);
        }
        if (at.queries == 0) at.clear_keys(dx, 0);
      });
}

}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
