// Rewrites expressions that are stored as tensors.  Inner products find the patterns, and car, cdr and cons build the
// results.  The code never compares symbols.
// SPDX-License-Identifier: Apache-2.0
//
// An expression is the tensor x = sum over its nodes of filler (x) role, in which (x) is the outer product.  Fillers
// and roles are orthonormal, so inner products count nodes:
//
//   <x, x>                          the number of its nodes
//   <p, x> = <p, p>                 every node of p is a node of x, at the same place
//   <u, v> = <u, u> = <v, v>        u and v are the same expression
//
// The left side of a rule consists of a tensor p of its operators and numbers, and of the positions of its names.  The
// rule matches x under three conditions: <p, x> = <p, p>; x has a node at the position of every name; and the
// subexpressions at all positions of the same name are equal, as in the third line above.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rules.hpp"
#include "triad/tree/tree.hpp"

namespace rewrite {

/// A is any form of the algebra (dense, gather or sparse).  The first row of the filler table is zero and means "no
/// filler".  The other rows are orthonormal.
template <class A>
class rewriter {
 public:
  using tree = triad::tensor_tree<A>;
  using T = typename A::value_type;
  using filler_table = triad::tensor<T const, triad::dyn, triad::dyn>;  // (labels, width of a filler)

  rewriter(A const& algebra, triad::vocabulary const& words, filler_table fillers, std::vector<rule> const& rules)
      : algebra_(algebra), words_(words), fillers_(fillers) {
    for (auto const& r : rules)
      if (r.left.depth() <= algebra.depth()) rules_.push_back(prepared(r));  // a deeper rule can match nothing
  }

  tree encode(symbol_tree const& expression) const {
    tree x(algebra_);
    triad::encode(algebra_, fillers_, words_.number(expression), x.view());
    return x;
  }
  symbol_tree decode(tree const& x) const { return words_.label(triad::decode<A>(algebra_, fillers_, x.view())); }

  struct step {
    tree result;
    std::string by;  // the rule's name
  };
  /// Applies the first rule that matches.  Tries the root before its children, and the left child before the right one.
  /// Returns nothing if no rule matches.
  std::optional<step> once(tree const& x) const {
    for (auto const& r : rules_)
      if (auto const found = match(r, x)) return step{made(r.right, 0, *found), r.text};
    for (index_t side = 0; side < 2; ++side) {
      auto const part = child(x, side);
      if (nodes(part) == 0) continue;
      if (auto const inner = once(part)) {
        auto const& other = child(x, 1 - side);
        return step{side == 0 ? joined(inner->result, other, x) : joined(other, inner->result, x), inner->by};
      }
    }
    return std::nullopt;
  }

 private:
  using path = std::vector<index_t>;

  struct prepared_rule {
    std::string text;
    tree constants;                                   // the left side without its names
    std::map<std::string, std::vector<path>> places;  // the positions of the names
    symbol_tree right;
  };

  prepared_rule prepared(rule const& r) const {
    prepared_rule made{r.text, tree(algebra_), {}, r.right};
    path here;
    symbol_tree::builder constants;
    r.left.walk([&](index_t at, index_t, index_t level) {
      while (constants.level() > level) constants.close();
      here.resize(static_cast<std::size_t>(level));
      if (level > 0) here.back() = r.left[at].child_number;
      if (is_variable(r.left.label(at)))
        made.places[r.left.label(at)].push_back(here);
      else
        constants.open(r.left.label(at), r.left[at].child_number);
    });
    while (constants.level() > 0) constants.close();
    made.constants = encode(constants.finish());
    return made;
  }

  /// Returns an inner product of two expressions, rounded to a whole number.  Without rounding errors, the inner
  /// product is a whole number.
  static long long counted(tree const& x, tree const& y) {
    return std::llround(static_cast<double>(inner_product(x, y)));
  }
  static long long nodes(tree const& x) { return counted(x, x); }
  static bool same(tree const& x, tree const& y) { return counted(x, y) == nodes(x) && nodes(x) == nodes(y); }

  static tree part_at(tree x, path const& steps) {
    for (auto const side : steps) x = child(x, side);
    return x;
  }

  using bindings = std::map<std::string, tree>;

  std::optional<bindings> match(prepared_rule const& r, tree const& x) const {
    if (counted(r.constants, x) != nodes(r.constants)) return std::nullopt;
    bindings found;
    for (auto const& [name, places] : r.places) {
      auto const first = part_at(x, places.front());
      if (nodes(first) == 0) return std::nullopt;
      for (std::size_t i = 1; i < places.size(); ++i)
        if (!same(part_at(x, places[i]), first)) return std::nullopt;
      found.emplace(name, first);
    }
    return found;
  }

  /// Builds the subtree of the right side at node `at`, with each name replaced by its expression.
  tree made(symbol_tree const& right, index_t at, bindings const& found) const {
    if (at == triad::no_node) return tree(algebra_);
    auto const& label = right.label(at);
    if (is_variable(label)) return found.at(label);
    return joined(made(right, right.child(at, 0), found), made(right, right.child(at, 1), found),
                  encode(symbol_tree(label)));
  }

  /// Applies cons.  Throws data_error if cons drops nodes because they have no role.
  tree joined(tree const& left, tree const& right, tree const& root) const {
    auto const whole = cons(left, right, root);
    if (nodes(whole) != nodes(left) + nodes(right) + 1)
      throw triad::data_error("a result is deeper than the " + std::to_string(algebra_.depth()) +
                              " levels of the roles: give a larger --depth");
    return whole;
  }

  A const& algebra_;
  triad::vocabulary const& words_;
  filler_table fillers_;
  std::vector<prepared_rule> rules_;
};

}  // namespace rewrite
