// Tests labels at positions: labels that were placed are read back, and errors name the position.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/placement.hpp"

#include "tests/catch.hpp"

namespace tree_placement_tests {

using namespace triad;
using triad::test::contains;

TEST_CASE("labels are placed at their positions, and read back from there") {
  tree_positions<> const p(2, 3);
  std::vector<index_t> labels(7, 9);
  vec<index_t> const array(labels.data(), 7);
  numbered_tree const tree(1, {numbered_tree(), numbered_tree(4, {numbered_tree(), numbered_tree(5)})});
  place_labels(p, tree, array);
  CHECK(labels == std::vector<index_t>{1, 0, 4, 0, 0, 0, 5});
  CHECK(tree_of_labels(p, array) == tree);
}

TEST_CASE("an empty position hides what is below it, an empty root everything") {
  tree_positions<> const p(2, 3);
  std::vector<index_t> labels{1, 2, 0, 0, 3, 0, 5};
  CHECK(tree_of_labels(p, vec<index_t const>(labels.data(), 7)) ==
        numbered_tree(1, {numbered_tree(2, {numbered_tree(), numbered_tree(3)})}));
  labels[0] = 0;
  CHECK(tree_of_labels(p, vec<index_t const>(labels.data(), 7)).empty());
}

TEST_CASE("a tree that is too deep, too wide or has no label is an error with the path") {
  numbered_tree const tree(1, {numbered_tree(), numbered_tree(4, {numbered_tree(), numbered_tree(5)})});
  std::vector<index_t> labels(15);
  CHECK_THROWS_WITH(place_labels(tree_positions<>(2, 2), tree, vec<index_t>(labels.data(), 3)),
                    contains("root.1.1 is deeper than the 2 levels"));
  CHECK_THROWS_WITH(
      place_labels(tree_positions<>(2, 2), numbered_tree(1, {numbered_tree(0)}), vec<index_t>(labels.data(), 3)),
      contains("root.0 has label 0"));
  numbered_tree const wide(1, {numbered_tree(), numbered_tree(), numbered_tree(2)});
  CHECK_THROWS_WITH(place_labels(tree_positions<>(2, 2), wide, vec<index_t>(labels.data(), 3)),
                    contains("root.2 is child 2 of its parent"));
  CHECK_THROWS_AS(place_labels(tree_positions<>(2, 3), tree, vec<index_t>(labels.data(), 6)), contract_violation);
  CHECK_NOTHROW(place_labels(tree_positions<>(3, 2), wide, vec<index_t>(labels.data(), 4)));
}

}  // namespace tree_placement_tests
