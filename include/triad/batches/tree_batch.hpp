// The input and targets of a Differentiable Tree Machine.  Both are trees, stored as arrays with a symbol at each
// position.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/sequences.hpp"
#include "triad/ops/tree_choice.hpp"
#include "triad/ops/tree_loss.hpp"

namespace triad {

/// The sizes of a batch.  The host knows these sizes.
struct tree_dims {
  index_t batch = 0;
};
/// Lists the sizes for core/batch_sizes.hpp.
template <class F>
constexpr void each_count(tree_dims& d, F&& f) {
  f.sum(d.batch, "trees");
}

/// A batch of trees, and all other data that a forward or backward pass over the trees needs.
template <class T>
struct tree_batch {
  tree_dims sizes;
  index_t positions = 0;              // N
  vec<index_t const> symbols;         // (batch N) the symbol at each position; 0: no node
  tensor<T const, dyn, dyn> fillers;  // (v, f) one filler for each symbol; row 0 is zero
  tree_support support{};             // the positions that may hold a node, for each slot
  /// In slot k, all positions from bounds[k] on are empty.  The array is on the host.  If `bounds` is null, no position
  /// is known to be empty.
  index_t const* bounds = nullptr;
  vec<index_t const> sample;       // (batch) 0, 1, 2 ...
  vec<index_t const> zero;         // (batch) 0
  vec<index_t const> size, first;  // (steps batch) for each sample at step k: tokens_at(k), and the index of its first
                                   // token
  bool empty_tree = false;         // whether an argument may be the empty tree; its token follows the tokens of the
                                   // trees

  // Gumbel-softmax for operations, for arguments or for both.  The noise, if there is any, is added to the logits.
  // Then the logits are divided by the temperature.
  double operation_temperature = 1, argument_temperature = 1;
  double evenness = 0;                    // weight in the loss of the evenness of choices; the unit is one position of
                                          // a tree
  double recency = 0;                     // subtracted from a tree's score for each step since the tree was written
  choice_over over = choice_over::trees;  // the axis of the softmax of the arguments
  tensor<T const, dyn, dyn, dyn> operation_noise{};  // (steps, batch, b + 1)
  tensor<T const, dyn, dyn, dyn> argument_noise{};   // (steps, batch, n 2 b) for the n choices at the last step; step k
                                                     // reads only the first columns, as many as its choices need

  tree_loss_options loss{};  // the loss with which a machine is trained on this batch

  tree_dims const& dims() const { return sizes; }
  /// Returns the number of positions of slot k that may hold a node.  Later positions are empty.
  index_t bound(index_t k) const { return bounds != nullptr ? bounds[k] : positions; }
  /// Returns the number of tokens of a sample at step k: one for the operation, one for the root, and one for each
  /// choice of an argument.
  index_t tokens_at(index_t k) const { return tree_tokens_at(k, empty_tree); }
  /// Returns the number of choices of an argument at step k: k + 1 trees, and the empty tree if it may be an argument.
  index_t choices_at(index_t k) const { return tree_choices_at(k, empty_tree); }
  /// Returns the tokens of step k as sequences.
  sequence_batch tokens(index_t k) const {
    index_t const b = sizes.batch, each = tokens_at(k);
    auto const of_step = [&](vec<index_t const> v) {
      return vec<index_t const>(v.data_handle() ? v.data_handle() + k * b : nullptr, b);
    };
    return {b, b * each, each, of_step(size), of_step(first)};
  }
  /// Returns the options of the choice at step k.  Noise, if there is any, must have at least k + 1 steps.
  tree_choice_options<T> choice(index_t k) const {
    tree_choice_options<T> t{over, operation_temperature, argument_temperature};
    if (evenness > 0) t.evenness = evenness / (static_cast<double>(sizes.batch) * static_cast<double>(positions));
    t.empty_tree = empty_tree;
    t.recency = recency;
    auto const rows = [&](tensor<T const, dyn, dyn, dyn> const& v, index_t columns) {
      TRIAD_EXPECTS(k < v.extent(0), "tree_batch: noise of " + std::to_string(v.extent(0)) + " steps, expected " +
                                         std::to_string(k + 1) + " or more, one for each step of the machine");
      return make_matrix(v.data_handle() + k * v.extent(1) * v.extent(2), v.extent(1), columns, v.extent(2));
    };
    if (operation_noise.size() != 0) t.operation_noise = rows(operation_noise, operation_noise.extent(2));
    if (argument_noise.size() != 0) {
      index_t const columns = argument_noise.extent(2) / choices_at(argument_noise.extent(0) - 1);  // 2 b
      t.argument_noise = rows(argument_noise, columns * choices_at(k));
    }
    return t;
  }

  /// Lists the views of the batch for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    f.value(sizes.batch, operation_temperature, argument_temperature, static_cast<index_t>(over), evenness, recency,
            static_cast<index_t>(empty_tree), static_cast<index_t>(loss.distance), loss.floor, loss.empty_weight);
    f.table(fillers);
    f.maybe(support.first);
    f.maybe(support.since);
    for (auto* view : {&symbols, &sample, &zero, &size, &first}) f(*view);
    f.maybe(operation_noise);
    f.maybe(argument_noise);
    index_t const steps = sizes.batch > 0 ? static_cast<index_t>(size.extent(0)) / sizes.batch : 0;
    for (index_t k = 0; k < steps; ++k) f.value(bound(k));
  }
  /// Returns a batch for planning memory.  The views of the batch have no memory.
  static tree_batch measured(index_t batch, index_t positions, index_t steps, tensor<T const, dyn, dyn> fillers,
                             bool empty_tree = false) {
    auto const none = [](index_t n) { return vec<index_t const>(nullptr, n); };
    tree_batch made{{batch},     positions,           none(batch * positions), fillers, {}, nullptr, none(batch),
                    none(batch), none(steps * batch), none(steps * batch)};
    made.empty_tree = empty_tree;
    return made;
  }
};

/// The target symbols (batch N).  The symbol is 0 if the position has no node.
struct tree_answers {
  vec<index_t const> symbols;

  template <class F>
  void each(F&& f) {
    f(symbols);
  }
};

}  // namespace triad
