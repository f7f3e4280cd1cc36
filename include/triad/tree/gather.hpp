// The tree algebra over canonical roles, which are unit vectors.  A tree is an array that has one row for each
// position: the filler at this position.  Taking a child and grafting copy one block of rows for each level.
// SPDX-License-Identifier: Apache-2.0
//
//   x (N, f)   row r is the filler at position r, in breadth-first order   <x, y> = sum over all elements
//
// tree/algebra.hpp needs only the primitives below, which tree/dense.hpp and tree/sparse.hpp have too.  Each primitive
// except inner_product adds to its output:
//
//   add          y += w x                 add_bound      y += w s at one role
//   add_child    y += w D_c x             add_unbound    s += w (filler of x at one role)
//   add_graft    y += w E_c x             inner_product  <x, y>
#pragma once

#include <string>

#include "triad/core/arena.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/sizes.hpp"
#include "triad/core/views.hpp"
#include "triad/tree/paths.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/rows.hpp"

namespace triad {

/// Trees are arrays of fillers.  x and y of one call must not overlap.
template <class T, index_t Branching = dyn, index_t Depth = dyn>
class gather_algebra {
 public:
  using value_type = T;
  using tree = tensor<T, dyn, dyn>;              // (N, f)
  using const_tree = tensor<T const, dyn, dyn>;  // (N, f)

  constexpr gather_algebra(tree_positions<Branching, Depth> positions, index_t fillers)
      : positions_(positions),
        paths_(positions.branching()),
        fillers_(checked_size("gather_algebra", {"fillers", fillers})) {}

  constexpr tree_positions<Branching, Depth> const& positions() const { return positions_; }
  constexpr role_paths const& paths() const { return paths_; }
  constexpr index_t branching() const { return positions_.branching(); }
  constexpr index_t depth() const { return positions_.depth(); }
  /// The number of elements of a filler.
  constexpr index_t fillers() const { return fillers_; }

  /// elements() returns the number of elements of a tree.  over() returns a view of `data` as a tree.  plan() places a
  /// tree in an arena.
  constexpr index_t elements() const { return positions_.count() * fillers_; }
  tree over(T* data) const { return tree(data, positions_.count(), fillers_); }
  tree plan(arena& place) const { return place.make<tree>(positions_.count(), fillers_); }

  void clear(tree y) const { detail::fill_row(data(y), elements(), T(0)); }
  void add(T w, const_tree x, tree y) const { detail::add_row(w, data(x), data(y), elements()); }
  void add_child(T w, index_t c, const_tree x, tree y) const {
    T const* const from = data(x);
    T* const to = data(y);
    each_block(c, [&](auto const& b) {
      detail::add_row(w, from + b.whole * fillers_, to + b.part * fillers_, b.size * fillers_);
    });
  }
  void add_graft(T w, index_t c, const_tree x, tree y) const {
    T const* const from = data(x);
    T* const to = data(y);
    each_block(c, [&](auto const& b) {
      detail::add_row(w, from + b.part * fillers_, to + b.whole * fillers_, b.size * fillers_);
    });
  }
  void add_bound(T w, role_code role, vec<T const> s, tree y) const {
    detail::add_row(w, filler(s), data(y) + row(role), fillers_);
  }
  void add_unbound(T w, role_code role, const_tree x, vec<T> s) const {
    detail::add_row(w, data(x) + row(role), filler(s), fillers_);
  }
  T inner_product(const_tree x, const_tree y) const { return detail::dot(data(x), data(y), elements()); }

 private:
  template <class View>
  auto* data(View x) const {
    expect_shape("gather_algebra", "a tree", x, {positions_.count(), fillers_});
    return x.data_handle();
  }
  template <class View>
  auto* filler(View s) const {
    expect_extent("gather_algebra", "numbers of a filler", s.extent(0), fillers_);
    return s.data_handle();
  }
  index_t row(role_code role) const {
    detail::expect_role("gather_algebra", paths_, role, depth());
    return paths_.position(role) * fillers_;
  }
  template <class F>
  void each_block(index_t c, F&& f) const {
    detail::expect_child("gather_algebra", c, branching());
    for (index_t level = 0; level + 1 < depth(); ++level) f(positions_.child_block(c, level));
  }

  [[no_unique_address]] tree_positions<Branching, Depth> positions_;
  role_paths paths_;
  index_t fillers_;
};

}  // namespace triad
