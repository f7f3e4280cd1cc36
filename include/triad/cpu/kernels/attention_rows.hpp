// Vector kernels for the steps of attention between its matrix products.  On rows of scores, they compute masking,
// softmax, dropout, and the gradients of these steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "triad/core/finite.hpp"
#include "triad/core/math.hpp"
#include "triad/core/views.hpp"
#include "triad/cpu/kernels/random.hpp"
#include "triad/cpu/kernels/simd.hpp"
#include "triad/reference/attention.hpp"

namespace triad::cpu::inline TRIAD_CPU_FLAGS {

namespace attending {

inline constexpr index_t tile = 64;  // queries computed at once

/// A vector of T.
template <class T>
struct lanes_of {
  static constexpr index_t count = simd::lanes * 4 / static_cast<index_t>(sizeof(T));
  typedef T type __attribute__((vector_size(simd::lanes * 4)));
};
template <class T>
using lanes = typename lanes_of<T>::type;

/// `count` rounded up to whole vectors.
template <class T>
constexpr index_t padded(index_t count) {
  return (count + lanes_of<T>::count - 1) / lanes_of<T>::count * lanes_of<T>::count;
}

template <class T>
[[gnu::always_inline]] inline lanes<T> load(T const* p) {
  lanes<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
[[gnu::always_inline]] inline void store(T* p, lanes<T> v) {
  std::memcpy(p, &v, sizeof v);
}

/// exp(x) for x <= 0, up to rounding.
[[gnu::always_inline]] inline lanes<float> exponential(lanes<float> x) { return simd::exp_nonpositive(x); }
[[gnu::always_inline]] inline lanes<double> exponential(lanes<double> x) {
  for (int l = 0; l < lanes_of<double>::count; ++l) x[l] = std::exp(x[l]);
  return x;
}

/// Combines all lanes with join(), halving the number of lanes each time.
template <class T, class Join>
[[gnu::always_inline]] inline T across_lanes(lanes<T> v, Join join) {
  T half[lanes_of<T>::count];
  std::memcpy(half, &v, sizeof v);
#pragma GCC unroll 4
  for (index_t n = lanes_of<T>::count / 2; n > 0; n /= 2)
    for (index_t l = 0; l < n; ++l) half[l] = join(half[l], half[l + n]);
  return half[0];
}

/// Reads dropout bits that begin at any element.  The object caches two blocks, because successive calls read the same
/// blocks.
class keep_bits {
 public:
  explicit keep_bits(keep_source const& source) : source_(source) {}
  /// Returns a word of 64 bits.  Bit i is set if element first + i is kept.
  std::uint64_t from(std::uint64_t first) {
    auto const shift = first % 64, low = block(first / 64) >> shift;
    return shift == 0 ? low : low | block(first / 64 + 1) << (64 - shift);
  }

 private:
  std::uint64_t block(std::uint64_t b) {
    auto& slot = slots_[b % 2];
    if (slot.block != b || !slot.made) slot = {b, source_.bits(b), true};
    return slot.bits;
  }
  struct held {
    std::uint64_t block = 0, bits = 0;
    bool made = false;
  };
  keep_source const& source_;
  held slots_[2];
};

/// One head of attention for one sequence.
template <class T>
struct head {
  attention_options const& t;
  attention_sequences const& s;
  index_t c, width, queries, keys, first_query, first_key;
  T scale = T(1) / std::sqrt(T(width)), kept = t.dropout.active() ? T(t.dropout.scale()) : T(1);

  index_t seen(index_t i) const { return std::min(keys, keys_before(t.causal, queries, keys, i)); }
  index_t statistic(index_t i) const { return c * s.queries.rows + first_query + i; }
  template <class S>
  matrix<S> part(matrix<S> m, index_t first, index_t n) const {
    return row_block(column_block(m, c * width, width), first, n);
  }
  template <class S>
  matrix<S> of_queries(matrix<S> m, index_t i, index_t n) const {
    return part(m, first_query + i, n);
  }
  template <class S>
  matrix<S> of_keys(matrix<S> m, index_t n) const {
    return part(m, first_key, n);
  }

  /// Sets the gradients of the keys and values from key n on to zero, because no product writes these gradients.
  void clear_keys(attention_operands<T> const& dx, index_t n) const {
    for (index_t j = first_key + n; j < first_key + keys; ++j)
      for (index_t f = c * width; f < (c + 1) * width; ++f) dx.key(j, f) = dx.value(j, f) = T(0);
  }
  /// Sets x[j] to below_all for every key j < across that query i may not attend to.
  void mask_row(index_t i, index_t across, T* x) const {
    index_t const n = seen(i);
    std::fill(x + n, x + across, below_all<T>);
    if (t.masked.extent(0) == 0) return;
    std::uint8_t const* const masked = t.masked.data_handle() + first_key;
    for (index_t j = 0; j < n; ++j) x[j] = masked[j] != 0 ? below_all<T> : x[j];
  }
  /// Whether there is no key that query i may attend to.
  bool blind(index_t i) const {
    index_t const n = seen(i);
    if (t.masked.extent(0) == 0) return n == 0;
    std::uint8_t const* const masked = t.masked.data_handle() + first_key;
    return std::find(masked, masked + n, 0) == masked + n;
  }
  /// Calls f(j, factors) for each vector of keys of query i, where j is the first key of the vector.  The factor of a
  /// key is `value` if dropout keeps the weight of the key, else 0.
  template <class F>
  void each_kept(index_t i, index_t across, T value, keep_bits& bits, F&& f) const {
    constexpr index_t count = lanes_of<T>::count;
    if (!t.dropout.active()) {
      for (index_t j = 0; j < across; j += count) f(j, value - lanes<T>{});
      return;
    }
    auto const first = static_cast<std::uint64_t>(attention_weight(s, c, first_query + i, 0));
    std::uint64_t word = 0;
    for (index_t j = 0; j < across; j += count) {
      if (j % 64 == 0) word = bits.from(first + static_cast<std::uint64_t>(j));
      auto const part = static_cast<std::uint32_t>(word >> (j % 64));
      T factor[std::size_t{count}];
      for (index_t l = 0; l < count; ++l) factor[l] = (part >> l & 1) != 0 ? value : T(0);
      f(j, load(factor));
    }
  }
};

/// The keys that query i attends to, in three ranges.  All keys in [0, before) have the first offset, and all keys in
/// [after, seen) have the last offset.  A key j in [before, after) has offset number j + shift.
struct offset_ranges {
  index_t before, after, seen, shift;

  template <class T>
  offset_ranges(head<T> const& at, index_t i) : seen(at.seen(i)) {
    index_t const reach = at.t.reach, place = i + at.keys - at.queries;
    before = std::clamp<index_t>(place - reach + 1, 0, seen);
    after = std::clamp<index_t>(place + reach, before, seen);
    shift = reach - place;
  }
};
/// Adds to row[j] the element of m(i, .) for the offset of key j.
template <class T>
void add_by_offset(head<T> const& at, index_t i, matrix<T const> m, T* row) {
  offset_ranges const keys(at, i);
  index_t const n = relative_offsets(at.t.reach);
  T const* const by_offset = &m(at.first_query + i, at.c * n);
  T const first = by_offset[0], last = by_offset[n - 1];
  for (index_t j = 0; j < keys.before; ++j) row[j] += first;
  for (index_t j = keys.before; j < keys.after; ++j) row[j] += by_offset[j + keys.shift];
  for (index_t j = keys.after; j < keys.seen; ++j) row[j] += last;
}
/// Sets m(i, r) to the sum of row[j] over the keys j at offset r.
template <class T>
void sum_by_offset(head<T> const& at, index_t i, T const* row, matrix<T> m) {
  offset_ranges const keys(at, i);
  index_t const n = relative_offsets(at.t.reach);
  T* const by_offset = &m(at.first_query + i, at.c * n);
  auto const sum = [&](index_t first, index_t last) {
    T total = 0;
#pragma omp simd reduction(+ : total)
    for (index_t j = first; j < last; ++j) total += row[j];
    return total;
  };
  std::fill(by_offset, by_offset + n, T(0));
  by_offset[0] = sum(0, keys.before);
  for (index_t j = keys.before; j < keys.after; ++j) by_offset[j + keys.shift] = row[j];
  by_offset[n - 1] = sum(keys.after, keys.seen);
}

template <class T>
T dot(matrix<T const> a, matrix<T const> b, index_t row) {
  T sum = 0;
  index_t const n = a.extent(1);
  if (a.stride(1) != 1 || b.stride(1) != 1) {
    for (index_t e = 0; e < n; ++e) sum += a(row, e) * b(row, e);
    return sum;
  }
  T const *const x = &a(row, 0), *const y = &b(row, 0);
#pragma omp simd reduction(+ : sum)
  for (index_t e = 0; e < n; ++e) sum += x[e] * y[e];
  return sum;
}

/// Replaces the scores of query i in `row` by p~, and returns the lse of the query.
template <class T>
T weigh(head<T> const& at, keep_bits& bits, index_t i, index_t across, T* row) {
  constexpr index_t count = lanes_of<T>::count;
  at.mask_row(i, across, row);
  lanes<T> most = below_all<T> - lanes<T>{}, total{};
  for (index_t j = 0; j < across; j += count) {
    lanes<T> const x = load(row + j);
    most = x > most ? x : most;
  }
  T const largest = across_lanes<T>(most, [](T a, T b) { return a > b ? a : b; }),
          maximum = at.blind(i) ? T(0) : largest * at.scale;
  for (index_t j = 0; j < across; j += count) {
    lanes<T> const p = exponential(load(row + j) * at.scale - maximum);
    total += p;
    store(row + j, p);
  }
  T const sum = across_lanes<T>(total, plus{});
  at.each_kept(i, across, sum == T(0) ? T(0) : at.kept / sum, bits,
               [&](index_t j, lanes<T> factor) { store(row + j, load(row + j) * factor); });
  return maximum + std::log(sum);
}

/// Replaces the scores of query i in `row` by p~, and replaces dp~ of the query in `slopes` by ds.
template <class T>
void slope(head<T> const& at, keep_bits& bits, index_t i, index_t across, T lse, T delta, T* row, T* slopes) {
  at.mask_row(i, across, row);
  std::fill(slopes + at.seen(i), slopes + across, T(0));
  at.each_kept(i, across, at.kept, bits, [&](index_t j, lanes<T> keep) {
    lanes<T> x = load(row + j);
    x = x > below_all<T> ? x * at.scale - lse : x;  // lse is minus infinity if all keys are masked
    lanes<T> const p = exponential(x);
    store(slopes + j, at.scale * p * (keep * load(slopes + j) - delta));
    store(row + j, keep * p);
  });
}

}  // namespace attending
}  // namespace triad::cpu::inline TRIAD_CPU_FLAGS
