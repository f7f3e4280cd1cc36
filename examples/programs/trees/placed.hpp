// Binary trees as lists of nodes, each with its position and the number of its label.
// SPDX-License-Identifier: Apache-2.0
//
// Positions are numbered breadth-first: the children of node i are at 2 i + 1 and 2 i + 2.  So the position of a node
// does not depend on a model's depth.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "data.hpp"
#include "machine.hpp"
#include "triad/tree/paths.hpp"
#include "triad/tree/placement.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad::programs::trees {

/// The trees of many rows, stored one after another.
class placed_rows {
 public:
  index_t size() const { return static_cast<index_t>(ends_.size() / 2); }
  placed_row operator[](index_t i) const {
    auto const k = static_cast<std::size_t>(2 * i);
    auto const begin = k == 0 ? 0 : ends_[k - 1], middle = ends_[k], end = ends_[k + 1];
    return {placed_tree(nodes_).subspan(begin, middle - begin), placed_tree(nodes_).subspan(middle, end - middle)};
  }
  /// Adds a row.  All of its labels must have numbers.
  void add(row const& r, vocabulary const& labels) {
    place(r.source, labels);
    place(r.target, labels);
  }

 private:
  void place(symbol_tree const& tree, vocabulary const& labels) {
    role_paths const paths(2);
    auto const begin = static_cast<std::ptrdiff_t>(nodes_.size());
    each_role(labels.number(tree), paths,
              [&](index_t label, role_code role) { nodes_.push_back({paths.position(role), label}); });
    std::sort(nodes_.begin() + begin, nodes_.end(),
              [](placed_node const& a, placed_node const& b) { return a.position < b.position; });
    ends_.push_back(nodes_.size());
  }

  std::vector<placed_node> nodes_;
  std::vector<std::size_t> ends_;  // end of each tree: source, target, source, target, ...
};

}  // namespace triad::programs::trees
