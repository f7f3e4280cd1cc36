// Logits for four kinds of labels of each token: role, category, noun type and verb.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/sizes.hpp"

namespace triad {

/// The number of labels of each kind.
struct label_counts {
  index_t role = 0, category = 0, noun_type = 0, verb = 0;
};

namespace detail {
inline label_counts checked_labels(label_counts const& z) {
  for (named_size const& kind :
       {named_size{"roles", z.role}, {"categories", z.category}, {"noun types", z.noun_type}, {"verbs", z.verb}})
    (void)checked_size("label_counts", kind);
  return z;
}
}  // namespace detail

/// One view (nodes, labels) for each kind of label.
template <class T>
struct label_views {
  tensor<T, dyn, dyn> role, category, noun_type, verb;

  static label_views plan(arena& place, index_t nodes, label_counts const& z) {
    auto const make = [&](index_t labels) { return place.make<tensor<T, dyn, dyn>>(nodes, labels); };
    auto const role = make(z.role), category = make(z.category), noun_type = make(z.noun_type);
    return {role, category, noun_type, make(z.verb)};
  }
};

}  // namespace triad
