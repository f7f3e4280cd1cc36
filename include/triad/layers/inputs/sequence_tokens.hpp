// Initial states of the tokens of a sentence.  The state of a token is its vector plus sinusoids of its position.
// SPDX-License-Identifier: Apache-2.0
//
//   u(i) = drop(table(token(i), :) + p(i)),  p(i): sines and cosines of the position           u (nodes, d)
//   dtable(token(i), :) += drop'(du(i))
#pragma once

#include "triad/batches/token_sequences.hpp"
#include "triad/layers/fixed_row.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct sequence_tokens {
  using input = token_sequences<T>;
  using output = tensor<T, dyn, D>;  // (nodes, d)

  index_t tokens = 0;  // the number of rows of the table
  [[no_unique_address]] extents<D> shape;
  double dropout = 0;
  index_t fixed_token = -1;  // the token whose vector is not learned; negative: none

  constexpr index_t width() const { return shape.extent(0); }

  template <class S>
  struct fields {
    tensor<S, dyn, D> tokens;  // (tokens, d)
    template <class F>
    constexpr void each(F&& f) {
      f("tokens", tokens);
    }
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<tensor<S, dyn, D>>(tokens, width())};
  }
  saved plan_saved(arena&, row_dims, keep = keep::everything) const { return {}; }

  /// Overwrites u.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const&, output u) const {
    auto const frame = c.scratch->open();
    auto const p = c.scratch->template make<output>(u.extent(0), width());
    gather_rows(ex, w.tokens, in.token, u);
    gather_rows(ex, in.waves, in.position, p);
    transform(ex, plus{}, u, p, u);
    if (auto const mask = c.dropout(dropout); mask.active()) triad::dropout(ex, mask, u, u);
  }
  /// Adds to the gradient of the table, except for the row of the fixed token.  The input has no gradient.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const>, input const& in, saved const&, const_view<output> du,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const memory = c.scratch->template make<output>(du.extent(0), width());
    auto const d = undropped(ex, c.dropout(dropout), du, memory);
    add_but_row(ex, *c.scratch, gradient.tokens, fixed_token,
                [&] { scatter_add_rows(ex, c.scratch, d, in.token, gradient.tokens); });
  }
};

}  // namespace triad
