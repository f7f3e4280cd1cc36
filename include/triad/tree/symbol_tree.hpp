// A tree of labels as a value: a vector of nodes in pre-order, without pointers.
// SPDX-License-Identifier: Apache-2.0
//
// The subtree of node i consists of the nodes i .. i + size(i) - 1.  Node i comes first; the subtrees of its children
// follow, one after another.  Each child has a child number: 0 for the left child (car), 1 for the right child (cdr).
// A child number may be unused, so a node can have a right child without a left one.
//
//   ( A B ( C D ) )      node  label  number  size        depth 3 (the root alone has depth 1), branching 2
//                          0     A      0     4
//                          1     B      0     1
//                          2     C      1     2
//                          3     D      0     1
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"

namespace triad {

/// The number that means "no node".
inline constexpr index_t no_node = -1;

/// `Label` is std::string, or index_t for the label numbers of a vocabulary.  Two trees are equal if their shapes,
/// child numbers and labels are equal.
template <class Label>
class basic_tree {
 public:
  struct node {
    Label label;
    index_t child_number;  // the number of this child under its parent; 0 for the root
    index_t size;          // the number of nodes in the node's subtree, including the node
    bool operator==(node const&) const = default;
  };

  /// The empty tree, which has no nodes.
  basic_tree() = default;
  /// A tree with a single node.
  explicit basic_tree(Label root) { nodes_.push_back({std::move(root), 0, 1}); }
  /// A root whose subtrees are copies of `children`.  If children[c] is empty, child number c is unused.
  basic_tree(Label root, std::vector<basic_tree> const& children) : basic_tree(std::move(root)) {
    for (std::size_t c = 0; c < children.size(); ++c) {
      auto const& child = children[c].nodes_;
      auto const first = nodes_.size();
      nodes_.insert(nodes_.end(), child.begin(), child.end());
      if (!child.empty()) nodes_[first].child_number = static_cast<index_t>(c);
      nodes_.front().size += static_cast<index_t>(child.size());
    }
  }

  bool empty() const { return nodes_.empty(); }
  /// The number of nodes.
  index_t size() const { return static_cast<index_t>(nodes_.size()); }
  /// All nodes, in pre-order.
  std::vector<node> const& nodes() const { return nodes_; }
  /// Returns node `at`.  Throws contract_violation if there is no such node.  All functions below that take a node
  /// number throw in this case too.
  node const& operator[](index_t at) const {
    TRIAD_EXPECTS(at >= 0 && at < size(),
                  "tree: node " + std::to_string(at) + ", expected " +
                      (size() == 0 ? std::string("none: the tree is empty") : "0 to " + std::to_string(size() - 1)));
    return nodes_[static_cast<std::size_t>(at)];
  }
  Label const& label(index_t at = 0) const { return (*this)[at].label; }

  bool is_leaf(index_t at) const { return (*this)[at].size == 1; }
  index_t first_child(index_t at) const { return is_leaf(at) ? no_node : at + 1; }
  /// Returns the next child of `parent` after `child`, or no_node.
  index_t next_child(index_t parent, index_t child) const {
    index_t const next = child + (*this)[child].size;
    return next < parent + (*this)[parent].size ? next : no_node;
  }
  /// Returns the child of node `at` with this child number, or no_node.
  index_t child(index_t at, index_t child_number) const {
    for (index_t c = first_child(at); c != no_node; c = next_child(at, c))
      if ((*this)[c].child_number == child_number) return c;
    return no_node;
  }

  /// Returns a copy of the subtree of node `at`, or the empty tree if `at` is no_node.
  basic_tree subtree(index_t at) const {
    basic_tree result;
    if (at == no_node) return result;
    auto const* const first = &(*this)[at];
    result.nodes_.assign(first, first + first->size);
    result.nodes_.front().child_number = 0;
    return result;
  }

  /// Calls f(node number, parent's number, level) for all nodes in pre-order.  The root has level 0 and parent no_node.
  template <class F>
  void walk(F&& f) const {
    std::vector<index_t> above;  // the open nodes, from the root down
    for (index_t at = 0; at < size(); ++at) {
      while (!above.empty() && at >= above.back() + (*this)[above.back()].size) above.pop_back();
      f(at, above.empty() ? no_node : above.back(), static_cast<index_t>(above.size()));
      above.push_back(at);
    }
  }

  /// The number of nodes on the longest path from the root: 0 for the empty tree, 1 for a root alone.
  index_t depth() const {
    index_t deepest = 0;
    walk([&](index_t, index_t, index_t level) { deepest = level + 1 > deepest ? level + 1 : deepest; });
    return deepest;
  }
  /// One more than the largest child number; 0 for a root alone.
  index_t branching() const {
    index_t most = 0;
    for (auto const& n : nodes_) most = n.child_number + 1 > most ? n.child_number + 1 : most;
    return size() > 1 ? most : 0;
  }

  /// Returns a tree of the same shape in which every label is f(label).
  template <class F>
  auto mapped(F&& f) const {
    basic_tree<std::decay_t<decltype(f(std::declval<Label const&>()))>> result;
    result.nodes_.reserve(nodes_.size());
    for (auto const& n : nodes_) result.nodes_.push_back({f(n.label), n.child_number, n.size});
    return result;
  }

  class builder;
  bool operator==(basic_tree const&) const = default;

 private:
  template <class>
  friend class basic_tree;
  std::vector<node> nodes_;
};

/// Builds a tree in pre-order: `b.open("A"); b.open("B"); b.close(); b.close(); auto t = b.finish();`
template <class Label>
class basic_tree<Label>::builder {
 public:
  /// Opens a node as the next child of the innermost open node.  The first call opens the root.
  void open(Label label) { open(std::move(label), open_.empty() ? 0 : open_.back().next_child); }
  /// Opens a child with the given child number, which must be larger than the numbers of the children opened before it.
  void open(Label label, index_t child_number) {
    auto& nodes = made_.nodes_;
    TRIAD_EXPECTS(nodes.empty() || !open_.empty(),
                  "tree: a second root, expected one root; open() before the last close()");
    TRIAD_EXPECTS(
        open_.empty() ? child_number == 0 : child_number >= open_.back().next_child,
        "tree: child " + std::to_string(child_number) + ", expected " +
            (open_.empty() ? std::string("0, the root")
                           : std::to_string(open_.back().next_child) + " or more: children are opened in order"));
    if (!open_.empty()) open_.back().next_child = child_number + 1;
    open_.push_back({made_.size(), 0});
    nodes.push_back({std::move(label), child_number, 1});
  }
  void close() {
    TRIAD_EXPECTS(!open_.empty(), "tree: close() with no node open, expected open() before it");
    auto& n = made_.nodes_[static_cast<std::size_t>(open_.back().node)];
    n.size = made_.size() - open_.back().node;
    open_.pop_back();
  }
  /// The number of open nodes, which is the level of the next node.
  index_t level() const { return static_cast<index_t>(open_.size()); }
  /// The child number that the next child of the innermost open node gets: one more than the largest number used so
  /// far.
  index_t next_child() const { return open_.empty() ? 0 : open_.back().next_child; }
  /// The label of the innermost open node.
  Label const& label() const { return made_.label(open_.back().node); }
  /// Returns the tree.  All nodes must have been closed.  Returns the empty tree if no node was opened.
  basic_tree finish() {
    TRIAD_EXPECTS(open_.empty(),
                  "tree: finish() with " + std::to_string(open_.size()) + " nodes open, expected none; close() them");
    return std::exchange(made_, basic_tree());
  }

 private:
  struct level_state {
    index_t node, next_child;
  };
  basic_tree made_;
  std::vector<level_state> open_;
};

/// A tree whose labels are text.
using symbol_tree = basic_tree<std::string>;
/// A tree whose labels are numbers of a vocabulary.
using numbered_tree = basic_tree<index_t>;

}  // namespace triad
