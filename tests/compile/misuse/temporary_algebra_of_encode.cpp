// Encodes a tree of labels with an algebra that is a temporary, which ends with the statement.
// expect: encode: the algebra is a temporary, which ends before the tree does
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/tree.hpp"

using algebra_type = triad::gather_algebra<double>;

void make(triad::tensor<double const, triad::dyn, triad::dyn> fillers, triad::numbered_tree const& tree) {
  algebra_type const algebra({2, 3}, 4);
#ifdef MISUSE
  auto const x = triad::encode(algebra_type({2, 3}, 4), fillers, tree);
#else
  auto const x = triad::encode(algebra, fillers, tree);
#endif
  (void)x;
}
