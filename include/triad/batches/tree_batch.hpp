// Input and targets of a Differentiable Tree Machine: trees as symbols, position by position.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/core/sequences.hpp"
#include "triad/ops/tree_choice.hpp"
#include "triad/ops/tree_loss.hpp"

namespace triad {

/// Sizes of a batch, known to the host.
struct tree_dims {
  index_t batch = 0;
};
/// The counts of the dims, for core/batch_sizes.hpp.
template <class F>
constexpr void each_count(tree_dims& d, F&& f) {
  f.sum(d.batch, "trees");
}

/// A batch of trees, and the rest of what passes over it need.
template <class T>
struct tree_batch {
  tree_dims sizes;
  index_t positions = 0;              // N
  vec<index_t const> symbols;         // (batch N) 0: nothing
  tensor<T const, dyn, dyn> fillers;  // (v, f), row 0 zero
  tree_support support{};             // of the positions, by slot
  /// On the host: positions from bounds[k] on are empty in slot k; null: none is known to be empty.
  index_t const* bounds = nullptr;
  vec<index_t const> sample;       // (batch) 0, 1, 2 ...
  vec<index_t const> zero;         // (batch) 0
  vec<index_t const> size, first;  // (steps batch) step k: tokens_at(k) of each sample, and where they begin
  bool empty_tree = false;         // an argument may be it: it has a token, after those of the trees

  // Gumbel-softmax, of operations, of arguments or of both: noise that is added to the logits, or none, and the
  // temperature that they are then divided by.
  double operation_temperature = 1, argument_temperature = 1;
  double evenness = 0;                               // of choices, in the loss: counted in positions of a tree
  double recency = 0;                                // what a tree's score loses with each step that it is old
  choice_over over = choice_over::trees;             // what the softmax of the arguments is over
  tensor<T const, dyn, dyn, dyn> operation_noise{};  // (steps, batch, b + 1)
  tensor<T const, dyn, dyn, dyn> argument_noise{};   // (steps, batch, n 2 b), n choices of the last step; step k reads
                                                     // as many of the first columns as it has arguments

  tree_loss_options loss{};  // what a machine is trained with on this batch

  tree_dims const& dims() const { return sizes; }
  /// Of slot k only the first bound(k) positions may hold anything.
  index_t bound(index_t k) const { return bounds != nullptr ? bounds[k] : positions; }
  /// Tokens of a sample at step k: operation, root, and the choices of an argument.
  index_t tokens_at(index_t k) const { return tree_tokens_at(k, empty_tree); }
  /// The number of choices of an argument at step k: k + 1 trees, and the empty one.
  index_t choices_at(index_t k) const { return tree_choices_at(k, empty_tree); }
  /// The tokens of step k as sequences.
  sequence_batch tokens(index_t k) const {
    index_t const b = sizes.batch, each = tokens_at(k);
    auto const of_step = [&](vec<index_t const> v) {
      return vec<index_t const>(v.data_handle() ? v.data_handle() + k * b : nullptr, b);
    };
    return {b, b * each, each, of_step(size), of_step(first)};
  }
  /// How step k chooses.  Noise that there is has k + 1 steps or more.
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

  /// The views of the batch, for core/batch_views.hpp.
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
  /// A batch without memory, to measure with.
  static tree_batch measured(index_t batch, index_t positions, index_t steps, tensor<T const, dyn, dyn> fillers,
                             bool empty_tree = false) {
    auto const none = [](index_t n) { return vec<index_t const>(nullptr, n); };
    tree_batch made{{batch},     positions,           none(batch * positions), fillers, {}, nullptr, none(batch),
                    none(batch), none(steps * batch), none(steps * batch)};
    made.empty_tree = empty_tree;
    return made;
  }
};

/// The target symbols: (batch N), 0 where no node is.
struct tree_answers {
  vec<index_t const> symbols;

  template <class F>
  void each(F&& f) {
    f(symbols);
  }
};

}  // namespace triad
