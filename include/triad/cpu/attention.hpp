// Attention with sequences and heads in parallel.  Small heads are computed in registers (cpu/attention/).  For other
// heads, BLAS computes the matrix products of a tile of queries, and vector kernels compute the steps between.
// SPDX-License-Identifier: Apache-2.0
//
// BLAS packs the factors of every product, and the products of a sentence are too small for that.  In float, the
// kernels of cpu/attention/ compute heads of up to 256 keys and 256 columns.  In double, BLAS computes all products.
// Times are in microseconds per head of n queries, n keys and k columns, forward / backward, in float on one AVX-512
// core, with operands in the cache:
//
//              registers       BLAS                           registers       BLAS
//   n = 8,  k = 16   0.13 / 0.23   0.72 / 0.94        n = 20, k = 128   1.6 / 3.9    2.6 / 4.5
//   n = 20, k = 32   0.52 / 1.2     1.7 / 2.2         n = 60, k = 64    6.5 / 15      12 / 22
//
// At n = 60, the products take 80 % of the time and reach 90 % of the core's multiply-adds.  At n = 20 and k = 32, the
// products take two thirds of the time.  At n = 8, the steps of the softmax wait for each other.
#pragma once

#include <algorithm>
#include <concepts>
#include <initializer_list>

#include "triad/core/views.hpp"
#include "triad/cpu/attention/small_head.hpp"
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

/// The scratch memory of a thread, in bytes.
template <class T>
std::size_t thread_bytes(attention_sequences const& s, index_t width, bool backward) {
  std::size_t const tiles = tile_bytes<T>(s, backward ? 2 : 1);
  if constexpr (!std::same_as<T, float>) return tiles;
  index_t const keys = std::min(s.keys.longest, most_small_keys(width));
  return std::max(tiles, static_cast<std::size_t>(small_memory(nullptr, width, keys, backward).count) * sizeof(float));
}

/// Calls f(head, bits, memory) for every head of every sequence.  `bits` are the dropout bits, and `memory` is the
/// scratch memory of the thread.  A task is all heads of a sequence, or one head if there are few sequences.
template <class T, class F>
void each_head(backend& ex, attention_options const& options, attention_sequences const& s, index_t d, bool backward,
               workspace ws, F&& f) {
  expect_measured(s.keys);
  keep_source const source(options.dropout);
  index_t const width = d / options.heads, together = s.queries.count < 8 * ex.threads ? 1 : options.heads,
                parts = options.heads / together;
  std::size_t const bytes = thread_bytes<T>(s, width, backward);
  parallel_for(ex, s.queries.count * parts, [&](index_t task, int thread) {
    index_t const b = task / parts;
    keep_bits bits(source);
    for (index_t c = task % parts * together, end = c + together; c < end; ++c)
      f(head<T>{options, s, c, width, s.queries.size(b), s.keys.size(b), s.queries.begin(b), s.keys.begin(b)}, bits,
        reinterpret_cast<T*>(ws.data + static_cast<std::size_t>(thread) * bytes));
  });
}

/// Whether a head is computed without BLAS.
template <class T>
bool in_registers(head<T> const& at, std::initializer_list<matrix<T const>> operands) {
  if (!std::same_as<T, float> || !is_small(at.width, at.keys)) return false;
  return std::all_of(operands.begin(), operands.end(), [](auto const& m) { return m.stride(1) == 1; });
}

}  // namespace attending

template <class T>
std::size_t do_attention_workspace(backend& ex, attention_options const& options, attention_sequences const& s,
                                   attention_operands<T const> const& x) {
  return static_cast<std::size_t>(ex.threads) * attending::thread_bytes<T>(s, x.query.extent(1) / options.heads, false);
}
template <class T>
std::size_t do_attention_grad_workspace(backend& ex, attention_options const& options, attention_sequences const& s,
                                        attention_operands<T const> const& x) {
  return static_cast<std::size_t>(ex.threads) * attending::thread_bytes<T>(s, x.query.extent(1) / options.heads, true);
}

template <std::floating_point T>
void do_attention(backend& ex, attention_options const& options, attention_sequences const& s,
                  attention_operands<T const> const& x, relative_forward<T> const& relative, vec<T> lse,
                  matrix<T> context, workspace ws) {
  attending::each_head<T>(ex, options, s, x.query.extent(1), false, ws,
                          [&](attending::head<T> const& at, attending::keep_bits& bits, T* scores) {
                            if constexpr (std::same_as<T, float>)
                              if (attending::in_registers<T>(at, {x.query, x.key, x.value, context})) {
                                attending::small_memory const memory(scores, at.width, at.keys, false);
                                return attending::small_forward(at, bits, x, relative, lse, context, memory);
                              }
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
      ex, options, s, x.query.extent(1), true, ws,
      [&](attending::head<T> const& at, attending::keep_bits& bits, T* scores) {
        if constexpr (std::same_as<T, float>)
          if (attending::in_registers<T>(at, {x.query, x.key, x.value, context, dc, dx.query, dx.key, dx.value})) {
            attending::small_memory const memory(scores, at.width, at.keys, true);
            return attending::small_backward(at, bits, x, relative, lse, context, dc, dx, memory);
          }
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
