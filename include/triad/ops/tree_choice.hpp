// The soft choice of a tree operation and of its arguments.  Computes the weights of all operations and trees from the
// logits of an agent.
// SPDX-License-Identifier: Apache-2.0
//
// A node of a tree has up to b children.  Operation c < b takes child c of its argument, which is a tree.  Operation b
// is cons, which has b arguments.  So there are 2 b arguments in all, with one column for each.  Column c belongs to
// operation j(c), which is c if c < b, and b otherwise.  Step k chooses each argument among n trees: the trees l = 0 ..
// k and, as an option, the empty tree l = k + 1.  An operation on the empty tree adds nothing, so ops/tree_shift.hpp
// does not read the weight of the empty tree.
//
//   o = softmax((a + noise) / t)                     a, o (batch, b + 1)
//   p(l, c) = softmax over l of (z + noise) / t      z, p (batch, n, 2 b); with another noise and t than o
//   w(l, c) = o(j(c)) p(l, c);  r = o(b) s           input of ops/tree_shift.hpp; s (batch, f): the root of cons
//
//   do(j) = sum_{c: j(c) = j} sum_l p dw  (+ s . dr where j = b),  dp = o(j(c)) dw,  ds = o(b) dr
//   followed by the gradients of both softmaxes
//
// Evenness e adds a penalty to the loss: e times the sum of KL(u | p) = -1/n sum_i log p_i - log n.  The sum is over
// all choices p among n trees, and u is the uniform distribution.  The gradient of the penalty with respect to the
// scores is e (p - u) / t.  This gradient does not vanish if one p_i is close to 1, unlike the gradient of an entropy.
// So the penalty corrects choices that became certain too early.
//
// With recency r, step k subtracts r (k - l) from the scores z of each tree l that an earlier step wrote.  The scores
// of the input and of the empty tree do not change.  Before training, a choice gives all trees nearly the same weight.
// Without recency, most steps then read the trees of the first steps, so the first steps are trained first.  But no
// earlier step can prepare the arguments of the first steps.  With recency, the tree of a step is mostly read by the
// steps that follow directly.
//
// Gumbel-softmax adds noise to the logits and divides by a temperature t, for operations, for arguments, or for both.
// With Gumbel-softmax, the program that the authors released takes the softmax of z over the columns of each tree, so
// the weights of a column do not sum to one.  choice_over::arguments selects this softmax.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/tree_shift.hpp"

namespace triad {

/// The axis of the softmax of the arguments.  trees: over the trees, for each column.  arguments: over the columns, for
/// each tree.
enum class choice_over { trees, arguments };

/// Returns n, the number of choices of an argument at step k: k + 1 trees, and the empty tree if `empty_tree` is true.
TRIAD_HOST_DEVICE constexpr index_t tree_choices_at(index_t k, bool empty_tree) { return k + 1 + (empty_tree ? 1 : 0); }

/// The number of tokens of a sample that do not represent a tree: one for the operation and one for the root.
inline constexpr index_t tree_fixed_tokens = 2;
/// Returns the number of tokens of a sample at step k.
TRIAD_HOST_DEVICE constexpr index_t tree_tokens_at(index_t k, bool empty_tree) {
  return tree_fixed_tokens + tree_choices_at(k, empty_tree);
}

/// Options of the choice.  Operations and arguments each have a temperature, and optional noise.
template <class T>
struct tree_choice_options {
  choice_over over = choice_over::trees;  // the axis of the softmax of the arguments
  double operation_temperature = 1, argument_temperature = 1;
  double evenness = 0;                                     // e, for each sample; only the gradients contain the penalty
  matrix<T const> operation_noise = no_matrix<T const>();  // (batch, b + 1) or none
  matrix<T const> argument_noise = no_matrix<T const>();   // (batch, n 2 b) or none
  bool empty_tree = false;                                 // whether the empty tree is one more choice
  double recency = 0;                                      // r

  /// Returns n, the number of choices at step k.
  TRIAD_HOST_DEVICE constexpr index_t choices_at(index_t k) const { return tree_choices_at(k, empty_tree); }
  /// Returns the number that step k subtracts from the scores of tree l for recency.
  TRIAD_HOST_DEVICE constexpr T charge(index_t k, index_t l) const {
    return l == 0 || l > k ? T(0) : static_cast<T>(recency) * static_cast<T>(k - l);
  }
};

/// The agent's logits of a step, or their gradient.
template <class S>
struct tree_logits {
  matrix<S> operation;  // (batch, b + 1)
  matrix<S> arguments;  // (batch, n 2 b): for each tree its 2 b scores; n is k + 1, or k + 2 with an empty tree
  matrix<S> root;       // (batch, f)
};

/// The probabilities of the choices.  `operation` is for one step, and `arguments` is for all steps.
template <class S>
struct tree_choices {
  matrix<S> operation;             // (batch, b + 1)
  tree_weights_view<S> arguments;  // (steps, batch, slots, 2 b)
};

namespace detail {
inline void expect_temperature(char const* name, double value) {
  TRIAD_EXPECTS(!is_nan(value) && value > 0,
                std::string("tree_choice: ") + name + " is " + std::to_string(value) + ", expected more than 0");
}
template <class T, class W>
void expect_step(char const* operation, tree_choice_options<T> const& options, index_t step, W const& weights) {
  TRIAD_EXPECTS(step >= 0 && step < weights.extent(0), std::string(operation) + ": step is " + std::to_string(step) +
                                                           ", expected 0 to " + std::to_string(weights.extent(0) - 1));
  TRIAD_EXPECTS(options.choices_at(step) <= weights.extent(2),
                std::string(operation) + ": step " + std::to_string(step) + " chooses from " +
                    std::to_string(options.choices_at(step)) + " trees, expected at most " +
                    std::to_string(weights.extent(2)) + ", the slots of the weights");
}
template <class T, class S>
void expect_choice(tree_choice_options<T> const& options, index_t step, tree_logits<S> const& x, index_t batch,
                   index_t arguments) {
  expect_shape("tree_choice", "operation", x.operation, {batch, arguments / 2 + 1});
  // (batch, (step + 1) 2 b); (batch, (step + 2) 2 b) with an empty tree
  expect_shape("tree_choice", "arguments", x.arguments, {batch, options.choices_at(step) * arguments});
  expect_unit_stride("tree_choice", "arguments", x.arguments);
  expect_extent("tree_choice", "rows of root", x.root.extent(0), batch);
  expect_temperature("operation_temperature", options.operation_temperature);
  expect_temperature("argument_temperature", options.argument_temperature);
  TRIAD_EXPECTS(!is_nan(options.evenness) && options.evenness >= 0,
                "tree_choice: evenness is " + std::to_string(options.evenness) + ", expected 0 or more");
  TRIAD_EXPECTS(!is_nan(options.recency) && options.recency >= 0,
                "tree_choice: recency is " + std::to_string(options.recency) + ", expected 0 or more");
  if (options.operation_noise.extent(0) != 0)
    expect_same_shape("tree_choice", "operation_noise", options.operation_noise, x.operation);
  if (options.argument_noise.extent(0) != 0)
    expect_same_shape("tree_choice", "argument_noise", options.argument_noise, x.arguments);
}
}  // namespace detail

/// Computes the choices of a step.  Overwrites chosen.operation and weighted_root (batch, f).  Also overwrites slice
/// `step` of chosen.arguments and of `weights`, which are (steps, batch, slots, 2 b).
template <backend Ex, class T>
void tree_choice(Ex& ex, tree_choice_options<T> const& options, index_t step, tree_logits<T const> const& x,
                 tree_choices<T> const& chosen, tree_weights_view<T> weights, matrix<T> weighted_root) {
  detail::expect_choice(options, step, x, weights.extent(1), weights.extent(3));
  expect_same_shape("tree_choice", "chosen.operation", chosen.operation, x.operation);
  expect_same_shape("tree_choice", "chosen.arguments", chosen.arguments, weights);
  detail::expect_step("tree_choice", options, step, weights);
  expect_same_shape("tree_choice", "weighted_root", weighted_root, x.root);
  if constexpr (executes<Ex>) do_tree_choice(ex, options, step, x, chosen, weights, weighted_root);
}

/// Computes the gradients of a step's logits.  Overwrites dx.  Reads d_weighted_root and slice `step` of d_weights,
/// including the gradients of the weights of the empty tree.
template <backend Ex, class T>
void tree_choice_grad(Ex& ex, tree_choice_options<T> const& options, index_t step, matrix<T const> root,
                      tree_choices<T const> const& chosen, tree_weights_view<T const> d_weights,
                      matrix<T const> d_weighted_root, tree_logits<T> const& dx) {
  detail::expect_choice(options, step, dx, d_weights.extent(1), d_weights.extent(3));
  expect_same_shape("tree_choice_grad", "chosen.operation", chosen.operation, dx.operation);
  expect_same_shape("tree_choice_grad", "chosen.arguments", chosen.arguments, d_weights);
  detail::expect_step("tree_choice_grad", options, step, d_weights);
  expect_same_shape("tree_choice_grad", "d_weighted_root", d_weighted_root, dx.root);
  expect_same_shape("tree_choice_grad", "root", root, dx.root);
  if constexpr (executes<Ex>) do_tree_choice_grad(ex, options, step, root, chosen, d_weights, d_weighted_root, dx);
}

}  // namespace triad
