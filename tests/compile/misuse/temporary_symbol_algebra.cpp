// Makes a tree of labels whose symbol_algebra is a temporary, which ends with the statement.
// expect: symbol_algebra: this one is a temporary, which ends before its trees do
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/tree.hpp"

using algebra_type = triad::gather_algebra<double>;

void make(triad::vocabulary const& words) {
  auto const labels = triad::parse_tree("( S a )");
#ifdef MISUSE
  auto const x = triad::symbol_algebra(algebra_type({2, 3}, words.size()), words).encode(labels);
#else
  triad::symbol_algebra const language(algebra_type({2, 3}, words.size()), words);
  auto const x = language.encode(labels);
#endif
  (void)x;
}
