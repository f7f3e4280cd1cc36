// The soft choice of a tree operation and of its arguments: computes the weights of operations and trees from the
// logits of an agent.
// SPDX-License-Identifier: Apache-2.0
//
// Trees have branching b.  Operation c < b takes child c of a tree; operation b is cons, which has b arguments.  So
// there are 2 b columns of arguments.  Column c belongs to operation j(c), which is c if c < b, and b otherwise.  Step
// k chooses among n trees: l = 0 .. k and, as an option, the empty tree, l = k + 1.  An operation on the empty tree
// adds nothing, so ops/tree_shift.hpp does not read its weight.
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
// scores is e (p - u) / t.  Unlike the gradient of an entropy, it does not vanish if one p_i is close to 1.  So it
// corrects choices that became certain too early.
//
// Recency r subtracts r (k - l) from the scores z of each tree l that an earlier step wrote.  The scores of the input
// and of the empty tree do not change.  Without recency, an undecided choice gives all trees the same weight, so most
// steps read the trees of the first steps.  The first steps then learn first, but there is no earlier step that could
// prepare their arguments.  With recency, it is mostly the next steps that read the tree of a step.
//
// Gumbel-softmax adds noise and a temperature t to operations, to arguments, or to both.  With Gumbel-softmax, the
// released program takes the softmax of z over the columns of each tree, so the weights of a column do not sum to one.
// choice_over::arguments does the same.
#pragma once

#include "triad/core/backend.hpp"
#include "triad/core/finite.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/tree_shift.hpp"

namespace triad {

/// The axis of the softmax of the arguments.  trees: over the trees, for each column.  arguments: over the columns, for
/// each tree.
enum class choice_over { trees, arguments };

/// n, the number of choices of an argument at step k: k + 1 trees, and the empty tree if there is one.
TRIAD_HOST_DEVICE constexpr index_t tree_choices_at(index_t k, bool empty_tree) { return k + 1 + (empty_tree ? 1 : 0); }

/// The number of a sample's tokens that represent no tree: one for the operation and one for the root.
inline constexpr index_t tree_fixed_tokens = 2;
/// The number of a sample's tokens at step k.
TRIAD_HOST_DEVICE constexpr index_t tree_tokens_at(index_t k, bool empty_tree) {
  return tree_fixed_tokens + tree_choices_at(k, empty_tree);
}

/// Options of the choice.  Operations and arguments each have a temperature, and optional noise.
template <class T>
struct tree_choice_options {
  choice_over over = choice_over::trees;  // the axis of the softmax of the arguments
  double operation_temperature = 1, argument_temperature = 1;
  double evenness = 0;  // e, for each sample; only gradients include the penalty, no value does
  matrix<T const> operation_noise = no_matrix<T const>();  // (batch, b + 1) or none
  matrix<T const> argument_noise = no_matrix<T const>();   // (batch, n 2 b) or none
  bool empty_tree = false;                                 // whether the empty tree is one more choice
  double recency = 0;                                      // r

  /// n, the number of choices at step k.
  TRIAD_HOST_DEVICE constexpr index_t choices_at(index_t k) const { return tree_choices_at(k, empty_tree); }
  /// The recency that step k subtracts from the scores of tree l.
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

/// The probabilities of the choices: `operation` of one step, `arguments` of all steps.
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

/// Computes the choices of a step.  Overwrites chosen.operation, the step's part of chosen.arguments and of `weights`
/// (steps, batch, slots, 2 b), and weighted_root (batch, f).
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

/// Computes the gradients of a step's logits.  Overwrites dx.  Reads d_weighted_root and the step's part of d_weights,
/// including the gradients of the empty tree's weights.
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
