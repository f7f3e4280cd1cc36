// Dropout of rows.  One lane computes one counter, which decides four columns.
// SPDX-License-Identifier: Apache-2.0
//
// A warp computes 128 columns of one row, which are two blocks of dropout.  Lane 16 h + q computes counter q of block
// h.  Word w of this counter belongs to column 64 h + 16 w + q of the 128 columns.  So half a warp reads 64 consecutive
// bytes of floats.
#pragma once

#include <concepts>

#include "triad/cuda/device/rows.cuh"
#include "triad/ops/dropout.hpp"

namespace triad::cuda {

/// The values of a dropout mask that a kernel needs.  The host computes all these values except the step.
template <class T>
struct drop_rule {
  dropout_mask mask;
  std::uint64_t threshold;
  T scale;
  bool active;

  explicit drop_rule(dropout_mask const& m)
      : mask(m), threshold(m.threshold()), scale(m.active() ? T(m.scale()) : T(1)), active(m.active()) {}

  TRIAD_DEVICE T operator()(T value, bool kept) const { return kept ? value * scale : T(0); }
};

/// The number of columns of a row that a warp computes at a time.
inline constexpr int span_columns = 2 * static_cast<int>(dropout_block);

/// The number of spans of a matrix.  One warp computes one span.
constexpr index_t spans_of(index_t rows, index_t columns) { return rows * blocks_for(columns, span_columns); }

/// The four columns of a lane in the span of its warp, and which of these columns dropout keeps.
class row_span {
 public:
  template <class T>
  TRIAD_DEVICE row_span(block const& b, index_t rows, index_t columns, drop_rule<T> const& drop) {
    index_t const item = b.index() * row_warps + b.row(), across = (columns + span_columns - 1) / span_columns;
    live_ = item < rows * across;
    row_ = live_ ? item / across : 0;
    index_t const blocks = (columns + dropout_block - 1) / dropout_block,
                  at = live_ ? item % across * 2 + b.lane() / 16 : 0;
    first_ = at * dropout_block + b.lane() % 16;
    columns_ = live_ ? columns : 0;
    if (drop.active && first_ < columns_) {
      auto const words = philox(
          drop.mask.counter(static_cast<std::uint64_t>((row_ * blocks + at) * 16 + b.lane() % 16)), drop.mask.key);
      TRIAD_UNROLL
      for (unsigned w = 0; w < 4; ++w) kept_[w] = words[w] >= drop.threshold;
    }
  }

  /// The row of the span.  A warp beyond the last row has row 0 and no columns.
  TRIAD_DEVICE index_t row() const { return row_; }
  TRIAD_DEVICE bool live() const { return live_; }
  TRIAD_DEVICE bool keeps(int w) const { return kept_[w]; }

  /// Calls f(w, column) for the columns w = 0 .. 3 of the lane.
  template <class F>
  TRIAD_DEVICE void each(F&& f) const {
    TRIAD_UNROLL
    for (int w = 0; w < 4; ++w)
      if (index_t const c = first_ + 16 * w; c < columns_) f(w, c);
  }

 private:
  index_t row_, first_, columns_;
  bool live_, kept_[4] = {true, true, true, true};
};

/// Returns in bit k whether dropout keeps column lane + 32 k of a row of up to 1024 columns, for the columns of a lane
/// in each_column().  The bits of columns 2 i and 2 i + 1 of the lane are from one counter, in block i of the row.  So
/// two lanes compute each counter.  One counter at a time takes few registers.
template <class T>
TRIAD_DEVICE unsigned lane_kept(block const& b, drop_rule<T> const& drop, index_t row, index_t columns) {
  int const blocks = static_cast<int>((columns + dropout_block - 1) / dropout_block);
  bool const upper = b.lane() >= 16;
  unsigned kept = 0;
  TRIAD_NO_UNROLL
  for (int i = 0; i < blocks; ++i) {
    auto const words =
        philox(drop.mask.counter(static_cast<std::uint64_t>((row * blocks + i) * 16 + b.lane() % 16)), drop.mask.key);
    kept |= ((upper ? words[1] : words[0]) >= drop.threshold ? 1u : 0u) << (2 * i);
    kept |= ((upper ? words[3] : words[2]) >= drop.threshold ? 2u : 0u) << (2 * i);
  }
  return kept;
}

namespace detail {

/// y = keep f(x) / (1 - rate)
template <class T, class F>
struct dropout_rows {
  static constexpr char const* name = "dropout";
  static constexpr int threads = row_threads;
  F f;

  TRIAD_DEVICE void operator()(block const& b, drop_rule<T> drop, matrix<T const> x, matrix<T> y) const {
    row_span const span(b, x.extent(0), x.extent(1), drop);
    T v[4] = {};
    span.each([&](int w, index_t c) { v[w] = x(span.row(), c); });
    span.each([&](int w, index_t c) { y(span.row(), c) = drop(f(v[w]), span.keeps(w)); });
  }
};
/// dx = f(x, keep dy / (1 - rate))
template <class T, class F>
struct dropout_rows_grad {
  static constexpr char const* name = "dropout gradient";
  static constexpr int threads = row_threads;
  F f;

  TRIAD_DEVICE void operator()(block const& b, drop_rule<T> drop, matrix<T const> x, matrix<T const> dy,
                               matrix<T> dx) const {
    row_span const span(b, x.extent(0), x.extent(1), drop);
    T v[4] = {}, d[4] = {};
    span.each([&](int w, index_t c) {
      v[w] = x(span.row(), c);
      d[w] = dy(span.row(), c);
    });
    span.each([&](int w, index_t c) { dx(span.row(), c) = f(v[w], drop(d[w], span.keeps(w))); });
  }
};

struct unchanged {
  template <class T>
  TRIAD_DEVICE T operator()(T x) const {
    return x;
  }
};

/// Runs a kernel for the spans of x.
template <class Kernel, class T, class... Matrices>
void launch_spans(backend& ex, Kernel const& kernel, dropout_mask mask, matrix<T const> x, Matrices const&... others) {
  launch(ex, kernel, blocks_for(spans_of(x.extent(0), x.extent(1)), row_warps), drop_rule<T>(mask), x, others...);
}

}  // namespace detail

template <class T>
void do_dropout(backend& ex, dropout_mask mask, matrix<T const> x, matrix<T> y) {
  detail::launch_spans(ex, detail::dropout_rows<T, detail::unchanged>{}, mask, x, y);
}

/// A derived backend may have functions or dropout of its own, so it computes one after the other.
template <std::derived_from<backend> Ex, class F, class T>
void do_dropout_of(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T> y) {
  if constexpr (std::same_as<Ex, backend>)
    detail::launch_spans(ex, detail::dropout_rows<T, F>{f}, mask, x, y);
  else
    dropout_of_by_parts(ex, mask, f, x, y);
}
template <std::derived_from<backend> Ex, class F, class T>
void do_dropout_of_grad(Ex& ex, dropout_mask mask, F f, matrix<T const> x, matrix<T const> dy, matrix<T> dx) {
  if constexpr (std::same_as<Ex, backend>)
    detail::launch_spans(ex, detail::dropout_rows_grad<T, F>{f}, mask, x, dy, dx);
  else
    dropout_of_grad_by_parts(ex, mask, f, x, dy, dx);
}

}  // namespace triad::cuda
