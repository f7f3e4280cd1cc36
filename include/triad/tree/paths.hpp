// A node's path from the root as a 64-bit code.  Sparse trees use paths as roles.  Error messages use paths to name
// nodes.
// SPDX-License-Identifier: Apache-2.0
//
// Every level takes ceil(log2 b) bits.  A code is a leading 1 bit, followed by the child numbers on the path from the
// root:
//
//   root   1        child c of x   x << bits | c        b = 2: 1 + the breadth-first position
//
// A node closer to the root has a smaller code.  in_child() and under() keep the order of codes.  The table has the
// greatest depth for each branching b.  A root alone has depth 1:
//
//   b          2    3, 4   5 .. 8   9 .. 16   17 .. 32
//   bits       1    2      3        4         5
//   depth      64   32     22       16        13
#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/tree/symbol_tree.hpp"

namespace triad {

/// The code of a node's path, as described above.
using role_code = std::uint64_t;

/// The root's code: a leading 1 bit and no child numbers.
inline constexpr role_code root_role = 1;
/// The code for no node.
inline constexpr role_code no_role = 0;

class role_paths {
 public:
  constexpr explicit role_paths(index_t branching = 2)
      : branching_(branching), bits_(static_cast<int>(std::bit_width(static_cast<role_code>(branching - 1)))) {
    TRIAD_EXPECTS(branching >= 2 && branching <= (index_t{1} << 31),
                  "role_paths: branching is " + std::to_string(branching) + ", expected 2 to 2^31");
  }

  constexpr index_t branching() const { return branching_; }
  constexpr int bits() const { return bits_; }
  /// The greatest depth whose paths fit in a code.
  constexpr index_t max_depth() const { return 1 + 63 / bits_; }

  constexpr index_t level(role_code role) const { return (static_cast<int>(std::bit_width(role)) - 1) / bits_; }
  constexpr role_code child(role_code role, index_t c) const { return role << bits_ | static_cast<role_code>(c); }
  constexpr role_code parent(role_code role) const { return role >> bits_; }
  /// The child number of this node under its parent.
  constexpr index_t child_number(role_code role) const { return static_cast<index_t>(role & mask()); }

  /// Maps a node's role in the whole tree to the node's role in the subtree of child c.  Returns no_role for the root
  /// and for nodes outside this subtree.
  constexpr role_code in_child(index_t c, role_code role) const {
    if (role == root_role) return no_role;
    auto const below = shift(role) - bits_;  // the number of bits after the first child number
    if ((role >> below & mask()) != static_cast<role_code>(c)) return no_role;
    return (role & ((root_role << below) - 1)) | root_role << below;
  }
  /// Maps a node's role in the subtree of child c to the node's role in the whole tree.  `role` must not be on the
  /// deepest level.
  constexpr role_code under(index_t c, role_code role) const {
    auto const below = shift(role);
    return (role ^ root_role << below) | child(root_role, c) << below;
  }

  /// The breadth-first position of the node.  The position must fit in an index_t.
  constexpr index_t position(role_code role) const {
    index_t at = 0;
    for (auto below = shift(role) - bits_; below >= 0; below -= bits_)
      at = branching_ * at + 1 + static_cast<index_t>(role >> below & mask());
    return at;
  }
  constexpr role_code at_position(index_t position) const {
    role_code path = 0;
    int below = 0;
    for (; position > 0; position = (position - 1) / branching_, below += bits_)
      path |= static_cast<role_code>((position - 1) % branching_) << below;
    return path | root_role << below;
  }

 private:
  constexpr role_code mask() const { return (root_role << bits_) - 1; }
  /// The number of bits of a code without the leading 1 bit.
  static constexpr int shift(role_code role) { return static_cast<int>(std::bit_width(role)) - 1; }

  index_t branching_;
  int bits_;
};

namespace detail {
/// Throws if `role` is not a role of a tree with `depth` levels.
inline void expect_role(char const* owner, role_paths const& paths, role_code role, index_t depth) {
  TRIAD_EXPECTS(
      role != no_role && paths.level(role) < depth,
      std::string(owner) + ": " +
          (role == no_role ? std::string("no role") : "a role at level " + std::to_string(paths.level(role))) +
          ", expected level 0 to " + std::to_string(depth - 1));
}
/// Throws if `child` is not from 0 to branching - 1.
inline void expect_child(char const* owner, index_t child, index_t branching) {
  TRIAD_EXPECTS(child >= 0 && child < branching, std::string(owner) + ": child " + std::to_string(child) +
                                                     ", expected 0 to " + std::to_string(branching - 1));
}
}  // namespace detail

/// Returns the path as text: "root", or "root.0.1" for child 1 of child 0 of the root.
inline std::string path_text(role_paths const& paths, role_code role) {
  std::string text;
  for (; role > root_role; role = paths.parent(role)) text.insert(0, "." + std::to_string(paths.child_number(role)));
  return "root" + text;
}

/// Returns the path of a node of a tree of symbols as text.  The node may have any depth.
template <class Label>
std::string path_text(basic_tree<Label> const& tree, index_t node) {
  std::string text = "root";
  for (index_t at = 0; at != node;) {
    index_t c = tree.first_child(at);
    while (node >= c + tree[c].size) c = tree.next_child(at, c);
    text.append(".").append(std::to_string(tree[c].child_number));
    at = c;
  }
  return text;
}

}  // namespace triad
