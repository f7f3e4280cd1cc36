// Converts between trees of label numbers and arrays that hold the label number at each breadth-first position.  Label
// 0 means that the position has no node.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/tree/paths.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad {

/// Throws data_error with the node's path if a node is too deep, has a child number of `branching` or more, or has a
/// label outside 1 .. labels - 1.
inline void expect_fits(numbered_tree const& tree, index_t branching, index_t depth, index_t labels) {
  tree.walk([&](index_t at, index_t, index_t level) {
    auto const fail = [&](std::string const& what) {
      throw data_error("the node at " + path_text(tree, at) + " " + what);
    };
    auto const& n = tree[at];
    if (level >= depth) fail("is deeper than the " + std::to_string(depth) + " levels that the roles have");
    if (n.child_number >= branching)
      fail("is child " + std::to_string(n.child_number) + " of its parent; the roles have children 0 .. " +
           std::to_string(branching - 1));
    if (n.label < 1 || n.label >= labels)
      fail("has label " + std::to_string(n.label) + "; expected one of 1 .. " + std::to_string(labels - 1));
  });
}

/// Calls f(label, role) for every node, in pre-order.  The tree must have passed expect_fits().
template <class F>
void each_role(numbered_tree const& tree, role_paths const& paths, F&& f) {
  std::vector<role_code> roles(static_cast<std::size_t>(tree.size()));
  tree.walk([&](index_t at, index_t parent, index_t) {
    auto const role =
        parent == no_node ? root_role : paths.child(roles[static_cast<std::size_t>(parent)], tree[at].child_number);
    roles[static_cast<std::size_t>(at)] = role;
    f(tree.label(at), role);
  });
}

/// Writes the label of every node at the node's position, and 0 at all other positions.  Takes any label except 0.
/// Throws data_error if a node does not fit.
template <index_t B, index_t D>
void place_labels(tree_positions<B, D> const& positions, numbered_tree const& tree, vec<index_t> labels) {
  expect_extent("place_labels", "labels", labels.extent(0), positions.count());
  expect_fits(tree, positions.branching(), positions.depth(), index_t{1} << 62);
  for (index_t r = 0; r < labels.extent(0); ++r) labels(r) = 0;
  role_paths const paths(positions.branching());
  each_role(tree, paths, [&](index_t label, role_code role) { labels(paths.position(role)) = label; });
}

namespace detail {
template <index_t B, index_t D>
void gather_labels(tree_positions<B, D> const& positions, vec<index_t const> labels, index_t at, index_t child_number,
                   numbered_tree::builder& made) {
  if (at >= labels.extent(0) || labels(at) == 0) return;
  made.open(labels(at), child_number);
  for (index_t c = 0; c < positions.branching(); ++c) gather_labels(positions, labels, positions.child(at, c), c, made);
  made.close();
}
}  // namespace detail

/// Returns the tree that an array of labels describes.  Drops all nodes below an empty position.
template <index_t B, index_t D>
numbered_tree tree_of_labels(tree_positions<B, D> const& positions, vec<index_t const> labels) {
  expect_extent("tree_of_labels", "labels", labels.extent(0), positions.count());
  numbered_tree::builder made;
  detail::gather_labels(positions, labels, 0, 0, made);
  return made.finish();
}

}  // namespace triad
