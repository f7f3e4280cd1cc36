// Heads that compute dependencies from the states of tokens.  Scores are biaffine products of a state of the child and
// a state of the parent (Dozat and Manning 2017).
// SPDX-License-Identifier: Apache-2.0
//
//   [u v p q] = drop(relu(y M' + m))                                             y (nodes, d); u, v, p, q (nodes, a)
//   arc(i, j) = u_i' W v_j + w . v_j + [i = j] (r . u_i + c)                     arc (rows)
//   relation((i, j), k) = sum over h < a of C_kh (A p_i + e)_h (B q_j + f)_h + g_k     relation (pairs, R)
//
// i is the child, and j is the parent.  A term that depends only on the child would add one number to all scores of
// this child, so the softmax over parents would not change.  Therefore arc has the term r . u_i + c only for i = j.  A
// token with i = j is a root: a root is its own parent.
//
// One matrix for each relation would take R a^2 parameters, as many as the layers below the heads have, and R a
// intermediate values for each pair.  Instead, all relations share `a` matrices of rank one: [p 1]' C_k [q 1] with C_k
// = sum of C_kh [A_h e_h]' [B_h f_h].  This form includes the constant and the linear terms of both tokens.  Any R
// matrices have this form if a is large enough.  The factors are computed for each token.  The products of factors are
// computed only for the listed pairs, because the logits of all pairs would be sum n^2 R numbers.  In training, the
// listed pairs are the pairs of the target tree.
//
//   t_i = W' u_i + w:  arc = pair_product(t, v);  z_p = (A p_i + e) * (B q_j + f)
//   the gradient of one factor is dz_p times the other factor, summed over the pairs of the factor's token
#pragma once

#include <array>

#include "triad/batches/token_sequences.hpp"
#include "triad/core/sizes.hpp"
#include "triad/layers/stacked_linear.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/pair_product.hpp"

namespace triad {

struct biaffine_heads_options {
  index_t relations = 0;  // R
  index_t inner = 0;      // a
  double dropout = 0;     // the dropout rate of u, v, p and q
};

/// Names for stacked_linear: the maps from a token's state to u, v, p and q.  u and v are for arcs, p and q for
/// relations.  u and p are for the token as a child, v and q for the token as a parent.
struct biaffine_ends {
  static constexpr std::array<char const*, 4> list{"arc_child", "arc_parent", "relation_child", "relation_parent"};
};

template <class T, index_t D = dyn>
struct biaffine_heads {
  using options = biaffine_heads_options;
  using states = tensor<T, dyn, D>;  // (nodes, d)
  using output = vec<T>;             // (rows): scores of arcs
  using values = tensor<T, dyn, dyn>;
  using ends_type = stacked_linear<T, biaffine_ends, D, dyn>;
  using map = linear<T, dyn, dyn>;

  [[no_unique_address]] extents<D> shape;
  index_t relations, inner;
  double dropout;

  biaffine_heads(index_t width, options const& o)
      : shape(extents_of<D>("biaffine_heads", {"width", width})),
        relations(checked_size("biaffine_heads", {"relations", o.relations})),
        inner(checked_size("biaffine_heads", {"inner", o.inner})),
        dropout(dropout_rate("biaffine_heads", o.dropout)) {}

  constexpr index_t width() const { return shape.extent(0); }
  constexpr ends_type ends() const { return {extents<D, dyn>(width(), inner)}; }
  constexpr map to(index_t out) const { return {extents<dyn, dyn>(inner, out)}; }

  template <class S>
  struct fields {
    fields_of<ends_type, S> ends;                          // M, m
    fields_of<map, S> arc, root, child, parent, relation;  // (W', w), (r, c), (A, e), (B, f), (C, g)
    template <class F>
    constexpr void each(F&& f) {
      f("ends", ends);
      f("arc", arc);
      f("root", root);
      f("child", child);
      f("parent", parent);
      f("relation", relation);
    }
  };
  struct saved {
    values ends;           // (nodes, 4 a)
    values turned;         // (nodes, a): t
    values child, parent;  // (nodes, a) each: the factors of the relations
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const map_to = [&](index_t out) { return plan<S>(to(out), place); };
    return {.ends = plan<S>(ends(), place),
            .arc = map_to(inner),
            .root = map_to(1),
            .child = map_to(inner),
            .parent = map_to(inner),
            .relation = map_to(relations)};
  }
  saved plan_saved(arena& place, graph_dims const& dims, keep = keep::everything) const {
    auto const make = [&](index_t columns) { return place.make<values>(dims.nodes, columns); };
    return {make(ends().out()), make(inner), make(inner), make(inner)};
  }

  /// Overwrites score (rows), and s.  relate() reads s.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, token_sequences<T> const& in, const_view<states> y,
               saved const& s, output score) const {
    auto const frame = c.scratch->open();
    auto const root = c.scratch->template make<values>(y.extent(0), index_t{1});
    ends().product().forward(ex, c, w.ends.all, y, {}, s.ends, {.relu = true, .dropout = c.dropout(dropout)});
    affine(ex, w.arc, part(s, 0), s.turned);
    pair_product(ex, in.graphs, matrix<T const>(as_matrix(s.turned)), part(s, 1), score);
    affine(ex, w.root, part(s, 0), root);
    scatter_add_rows(ex, c.scratch, root, in.self, as_column(score));
    affine(ex, w.child, part(s, 2), s.child);
    affine(ex, w.parent, part(s, 3), s.parent);
  }
  /// Overwrites logits (pairs, R).  Call forward() first.
  template <backend Ex>
  void relate(Ex& ex, call const& c, fields<T const> w, const_view<states>, saved const& s, token_pairs const& pairs,
              values logits) const {
    auto const frame = c.scratch->open();
    auto const z = factors(ex, *c.scratch, s, pairs).product;
    to(relations).forward(ex, c, w.relation, z, {}, logits);
  }

  /// Overwrites dy.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, token_sequences<T> const& in, const_view<states> y,
                saved const& s, token_pairs const& pairs, vec<T const> dscore, tensor<T const, dyn, dyn> dlogits,
                states dy, fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const nodes = y.extent(0);
    auto const make = [&](index_t rows, index_t columns) { return scratch.make<values>(rows, columns); };
    auto const d = make(nodes, ends().out());
    auto const turned = make(nodes, inner), root = make(nodes, 1), dz = make(pairs.count(), inner),
               one = make(pairs.count(), inner);
    auto const from = [&](index_t k) { return ends().part(d, k); };

    pair_product_grad(ex, in.graphs, matrix<T const>(as_matrix(s.turned)), part(s, 1), dscore, as_matrix(turned),
                      from(1));
    matmul(ex, read_only(turned), w.arc.weight, from(0));
    to(inner).backward_params(ex, c, part(s, 0), read_only(turned), gradient.arc);
    gather_rows(ex, as_column(dscore), in.self, root);
    matmul_add(ex, read_only(root), w.root.weight, from(0));
    to(1).backward_params(ex, c, part(s, 0), read_only(root), gradient.root);

    auto const f = factors(ex, scratch, s, pairs);
    to(relations).backward(ex, c, w.relation, f.product, {}, dlogits, dz, gradient.relation);
    auto const side = [&](values other, vec<index_t const> tokens, auto weights, index_t k, auto sum) {
      transform(ex, times{}, dz, other, one);
      fill(ex, T(0), turned);
      scatter_add_rows(ex, c.scratch, one, tokens, turned);
      matmul(ex, read_only(turned), weights.weight, from(k));
      to(inner).backward_params(ex, c, part(s, k), read_only(turned), sum);
    };
    side(f.parent, pairs.child, w.child, 2, gradient.child);
    side(f.child, pairs.parent, w.parent, 3, gradient.parent);

    if (auto const mask = c.dropout(dropout); mask.active()) dropout_grad(ex, mask, d, d);
    transform(ex, relu_grad{}, s.ends, d, d);
    ends().backward(ex, c, w.ends, y, {}, d, dy, gradient.ends);
  }

 private:
  struct pair_factors {
    values child, parent, product;  // (pairs, a)
  };

  matrix<T const> part(saved const& s, index_t k) const { return ends().part(read_only(s.ends), k); }

  template <class Ex>
  static void affine(Ex& ex, fields_of<map, T const> w, matrix<T const> x, values y) {
    matmul(ex, x, transposed(w.weight), y, {.bias = w.bias});
  }
  template <class Ex>
  pair_factors factors(Ex& ex, arena& scratch, saved const& s, token_pairs const& pairs) const {
    auto const make = [&] { return scratch.make<values>(pairs.count(), inner); };
    auto const child = make(), parent = make(), product = make();
    gather_rows(ex, s.child, pairs.child, child);
    gather_rows(ex, s.parent, pairs.parent, parent);
    transform(ex, times{}, child, parent, product);
    return {child, parent, product};
  }
};

}  // namespace triad
