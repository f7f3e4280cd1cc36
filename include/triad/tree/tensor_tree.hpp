// A tree that owns its elements, for programs that compute with a few trees.  car(x), cons(l, r, s), 0.5 * x + y and
// blend(w, trees) are expressions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/tree/algebra.hpp"
#include "triad/tree/bind.hpp"

namespace triad {

/// A tree and a pointer to its algebra.  The algebra must outlive the tree.  Every operation allocates a new tree, so
/// this class is too slow for training.
template <tree_algebra A>
class tensor_tree {
 public:
  using value_type = typename A::value_type;

  /// Stops the compilation, because a temporary algebra would be destroyed at the end of the expression.
  template <class Temporary>
    requires(!std::is_lvalue_reference_v<Temporary> && std::is_same_v<std::remove_cv_t<Temporary>, A>)
  explicit tensor_tree(Temporary&&) {
    static_assert(std::is_lvalue_reference_v<Temporary>,
                  "tensor_tree: the algebra is a temporary, which ends before the tree does; give it a name that lives "
                  "as long as its trees");
  }
  /// The empty tree, whose elements are all zero.  `symbols` is a number that identifies the labels and fillers of this
  /// tree, or 0 if they are unknown.
  explicit tensor_tree(A const& a, std::uint64_t symbols = 0) : algebra_(&a), symbols_(symbols) {
    if constexpr (owns_views) numbers_.resize(static_cast<std::size_t>(a.elements()));
  }

  A const& algebra() const { return *algebra_; }
  /// The number that identifies the labels and fillers.  A symbol_algebra sets this number.  An operation copies the
  /// number from its arguments to its result.
  std::uint64_t symbols() const { return symbols_; }
  typename A::const_tree view() const {
    if constexpr (owns_views)
      return typename A::const_tree(numbers_.data(), layout().extent(0), layout().extent(1));
    else
      return numbers_;
  }
  typename A::tree view() {
    if constexpr (owns_views)
      return algebra_->over(numbers_.data());
    else
      return numbers_;
  }

  friend tensor_tree child(tensor_tree const& x, index_t c) {
    tensor_tree y(x.algebra(), x.symbols());
    triad::child(x.algebra(), c, x.view(), y.view());
    return y;
  }
  friend tensor_tree car(tensor_tree const& x) { return child(x, 0); }
  friend tensor_tree cdr(tensor_tree const& x) { return child(x, 1); }
  /// Returns a tree with one node: the root of x.
  friend tensor_tree root_of(tensor_tree const& x) {
    std::vector<value_type> s(static_cast<std::size_t>(x.algebra().fillers()));
    vec<value_type> const filler(s.data(), x.algebra().fillers());
    triad::root(x.algebra(), x.view(), filler);
    tensor_tree y(x.algebra(), x.symbols());
    triad::plant(x.algebra(), vec<value_type const>(filler), y.view());
    return y;
  }
  /// Returns a tree with the subtrees `left` and `right` and the root of `root`.
  friend tensor_tree cons(tensor_tree const& left, tensor_tree const& right, tensor_tree const& root) {
    expect_same(left, root);
    expect_same(right, root);
    auto y = root_of(root);
    triad::graft_onto(y.algebra(), 0, left.view(), y.view());
    triad::graft_onto(y.algebra(), 1, right.view(), y.view());
    return y;
  }
  friend tensor_tree operator+(tensor_tree const& x, tensor_tree const& y) {
    expect_same(x, y);
    auto sum = x;
    sum.algebra().add(1, y.view(), sum.view());
    return sum;
  }
  friend tensor_tree operator-(tensor_tree const& x, tensor_tree const& y) {
    expect_same(x, y);
    auto difference = x;
    difference.algebra().add(-1, y.view(), difference.view());
    return difference;
  }
  friend tensor_tree operator*(value_type w, tensor_tree const& x) {
    tensor_tree y(x.algebra(), x.symbols());
    y.algebra().add(w, x.view(), y.view());
    return y;
  }
  friend value_type inner_product(tensor_tree const& x, tensor_tree const& y) {
    expect_same(x, y);
    return x.algebra().inner_product(x.view(), y.view());
  }

  /// Throws contract_violation if the algebras of the two trees have different sizes.  Also throws if the labels and
  /// fillers of both trees are known and differ, because the elements of such trees are not comparable.  Does not
  /// detect two algebras that have equal sizes but different roles.
  static void expect_same(tensor_tree const& x, tensor_tree const& y) {
    TRIAD_EXPECTS(x.symbols_ == y.symbols_ || x.symbols_ == 0 || y.symbols_ == 0,
                  "tensor_tree: trees of two symbol algebras, expected equal labels and fillers; make both with one, "
                  "or two with the same labels and seed");
    if (x.algebra_ == y.algebra_) return;
    auto const sizes = [](A const& a) { return std::array{a.branching(), a.depth(), a.fillers()}; };
    bool same = sizes(x.algebra()) == sizes(y.algebra());
    if constexpr (owns_views) same = same && x.algebra().elements() == y.algebra().elements();
    TRIAD_EXPECTS(same,
                  "tensor_tree: trees of two algebras, expected equal branching, depth and width; make both with one");
  }

 private:
  static constexpr bool owns_views = !std::is_reference_v<typename A::tree>;
  auto layout() const { return algebra_->over(static_cast<value_type*>(nullptr)); }

  A const* algebra_;
  std::uint64_t symbols_;
  std::conditional_t<owns_views, std::vector<value_type>, std::remove_reference_t<typename A::tree>> numbers_;
};

namespace detail {
template <class A, class Weights, class Trees>
tensor_tree<A> blended(Weights const& w, Trees const& trees) {
  TRIAD_EXPECTS(w.size() == trees.size() && w.size() > 0, "blend: " + std::to_string(w.size()) + " weights of " +
                                                              std::to_string(trees.size()) +
                                                              " trees, expected one for each of 1 tree or more");
  tensor_tree<A> y(trees.begin()->algebra(), trees.begin()->symbols());
  auto weight = w.begin();
  for (auto const& x : trees) {
    tensor_tree<A>::expect_same(x, y);
    y.algebra().add(*weight++, x.view(), y.view());
  }
  return y;
}
}  // namespace detail

/// Returns sum_l w_l M_l.  Call it as blend({0.7, 0.3}, {x, y}), or with two vectors.
template <tree_algebra A>
tensor_tree<A> blend(std::vector<typename A::value_type> const& w, std::vector<tensor_tree<A>> const& trees) {
  return detail::blended<A>(w, trees);
}
template <tree_algebra A>
tensor_tree<A> blend(std::vector<typename A::value_type> const& w, std::initializer_list<tensor_tree<A>> trees) {
  return detail::blended<A>(w, trees);
}

/// Encodes a tree of labels as a tensor that owns its elements, with fillers F (V, f).  Throws in the same cases as
/// encode() of tree/bind.hpp.
template <tree_algebra A>
tensor_tree<A> encode(A const& a, tensor<typename A::value_type const, dyn, dyn> fillers, numbered_tree const& tree) {
  tensor_tree<A> x(a);
  encode(a, fillers, tree, x.view());
  return x;
}
template <tree_algebra A>
tensor_tree<A> encode(A const&&, tensor<typename A::value_type const, dyn, dyn>, numbered_tree const&) {
  static_assert(
      sizeof(A) == 0,
      "encode: the algebra is a temporary, which ends before the tree does; give it a name that lives as long "
      "as its trees");
}
/// Returns the tree of labels nearest to x.
template <tree_algebra A>
numbered_tree decode(tensor<typename A::value_type const, dyn, dyn> fillers, tensor_tree<A> const& x,
                     double threshold = decode_threshold) {
  return decode(x.algebra(), fillers, x.view(), threshold);
}

}  // namespace triad
