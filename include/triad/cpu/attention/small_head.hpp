// Attention of one head for one sequence without BLAS: all products are computed in registers.
// SPDX-License-Identifier: Apache-2.0
//
// The queries are computed in runs of up to `most_groups` groups.  The scores of a run are complete before its softmax,
// so the softmax is not computed online.  The backward pass first computes p~ and ds of up to `tile` queries, then the
// gradients of all keys and values from these queries.
#pragma once

#include <algorithm>

#include "triad/cpu/attention/mixtures.hpp"
#include "triad/cpu/attention/offsets.hpp"
#include "triad/cpu/attention/quad_softmax.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace attending {

/// The largest number of keys of a head that is computed without BLAS.  The rule depends only on the sequence and on
/// the width of the head, so the result of a sequence has the same bits in every batch.  In a unit for SSE alone, BLAS
/// is faster for all but the smallest heads, because it uses the wider vectors of the processor.
constexpr index_t most_small_keys(index_t width) {
#if defined(__SSE__) && !defined(__AVX__)
  return 128 / width;
#else
  return width <= 256 ? 256 : 0;
#endif
}
constexpr bool is_small(index_t width, index_t keys) { return keys <= most_small_keys(width); }

/// The scratch memory of a thread for one head.
struct small_memory {
  index_t count = 0;                      // floats
  float *key, *value, *query, *gradient;  // (rows, padded(width)), for widths of incomplete vectors
  float *queries, *gradients;             // panels of a run
  float *scores, *slopes;                 // [group of the tile][four keys][lanes]
  float *lse, *delta;                     // (tile), and four floats that are read but not used
  float* row;                             // (padded(keys)), the scores of a single query

  /// Plans the memory if `begin` is null.  There are at most `keys` keys.
  small_memory(float* begin, index_t width, index_t keys, bool backward) {
    auto const take = [&](index_t numbers, bool needed = true) {
      float* const here = begin == nullptr ? nullptr : begin + count;
      if (needed) count += (numbers + 15) / 16 * 16;
      return here;
    };
    index_t const across = simd::padded(width), vectors = fours(keys), run = most_groups * simd::lanes;
    bool const copied = across != width;
    key = take(keys * across, copied);
    value = take(keys * across, copied);
    query = take(tile * across, copied);
    gradient = take(tile * across, copied && backward);
    queries = take(run * fours(width));
    gradients = take(run * fours(width), backward);
    scores = take((backward ? tile * 4 : run) * vectors);
    slopes = take(tile * 4 * vectors, backward);
    lse = take(tile + 4, backward);
    delta = take(tile + simd::lanes, backward);
    row = take(simd::padded(keys));
  }
};

inline head_rows<float const> rows_in(matrix<float const> m) { return {m.data_handle(), m.stride(0)}; }
inline head_rows<float> rows_in(matrix<float> m) { return {m.data_handle(), m.stride(0)}; }

/// Sets to[r] to the dot product of row r of a and row r of b, for r < count.  Writes whole vectors.
inline void multiply_rows(head_rows<float const> a, head_rows<float const> b, index_t count, index_t width, float* to) {
  float partial[simd::lanes * simd::lanes] = {};
  for (index_t first = 0; first < count; first += simd::lanes) {
    for (index_t r = first; r < std::min(first + simd::lanes, count); ++r) {
      floats sum{};
      simd::each_vector(width, [&](index_t c, auto part) __attribute__((always_inline)) {
        sum = sum + part.load(a[r] + c) * part.load(b[r] + c);
      });
      simd::store(partial + (r - first) * simd::lanes, sum);
    }
    simd::store(to + first, simd::sums(partial));
  }
}

/// Computes the scores of a single query.  multiply_groups() would compute its products with the keys `group` times.
/// `row` (padded(count)) is scratch memory.
inline void multiply_one(float const* query, head_rows<float const> keys, index_t count, index_t width, float* row,
                         float* scores) {
  multiply_rows(keys, {query, 0}, count, width, row);
  for (index_t v = 0; v < fours(count); ++v) simd::store(scores + v * simd::lanes, simd::broadcast_four(row + 4 * v));
}

/// Computes the context, the lse, and the offset weights of a head.
inline void small_forward(head<float> const& at, keep_bits& bits, attention_operands<float const> const& x,
                          relative_forward<float> const& relative, vec<float> lse, matrix<float> context,
                          small_memory const& memory) {
  index_t const width = at.width;
  auto const key_rows = rows_in(at.of_keys(x.key, at.keys)),
             key = at.queries == 1 ? key_rows : in_whole_vectors(key_rows, at.keys, width, memory.key),
             value = in_whole_vectors(rows_in(at.of_keys(x.value, at.keys)), at.keys, width, memory.value);
  each_run(groups(at.queries), [&]<int G>(index_t first_group, std::integral_constant<int, G>) {
    index_t const first = first_group * group, count = std::min(G * group, at.queries - first),
                  depth = at.seen(first + count - 1), vectors = fours(depth), jump = vectors * simd::lanes;
    auto const query = rows_in(at.of_queries(x.query, first, count));
    if (at.queries == 1) {
      multiply_one(query[0], key, depth, width, memory.row, memory.scores);
    } else {
      gather_panel<G>(in_whole_vectors(query, count, width, memory.query), count, width, memory.queries);
      multiply_groups<G>(memory.queries, width, key, depth, memory.scores, jump);
    }
    auto const each_group = [&](auto&& f) {
      for (index_t g = 0; g < G; ++g) f(first + g * group, memory.scores + g * jump);
    };
    if (at.t.reach > 0)
      each_group([&](index_t i, float* scores) { add_offsets(at, i, vectors, relative.bias, scores); });
    weigh_groups<G>(at, bits, first, vectors, memory.scores, jump, lse);
    if (at.t.reach > 0)
      each_group([&](index_t i, float* scores) { sum_offsets(at, i, vectors, scores, relative.offset_weights); });
    auto const seen = [&](index_t r, index_t n) { return terms{0, at.seen(first + r + n - 1)}; };
    mix<mixed::of_queries>(memory.scores, jump, count, seen, value, width,
                           rows_in(at.of_queries(context, first, count)), false);
  });
}

/// Computes the gradients of a head.
inline void small_backward(head<float> const& at, keep_bits& bits, attention_operands<float const> const& x,
                           relative_backward<float> const& relative, vec<float const> lse, matrix<float const> context,
                           matrix<float const> dc, attention_operands<float> const& dx, small_memory const& memory) {
  index_t const width = at.width, ahead = at.keys - at.queries;
  auto const key = in_whole_vectors(rows_in(at.of_keys(x.key, at.keys)), at.keys, width, memory.key),
             value = in_whole_vectors(rows_in(at.of_keys(x.value, at.keys)), at.keys, width, memory.value);
  for (index_t begin = 0; begin < at.queries; begin += tile) {
    index_t const rows = std::min(tile, at.queries - begin), most = at.seen(begin + rows - 1), across = fours(most),
                  jump = across * simd::lanes;
    auto const steep = rows_in(at.of_queries(dc, begin, rows));
    auto const query = in_whole_vectors(rows_in(at.of_queries(x.query, begin, rows)), rows, width, memory.query),
               gradient = in_whole_vectors(steep, rows, width, memory.gradient);
    multiply_rows(steep, rows_in(at.of_queries(context, begin, rows)), rows, width, memory.delta);
    for (index_t i = 0; i < rows; ++i) memory.lse[i] = lse(at.statistic(begin + i));
    each_run(groups(rows), [&]<int G>(index_t first_group, std::integral_constant<int, G>) {
      index_t const first = first_group * group, count = std::min(G * group, rows - first),
                    depth = at.seen(begin + first + count - 1), vectors = fours(depth);
      float *const p = memory.scores + first_group * jump, *const ds = memory.slopes + first_group * jump;
      gather_panel<G>(query.from(first), count, width, memory.queries);
      gather_panel<G>(gradient.from(first), count, width, memory.gradients);
      multiply_groups<G>(memory.queries, width, key, depth, p, jump);
      multiply_groups<G>(memory.gradients, width, value, depth, ds, jump);
      for (index_t g = 0; g < G; ++g) {
        float *const scores = p + g * jump, *const slopes = ds + g * jump;
        index_t const of = first + g * group, i = begin + of;
        if (at.t.reach > 0) {
          add_offsets(at, i, vectors, relative.bias, scores);
          add_offsets(at, i, vectors, relative.d_offset_weights, slopes);
        }
        slope_group(at, bits, i, vectors, memory.lse + of, memory.delta + of, scores, slopes);
        if (at.t.reach > 0) sum_offsets(at, i, vectors, slopes, relative.d_bias);
        std::fill(scores + vectors * simd::lanes, scores + jump, 0.0f);
        std::fill(slopes + vectors * simd::lanes, slopes + jump, 0.0f);
      }
      auto const seen = [&](index_t r, index_t n) { return terms{0, at.seen(begin + first + r + n - 1)}; };
      mix<mixed::of_queries>(ds, jump, count, seen, key, width, rows_in(at.of_queries(dx.query, begin + first, count)),
                             false);
    });
    auto const seeing = [&](index_t j, index_t) {  // from the group of the first query that sees key j
      index_t const first = at.t.causal ? std::clamp<index_t>(j - ahead - begin, 0, rows - 1) / group * group : 0;
      return terms{first, rows - first};
    };
    mix<mixed::of_keys>(memory.slopes, jump, most, seeing, query, width, rows_in(at.of_keys(dx.key, most)), begin > 0);
    mix<mixed::of_keys>(memory.scores, jump, most, seeing, gradient, width, rows_in(at.of_keys(dx.value, most)),
                        begin > 0);
    if (begin == 0) at.clear_keys(dx, most);
  }
  if (at.queries == 0) at.clear_keys(dx, 0);
}

}  // namespace attending
}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
