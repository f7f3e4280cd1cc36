// The operations on trees and the adjoint of each operation, written once for all forms of trees: car, cdr, child,
// graft, cons, root, plant, blend.
// SPDX-License-Identifier: Apache-2.0
//
// x and y are trees, and s is a filler.  D_c and E_c are linear maps that act on the roles of a tree and not on its
// fillers (tree/shift.hpp).  r_0 is the root's role.
//
//   child    y = D_c x                           dx += E_c dy
//   graft    y = E_c x                           dx += D_c dy
//   root     s = x r_0                           dx += ds r_0'
//   plant    y = s r_0'                          ds += dy r_0
//   cons     y = sum_c E_c x_c + s r_0'          dx_c += D_c dy      ds += dy r_0
//   blend    y = sum_l w_l M_l                   dw_l += <M_l, dy>   dM_l += w_l dy
//
// All operations are linear, so the gradient of each operation is its adjoint: <A x, y> = <x, A' y>.  Every adjoint is
// itself an operation of the table.  car is child 0, and cdr is child 1.
//
// Operations overwrite their results.  Gradients are added, because several operations may read one tree.  Every
// function takes one tree or a batch of trees (tree/batch.hpp).  Outputs must not overlap inputs.  A weighted memory is
// a list of trees with a weight for each tree.  A function that takes a weighted memory first writes the weighted sum
// of the trees to a tree that the caller provides.
#pragma once

#include <string>

#include "triad/core/contracts.hpp"
#include "triad/tree/batch.hpp"
#include "triad/tree/paths.hpp"

namespace triad {

// ---- subtrees -------------------------------------------------------------------------------------------------------

/// y = D_c x: the subtree of child c, as a tree with its own root.
template <tree_algebra A, class X, class Y>
void child(A const& a, index_t c, X const& x, Y&& y) {
  detail::each_tree<A>(
      [&](auto const& from, auto&& to) {
        a.clear(to);
        a.add_child(1, c, from, to);
      },
      x, y);
}
/// dx += E_c dy
template <tree_algebra A, class X, class Y>
void child_grad(A const& a, index_t c, Y const& dy, X&& dx) {
  detail::each_tree<A>([&](auto const& from, auto&& to) { a.add_graft(1, c, from, to); }, dy, dx);
}
/// child() with the number c as a template argument: child<1>(a, x, y).
template <index_t C, tree_algebra A, class X, class Y>
void child(A const& a, X const& x, Y&& y) {
  static_assert(C >= 0, "triad: children are counted from 0");
  child(a, C, x, y);
}
template <index_t C, tree_algebra A, class X, class Y>
void child_grad(A const& a, Y const& dy, X&& dx) {
  child_grad(a, C, dy, dx);
}

/// y = D_0 x: the tree below child 0.
template <tree_algebra A, class X, class Y>
void car(A const& a, X const& x, Y&& y) {
  child(a, 0, x, y);
}
template <tree_algebra A, class X, class Y>
void car_grad(A const& a, Y const& dy, X&& dx) {
  child_grad(a, 0, dy, dx);
}
/// y = D_1 x: the tree below child 1.
template <tree_algebra A, class X, class Y>
void cdr(A const& a, X const& x, Y&& y) {
  child(a, 1, x, y);
}
template <tree_algebra A, class X, class Y>
void cdr_grad(A const& a, Y const& dy, X&& dx) {
  child_grad(a, 1, dy, dx);
}

/// y = E_c x: a tree whose child c is x and whose root has no filler.  Drops the last level of x.
template <tree_algebra A, class X, class Y>
void graft(A const& a, index_t c, X const& x, Y&& y) {
  detail::each_tree<A>(
      [&](auto const& from, auto&& to) {
        a.clear(to);
        a.add_graft(1, c, from, to);
      },
      x, y);
}
/// y += E_c x
template <tree_algebra A, class X, class Y>
void graft_onto(A const& a, index_t c, X const& x, Y&& y) {
  child_grad(a, c, x, y);
}

/// dx += D_c dy
template <tree_algebra A, class X, class Y>
void graft_grad(A const& a, index_t c, Y const& dy, X&& dx) {
  detail::each_tree<A>([&](auto const& from, auto&& to) { a.add_child(1, c, from, to); }, dy, dx);
}

// ---- the root -------------------------------------------------------------------------------------------------------

/// s = the filler of x's root
template <tree_algebra A, class X, class S>
void root(A const& a, X const& x, S&& s) {
  detail::each_tree<A>(
      [&](auto const& from, auto&& to) {
        auto const filler = detail::filler_of(to);
        for (index_t f = 0; f < filler.extent(0); ++f) filler(f) = 0;
        a.add_unbound(1, root_role, from, filler);
      },
      x, s);
}
/// dx += ds r_0'
template <tree_algebra A, class X, class S>
void root_grad(A const& a, S const& ds, X&& dx) {
  detail::each_tree<A>([&](auto&& to, auto const& from) { a.add_bound(1, root_role, detail::filler_of(from), to); }, dx,
                       ds);
}

/// y = a tree with one node: the root, with filler s
template <tree_algebra A, class S, class Y>
void plant(A const& a, S const& s, Y&& y) {
  detail::each_tree<A>(
      [&](auto&& to, auto const& from) {
        a.clear(to);
        a.add_bound(1, root_role, detail::filler_of(from), to);
      },
      y, s);
}
/// ds += dy r_0
template <tree_algebra A, class S, class Y>
void plant_grad(A const& a, Y const& dy, S&& ds) {
  detail::each_tree<A>([&](auto const& from, auto&& to) { a.add_unbound(1, root_role, from, detail::filler_of(to)); },
                       dy, ds);
}

// ---- cons -----------------------------------------------------------------------------------------------------------

/// y = a tree with root filler s and the subtrees children[0], children[1], ... There may be at most a.branching()
/// children.
template <tree_algebra A, class Children, class S, class Y>
void cons(A const& a, Children const& children, S const& s, Y&& y) {
  TRIAD_EXPECTS(static_cast<index_t>(children.size()) <= a.branching(),
                "cons: " + std::to_string(children.size()) + " children, expected at most " +
                    std::to_string(a.branching()) + ", the branching");
  plant(a, s, y);
  for (std::size_t c = 0; c < children.size(); ++c) graft_onto(a, static_cast<index_t>(c), children[c], y);
}
/// cons() with a left and a right child.
template <tree_algebra A, class L, class R, class S, class Y>
void cons(A const& a, L const& left, R const& right, S const& s, Y&& y) {
  plant(a, s, y);
  graft_onto(a, 0, left, y);
  graft_onto(a, 1, right, y);
}

/// dchildren[c] += D_c dy, ds += dy r_0
template <tree_algebra A, class Children, class S, class Y>
void cons_grad(A const& a, Y const& dy, Children&& dchildren, S&& ds) {
  for (std::size_t c = 0; c < dchildren.size(); ++c) graft_grad(a, static_cast<index_t>(c), dy, dchildren[c]);
  plant_grad(a, dy, ds);
}
template <tree_algebra A, class L, class R, class S, class Y>
void cons_grad(A const& a, Y const& dy, L&& dleft, R&& dright, S&& ds) {
  graft_grad(a, 0, dy, dleft);
  graft_grad(a, 1, dy, dright);
  plant_grad(a, dy, ds);
}

// ---- a weighted memory ----------------------------------------------------------------------------------------------

namespace detail {
inline void expect_weights(char const* owner, index_t weights, index_t slots) {
  expect_extent(owner, "weights", weights, slots);
}
}  // namespace detail

/// y = sum_l w_l M_l.  Takes weights (slots) and a batch of trees, or weights (batch, slots) and a batch of memories.
/// w may have any strides.
template <tree_algebra A, class W, class M, class Y>
void blend(A const& a, W const& w, M const& memory, Y&& y) {
  detail::each_tree<A>(
      [&](auto&& to, auto const& weights, auto const& slots) {
        detail::expect_weights("blend", weights.extent(0), detail::items(slots));
        a.clear(to);
        for (index_t l = 0; l < weights.extent(0); ++l)
          if (weights(l) != 0) a.add(weights(l), detail::item(slots, l), to);
      },
      y, w, memory);
}
/// dw_l += <M_l, dy>, dM_l += w_l dy
template <tree_algebra A, class W, class M, class Y, class DW, class DM>
void blend_grad(A const& a, W const& w, M const& memory, Y const& dy, DW&& dw, DM&& dmemory) {
  detail::each_tree<A>(
      [&](auto const& from, auto const& weights, auto const& slots, auto&& dweights, auto&& dslots) {
        detail::expect_weights("blend_grad", weights.extent(0), detail::items(slots));
        expect_extent("blend_grad", "gradients of weights", dweights.extent(0), weights.extent(0));
        expect_extent("blend_grad", "gradients of slots", detail::items(dslots), detail::items(slots));
        for (index_t l = 0; l < weights.extent(0); ++l) {
          dweights(l) += a.inner_product(detail::item(slots, l), from);
          a.add(weights(l), from, detail::item(dslots, l));
        }
      },
      dy, w, memory, dw, dmemory);
}

/// y = D_c (sum_l w_l M_l).  Overwrites `blended` with the sum.
template <tree_algebra A, class W, class M, class B, class Y>
void child(A const& a, index_t c, W const& w, M const& memory, B&& blended, Y&& y) {
  blend(a, w, memory, blended);
  child(a, c, blended, y);
}
template <tree_algebra A, class W, class M, class B, class Y>
void car(A const& a, W const& w, M const& memory, B&& blended, Y&& y) {
  child(a, 0, w, memory, blended, y);
}
template <tree_algebra A, class W, class M, class B, class Y>
void cdr(A const& a, W const& w, M const& memory, B&& blended, Y&& y) {
  child(a, 1, w, memory, blended, y);
}

/// The gradient of child() for a weighted memory.  Overwrites dblended.  Adds to dw and dmemory.
template <tree_algebra A, class W, class M, class B, class Y, class DW, class DM>
void child_grad(A const& a, index_t c, W const& w, M const& memory, Y const& dy, B&& dblended, DW&& dw, DM&& dmemory) {
  graft(a, c, dy, dblended);
  blend_grad(a, w, memory, dblended, dw, dmemory);
}

template <tree_algebra A, class W, class M, class B, class Y, class DW, class DM>
void car_grad(A const& a, W const& w, M const& memory, Y const& dy, B&& dblended, DW&& dw, DM&& dmemory) {
  child_grad(a, 0, w, memory, dy, dblended, dw, dmemory);
}
template <tree_algebra A, class W, class M, class B, class Y, class DW, class DM>
void cdr_grad(A const& a, W const& w, M const& memory, Y const& dy, B&& dblended, DW&& dw, DM&& dmemory) {
  child_grad(a, 1, w, memory, dy, dblended, dw, dmemory);
}

/// s = the root's filler of sum_l w_l M_l.  Overwrites `blended` with the sum.
template <tree_algebra A, class W, class M, class B, class S>
void root(A const& a, W const& w, M const& memory, B&& blended, S&& s) {
  blend(a, w, memory, blended);
  root(a, blended, s);
}
/// The gradient of root() for a weighted memory.  Overwrites dblended.  Adds to dw and dmemory.
template <tree_algebra A, class W, class M, class B, class S, class DW, class DM>
void root_grad(A const& a, W const& w, M const& memory, S const& ds, B&& dblended, DW&& dw, DM&& dmemory) {
  plant(a, ds, dblended);
  blend_grad(a, w, memory, dblended, dw, dmemory);
}

/// y = sum_c E_c (sum_l w[c]_l M_l) + s r_0'.  Overwrites `blended`.
template <tree_algebra A, class W, class M, class S, class B, class Y>
void cons(A const& a, W const& w, M const& memory, S const& s, B&& blended, Y&& y) {
  plant(a, s, y);
  for (std::size_t c = 0; c < w.size(); ++c) {
    blend(a, w[c], memory, blended);
    graft_onto(a, static_cast<index_t>(c), blended, y);
  }
}
/// The gradient of cons() for a weighted memory.  Overwrites dblended.  Adds to dw[c], dmemory and ds.
template <tree_algebra A, class W, class M, class S, class B, class Y, class DW, class DM>
void cons_grad(A const& a, W const& w, M const& memory, Y const& dy, B&& dblended, DW&& dw, DM&& dmemory, S&& ds) {
  for (std::size_t c = 0; c < w.size(); ++c) {
    child(a, static_cast<index_t>(c), dy, dblended);
    blend_grad(a, w[c], memory, dblended, dw[c], dmemory);
  }
  plant_grad(a, dy, ds);
}

}  // namespace triad
