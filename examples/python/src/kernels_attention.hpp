// Triangular attention with its projections, over the arrays of a caller.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels.h"
#include "kernels_calls.hpp"
#include "triad/core/arena.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/cpu/products/rounding.hpp"
#include "triad/layers/triangular_attention.hpp"

namespace triad_torch {

/// Triangular attention with its projections of one call.  The triangle and the sums of products are float32, so arrays
/// of bfloat16 are widened, and results are rounded once, at the end.
class attention_call {
  using layer_type = triad::triangular_attention<float>;
  using rows_view = triad::tensor<float, triad::dyn, triad::dyn>;
  using rows_read = triad::tensor<float const, triad::dyn, triad::dyn>;

 public:
  explicit attention_call(triad_attention_call const& c)
      : call_(c), triangle_(c.triangle), layer_(), heads_(c.triangle.heads), width_(heads_ * c.triangle.width) {
    for (auto const type : {c.x_type, c.weight_type, c.y_type})
      TRIAD_EXPECTS(type == triad_float32 || type == triad_bfloat16,
                    "attention: data are of another type, expected float32 or bfloat16");
    layer_.shape = triad::extents<triad::dyn, triad::dyn>(width_, heads_);
    layer_.variant = triangle_.options().form;
    layer_.bias = c.bias != nullptr;
  }

  graph_sizes const& sizes() const { return triangle_.sizes(); }
  bool empty() const { return triangle_.empty(); }

  template <class Ex>
  void value(Ex& ex, triad::arena& scratch, triad::graph_batch const& graphs) const {
    auto const w = weights(ex, scratch);
    auto const x = read(ex, scratch, call_.x, call_.x_type);
    auto const s = saved();
    auto const y = written(scratch, call_.y, call_.y_type);
    triad::call const c{&scratch};
    layer_.stacked().forward(ex, c, w.stacked, x, {}, s.projected);
    triad::triangle<Ex, float>(
        ex, scratch, triangle_.options(), layer_.split(triad::read_only(s.projected)), graphs,
        triad::triangle_statistics<float>{triad::as_matrix(s.maximum), triad::as_matrix(s.inverse_sum)},
        triad::as_matrix(s.mixed));
    layer_.mixer().forward(ex, c, w.output, triad::read_only(s.mixed), {}, y);
    put(ex, y.data_handle(), call_.y, call_.y_type, rows(), width_);
    if constexpr (triad::executes<Ex>) std::fill(end_of(s), static_cast<float*>(call_.saved) + saved_numbers(), 0.0f);
  }

  template <class Ex>
  void gradient(Ex& ex, triad::arena& scratch, triad::graph_batch const& graphs) const {
    auto const w = weights(ex, scratch);
    auto const x = read(ex, scratch, call_.x, call_.x_type), dy = read(ex, scratch, call_.d_y, call_.y_type);
    auto const s = saved();
    auto const sums = layer_.template plan_params<float>(scratch);  // of the gradients of all weights
    if constexpr (triad::executes<Ex>)
      triad::walk(sums, [](auto const&, auto view) { std::fill_n(view.data_handle(), view.size(), 0.0f); });
    auto const d_o = scratch.make<rows_view>(rows(), width_);
    auto const d_projected = scratch.make<rows_view>(rows(), layer_.projections() * width_);
    auto const dx = call_.d_x != nullptr ? written(scratch, call_.d_x, call_.x_type) : rows_view(nullptr, 0, width_);
    triad::call const c{&scratch};
    layer_.mixer().backward(ex, c, w.output, triad::read_only(s.mixed), {}, dy, d_o, sums.output);
    triad::triangle_grad<Ex, float>(
        ex, scratch, triangle_.options(), layer_.split(triad::read_only(s.projected)), graphs,
        triad::triangle_statistics<float const>{triad::as_matrix(triad::read_only(s.maximum)),
                                                triad::as_matrix(triad::read_only(s.inverse_sum))},
        triad::as_matrix(triad::read_only(s.mixed)), triad::as_matrix(triad::read_only(d_o)),
        layer_.split(d_projected));
    layer_.stacked().backward(ex, c, w.stacked, x, {}, triad::read_only(d_projected), dx, sums.stacked);
    if (call_.d_x != nullptr) put(ex, dx.data_handle(), call_.d_x, call_.x_type, rows(), width_);
    each_weight(sums, [&](float* from, index_t k, index_t count, std::size_t offset) {
      put(ex, from, at(k < 5 ? call_.d_weights[k] : call_.d_bias, offset), call_.weight_type, 1, count);
    });
  }

 private:
  index_t rows() const { return sizes().dims.rows; }

  /// Calls f(values, k, count, offset) for each weight and bias.  k is its place in `weights` of the call, or 5 for
  /// biases, which begin at number `offset` of `bias`.
  template <class Fields, class F>
  void each_weight(Fields const& fields, F&& f) const {
    index_t const parts = layer_.projections(), square = width_ * width_;
    for (index_t p = 0; p < parts; ++p) f(fields.stacked.weight.data_handle() + p * square, p, square, std::size_t{0});
    f(fields.output.weight.data_handle(), index_t{4}, square, std::size_t{0});
    if (!layer_.bias) return;
    f(fields.stacked.bias.data_handle(), index_t{5}, parts * width_, std::size_t{0});
    f(fields.output.bias.data_handle(), index_t{5}, width_, static_cast<std::size_t>(parts * width_));
  }
  /// Returns the address of a number of an array of weights.
  template <class Void>
  Void* at(Void* array, std::size_t offset) const {
    using byte = std::conditional_t<std::is_const_v<Void>, std::byte const, std::byte>;
    return static_cast<byte*>(array) + offset * (call_.weight_type == triad_float32 ? 4 : 2);
  }

  /// Returns all weights in float32, with those of the projections stacked.
  template <class Ex>
  triad::fields_of<layer_type, float const> weights(Ex& ex, triad::arena& scratch) const {
    auto const made = layer_.template plan_params<float>(scratch);
    each_weight(made, [&](float* to, index_t k, index_t count, std::size_t offset) {
      get(ex, at(k < 5 ? call_.weights[k] : call_.bias, offset), call_.weight_type, to, 1, count);
    });
    return {{made.stacked.weight, made.stacked.bias}, {made.output.weight, made.output.bias}};
  }

  std::int64_t saved_numbers() const {
    return triad_attention_saved(rows(), layer_.projections(), heads_, call_.triangle.width);
  }
  static float* end_of(layer_type::saved const& s) { return s.inverse_sum.data_handle() + s.inverse_sum.size(); }
  layer_type::saved saved() const {
    auto* next = static_cast<float*>(call_.saved);
    auto const take = [&](index_t columns) {
      auto* const begin = next;
      next += rows() * columns;
      return rows_view(begin, rows(), columns);
    };
    auto const projected = take(layer_.projections() * width_), mixed = take(width_), maximum = take(heads_),
               inverse_sum = take(heads_);
    return {projected, maximum, inverse_sum, mixed};
  }

  /// Returns rows of the caller as rows of float32.
  template <class Ex>
  rows_read read(Ex& ex, triad::arena& scratch, void const* x, std::int64_t type) const {
    if (type == triad_float32) return rows_read(static_cast<float const*>(x), rows(), width_);
    auto const made = scratch.make<rows_view>(rows(), width_);
    get(ex, x, type, made.data_handle(), rows(), width_);
    return made;
  }
  /// Returns the caller's rows of results, or rows in scratch memory, which put() rounds.
  rows_view written(triad::arena& scratch, void* y, std::int64_t type) const {
    if (type == triad_float32) return rows_view(static_cast<float*>(y), rows(), width_);
    return scratch.make<rows_view>(rows(), width_);
  }

  /// Copies rows of the caller to float32.
  template <class Ex>
  static void get([[maybe_unused]] Ex& ex, void const* from, std::int64_t type, float* to, index_t rows,
                  index_t columns) {
    if constexpr (triad::executes<Ex>)
      each_piece(ex, rows * columns, [&](index_t begin, index_t count) {
        if (type == triad_float32) {
          std::copy_n(static_cast<float const*>(from) + begin, count, to + begin);
          return;
        }
        auto const* const x = static_cast<triad::cpu::bfloat16 const*>(from) + begin;
#pragma omp simd
        for (index_t i = 0; i < count; ++i) to[begin + i] = triad::cpu::widened(x[i]);
      });
  }
  /// Copies rows of float32 to the caller, unless they are there.
  template <class Ex>
  static void put([[maybe_unused]] Ex& ex, float const* from, void* to, std::int64_t type, index_t rows,
                  index_t columns) {
    if constexpr (triad::executes<Ex>) {
      if (to == from) return;
      each_piece(ex, rows * columns, [&](index_t begin, index_t count) {
        if (type == triad_float32)
          std::copy_n(from + begin, count, static_cast<float*>(to) + begin);
        else
          triad::cpu::round_matrix(from + begin, count, 1, count, static_cast<triad::cpu::bfloat16*>(to) + begin, count,
                                   1, count);
      });
    }
  }
  /// Calls f(begin, count) for pieces of `all` numbers, on several threads.
  template <class Ex, class F>
  static void each_piece(Ex& ex, index_t all, F&& f) {
    constexpr index_t piece = index_t{1} << 14;
    triad::cpu::parallel_for(ex, (all + piece - 1) / piece,
                             [&](index_t k, int) { f(k * piece, std::min(piece, all - k * piece)); });
  }

  triad_attention_call const& call_;
  triangle_call<float> triangle_;
  layer_type layer_;
  index_t heads_, width_;
};

}  // namespace triad_torch
