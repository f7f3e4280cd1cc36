// Rows of a matrix with one warp per row: the columns of each lane, sums over a block, and the graph of a row.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/atomic>
#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "triad/cuda/device/launch.cuh"

namespace triad::cuda {

/// The number of rows that a block computes at a time.
inline constexpr int row_warps = 8;
inline constexpr int row_threads = row_warps * warp;

/// The number of columns that a lane holds in registers.  So a row of up to 256 values is read only once.
inline constexpr int held_columns = 8;

/// The row of a warp.  A warp beyond the last row gets row 0 and no columns: the warp takes part in all shuffles and
/// barriers, but writes nothing.
struct warp_row {
  index_t r, d;
  bool live;

  template <class T>
  TRIAD_DEVICE warp_row(block const& b, matrix<T> const& m) {
    index_t const item = b.index() * row_warps + b.row();
    live = item < m.extent(0);
    r = live ? item : 0;
    d = live ? m.extent(1) : 0;
  }
};

/// Calls f(k, column) for the columns of a lane, which are lane, lane + 32, ... below d.  k is the number of the column
/// in the lane.  If Held is 0, any number of columns is possible, and k is 0.
template <int Held, class F>
TRIAD_DEVICE void each_column(int lane, index_t d, F&& f) {
  if constexpr (Held > 0) {
    TRIAD_UNROLL
    for (int k = 0; k < Held; ++k)
      if (index_t const c = lane + k * warp; c < d) f(k, c);
  } else {
    for (index_t c = lane; c < d; c += warp) f(0, c);
  }
}

/// The values of one row that belong to a lane.  The values are kept in registers.  If Held is 0, the values are read
/// again each time.
template <class T, int Held>
class lane_values {
 public:
  static constexpr int held = Held;
  TRIAD_DEVICE lane_values(block const& b, matrix<T const> const& m, index_t r, index_t d)
      : row_(m.data_handle() + r * m.stride(0)), stride_(m.stride(1)) {
    if constexpr (Held > 0) each_column<Held>(b.lane(), d, [&](int k, index_t c) { values_[k] = row_[c * stride_]; });
  }
  TRIAD_DEVICE T operator()([[maybe_unused]] int k, [[maybe_unused]] index_t c) const {
    if constexpr (Held > 0)
      return values_[k];
    else
      return row_[c * stride_];
  }

 private:
  T const* row_;
  index_t stride_;
  T values_[Held > 0 ? Held : 1] = {};
};

/// The maximum and the sum of the softmax of one row.  All lanes get the same numbers.  x(k, column) returns a value,
/// as in lane_values.
template <class T>
struct softmax_total {
  T maximum = -::cuda::std::numeric_limits<T>::infinity();  // a NaN does not become the maximum, but makes the sum NaN
  T sum = 0;                                                // of exp(x - maximum)

  template <class Values>
  TRIAD_DEVICE softmax_total(block const& b, Values const& x, index_t d) {
    constexpr int held = Values::held;
    each_column<held>(b.lane(), d, [&](int k, index_t c) { maximum = x(k, c) > maximum ? x(k, c) : maximum; });
    maximum = warp_maximum(b, maximum);
    each_column<held>(b.lane(), d, [&](int k, index_t c) { sum += ::cuda::std::exp(x(k, c) - maximum); });
    sum = warp_sum(b, sum);
  }
  TRIAD_DEVICE T probability(T x) const { return ::cuda::std::exp(x - maximum) / sum; }
};

/// Runs Kernel<T, Held> with one warp per row.  The width decides Held.
template <template <class, int> class Kernel, class T, class... A>
void launch_rows(backend const& ex, index_t rows, index_t d, A const&... arguments) {
  index_t const blocks = blocks_for(rows, row_warps);
  if (d <= held_columns * warp)
    launch(ex, Kernel<T, held_columns>{}, blocks, arguments...);
  else
    launch(ex, Kernel<T, 0>{}, blocks, arguments...);
}

/// Returns the sum of `value` over all threads of a block of `Warps` warps.  All threads get the same sum.  `part` may
/// be used again afterwards.
template <int Warps, class T>
TRIAD_DEVICE T block_sum(block const& b, T (&part)[Warps], T value) {
  value = warp_sum(b, value);
  if (b.lane() == 0) part[b.row()] = value;
  b.sync();
  T total = 0;
  for (int w = 0; w < Warps; ++w) total += part[w];
  b.sync();
  return total;
}

/// Counts this block.  Returns true to all threads of the block that comes last, which then sees what the other blocks
/// wrote before they came, and false to the other blocks.  Every thread of every block must call it once.  `count` is
/// backend::block_count().  The last block sets it to 0, so that a CUDA graph can repeat the kernel.  `last` is in
/// shared memory.
TRIAD_DEVICE bool arrives_last(block const& b, unsigned* count, bool& last) {
  b.sync();
  if (b.thread() == 0) {
    ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device> const here(*count);
    last = here.fetch_add(1, ::cuda::memory_order_acq_rel) + 1 == b.blocks();
    if (last) here.store(0, ::cuda::memory_order_relaxed);
  }
  b.sync();
  return last;
}

/// Sets `value` to the largest value of the warp, and `at` to the first place with this value, in every lane.
template <class T>
TRIAD_DEVICE void warp_first_largest(block const& b, T& value, index_t& at) {
  for (int mask = warp / 2; mask > 0; mask /= 2) {
    T const other = b.shuffle_xor(value, mask);
    index_t const other_at = b.shuffle_xor(at, mask);
    if (other > value || (other == value && other_at < at)) {
      value = other;
      at = other_at;
    }
  }
}

/// Returns the last k with first(k) <= r, which is the graph of row r.  `first` is ascending, and first(0) = 0 <= r.
/// The whole warp searches, 32 places at a time.
TRIAD_DEVICE index_t last_begun(block const& b, vec<index_t const> first, index_t r) {
  index_t low = 0, count = first.extent(0);
  while (count > 1) {
    index_t const step = (count + warp - 1) / warp, ahead = b.lane() * step;
    unsigned const begun = b.ballot(ahead < count && first(low + ahead) <= r);
    int const places = ::cuda::std::popcount(begun);  // the set bits are the lowest; lane 0 is always set
    index_t const skipped = places > 0 ? (places - 1) * step : 0;
    low += skipped;
    count = count - skipped < step ? count - skipped : step;
  }
  return low;
}

/// Returns the first place in [low, high) for which ahead(place) is false, or `high` if there is no such place.
/// ahead() must be true for all places before the result, and false for all places after it.  The whole warp searches,
/// 32 places at a time.
template <class Ahead>
TRIAD_DEVICE index_t first_not(block const& b, index_t low, index_t high, Ahead const& ahead) {
  while (low < high) {
    index_t const step = (high - low + warp - 1) / warp, at = low + b.lane() * step;
    int const places = ::cuda::std::popcount(b.ballot(at < high && ahead(at)));  // the set bits are the lowest
    if (places == 0) return low;
    index_t const next = low + places * step;
    low = next - step + 1;
    high = next < high ? next : high;
  }
  return low;
}

}  // namespace triad::cuda
