// Initial states of the tokens of a pre-trained encoder.  The state of a token is the normalised sum of three
// learned vectors: the vectors of the token, of its position and of its type.
// SPDX-License-Identifier: Apache-2.0
//
//   s(i) = word(token(i), :) + position(first + position(i), :) + type(0, :)          s, x_0 (rows, d)
//   x_0(i) = drop(norm(s(i)))
//   ds = norm'(drop'(dx_0))
//   dword(token(i), :) += ds(i);  dposition(first + position(i), :) += ds(i);  dtype(0, :) += sum_i ds(i)
//
// Row `first` of the table of positions belongs to the first token of a sequence.  It is 0 in BERT, and 2 in RoBERTa
// and MPNet: the rows before are for padding.  Sequences have no padding here.
#pragma once

#include "triad/layers/inputs/scaled_tokens.hpp"
#include "triad/layers/layer_norm.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/reduce.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct learned_tokens {
  using input = placed_tokens<T>;    // input::waves is not read
  using output = tensor<T, dyn, D>;  // (rows, d)

  index_t tokens;     // the number of rows of the table of words
  index_t positions;  // the number of rows of the table of positions
  [[no_unique_address]] extents<D> shape;
  double dropout = 0;
  double epsilon = 1e-5;  // the epsilon of the norm
  index_t first = 2;      // the row for the position of a sequence's first token
  bool typed = true;      // whether there is a table of types; MPNet has none

  constexpr index_t width() const { return shape.extent(0); }
  /// The largest possible length of a sequence.
  constexpr index_t longest() const { return positions - first; }
  constexpr layer_norm_layer<T, D> norm() const { return {shape, epsilon}; }

  template <class S>
  struct fields {
    tensor<S, dyn, D> word;      // (tokens, d)
    tensor<S, dyn, D> position;  // (positions, d)
    tensor<S, dyn, D> type;      // (1, d), because every token is of type 0; (0, d): none
    fields_of<layer_norm_layer<T, D>, S> norm;
    template <class F>
    constexpr void each(F&& f) {
      f("word", word);
      f("position", position);
      if (type.extent(0) != 0) f("type", type);
      f("norm", norm);
    }
  };
  struct saved {
    output s;  // (rows, d)
    typename layer_norm_layer<T, D>::saved norm;
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const table = [&](index_t rows) { return place.make<tensor<S, dyn, D>>(rows, width()); };
    return {table(tokens), table(positions), table(typed ? 1 : 0), plan<S>(norm(), place)};
  }
  saved plan_saved(arena& place, row_dims dims, keep kept = keep::everything) const {
    return {place.make<output>(dims.rows, width()), norm().plan_saved(place, dims, kept)};
  }

  /// Overwrites x_0.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output x) const {
    gather_rows(ex, w.word, in.token, s.s);
    gather_rows(ex, from_first(w.position), in.position, x);
    transform(ex, plus{}, s.s, x, s.s);
    if (typed) {
      auto const frame = c.scratch->open();
      auto const ones = c.scratch->template make<tensor<T, dyn, dyn>>(x.extent(0), 1);
      fill(ex, T(1), ones);
      matmul_add(ex, ones, w.type, s.s);
    }
    norm().forward(ex, c, w.norm, s.s, s.norm, x);
    if (auto const mask = c.dropout(dropout); mask.active()) triad::dropout(ex, mask, x, x);
  }
  /// Adds to the gradients of the tables and of the norm.  The input has no gradient.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> dx,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const memory = c.scratch->template make<output>(dx.extent(0), width()),
               ds = c.scratch->template make<output>(dx.extent(0), width());
    norm().backward(ex, c, w.norm, s.s, s.norm, undropped(ex, c.dropout(dropout), dx, memory), ds, gradient.norm);
    scatter_add_rows(ex, c.scratch, ds, in.token, gradient.word);
    scatter_add_rows(ex, c.scratch, ds, in.position, from_first(gradient.position));
    if (typed) column_sums_add(ex, *c.scratch, ds, as_vec(gradient.type));
  }

 private:
  /// Returns the rows of the table of positions from the row for the first token on.
  template <class S>
  matrix<S> from_first(tensor<S, dyn, D> table) const {
    return row_block(as_matrix(table), first, longest());
  }
};

}  // namespace triad
