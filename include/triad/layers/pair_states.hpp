// States of all ordered pairs of nodes, from the states of the nodes.
// SPDX-License-Identifier: Apache-2.0
//
//   [a b p q e] = x w' + c                                                        x (nodes, d); one matrix product
//   y(i, j) = relu(a(i) + b(j) + p(i) q(j) + t(r(i, j)) + [i = j] e(i))           y (rows, d), products of elements
//
//   dz = relu'(y) dy;   da(i) = sum_j dz(i, j);          db(j) = sum_i dz(i, j);          de(i) = dz(i, i)
//                       dp(i) = sum_j dz(i, j) q(j);     dq(j) = sum_i dz(i, j) p(i);     dt(r(i, j)) += dz(i, j)
//
// The product of both nodes lets a state depend on whether the nodes have something in common.  t is a table with a
// vector for each relation number.
#pragma once

#include <array>

#include "triad/layers/relative_attention.hpp"
#include "triad/layers/stacked_linear.hpp"
#include "triad/ops/pair_sum.hpp"

namespace triad {

/// The states of nodes, with the relation numbers of all ordered pairs.
template <class T, index_t D>
struct pair_states_input : relative_input<T, D> {
  vec<index_t const> self;  // (nodes) the row of pair (i, i)
};

/// Names for stacked_linear: the maps a, b, p, q and e.
struct pair_state_maps {
  static constexpr std::array<char const*, 5> list{"left", "right", "left_factor", "right_factor", "self"};
  enum part { left, right, left_factor, right_factor, self };
};

template <class T, index_t D = dyn>
struct pair_states {
  using input = pair_states_input<T, D>;
  using output = tensor<T, dyn, D>;  // (rows, d)
  using planned_with = node_pair_dims;
  using maps_type = stacked_linear<T, pair_state_maps, D>;
  using part = pair_state_maps::part;

  [[no_unique_address]] extents<D> shape;
  index_t relations = 0;  // the number of rows of the table; every relation number is below `relations`

  constexpr index_t width() const { return shape.extent(0); }
  constexpr maps_type maps() const { return {shape}; }

  template <class S>
  struct fields {
    fields_of<maps_type, S> maps;
    tensor<S, dyn, D> relations;  // (relations, d)
    template <class F>
    constexpr void each(F&& f) {
      maps.each(f);
      f("relations", relations);
    }
  };
  struct saved {
    tensor<T, dyn, dyn> mapped;  // (nodes, 5 d)
    output y;                    // (rows, d): the result
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {plan<S>(maps(), place), place.make<tensor<S, dyn, D>>(relations, width())};
  }
  saved plan_saved(arena& place, node_pair_dims const& dims, keep = keep::everything) const {
    return {place.make<tensor<T, dyn, dyn>>(dims.rows, 5 * width()), place.make<output>(dims.pairs, width())};
  }

  /// Overwrites s.y with the result.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s) const {
    auto const frame = c.scratch->open();
    maps().forward(ex, c, w.maps, in.x, {}, s.mapped);
    auto const left = of_first(ex, c, in, s), right = of_second(ex, c, in, s);
    transform(ex, times{}, left, right, left);
    gather_rows(ex, w.relations, in.relation, s.y);
    transform(ex, plus{}, s.y, left, s.y);
    pair_sum(ex, in.graphs, mapped(s, part::left), mapped(s, part::right), {}, as_matrix(read_only(s.y)),
             as_matrix(s.y));
    scatter_add_rows(ex, c.scratch, mapped(s, part::self), in.self, s.y);
    transform(ex, relu{}, s.y, s.y);
  }

  /// Overwrites dx with the gradient, and dy with dz.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output dy,
                tensor<T, dyn, D> dx, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    auto const d_mapped = scratch.make<tensor<T, dyn, dyn>>(in.graphs.dims.nodes, 5 * width());
    auto const d_other = scratch.make<tensor<T, dyn, dyn>>(in.graphs.dims.nodes, width());  // is not read
    auto const to = [&](part k) { return maps().part(d_mapped, k); };
    auto const sums = [&](output dz, matrix<T> over_second, matrix<T> over_first) {
      pair_sum_grad(ex, in.graphs, dropout_mask{}, as_matrix(read_only(dz)), over_second, over_first);
    };
    transform(ex, relu_grad{}, s.y, dy, dy);
    scatter_add_rows(ex, c.scratch, dy, in.relation, gradient.relations);
    gather_rows(ex, dy, in.self, to(part::self));
    sums(dy, to(part::left), to(part::right));
    auto const right = of_second(ex, c, in, s), left = of_first(ex, c, in, s);
    transform(ex, times{}, right, dy, right);
    sums(right, to(part::left_factor), as_matrix(d_other));
    transform(ex, times{}, left, dy, left);
    sums(left, as_matrix(d_other), to(part::right_factor));
    maps().backward(ex, c, w.maps, in.x, {}, d_mapped, dx, gradient.maps);
  }

 private:
  matrix<T const> mapped(saved const& s, part k) const { return maps().part(read_only(s.mapped), k); }

  /// Returns p(i), or q(j), for every pair (i, j).  The result is in the scratch memory of the caller.
  template <class Ex>
  output of_first(Ex& ex, call const& c, input const& in, saved const& s) const {
    return expanded(ex, c, in, mapped(s, part::left_factor), true);
  }
  template <class Ex>
  output of_second(Ex& ex, call const& c, input const& in, saved const& s) const {
    return expanded(ex, c, in, mapped(s, part::right_factor), false);
  }
  template <class Ex>
  output expanded(Ex& ex, call const& c, input const& in, matrix<T const> factor, bool first) const {
    auto& scratch = *c.scratch;
    auto const y = scratch.template make<output>(in.graphs.dims.rows, width());
    auto const nothing = scratch.template make<output>(in.graphs.dims.nodes, width());
    fill(ex, T(0), nothing);
    auto const zero = as_matrix(read_only(nothing));
    pair_sum(ex, in.graphs, first ? factor : zero, first ? zero : factor, {}, no_matrix<T const>(), as_matrix(y));
    return y;
  }
};

}  // namespace triad
