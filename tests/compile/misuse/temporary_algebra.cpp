// Makes a tree whose algebra is a temporary, which ends with the statement.
// expect: tensor_tree: the algebra is a temporary, which ends before the tree does
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/tree.hpp"

using algebra_type = triad::gather_algebra<double>;

void make() {
  algebra_type const algebra({2, 3}, 4);
#ifdef MISUSE
  triad::tensor_tree<algebra_type> x(algebra_type({2, 3}, 4));
#else
  triad::tensor_tree<algebra_type> x(algebra);
#endif
  (void)x;
}
