// The tree algebra over any orthonormal roles.  A tree is a matrix: the sum of filler times role over its nodes.
// Taking a child and grafting are matrix products.
// SPDX-License-Identifier: Apache-2.0
//
//   T = sum_i f_i r_i'  (f, r)     D_c: T -> T D_c'     E_c: T -> T D_c     <S, T> = sum over all elements
//
// Has the primitives that tree/gather.hpp lists.  Taking a child or grafting takes 2 f r^2 flops.
#pragma once

#include <string>

#include "triad/core/arena.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/views.hpp"
#include "triad/tree/paths.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/rows.hpp"
#include "triad/tree/shift.hpp"

namespace triad {

/// Keeps views of the roles and of the matrices D_c (tree/shift.hpp), which the caller fills.  x and y of one call must
/// not overlap.
template <class T>
class dense_algebra {
 public:
  using value_type = T;
  using tree = tensor<T, dyn, dyn>;              // (f, r)
  using const_tree = tensor<T const, dyn, dyn>;  // (f, r)

  template <index_t B, index_t D>
  dense_algebra(tree_positions<B, D> const& positions, index_t fillers, role_maps<T> const& maps)
      : positions_(positions.branching(), positions.depth()),
        paths_(positions.branching()),
        fillers_(fillers),
        roles_(maps.roles),
        shifts_(maps.shifts) {
    expect_shape("dense_algebra", "roles", roles_, {positions.count(), width()});
    expect_shape("dense_algebra", "shifts", shifts_, {positions.branching(), width(), width()});
  }

  tree_positions<> const& positions() const { return positions_; }
  role_paths const& paths() const { return paths_; }
  index_t branching() const { return positions_.branching(); }
  index_t depth() const { return positions_.depth(); }
  index_t fillers() const { return fillers_; }
  /// The number of elements of a role vector.
  index_t width() const { return roles_.extent(1); }

  index_t elements() const { return fillers_ * width(); }
  tree over(T* data) const { return tree(data, fillers_, width()); }
  tree plan(arena& place) const { return place.make<tree>(fillers_, width()); }

  void clear(tree y) const { detail::fill_row(data(y), elements(), T(0)); }
  void add(T w, const_tree x, tree y) const { detail::add_row(w, data(x), data(y), elements()); }
  void add_child(T w, index_t c, const_tree x, tree y) const {
    T const *const from = data(x), *const shift = matrix_of(c);
    T* const to = data(y);
    for (index_t m = 0; m < fillers_; ++m)
      for (index_t t = 0; t < width(); ++t)
        to[m * width() + t] += w * detail::dot(from + m * width(), shift + t * width(), width());
  }
  void add_graft(T w, index_t c, const_tree x, tree y) const {
    T const *const from = data(x), *const shift = matrix_of(c);
    T* const to = data(y);
    for (index_t m = 0; m < fillers_; ++m)
      for (index_t t = 0; t < width(); ++t)
        detail::add_row(w * from[m * width() + t], shift + t * width(), to + m * width(), width());
  }
  void add_bound(T w, role_code role, vec<T const> s, tree y) const {
    T const *const filler = vector(s), *const r = row(role);
    T* const to = data(y);
    for (index_t m = 0; m < fillers_; ++m) detail::add_row(w * filler[m], r, to + m * width(), width());
  }
  void add_unbound(T w, role_code role, const_tree x, vec<T> s) const {
    T const *const from = data(x), *const r = row(role);
    T* const filler = vector(s);
    for (index_t m = 0; m < fillers_; ++m) filler[m] += w * detail::dot(from + m * width(), r, width());
  }
  T inner_product(const_tree x, const_tree y) const { return detail::dot(data(x), data(y), elements()); }

 private:
  template <class View>
  auto* data(View x) const {
    expect_shape("dense_algebra", "a tree", x, {fillers_, width()});
    return x.data_handle();
  }
  template <class View>
  auto* vector(View s) const {
    expect_extent("dense_algebra", "numbers of a filler", s.extent(0), fillers_);
    return s.data_handle();
  }
  T const* row(role_code role) const {
    detail::expect_role("dense_algebra", paths_, role, depth());
    return roles_.data_handle() + paths_.position(role) * width();
  }
  T const* matrix_of(index_t c) const {
    detail::expect_child("dense_algebra", c, branching());
    return shifts_.data_handle() + c * width() * width();
  }

  tree_positions<> positions_;
  role_paths paths_;
  index_t fillers_;
  tensor<T const, dyn, dyn> roles_;        // (N, r)
  tensor<T const, dyn, dyn, dyn> shifts_;  // (b, r, r)
};

}  // namespace triad
