// A complete program that uses triad: encodes a tree as a tensor, swaps its two subtrees, and prints the version of
// triad.
// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <vector>

#include "triad/tree/tree.hpp"
#include "triad/version.hpp"

using namespace triad;

int main() {
  auto const sentence = parse_tree("( S subject predicate )");
  vocabulary words;
  words.insert(sentence);
  std::vector<float> table(static_cast<std::size_t>(words.size() * words.size()));
  tensor<float, dyn, dyn> const fillers(table.data(), words.size(), words.size());  // (words, width)
  random_fillers(1, as_matrix(fillers));

  gather_algebra<float> const algebra({2, 3}, words.size());  // two children, three levels
  tensor_tree<gather_algebra<float>> x(algebra);
  encode(algebra, fillers, words.number(sentence), x.view());
  auto const swapped = cons(cdr(x), car(x), x);
  std::cout << "triad " << version << ": "
            << to_text(words.label(decode<gather_algebra<float>>(algebra, fillers, swapped.view()))) << "\n";
}
