// Fuzzes the reader of trees as text. Trees that were read are written and read again.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/s_expression.hpp"

#include "reader.hpp"
#include "triad/tree/binarise.hpp"

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace triad;
  fuzz::read_or_refuse("input:7", [&] {
    auto const tree = parse_tree(fuzz::text_of(data, size), {"input", 7});
    fuzz::expect(!tree.empty() && tree.depth() <= tree.size(), "a tree has nodes, and is no deeper than they are many");
    fuzz::expect(parse_tree(to_text(tree)) == tree, "a tree is read as it was written");
    fuzz::expect(binarise(tree) == tree, "a binary tree stays as it is");
  });
  fuzz::read_or_refuse("input:7", [&] {
    auto const tree = parse_treebank_tree(fuzz::text_of(data, size), {"input", 7});
    auto const binary = binarise(tree);
    fuzz::expect(parse_treebank_tree(to_text(tree)) == tree, "a treebank's tree is read as it was written");
    fuzz::expect(binary.branching() <= 2 && binary.size() >= tree.size(), "a binary tree has no fewer nodes");
  });
  return 0;
}
