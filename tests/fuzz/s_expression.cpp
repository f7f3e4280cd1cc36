// Fuzzes the reader of trees as text; what it reads is written and read again.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/s_expression.hpp"

#include "reader.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  fuzz::read_or_refuse("input:7", [&] {
    auto const tree = parse_tree(fuzz::text_of(data, size), {"input", 7});
    fuzz::expect(!tree.empty() && tree.depth() <= tree.size(), "a tree has nodes, and is no deeper than they are many");
    fuzz::expect(parse_tree(to_text(tree)) == tree, "a tree is read as it was written");
  });
  return 0;
}
