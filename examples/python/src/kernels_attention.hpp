// Triangular attention with its projections, over the arrays of a caller.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels.h"
#include "kernels_calls.hpp"
#include "triad/core/arena.hpp"
#include "triad/cpu/backend.hpp"
#include "triad/cpu/products/rounding.hpp"
#include "triad/layers/triangular_attention.hpp"
#include "triad/ops/projected_triangle.hpp"

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
    auto const s = saved();
    auto const x = read(ex, scratch, call_.x, call_.x_type);
    auto const y = written(scratch, call_.y, call_.y_type);
    index_t const parts = layer_.projections(), square = width_ * width_;
    for (index_t p = 0; p < parts; ++p)
      get(ex, call_.weights[p], call_.weight_type, address(s.weights, p * square), square);
    auto const bias = biases(ex, scratch);
    triad::call const c{&scratch};
    triad::projected_triangle<Ex, float>(
        ex, scratch, triangle_.options(), operands(s, x, bias.of_projections), graphs,
        triad::triangle_statistics<float>{triad::as_matrix(s.maximum), triad::as_matrix(s.inverse_sum)},
        triad::as_matrix(s.mixed));
    layer_.mixer().forward(ex, c, {output_weight(ex, scratch), bias.of_output}, triad::read_only(s.mixed), {}, y);
    put(ex, y.data_handle(), call_.y, call_.y_type, rows() * width_);
    if constexpr (triad::executes<Ex>) std::fill_n(s.after, s.end - s.after, 0.0f);
  }

  template <class Ex>
  void gradient(Ex& ex, triad::arena& scratch, triad::graph_batch const& graphs) const {
    auto const s = saved();
    auto const x = read(ex, scratch, call_.x, call_.x_type), dy = read(ex, scratch, call_.d_y, call_.y_type);
    index_t const parts = layer_.projections(), square = width_ * width_;
    auto* const dw = sums(ex, scratch, call_.d_weights, (parts + 1) * square);
    bool const biased = layer_.bias;
    auto* const db = sums(ex, scratch, call_.d_bias, biased ? (parts + 1) * width_ : 0);
    auto const d_o = scratch.make<rows_view>(rows(), width_);
    auto const dx = call_.d_x != nullptr ? written(scratch, call_.d_x, call_.x_type) : rows_view(nullptr, 0, width_);
    triad::call const c{&scratch};
    layer_.mixer().backward(ex, c, {output_weight(ex, scratch), no_bias()}, triad::read_only(s.mixed), {}, dy, d_o,
                            {rows_view(address(dw, parts * square), width_, width_),
                             triad::make_vec(address(db, parts * width_), biased ? width_ : 0)});
    triad::projected_triangle_grad<Ex, float>(
        ex, scratch, triangle_.options(), operands(s, x, biases(ex, scratch).of_projections), graphs,
        triad::triangle_statistics<float const>{triad::as_matrix(triad::read_only(s.maximum)),
                                                triad::as_matrix(triad::read_only(s.inverse_sum))},
        triad::as_matrix(triad::read_only(s.mixed)), triad::as_matrix(triad::read_only(d_o)),
        {triad::as_matrix(dx), triad::as_matrix(rows_view(dw, parts * width_, width_)),
         triad::make_vec(db, biased ? parts * width_ : 0)});
    if (call_.d_x != nullptr) put(ex, dx.data_handle(), call_.d_x, call_.x_type, rows() * width_);
    put(ex, dw, call_.d_weights, call_.weight_type, (parts + 1) * square);
    if (biased) put(ex, db, call_.d_bias, call_.weight_type, (parts + 1) * width_);
  }

 private:
  index_t rows() const { return sizes().dims.rows; }

  /// Returns the address of a number, or null if memory is only measured.
  static float* address(float* begin, index_t offset) { return begin != nullptr ? begin + offset : nullptr; }

  template <class Ex>
  rows_read output_weight(Ex& ex, triad::arena& scratch) const {
    return rows_read(floats(ex, scratch, call_.weights[4], call_.weight_type, width_ * width_), width_, width_);
  }
  static triad::vec<float const> no_bias() { return triad::make_vec<float const>(nullptr, 0); }
  struct both_biases {
    triad::vec<float const> of_projections, of_output;
  };
  template <class Ex>
  both_biases biases(Ex& ex, triad::arena& scratch) const {
    if (!layer_.bias) return {no_bias(), no_bias()};
    index_t const projected = layer_.projections() * width_;
    auto const* const all = floats(ex, scratch, call_.bias, call_.weight_type, projected + width_);
    return {triad::make_vec(all, projected), triad::make_vec(all != nullptr ? all + projected : nullptr, width_)};
  }

  /// The arrays that are saved.
  struct saved_arrays {
    rows_view projected, mixed, maximum, inverse_sum;
    float *weights, *after, *end;  // (p h k, h k); the readable numbers after the last array
  };
  triad::projected_triangle_operands<float> operands(saved_arrays const& s, rows_read x,
                                                     triad::vec<float const> bias) const {
    return {x, triad::as_matrix(rows_read(s.weights, layer_.projections() * width_, width_)), bias, s.projected};
  }
  saved_arrays saved() const {
    auto* const begin = static_cast<float*>(call_.saved);
    auto* next = begin;
    auto const take = [&](index_t columns) {
      auto* const at = next;
      next += rows() * columns;
      return rows_view(at, rows(), columns);
    };
    index_t const parts = layer_.projections();
    auto const projected = take(parts * width_), mixed = take(width_), maximum = take(heads_),
               inverse_sum = take(heads_);
    auto* const weights = next;
    return {projected,
            mixed,
            maximum,
            inverse_sum,
            weights,
            weights + parts * width_ * width_,
            begin + triad_attention_saved(rows(), parts, heads_, call_.triangle.width)};
  }

  /// Returns numbers of the caller as float32.
  template <class Ex>
  static float const* floats(Ex& ex, triad::arena& scratch, void const* x, std::int64_t type, index_t count) {
    if (type == triad_float32) return static_cast<float const*>(x);
    auto* const made = scratch.make<triad::vec<float>>(count).data_handle();
    get(ex, x, type, made, count);
    return made;
  }
  /// Returns zeros, to which gradients are added: the caller's array if it has float32, or scratch memory, from which
  /// put() rounds.
  template <class Ex>
  float* sums(Ex& ex, triad::arena& scratch, void* to, index_t count) const {
    auto* const made = call_.weight_type == triad_float32 ? static_cast<float*>(to)
                                                          : scratch.make<triad::vec<float>>(count).data_handle();
    if constexpr (triad::executes<Ex>)
      each_piece(ex, count, [&](index_t begin, index_t some) { std::fill_n(made + begin, some, 0.0f); });
    return made;
  }
  template <class Ex>
  rows_read read(Ex& ex, triad::arena& scratch, void const* x, std::int64_t type) const {
    return rows_read(floats(ex, scratch, x, type, rows() * width_), rows(), width_);
  }
  /// Returns the caller's rows of results, or rows in scratch memory, which put() rounds.
  rows_view written(triad::arena& scratch, void* y, std::int64_t type) const {
    if (type == triad_float32) return rows_view(static_cast<float*>(y), rows(), width_);
    return scratch.make<rows_view>(rows(), width_);
  }

  /// Copies numbers of the caller to float32.
  template <class Ex>
  static void get([[maybe_unused]] Ex& ex, void const* from, std::int64_t type, float* to, index_t count) {
    if constexpr (triad::executes<Ex>)
      each_piece(ex, count, [&](index_t begin, index_t some) {
        if (type == triad_float32) {
          std::copy_n(static_cast<float const*>(from) + begin, some, to + begin);
          return;
        }
        auto const* const x = static_cast<triad::cpu::bfloat16 const*>(from) + begin;
#pragma omp simd
        for (index_t i = 0; i < some; ++i) to[begin + i] = triad::from_bfloat16(x[i]);
      });
  }
  /// Rounds float32 to numbers of the caller, unless they are already there.
  template <class Ex>
  static void put([[maybe_unused]] Ex& ex, float const* from, void* to, [[maybe_unused]] std::int64_t type,
                  index_t count) {
    if constexpr (triad::executes<Ex>) {
      if (type == triad_float32) return;  // the results were written there
      each_piece(ex, count, [&](index_t begin, index_t some) {
        triad::cpu::round_matrix(from + begin, some, 1, some, static_cast<triad::cpu::bfloat16*>(to) + begin, some, 1,
                                 some);
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
