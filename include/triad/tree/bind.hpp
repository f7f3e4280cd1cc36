// bind and unbind convert between the fillers at all roles and one tensor.  encode and decode convert between the
// labels at all roles and one tensor.
// SPDX-License-Identifier: Apache-2.0
//
//   bind     y = sum_r X_r bound to role r    X (N, f), one filler for each position   dX_r += dy unbound from role r
//   unbind   X_r = x unbound from role r      unbind(bind X) = X               dx += sum_r dX_r bound to role r
//   encode   bind with X_r = F[label at r]    F (V, f); row 0, of the empty label, is zero
//   scores   S = X F'                         (N, V)                           dX += dS F
//   decode   at r: argmax_v S_rv if |S_r| > threshold, else no node; goes from the root down, and drops all nodes below
//            an empty position
//
// Roles are orthonormal.
//
// bind, unbind and the encode() that takes an array of labels visit all positions, so an array of all positions must
// fit in memory.  decode(), and the encode() that takes a tree, visit only the nodes, so they work at any depth.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/mdspan.hpp"
#include "triad/core/views.hpp"
#include "triad/tree/algebra.hpp"
#include "triad/tree/placement.hpp"
#include "triad/tree/rows.hpp"

namespace triad {

/// decode() treats a position as empty if the norm of the position's scores is at most this value.
inline constexpr double decode_threshold = 0.01;

namespace detail {

/// Calls f(row of X, role) for every position.  Each row of X (N, f) must be contiguous.
template <class A, class X, class F>
void each_position(A const& a, X const& fillings, F&& f) {
  expect_extent("bind", "fillers", fillings.extent(0), tree_positions<>(a.branching(), a.depth()).count());
  for (index_t r = 0; r < fillings.extent(0); ++r) f(filler_of(item(fillings, r)), a.paths().at_position(r));
}

template <class T>
void expect_filler_table(tensor<T const, dyn, dyn> fillers, index_t width) {
  TRIAD_EXPECTS(fillers.extent(0) > 0, "tree algebra: a table of 0 fillers, expected 1 or more");
  expect_extent("tree algebra", "columns of the table of fillers", fillers.extent(1), width);
}

template <class T>
bool has_filler(tensor<T const, dyn, dyn> fillers, index_t label) {
  for (index_t f = 0; f < fillers.extent(1); ++f)
    if (fillers(label, f) != T(0)) return true;
  return false;
}
template <class T>
void expect_filler(tensor<T const, dyn, dyn> fillers, index_t label) {
  TRIAD_EXPECTS(label == 0 || has_filler(fillers, label),
                "encode: the filler of label " + std::to_string(label) +
                    " is zero, as that of the empty node, expected another; call random_fillers or one_hot_fillers on "
                    "the table first");
}

}  // namespace detail

// ---- fillers and roles ----------------------------------------------------------------------------------------------

/// y = sum_r X_r bound to role r.
template <tree_algebra A, class X, class Y>
void bind(A const& a, X const& fillings, Y&& y) {
  detail::each_tree<A>(
      [&](auto&& to, auto const& from) {
        a.clear(to);
        detail::each_position(a, from, [&](auto filler, role_code role) { a.add_bound(1, role, filler, to); });
      },
      y, fillings);
}
/// dX_r += dy unbound from role r.
template <tree_algebra A, class X, class Y>
void bind_grad(A const& a, Y const& dy, X&& dfillings) {
  detail::each_tree<A>(
      [&](auto const& from, auto&& to) {
        detail::each_position(a, to, [&](auto filler, role_code role) { a.add_unbound(1, role, from, filler); });
      },
      dy, dfillings);
}

/// X_r = x unbound from role r.
template <tree_algebra A, class X, class Y>
void unbind(A const& a, Y const& x, X&& fillings) {
  detail::each_tree<A>(
      [&](auto const& from, auto&& to) {
        detail::each_position(a, to, [&](auto filler, role_code role) {
          for (index_t f = 0; f < filler.extent(0); ++f) filler(f) = 0;
          a.add_unbound(1, role, from, filler);
        });
      },
      x, fillings);
}
/// dx += sum_r dX_r bound to role r.
template <tree_algebra A, class X, class Y>
void unbind_grad(A const& a, X const& dfillings, Y&& dx) {
  detail::each_tree<A>(
      [&](auto&& to, auto const& from) {
        detail::each_position(a, from, [&](auto filler, role_code role) { a.add_bound(1, role, filler, to); });
      },
      dx, dfillings);
}

// ---- labels and fillers ---------------------------------------------------------------------------------------------

/// y = the tensor of the tree of labels, with fillers F (V, f).  Throws data_error with the node's path if a node lies
/// deeper than the roles or has an unknown label.  Throws contract_violation if the filler of a label is zero, because
/// a zero filler means that there is no node.
template <tree_algebra A, class Y>
void encode(A const& a, tensor<typename A::value_type const, dyn, dyn> fillers, numbered_tree const& tree, Y&& y) {
  detail::expect_filler_table(fillers, a.fillers());
  expect_fits(tree, a.branching(), a.depth(), fillers.extent(0));
  std::vector<std::pair<role_code, index_t>> nodes;
  each_role(tree, a.paths(), [&](index_t label, role_code role) {
    detail::expect_filler(fillers, label);
    nodes.emplace_back(role, label);
  });
  std::sort(nodes.begin(), nodes.end());  // a sparse tree has its terms in this order, so each new term is appended
  a.clear(y);
  for (auto const& [role, label] : nodes) a.add_bound(1, role, detail::filler_of(detail::item(fillers, label)), y);
}

/// encode() for an array that has the label at each position (tree/placement.hpp).  Label 0 means an empty position.
/// Keeps nodes below an empty position.
template <tree_algebra A, class Y>
void encode(A const& a, tensor<typename A::value_type const, dyn, dyn> fillers, vec<index_t const> labels, Y&& y) {
  detail::expect_filler_table(fillers, a.fillers());
  expect_extent("encode", "labels", labels.extent(0), tree_positions<>(a.branching(), a.depth()).count());
  a.clear(y);
  for (index_t r = 0; r < labels.extent(0); ++r) {
    auto const role = a.paths().at_position(r);
    if (labels(r) < 0 || labels(r) >= fillers.extent(0))
      throw data_error("the node at " + path_text(a.paths(), role) + " has label " + std::to_string(labels(r)) +
                       "; expected one of 0 .. " + std::to_string(fillers.extent(0) - 1));
    if (labels(r) == 0) continue;
    detail::expect_filler(fillers, labels(r));
    a.add_bound(1, role, detail::filler_of(detail::item(fillers, labels(r))), y);
  }
}

/// S = X F': the scores (rows, V) of all labels for each row of X (rows, f).  The elements of F and X may be const.
template <class T, class Fillers, class Rows>
void scores(Fillers const& fillers, Rows const& x, tensor<T, dyn, dyn> s) {
  tensor<T const, dyn, dyn> const table = fillers, rows = x;
  expect_extent("scores", "columns of x", rows.extent(1), table.extent(1));
  expect_shape("scores", "s", s, {rows.extent(0), table.extent(0)});
  for (index_t r = 0; r < rows.extent(0); ++r)
    for (index_t v = 0; v < table.extent(0); ++v) s(r, v) = detail::dot(&rows(r, 0), &table(v, 0), rows.extent(1));
}
/// dX += dS F
template <class T, class Fillers, class Scores>
void scores_grad(Fillers const& fillers, Scores const& d_scores, tensor<T, dyn, dyn> dx) {
  tensor<T const, dyn, dyn> const table = fillers, ds = d_scores;
  expect_extent("scores_grad", "columns of dx", dx.extent(1), table.extent(1));
  expect_shape("scores_grad", "d_scores", ds, {dx.extent(0), table.extent(0)});
  for (index_t r = 0; r < dx.extent(0); ++r)
    for (index_t v = 0; v < table.extent(0); ++v) detail::add_row(ds(r, v), &table(v, 0), &dx(r, 0), dx.extent(1));
}

/// Returns the label with the largest score in one row of scores.  If several labels have the largest score, returns
/// the first of them.  Returns 0 if the norm of the row is at most `threshold`.
template <class View>
index_t nearest_label(View const& s, double threshold = decode_threshold) {
  double square = 0;
  index_t best = 0;
  for (index_t v = 0; v < s.extent(0); ++v) {
    square += static_cast<double>(s(v)) * static_cast<double>(s(v));
    if (s(v) > s(best)) best = v;
  }
  TRIAD_EXPECTS(!is_nan(square),
                "decode: a score is not a number, expected finite ones; the tree or the fillers are not finite");
  return std::sqrt(square) > threshold ? best : 0;
}

/// Writes the nearest label for every row of the scores S (rows, V).
template <class T>
void nearest_labels(tensor<T const, dyn, dyn> s, vec<index_t> labels, double threshold = decode_threshold) {
  expect_extent("nearest_labels", "labels", labels.extent(0), s.extent(0));
  for (index_t r = 0; r < s.extent(0); ++r) labels(r) = nearest_label(detail::item(s, r), threshold);
}

/// Returns the tree of labels nearest to x.  Throws contract_violation if every filler is zero.
template <tree_algebra A>
numbered_tree decode(A const& a, tensor<typename A::value_type const, dyn, dyn> fillers, typename A::const_tree x,
                     double threshold = decode_threshold) {
  using T = typename A::value_type;
  detail::expect_filler_table(fillers, a.fillers());
  bool any = fillers.extent(0) < 2;
  for (index_t v = 1; v < fillers.extent(0) && !any; ++v) any = detail::has_filler(fillers, v);
  TRIAD_EXPECTS(any, "decode: all " + std::to_string(fillers.extent(0) - 1) +
                         " fillers are zero, expected others: every tree would be empty; call random_fillers or "
                         "one_hot_fillers on the table first");
  std::vector<T> filler(static_cast<std::size_t>(a.fillers())), row(static_cast<std::size_t>(fillers.extent(0)));
  vec<T> const s(filler.data(), a.fillers());
  tensor<T, dyn, dyn> const here(row.data(), 1, fillers.extent(0));
  numbered_tree::builder made;
  auto const visit = [&](auto const& self, role_code role, index_t child_number, index_t level) -> void {
    std::fill(filler.begin(), filler.end(), T(0));
    a.add_unbound(1, role, x, s);
    scores(fillers, tensor<T const, dyn, dyn>(filler.data(), 1, a.fillers()), here);
    auto const label = nearest_label(vec<T const>(row.data(), fillers.extent(0)), threshold);
    if (label == 0) return;
    made.open(label, child_number);
    for (index_t c = 0; level + 1 < a.depth() && c < a.branching(); ++c)
      self(self, a.paths().child(role, c), c, level + 1);
    made.close();
  };
  visit(visit, root_role, 0, 0);
  return made.finish();
}

}  // namespace triad
