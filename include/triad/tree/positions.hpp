// The positions of a tree of fixed branching and depth in breadth-first order, and the blocks of positions that its
// subtrees occupy.  Dense trees and gather trees use positions as indices.
// SPDX-License-Identifier: Apache-2.0
//
// Child c of position i is position b i + 1 + c.  Level k begins at (b^k - 1) / (b - 1) and has b^k positions.  The
// root is on level 0.  A tree of depth d has d levels.  On each level, a subtree is one contiguous block.  So taking
// child c copies one block for each level, and so does grafting a tree as child c:
//
//   level k of the child's tree        begin(k) .. begin(k) + b^k
//   the same nodes in the whole tree   begin(k+1) + c b^k .. begin(k+1) + (c+1) b^k                 k = 0 .. d-2
//
// Taking a child leaves the last level of the result empty.  Grafting drops the last level of its argument.  All
// functions are constexpr, and kernels may call them.
#pragma once

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/sizes.hpp"

namespace triad {

/// The value that means "no position".
inline constexpr index_t no_position = -1;

/// The branching b and the depth d.  Each of them is a template argument, or dyn if its value is given at run time.
/// Template arguments make the loops faster.
template <index_t Branching = dyn, index_t Depth = dyn>
class tree_positions {
  static_assert((Branching == dyn || Branching >= 2) && (Depth == dyn || Depth >= 1),
                "tree_positions: a tree has a branching of 2 or more and a depth of 1 or more");

 public:
  constexpr tree_positions()
    requires(Branching != dyn && Depth != dyn)
  = default;
  constexpr tree_positions(index_t branching, index_t depth)
      : shape_(extents_of<Branching, Depth>("tree_positions", {"branching", branching}, {"depth", depth})) {
    branching = shape_.extent(0);
    depth = shape_.extent(1);
    TRIAD_EXPECTS(branching >= 2, "tree_positions: branching is " + std::to_string(branching) + ", expected 2 or more");
    index_t room = index_t{1} << 56;  // the most positions; the bytes of all fillers still fit in 64 bits
    for (index_t k = 0; k < depth && room > 0; ++k) room /= branching;
    TRIAD_EXPECTS(room > 0, "tree_positions: a branching of " + std::to_string(branching) + " and a depth of " +
                                std::to_string(depth) +
                                ", expected positions that can be numbered; take fewer levels, or encode and decode "
                                "trees in the sparse form");
  }

  TRIAD_HOST_DEVICE constexpr index_t branching() const { return shape_.extent(0); }
  TRIAD_HOST_DEVICE constexpr index_t depth() const { return shape_.extent(1); }
  /// The number of positions: (b^d - 1) / (b - 1).
  TRIAD_HOST_DEVICE constexpr index_t count() const { return level_begin(depth()); }

  TRIAD_HOST_DEVICE constexpr index_t level_size(index_t level) const {
    index_t size = 1;
    for (index_t k = 0; k < level; ++k) size *= branching();
    return size;
  }
  TRIAD_HOST_DEVICE constexpr index_t level_begin(index_t level) const {
    return (level_size(level) - 1) / (branching() - 1);
  }
  TRIAD_HOST_DEVICE constexpr index_t level_of(index_t position) const {
    index_t level = 0;
    for (index_t end = 1, size = 1; position >= end; ++level) {
      size *= branching();
      end += size;
    }
    return level;
  }

  TRIAD_HOST_DEVICE constexpr index_t child(index_t position, index_t c) const {
    return branching() * position + 1 + c;
  }
  TRIAD_HOST_DEVICE constexpr index_t parent(index_t position) const { return (position - 1) / branching(); }
  TRIAD_HOST_DEVICE constexpr index_t child_number(index_t position) const { return (position - 1) % branching(); }

  /// Where a position is in its level.  Finding the level takes a loop, so callers that need several sources of a
  /// position find its place once.
  struct place {
    index_t begin, size;  // the level's first position, and the number of its positions
    index_t above;        // the number of positions of the level above; 0 for the root
    index_t offset;       // the number of positions of the level before this position
    bool last;            // whether no level is below
  };
  TRIAD_HOST_DEVICE constexpr place place_of(index_t position) const {
    index_t begin = 0, size = 1, above = 0, level = 0;
    for (; position >= begin + size; ++level) {
      begin += size;
      above = size;
      size *= branching();
    }
    return {begin, size, above, position - begin, level + 1 >= depth()};
  }

  /// Takes the place of a position in child c's tree.  Returns the position of the same node in the whole tree.
  /// Returns no_position on the last level, because the last level of child c's tree is empty.
  TRIAD_HOST_DEVICE static constexpr index_t child_source(index_t c, place const& at) {
    return at.last ? no_position : at.begin + at.size + c * at.size + at.offset;
  }
  TRIAD_HOST_DEVICE constexpr index_t child_source(index_t c, index_t position) const {
    return child_source(c, place_of(position));
  }

  /// The number of an argument of cons, and a position in this argument.
  struct part {
    index_t argument, position;
  };
  /// Returns the argument and the position from which cons copies to a place.  The position is no_position for the
  /// root, because cons gives the root its own filler.
  TRIAD_HOST_DEVICE static constexpr part cons_source(place const& at) {
    if (at.above == 0) return {0, no_position};
    part from{0, at.offset};
    for (; from.position >= at.above; from.position -= at.above) ++from.argument;  // faster than a division on a GPU
    from.position += at.begin - at.above;
    return from;
  }
  TRIAD_HOST_DEVICE constexpr part cons_source(index_t position) const { return cons_source(place_of(position)); }

  /// A block of `size` consecutive positions.  It begins at position `whole` of the whole tree and at position `part`
  /// of the child's tree.
  struct block {
    index_t part, whole, size;
  };
  /// Returns the block that taking child c copies for level `level` of the child's tree.  `level` is from 0 to depth -
  /// 2.
  TRIAD_HOST_DEVICE constexpr block child_block(index_t c, index_t level) const {
    index_t const size = level_size(level);
    return {level_begin(level), level_begin(level + 1) + c * size, size};
  }

 private:
  [[no_unique_address]] extents<Branching, Depth> shape_;
};

/// Cuts the positions of a tree into runs of up to Longest positions.  A run has consecutive positions of one level
/// that are all below the same child of the root.  So taking a child, or grafting, moves a run to consecutive
/// positions, and all positions of a run belong to the same argument of cons.  Run 0 is the root.  Then follow the runs
/// below child 0, level by level, then those below child 1, and so on.
template <index_t Longest>
class tree_runs {
  static_assert(Longest >= 1, "tree_runs: a run has a position");

 public:
  struct run {
    index_t begin, size;
  };

  TRIAD_HOST_DEVICE constexpr explicit tree_runs(tree_positions<> const& where) : branching_(where.branching()) {
    for (index_t level = 1, size = 1; level < where.depth(); ++level, size *= branching_) below_child_ += runs_of(size);
  }
  /// The number of runs below each child of the root, and of all runs.
  TRIAD_HOST_DEVICE constexpr index_t below_child() const { return below_child_; }
  TRIAD_HOST_DEVICE constexpr index_t count() const { return 1 + branching_ * below_child_; }

  TRIAD_HOST_DEVICE constexpr run operator()(index_t number) const {
    if (number == 0) return {0, 1};
    index_t child = 0, left = number - 1, begin = 1, size = 1;
    for (; left >= below_child_; left -= below_child_) ++child;
    for (; left >= runs_of(size); size *= branching_) {
      left -= runs_of(size);
      begin += branching_ * size;
    }
    index_t const first = left * Longest;
    return {begin + child * size + first, size - first < Longest ? size - first : Longest};
  }

 private:
  index_t branching_, below_child_ = 0;

  TRIAD_HOST_DEVICE static constexpr index_t runs_of(index_t size) { return (size + Longest - 1) / Longest; }
};

}  // namespace triad
