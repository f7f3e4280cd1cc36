// The soft tree operations of a Differentiable Tree Machine over canonical roles: blend a memory of trees, shift, weigh, in one pass.
// SPDX-License-Identifier: Apache-2.0
//
// Trees of branching b are (N, f), one filler a position (tree/positions.hpp); a memory is (m, batch, N, f).  With a weight for every
// tree of the first l slots and each of the 2 b arguments, the b trees that a child is taken of and the b arguments of cons:
//
//   y = sum_l [ sum_c w(l, c) D_c M_l  +  sum_c w(l, b + c) E_c M_l ]  +  s at the root                        DTM eq. 1, its operations'
//                                                                                                             weights already in w and s
// D_c and E_c move blocks of rows: a row of M is read once and goes to at most 1 + b rows of y.
//
//   dw(l, c) = <D_c M_l, dy>,  dw(l, b + c) = <E_c M_l, dy>,  ds = dy at the root          tree_shift_dots
//   dM_l = sum over the steps k that read it of  sum_c w_k(l, c) D_c' dy_k + w_k(l, b + c) E_c' dy_k         tree_shift_grad
//
// A step writes the slot after those that it reads, so dy_k is dM_{k+1}: the gradient of slot l is complete once those of all later
// slots are, and is made in one go instead of a little at every step.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"
#include "triad/tree/positions.hpp"

namespace triad {

/// Which positions may hold anything, by slot: a bound from the shapes of the first trees.  Empty: all.  Rows of other positions are
/// zero in every tree of the slot.
struct tree_support {
  vec<std::uint8_t const> first{nullptr, 0};  // (N) 1 where a tree of slot 0 has a filler
  vec<index_t const> since{nullptr, 0};       // (N) the first slot after that whose trees may have one

  constexpr bool empty() const { return since.extent(0) == 0; }
  TRIAD_HOST_DEVICE constexpr bool has(index_t slot, index_t position) const {
    return since.extent(0) == 0 || (slot == 0 ? first(position) != 0 : since(position) <= slot);
  }
};

template <class S>
using tree_batch_view = tensor<S, dyn, dyn, dyn>;  // (batch, N, f)
template <class S>
using tree_memory_view = tensor<S, dyn, dyn, dyn, dyn>;  // (m, batch, N, f)

/// Slot `slot` of a memory.
template <class S>
TRIAD_HOST_DEVICE constexpr tree_batch_view<S> tree_slot(tree_memory_view<S> const& memory, index_t slot) {
  index_t const batch = memory.extent(1), positions = memory.extent(2), f = memory.extent(3);
  return tree_batch_view<S>(memory.data_handle() + slot * batch * positions * f, batch, positions, f);
}

namespace detail {
template <class Memory, class Weights>
void expect_tree_weights(tree_positions<> const& where, tree_support const& support, Memory const& memory, Weights const& w) {
  TRIAD_EXPECTS(memory.extent(2) == where.count(), "tree_shift: a tree has one filler a position");
  TRIAD_EXPECTS(w.extent(0) == memory.extent(1) && w.extent(2) == 2 * where.branching(), "tree_shift: weights are (batch, slots, 2 b)");
  TRIAD_EXPECTS(w.extent(1) > 0 && w.extent(1) <= memory.extent(0), "tree_shift: there are weights for more slots than there are, or for none");
  TRIAD_EXPECTS(support.empty() || (support.since.extent(0) == where.count() && support.first.extent(0) == where.count()),
                "tree_shift: support has one entry a position");
}
}  // namespace detail

/// w (batch, l, 2 b) over the first l slots of `memory` and root (batch, f): overwrites slot l of `memory`, zeros included.
template <backend Ex, class T>
void tree_shift(Ex& ex, tree_positions<> const& where, tree_support const& support, tensor<T const, dyn, dyn, dyn> w, matrix<T const> root,
                tree_memory_view<T> memory) {
  detail::expect_tree_weights(where, support, memory, w);
  TRIAD_EXPECTS(w.extent(1) < memory.extent(0), "tree_shift: there is no slot for the new tree");
  TRIAD_EXPECTS(root.extent(0) == memory.extent(1) && root.extent(1) == memory.extent(3), "tree_shift: the root's filler is (batch, f)");
  if constexpr (executes<Ex>) do_tree_shift(ex, where, support, w, root, memory);
}

/// The gradients of w and root from dy, the gradient of the tree in slot l: overwrites dw (batch, l, 2 b) and d_root (batch, f).
template <backend Ex, class T>
void tree_shift_dots(Ex& ex, tree_positions<> const& where, tree_support const& support, tree_memory_view<T const> memory,
                     tree_batch_view<T const> dy, tensor<T, dyn, dyn, dyn> dw, matrix<T> d_root) {
  detail::expect_tree_weights(where, support, memory, dw);
  TRIAD_EXPECTS(dy.extent(0) == memory.extent(1) && dy.extent(1) == memory.extent(2) && dy.extent(2) == memory.extent(3),
                "tree_shift_dots: dy is (batch, N, f), as a slot of the memory is");
  TRIAD_EXPECTS(d_root.extent(0) == memory.extent(1) && d_root.extent(1) == memory.extent(3), "tree_shift_dots: the root's filler is (batch, f)");
  if constexpr (executes<Ex>) do_tree_shift_dots(ex, where, support, memory, dy, dw, d_root);
}

/// Overwrites slot `slot` of d_memory where support has it, from the later slots.  w (steps, batch, m, 2 b): step k reads slots
/// 0 .. k and writes k + 1; steps `slot` .. `steps` - 1 count.
template <backend Ex, class T>
void tree_shift_grad(Ex& ex, tree_positions<> const& where, tree_support const& support, tree_memory_view<T const> w, index_t slot,
                     tree_memory_view<T> d_memory) {
  index_t const steps = w.extent(0);
  TRIAD_EXPECTS(d_memory.extent(2) == where.count(), "tree_shift_grad: a tree has one filler a position");
  TRIAD_EXPECTS(w.extent(1) == d_memory.extent(1) && w.extent(3) == 2 * where.branching(), "tree_shift_grad: weights are (steps, batch, slots, 2 b)");
  TRIAD_EXPECTS(slot >= 0 && slot < w.extent(2) && steps < d_memory.extent(0), "tree_shift_grad: slots are those of the memory, one more than steps at least");
  if constexpr (executes<Ex>) do_tree_shift_grad(ex, where, support, w, slot, d_memory);
}

}  // namespace triad
