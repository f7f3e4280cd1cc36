// The tree algebra on lists of non-zero coordinates.  It works at depths at which an array of all positions does not
// fit in memory.  A role is a path in 64 bits.
// SPDX-License-Identifier: Apache-2.0
//
//   x = sum_i w_i (filler index f_i at role r_i)
//
// The terms are sorted by (role, filler).  Each pair of a role and a filler occurs once, because sums merge equal
// pairs.
//
// Has the primitives that tree/gather.hpp lists.  The time of each primitive is linear in the number of coordinates.
// For b = 2, trees may have up to 64 levels (tree/paths.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/sizes.hpp"
#include "triad/tree/paths.hpp"

namespace triad {

/// A sparse tree, which owns its coordinates.
template <class T>
struct sparse_tree {
  struct coordinate {
    role_code role;
    index_t filler;
    T weight;
    bool operator==(coordinate const&) const = default;
    /// Whether coordinate a comes before coordinate b in the list.
    friend constexpr bool before(coordinate const& a, coordinate const& b) {
      return a.role != b.role ? a.role < b.role : a.filler < b.filler;
    }
  };
  std::vector<coordinate> coordinates;

  bool operator==(sparse_tree const&) const = default;
};

/// A summary of the coordinates that prune() removed.
struct pruned {
  index_t count = 0;
  double square = 0;   // sum of squares of the removed weights: the squared distance between the trees before and after
  double largest = 0;  // the largest absolute weight
};

template <class T>
class sparse_algebra {
 public:
  using value_type = T;
  using tree = sparse_tree<T>&;
  using const_tree = sparse_tree<T> const&;

  /// If `depth` is 0, uses the greatest depth that fits in 64 bits.
  constexpr sparse_algebra(index_t branching, index_t depth, index_t fillers)
      : paths_(branching),
        depth_(depth == 0 ? paths_.max_depth() : depth),
        fillers_(checked_size("sparse_algebra", {"fillers", fillers})) {
    TRIAD_EXPECTS(depth_ >= 1 && depth_ <= paths_.max_depth(),
                  "sparse_algebra: depth is " + std::to_string(depth_) + ", expected 1 to " +
                      std::to_string(paths_.max_depth()) + ", the deepest path that fits in 64 bits");
  }

  constexpr role_paths const& paths() const { return paths_; }
  constexpr index_t branching() const { return paths_.branching(); }
  constexpr index_t depth() const { return depth_; }
  constexpr index_t fillers() const { return fillers_; }

  void clear(tree y) const { y.coordinates.clear(); }
  void add(T w, const_tree x, tree y) const {
    merge(w, x, y, [](role_code role) { return role; });
  }
  void add_child(T w, index_t c, const_tree x, tree y) const {
    expect_child(c);
    merge(w, x, y, [&](role_code role) { return paths_.in_child(c, role); });
  }
  /// y += w E_c x.  Drops nodes that would lie below the last level, as the other tree algebras do.
  void add_graft(T w, index_t c, const_tree x, tree y) const {
    expect_child(c);
    merge(w, x, y, [&](role_code role) { return paths_.level(role) + 1 < depth_ ? paths_.under(c, role) : no_role; });
  }
  void add_bound(T w, role_code role, vec<T const> s, tree y) const {
    expect_role(role, s.extent(0));
    auto& all = y.coordinates;
    if (all.empty() || all.back().role < role) {  // the new coordinates come last, so nothing is merged
      for (index_t f = 0; f < fillers_; ++f)
        if (w * s(f) != T(0)) all.push_back({role, f, w * s(f)});
      return;
    }
    sparse_tree<T> one;
    for (index_t f = 0; f < fillers_; ++f)
      if (s(f) != T(0)) one.coordinates.push_back({role, f, s(f)});
    add(w, one, y);
  }
  void add_unbound(T w, role_code role, const_tree x, vec<T> s) const {
    expect_role(role, s.extent(0));
    auto const first =
        std::lower_bound(x.coordinates.begin(), x.coordinates.end(), coordinate{role, 0, T(0)}, in_order);
    for (auto at = first; at != x.coordinates.end() && at->role == role; ++at) s(at->filler) += w * at->weight;
  }
  T inner_product(const_tree x, const_tree y) const {
    T sum = 0;
    auto a = x.coordinates.begin(), b = y.coordinates.begin();
    while (a != x.coordinates.end() && b != y.coordinates.end()) {
      if (before(*a, *b))
        ++a;
      else if (before(*b, *a))
        ++b;
      else
        sum += a++->weight * b++->weight;
    }
    return sum;
  }

  /// Keeps the `most` coordinates with the largest absolute weights.  If two weights are equal, keeps the earlier
  /// coordinate.  Returns a summary of the removed coordinates.
  pruned prune(tree y, index_t most) const {
    TRIAD_EXPECTS(most >= 0, "sparse_algebra: " + std::to_string(most) + " coordinates to keep, expected 0 or more");
    auto& all = y.coordinates;
    pruned gone;
    if (static_cast<index_t>(all.size()) <= most) return gone;
    auto const heavier = [](coordinate const& a, coordinate const& b) {
      T const p = std::abs(a.weight), q = std::abs(b.weight);
      return p != q ? p > q : before(a, b);
    };
    auto const end = all.begin() + most;
    std::nth_element(all.begin(), end, all.end(), heavier);
    std::sort(end, all.end(), in_order);  // so that the order of summation is fixed
    for (auto at = end; at != all.end(); ++at) {
      double const weight = std::abs(static_cast<double>(at->weight));
      ++gone.count;
      gone.square += weight * weight;
      gone.largest = std::max(gone.largest, weight);
    }
    all.erase(end, all.end());
    std::sort(all.begin(), all.end(), in_order);
    return gone;
  }

 private:
  using coordinate = typename sparse_tree<T>::coordinate;
  static constexpr bool in_order(coordinate const& a, coordinate const& b) { return before(a, b); }

  /// y += w z, where z is x with move(role) in place of every role.  move() keeps the order of roles, so the function
  /// merges two sorted lists.
  template <class Move>
  static void merge(T w, const_tree x, tree y, Move&& move) {
    std::vector<coordinate> sum;
    sum.reserve(x.coordinates.size() + y.coordinates.size());
    auto at = y.coordinates.begin();
    auto const end = y.coordinates.end();
    for (auto const& c : x.coordinates) {
      coordinate moved{move(c.role), c.filler, w * c.weight};
      if (moved.role == no_role) continue;
      for (; at != end && before(*at, moved); ++at) sum.push_back(*at);
      if (at != end && !before(moved, *at)) moved.weight += at++->weight;
      if (moved.weight != T(0)) sum.push_back(moved);
    }
    sum.insert(sum.end(), at, end);
    y.coordinates = std::move(sum);
  }

  void expect_child(index_t c) const { detail::expect_child("sparse_algebra", c, branching()); }
  void expect_role(role_code role, index_t width) const {
    detail::expect_role("sparse_algebra", paths_, role, depth_);
    expect_extent("sparse_algebra", "numbers of a filler", width, fillers_);
  }

  role_paths paths_;
  index_t depth_, fillers_;
};

}  // namespace triad
