// The soft tree operations of a Differentiable Tree Machine with canonical roles.  Each step makes a new tree.  The new
// tree is a weighted sum of the children of earlier trees, and of trees that have an earlier tree as a child.
// SPDX-License-Identifier: Apache-2.0
//
// A node of a tree has up to b children.  A tree is a matrix (N, f): row q is the filler (a vector) at position q
// (tree/positions.hpp).  The memory (m, batch, N, f) has m slots, each with one tree for each sample.  Step k reads
// slots 0 .. k and writes slot k + 1.  Each tree that a step reads has 2 b weights: one for each child of the tree, and
// one for each of the b arguments of cons.  w and s are already multiplied by the weights of the operations
// (ops/tree_choice.hpp):
//
//   M_{k+1} = sum_{l <= k} [ sum_c w_k(l, c) D_c M_l  +  sum_c w_k(l, b + c) E_c M_l ]  +  s at the root      DTM eq. 1
//
// D_c takes child c of a tree.  E_c makes the tree child c of a new root.  D_c and E_c move blocks of rows.  A row of M
// is read once and added to at most 1 + b rows of the new tree.
//
//   dw_k(l, c) = <D_c M_l, dM_{k+1}>,  dw_k(l, b + c) = <E_c M_l, dM_{k+1}>,  ds = dM_{k+1} at the root
//   dM_l = sum over k >= l of  sum_c w_k(l, c) D_c' dM_{k+1} + w_k(l, b + c) E_c' dM_{k+1}
//
// tree_shift_dots computes the first of these two lines, and tree_shift_grad computes the second line.
//
// The gradient of slot l depends on the gradients of all later slots.  Once the later gradients are complete,
// tree_shift_grad computes the gradient of slot l in one call.  So no step has to add to the gradient of slot l.
//
// If a tree, a weight or a root has a NaN, all results that depend on this NaN are NaN.  Positions outside of `support`
// are not read.
#pragma once

#include "triad/core/arena.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"
#include "triad/tree/positions.hpp"

namespace triad {

/// The positions at which the trees of each slot may have a filler.  The shapes of the input trees determine these
/// positions.  If the support is empty, all positions may have a filler.  At other positions, the rows of all trees of
/// the slot must be zero.  If a step can move a filler of a slot to a position, this position must be in the support of
/// all later slots.  Gradients of rows outside of the support are neither computed nor read.  reachable_positions
/// (batches/tree_loader.hpp) computes such a support.
struct tree_support {
  vec<std::uint8_t const> first{nullptr, 0};  // (N) 1 if a tree of slot 0 has a filler at the position
  vec<index_t const> since{nullptr, 0};       // (N) the first slot >= 1 whose trees may have a filler at the position

  constexpr bool empty() const { return since.extent(0) == 0; }
  TRIAD_HOST_DEVICE constexpr bool has(index_t slot, index_t position) const {
    return since.extent(0) == 0 || (slot == 0 ? first(position) != 0 : since(position) <= slot);
  }
  /// Returns the first slot after slot 0 that has(slot, position), as all later slots do.
  TRIAD_HOST_DEVICE constexpr index_t first_after_input(index_t position) const {
    return since.extent(0) == 0 || since(position) < 1 ? 1 : since(position);
  }
};

template <class S>
using tree_batch_view = tensor<S, dyn, dyn, dyn>;  // (batch, N, f)
template <class S>
using tree_memory_view = tensor<S, dyn, dyn, dyn, dyn>;  // (m, batch, N, f)

/// Returns slot `slot` of a memory.
template <class S>
TRIAD_HOST_DEVICE constexpr tree_batch_view<S> tree_slot(tree_memory_view<S> const& memory, index_t slot) {
  index_t const batch = memory.extent(1), positions = memory.extent(2), f = memory.extent(3);
  return tree_batch_view<S>(memory.data_handle() + slot * batch * positions * f, batch, positions, f);
}

/// The weights of all steps, or their gradients.
template <class S>
using tree_weights_view = tensor<S, dyn, dyn, dyn, dyn>;  // (steps, batch, slots, 2 b)

namespace detail {
template <class Memory, class Weights>
void expect_tree_weights(tree_positions<> const& where, tree_support const& support, Memory const& memory,
                         Weights const& w, index_t step) {
  expect_extent("tree_shift", "positions of memory", memory.extent(2), where.count());
  expect_shape("tree_shift", "weights", w, {w.extent(0), memory.extent(1), w.extent(2), 2 * where.branching()});
  TRIAD_EXPECTS(step >= 0 && step < w.extent(0) && step < w.extent(2),
                "tree_shift: step " + std::to_string(step) + ", expected one of the " + std::to_string(w.extent(0)) +
                    " steps and " + std::to_string(w.extent(2)) + " slots that weights are for");
  TRIAD_EXPECTS(step + 1 < memory.extent(0), "tree_shift: step " + std::to_string(step) + " writes slot " +
                                                 std::to_string(step + 1) + ", expected a slot below " +
                                                 std::to_string(memory.extent(0)));
  if (!support.empty()) {
    expect_shape("tree_shift", "support.since", support.since, {where.count()});
    expect_shape("tree_shift", "support.first", support.first, {where.count()});
  }
}
}  // namespace detail

/// Computes the tree of a step.  Overwrites all of slot step + 1 of `memory`.  root (batch, f) is added at the root.
template <backend Ex, class T>
void tree_shift(Ex& ex, tree_positions<> const& where, tree_support const& support, index_t step,
                tree_weights_view<T const> w, matrix<T const> root, tree_memory_view<T> memory) {
  detail::expect_tree_weights(where, support, memory, w, step);
  expect_shape("tree_shift", "root", root, {memory.extent(1), memory.extent(3)});
  if constexpr (executes<Ex>) do_tree_shift(ex, where, support, step, w, root, memory);
}

/// Computes the gradients of a step's weights and root from slot step + 1 of d_memory.  Overwrites d_root (batch, f)
/// and, in slice `step` of dw, the gradients for the slots that the step reads.
template <backend Ex, class T>
void tree_shift_dots(Ex& ex, arena& scratch, tree_positions<> const& where, tree_support const& support, index_t step,
                     tree_memory_view<T const> memory, tree_memory_view<T const> d_memory, tree_weights_view<T> dw,
                     matrix<T> d_root) {
  detail::expect_tree_weights(where, support, memory, dw, step);
  expect_same_shape("tree_shift_dots", "d_memory", d_memory, memory);
  expect_shape("tree_shift_dots", "d_root", d_root, {memory.extent(1), memory.extent(3)});
  with_workspace(ex, scratch, do_tree_shift_dots_workspace(planning(ex), where, step, memory),
                 [&](auto ws) { do_tree_shift_dots(ex, where, support, step, memory, d_memory, dw, d_root, ws); });
}

/// Computes the gradient of slot `slot` from the gradients of all later slots.  The steps from `slot` to the last step
/// of w wrote the later slots.  Overwrites slot `slot` of d_memory at the positions of `support`.
template <backend Ex, class T>
void tree_shift_grad(Ex& ex, tree_positions<> const& where, tree_support const& support, tree_weights_view<T const> w,
                     index_t slot, tree_memory_view<T> d_memory) {
  TRIAD_EXPECTS(w.extent(0) > 0, "tree_shift_grad: weights of 0 steps, expected 1 or more");
  detail::expect_tree_weights(where, support, d_memory, w, w.extent(0) - 1);
  TRIAD_EXPECTS(slot >= 0 && slot < w.extent(2) && slot < d_memory.extent(0),
                "tree_shift_grad: slot " + std::to_string(slot) + ", expected one of the " +
                    std::to_string(w.extent(2)) + " slots that steps read and the " +
                    std::to_string(d_memory.extent(0)) + " of the memory");
  if constexpr (executes<Ex>) do_tree_shift_grad(ex, where, support, w, slot, d_memory);
}

}  // namespace triad
