// Applies the operations of the tree algebra to one tree or to every tree of a batch.
// SPDX-License-Identifier: Apache-2.0
//
// If a tree is a view, a batch of trees is a view with one more axis in front.  A batch of sparse trees is a
// std::vector.  The other arguments of an operation also have the batch as their first axis: fillers (batch, f),
// weights (batch, slots), a memory (batch, slots, ...).
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/tree/paths.hpp"

namespace triad {

/// An implementation of the tree algebra.  It is the class in tree/gather.hpp, tree/dense.hpp or tree/sparse.hpp, or a
/// class that the user writes.
template <class A>
concept tree_algebra =
    requires(A const& a, typename A::const_tree x, typename A::tree y, typename A::value_type w, index_t c, role_code r,
             vec<typename A::value_type const> s, vec<typename A::value_type> to) {
      { a.branching() } -> std::convertible_to<index_t>;
      { a.depth() } -> std::convertible_to<index_t>;
      { a.fillers() } -> std::convertible_to<index_t>;
      { a.paths() } -> std::convertible_to<role_paths>;
      a.clear(y);
      a.add(w, x, y);
      a.add_child(w, c, x, y);
      a.add_graft(w, c, x, y);
      a.add_bound(w, r, s, y);
      a.add_unbound(w, r, x, to);
      { a.inner_product(x, x) } -> std::convertible_to<typename A::value_type>;
    };

namespace detail {

template <class A, class X>
inline constexpr bool is_tree_of = std::is_convertible_v<X&, typename A::const_tree>;

// Returns item i of a batch: a view with one axis less, or element i of the vector.
template <class T>
T& item(std::vector<T>& batch, index_t i) {
  return batch[static_cast<std::size_t>(i)];
}
template <class T>
T const& item(std::vector<T> const& batch, index_t i) {
  return batch[static_cast<std::size_t>(i)];
}
template <class T, class E, class L, class C>
auto item(::cuda::std::mdspan<T, E, L, C> const& batch, index_t i) {
  using view = ::cuda::std::mdspan<T, E, L, C>;
  constexpr auto rank = view::rank();
  if constexpr (rank == 1) {
    return batch(i);
  } else if constexpr (rank == 2) {  // the weights may have any strides
    return ::cuda::std::mdspan<T, extents<dyn>, ::cuda::std::layout_stride, C>(
        batch.data_handle() + i * static_cast<index_t>(batch.stride(0)),
        typename ::cuda::std::layout_stride::template mapping<extents<dyn>>(
            extents<dyn>(batch.extent(1)), ::cuda::std::array<index_t, 1>{static_cast<index_t>(batch.stride(1))}));
  } else {
    static_assert(rank == 3 || rank == 4, "triad: a batch of trees has three axes, of memories four");
    static_assert(std::is_same_v<L, ::cuda::std::layout_right>, "triad: trees are contiguous");
    auto* const data = batch.data_handle() + i * static_cast<index_t>(batch.stride(0));
    if constexpr (rank == 3)
      return tensor<T, dyn, dyn>(data, batch.extent(1), batch.extent(2));
    else
      return tensor<T, dyn, dyn, dyn>(data, batch.extent(1), batch.extent(2), batch.extent(3));
  }
}

template <class T>
index_t items(std::vector<T> const& batch) {
  return static_cast<index_t>(batch.size());
}
template <class T, class E, class L, class C>
index_t items(::cuda::std::mdspan<T, E, L, C> const& batch) {
  return batch.extent(0);
}

/// Converts a filler or a row of weights to a vector, the type that the primitives take.
template <class T>
vec<T> filler_of(vec<T> s) {
  return s;
}
template <class T, class E, class L, class C>
vec<T> filler_of(::cuda::std::mdspan<T, E, L, C> const& s) {
  TRIAD_EXPECTS(s.extent(0) < 2 || s.stride(0) == 1,
                "tree algebra: a filler with a stride of " + std::to_string(s.stride(0)) + ", expected 1");
  return vec<T>(s.data_handle(), s.extent(0));
}

/// If `first` is one tree, calls f(first, rest...).  If `first` is a batch, calls f with item i of every argument, for
/// each i.
template <class A, class F, class First, class... Rest>
void each_tree(F&& f, First&& first, Rest&&... rest) {
  if constexpr (is_tree_of<A, std::remove_reference_t<First>>) {
    f(first, rest...);
  } else {
    (expect_extent("tree algebra", "items of a batch", items(rest), items(first)), ...);
    for (index_t i = 0; i < items(first); ++i) {
      auto&& one = item(first, i);
      [&](auto&&... others) { f(one, others...); }(item(rest, i)...);
    }
  }
}

}  // namespace detail

}  // namespace triad
