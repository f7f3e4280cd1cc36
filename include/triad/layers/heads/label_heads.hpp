// Heads that label tokens.  Four linear maps take the state of a token to the logits of four kinds of labels.
// SPDX-License-Identifier: Apache-2.0
//
//   logits_k = y wk' + bk,  k: role, category, noun type, verb           y (nodes, d), logits_k (nodes, labels of k)
//   dy = sum_k dlogits_k wk
//
// If word vectors e (nodes, d) are given, the verb logits are computed from e instead of y.  In this case de =
// dlogits_verb wverb, and dy is the sum of the three terms without the verb.
#pragma once

#include "triad/batches/label_views.hpp"
#include "triad/layers/linear.hpp"

namespace triad {

template <class T, index_t D = dyn>
struct label_heads {
  using input = tensor<T const, dyn, D>;  // (nodes, d)
  using head = linear<T, D, dyn>;

  index_t width;
  label_counts labels;

  template <class S>
  struct fields {
    fields_of<head, S> role, category, noun_type, verb;
    template <class F>
    constexpr void each(F&& f) {
      f("role", role);
      f("category", category);
      f("noun_type", noun_type);
      f("verb", verb);
    }
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    auto const map_to = [&](index_t count) { return plan<S>(of(count), place); };
    return {map_to(labels.role), map_to(labels.category), map_to(labels.noun_type), map_to(labels.verb)};
  }

  /// Overwrites the logits.  `words` has the word vectors (nodes, d).  If `words` is (0, d), the verb logits are
  /// computed from y.
  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input y, label_views<T> const& logits,
               input words = {}) const {
    of(labels.role).forward(ex, c, w.role, y, {}, logits.role);
    of(labels.category).forward(ex, c, w.category, y, {}, logits.category);
    of(labels.noun_type).forward(ex, c, w.noun_type, y, {}, logits.noun_type);
    of(labels.verb).forward(ex, c, w.verb, words.extent(0) > 0 ? words : y, {}, logits.verb);
  }

  /// Overwrites dy.  Overwrites d_words if there are word vectors.
  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input y, label_views<T> const& d, tensor<T, dyn, D> dy,
                fields<T> gradient, input words = {}, tensor<T, dyn, D> d_words = {}) const {
    epilogue<T> add;
    of(labels.role).backward(ex, c, w.role, y, {}, d.role, dy, gradient.role, add);
    add.residual = as_matrix(read_only(dy));
    of(labels.category).backward(ex, c, w.category, y, {}, d.category, dy, gradient.category, add);
    of(labels.noun_type).backward(ex, c, w.noun_type, y, {}, d.noun_type, dy, gradient.noun_type, add);
    if (words.extent(0) > 0)
      of(labels.verb).backward(ex, c, w.verb, words, {}, d.verb, d_words, gradient.verb);
    else
      of(labels.verb).backward(ex, c, w.verb, y, {}, d.verb, dy, gradient.verb, add);
  }

 private:
  constexpr head of(index_t count) const { return {extents<D, dyn>(width, count)}; }
};

}  // namespace triad
