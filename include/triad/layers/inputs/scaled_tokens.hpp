// Initial states of the tokens of an encoder or a decoder.  The state of a token is its scaled vector plus sinusoids of
// its position.
// SPDX-License-Identifier: Apache-2.0
//
//   x_0(i) = drop(s table(token(i), :) + r p(position(i)))               x_0 (rows, d)
//   dtable(token(i), :) += s drop'(dx_0(i))
//
// p is a vector of sines and cosines, or zero.  embedding_scale says what s and r are.  LRF does not say how H_0 is
// computed from X.  Vaswani et al.'s Transformer and fairseq compute H_0 with s = sqrt(d) and r = 1.
#pragma once

#include <cmath>

#include "triad/layers/fixed_row.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

/// The tokens of sequences, with their positions.  The sequences are stored one after another.
template <class T>
struct placed_tokens {
  vec<index_t const> token, position;  // (rows) each: the row of the table, and the row of `waves`
  tensor<T const, dyn, dyn> waves;     // (positions, d): sinusoids; (0, d): the states do not depend on positions
};

/// The scales of Csordas et al. (The Devil is in the Detail, EMNLP 2021).  For an x_0 of size 1 at first, the table needs
/// initial values of standard deviation d^(-1/2) with tokens_up, and 1 with unscaled.
enum class embedding_scale {
  tokens_up,      // s = sqrt(d), r = 1
  unscaled,       // s = 1, r = 1
  positions_down  // s = 1, r = d^(-1/2)
};

template <class T, index_t D = dyn>
struct scaled_tokens {
  using input = placed_tokens<T>;
  using output = tensor<T, dyn, D>;  // (rows, d)

  index_t tokens;  // the number of rows of the table
  [[no_unique_address]] extents<D> shape;
  double dropout = 0;
  index_t fixed_token = -1;  // the token whose look-ups have no gradient; negative: none
  embedding_scale scaled = embedding_scale::tokens_up;

  constexpr index_t width() const { return shape.extent(0); }
  /// s and r.
  double token_scale() const { return scaled == embedding_scale::tokens_up ? std::sqrt(double(width())) : 1; }
  double wave_scale() const { return scaled == embedding_scale::positions_down ? 1 / std::sqrt(double(width())) : 1; }

  template <class S>
  struct fields {
    tensor<S, dyn, D> table;  // (tokens, d)
    template <class F>
    constexpr void each(F&& f) {
      f("table", table);
    }
  };
  struct saved {};

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {place.make<tensor<S, dyn, D>>(tokens, width())};
  }
  saved plan_saved(arena&, row_dims, keep = keep::everything) const { return {}; }

  /// Overwrites x_0.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const&, output x) const {
    gather_rows(ex, w.table, in.token, x);
    scale(ex, token_scale(), x);
    if (in.waves.extent(0) != 0) {
      auto const frame = c.scratch->open();
      auto const p = c.scratch->template make<output>(x.extent(0), width());
      gather_rows(ex, in.waves, in.position, p);
      scale(ex, wave_scale(), p);
      transform(ex, plus{}, x, p, x);
    }
    if (auto const mask = c.dropout(dropout); mask.active()) triad::dropout(ex, mask, x, x);
  }
  /// Adds to the gradient of the table.  The input has no gradient.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const>, input const& in, saved const&, const_view<output> dx,
                fields<T> gradient) const {
    auto const frame = c.scratch->open();
    auto const memory = c.scratch->template make<output>(dx.extent(0), width()),
               of_vectors = c.scratch->template make<output>(dx.extent(0), width());
    transform(ex, scale_by<double>{token_scale()}, undropped(ex, c.dropout(dropout), dx, memory), of_vectors);
    // The fixed token's row keeps gradients from other uses of the table, such as a tied projection.
    add_but_row(ex, *c.scratch, gradient.table, fixed_token,
                [&] { scatter_add_rows(ex, c.scratch, of_vectors, in.token, gradient.table); });
  }

 private:
  template <backend Ex>
  static void scale(Ex& ex, double by, output x) {
    if (by != 1) transform(ex, scale_by<double>{by}, x, x);
  }
};

}  // namespace triad
