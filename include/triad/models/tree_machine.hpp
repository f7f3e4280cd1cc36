// The Differentiable Tree Machine.  In every step, an agent gives weights to tree operations and to their arguments.
// The weighted result is a new tree, which is added to the memory.
// SPDX-License-Identifier: Apache-2.0
//
//   M_0 = the input tree;  the tokens at the start: one for the operation, one for the root
//   step k:  a new token  W_shrink flat(M_k) + b
//            tokens, operation, arguments, root = agent_k(tokens)
//            M_{k+1} = interpreter(M_0 .. M_k, softmax of operation and arguments, root)       DTM eq. 1
//   scores of symbols: products of M_steps with the fillers
//
// The root that cons writes is the agent's output, as in the released program, or the softmax of this output.  The
// softmax is a distribution over symbols.  Without the softmax, a root vector with a large norm can make up for a small
// weight of cons.  In this case the scores of symbols are not probabilities.
//
// In the paper, the memory has the input and the results of the steps.  To make a tree with only one child, cons needs
// an empty tree as the argument for the missing child.  A machine must first make an empty tree, by car or cdr of a
// tree that lacks this child.  Our option `empty_tree` adds a token that represents the empty tree.  With this option,
// an argument can be the empty tree from the first step on:
//
//   tokens of step k: operation, root, T_0 .. T_k, empty tree
//
// All operations except the agent are linear in the trees.  The gradient of W_shrink is one product over all steps.
// The gradient of a tree is computed after the gradients of all later trees.
#pragma once

#include <algorithm>
#include <string>

#include "triad/batches/tree_batch.hpp"
#include "triad/core/series.hpp"
#include "triad/core/sizes.hpp"
#include "triad/core/views.hpp"
#include "triad/layers/tree/agent.hpp"
#include "triad/layers/tree/interpreter.hpp"
#include "triad/layers/wide_linear.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/softmax.hpp"
#include "triad/ops/tree_choice.hpp"
#include "triad/ops/tree_loss.hpp"
#include "triad/ops/tree_shift.hpp"

namespace triad {

/// The root that cons writes: the agent's scores, or the softmax of the scores.
enum class tree_root { scores, distribution };

struct tree_machine_options {
  index_t steps = 1;
  index_t symbols = 0;  // v, including <empty>
  /// Whether the fillers are unit vectors, with zero for <empty>.  If so, the scores of symbols are equal to the trees.
  bool unit_fillers = false;
  tree_agent_options agent{};
  tree_root root = tree_root::scores;  // distribution requires unit_fillers
  bool empty_tree = false;             // whether an argument may be the empty tree at every step
};

template <class T, class Interpreter = tree_interpreter<T>, index_t D = dyn, index_t H = dyn, index_t F = dyn>
struct tree_machine {
  using agent_type = neural_tree_agent<T, D, H, F>;
  using value_type = T;
  using planned_with = tree_dims;
  using input = tree_batch<T>;
  using output = tensor<T, dyn, dyn>;  // (batch N, v): scores of symbols
  using answers = tree_answers;
  using states = tensor<T, dyn, D>;  // (rows, d)

  Interpreter interpreter;
  index_t positions;  // N
  index_t steps, symbols;
  bool unit_fillers;
  tree_root root;
  bool empty_tree;
  repeat<T, agent_type> agents;  // only for parameters; tree_machine runs the agents, because sizes differ by step
  wide_linear<T, D> shrink;

  tree_machine(Interpreter operations, index_t tree_positions, tree_machine_options const& options)
      : interpreter(operations),
        positions(tree_positions),
        steps(options.steps),
        symbols(checked_size("tree_machine", {"symbols", options.symbols})),
        unit_fillers(options.unit_fillers),
        root(options.root),
        empty_tree(options.empty_tree),
        agents{agent_type(options.agent), extents_of<dyn>("tree_machine", {"steps", options.steps, most_repeats}),
               false},
        shrink{checked_product("tree_machine", "rows and fillers", operations.rows(), options.agent.fillers),
               extents_of<D>("tree_machine", {"width", options.agent.layer.width})} {
    TRIAD_EXPECTS(options.symbols > 1, "tree_machine: symbols are " + std::to_string(options.symbols) +
                                           ", expected 2 or more, <empty> and another");
    expect_extent("tree_machine", "arguments of the interpreter", operations.arguments(), 2 * options.agent.branching);
    expect_extent("tree_machine", "positions of the interpreter", operations.position_count(), tree_positions);
    TRIAD_EXPECTS(!options.unit_fillers || options.symbols == options.agent.fillers,
                  "tree_machine: unit fillers of width " + std::to_string(options.agent.fillers) + ", expected " +
                      std::to_string(options.symbols) + ", the symbols");
    TRIAD_EXPECTS(
        options.unit_fillers || options.root == tree_root::scores,
        "tree_machine: a root that is a distribution of symbols, expected unit fillers with it; set unit_fillers");
  }

  constexpr agent_type const& agent() const { return agents.layer; }
  constexpr index_t width() const { return agent().width(); }
  constexpr index_t fillers() const { return agent().fillers; }
  constexpr index_t branching() const { return agent().branching; }
  /// The number of choices for an argument at step k.  The empty tree counts if the machine has one.
  constexpr index_t choices_at(index_t k) const { return tree_choices_at(k, empty_tree); }
  /// The number of tokens of a sample at step k.
  constexpr index_t tokens_at(index_t k) const { return tree_tokens_at(k, empty_tree); }
  /// The number of tokens of a sample at all steps before step k.
  constexpr index_t tokens_before(index_t k) const {
    index_t count = 0;
    for (index_t i = 0; i < k; ++i) count += tokens_at(i);
    return count;
  }

  template <class S>
  struct fields {
    tensor<S, D> operation_token, root_token;  // (d)
    tensor<S, D> empty_token;                  // (d); without memory if the machine has no empty tree
    fields_of<wide_linear<T, D>, S> shrink;
    fields_of<repeat<T, agent_type>, S> agents;
    fields_of<Interpreter, S> interpreter;
    bool empty_tree;
    template <class V>
    void each(V&& f) {
      f("operation_token", operation_token);
      f("root_token", root_token);
      if (empty_tree) f("empty_token", empty_token);
      f("shrink", shrink);
      f("agents", agents);
      f("interpreter", interpreter);
    }
  };
  /// The values that one step saves.
  struct step_saved {
    states in, out;  // (batch tokens, d) each: the tokens before and after the agent
    typename agent_type::saved agent;
  };
  struct step_plan {
    agent_type agent;
    index_t batch, first_tokens;  // first_tokens: the number of tokens of a sample at step 0
    keep kept;
    step_saved operator()(arena& place, index_t k) const {
      index_t const rows = batch * (first_tokens + k), width = agent.width();
      return {place.make<states>(rows, width), place.make<states>(rows, width),
              agent.plan_saved(place, row_dims(rows), kept)};
    }
  };
  struct saved {
    index_t batch;
    keep kept;
    tree_memory_view<T> memory;           // (steps + 1, batch, rows, f)
    tree_weights_view<T> arguments;       // (steps, batch, n, 2 b): probabilities; n: choices at the last step
    tree_weights_view<T> weights;         // the probabilities of arguments times the probabilities of operations
    tensor<T, dyn, dyn, dyn> operations;  // (steps, batch, b + 1): probabilities
    tensor<T, dyn, dyn, dyn> roots;       // (steps, batch, f): computed by the agent
    series<step_plan> rest;

    /// operation() returns the probabilities of the operations of step k, (batch, b + 1).  root() returns the roots of
    /// step k, (batch, f).
    tensor<T, dyn, dyn> operation(index_t k) const { return slice(operations, k); }
    tensor<T, dyn, dyn> root(index_t k) const { return slice(roots, k); }
    /// Returns the tokens of step k and the values that the agent saved.  In inference, step k + 2 overwrites these
    /// values.
    step_saved at(index_t k) const { return rest.at(k); }
    tree_choices<T> choices(index_t k) const { return {as_matrix(operation(k)), arguments}; }
  };

  template <class S = T>
  fields<S> plan_params(arena& place) const {
    return {.operation_token = place.make<tensor<S, D>>(width()),
            .root_token = place.make<tensor<S, D>>(width()),
            .empty_token = empty_tree ? place.make<tensor<S, D>>(width()) : tensor<S, D>(nullptr, width()),
            .shrink = plan<S>(shrink, place),
            .agents = plan<S>(agents, place),
            .interpreter = plan<S>(interpreter, place),
            .empty_tree = empty_tree};
  }
  saved plan_saved(arena& place, tree_dims const& d, keep kept = keep::everything) const {
    index_t const slots = kept == keep::nothing && steps > 2 ? 2 : steps;  // inference reads only the previous step
    return {.batch = d.batch,
            .kept = kept,
            .memory = place.make<tree_memory_view<T>>(steps + 1, d.batch, interpreter.rows(), fillers()),
            .arguments = plan_weights(place, d.batch),
            .weights = plan_weights(place, d.batch),
            .operations = place.make<tensor<T, dyn, dyn, dyn>>(steps, d.batch, branching() + 1),
            .roots = place.make<tensor<T, dyn, dyn, dyn>>(steps, d.batch, fillers()),
            .rest = plan_series(place, step_plan{agent(), d.batch, tokens_at(0), kept}, steps, slots)};
  }
  output plan_output(arena& place, tree_dims const& d) const {
    return place.make<output>(d.batch * positions, symbols);
  }

  template <backend Ex>
  void forward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, output const& scores) const {
    TRIAD_EXPECTS(in.empty_tree == empty_tree, std::string("tree_machine: a batch ") +
                                                   (in.empty_tree ? "with" : "without") +
                                                   " an empty tree, expected one " + (empty_tree ? "with" : "without") +
                                                   " it; make the loader with the machine's empty_tree");
    TRIAD_EXPECTS(in.size.extent(0) >= steps * in.sizes.batch,
                  "tree_machine: a batch for up to " +
                      std::to_string(in.sizes.batch > 0 ? in.size.extent(0) / in.sizes.batch : 0) +
                      " steps, expected " + std::to_string(steps) +
                      " or more; set tree_loader_options::steps to the machine's");
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const batch = in.sizes.batch;
    auto const pass = pass_of(in, s);
    auto const weight = shrink.lay_out(ex, scratch, w.shrink, most_used(in, 0));
    interpreter.bind(ex, w.interpreter, in.fillers, in.symbols, scratch, pass);
    for (index_t k = 0; k < steps; ++k) {
      auto const step = scratch.open();
      auto const now = s.at(k);
      index_t const tokens = tokens_at(k);
      gather_tokens(ex, w, in, s, k, now.in);
      auto const fresh = scratch.make<states>(batch, width());
      shrink.forward(ex, c, w.shrink, weight, flat(read_only(tree_slot(s.memory, k))), used(in, k), fresh);
      gather_rows(ex, fresh, in.sample, agent_type::token(now.in, tokens, newest_at(k)));

      auto const operation = scratch.make<tensor<T, dyn, dyn>>(batch, branching() + 1);
      auto const arguments = scratch.make<tensor<T, dyn, dyn>>(batch * tokens, 2 * branching());
      auto const weighted_root = scratch.make<tensor<T, dyn, dyn>>(batch, fillers());
      agent().forward(ex, c.child(k), w.agents.at(k), {now.in, in.tokens(k)}, tokens, now.agent, now.out,
                      as_matrix(operation), as_matrix(s.root(k)), as_matrix(arguments));
      if (root == tree_root::distribution) softmax(ex, s.root(k), s.root(k));
      tree_logits<T const> const logits{as_matrix(read_only(operation)),
                                        agent().of_trees(as_matrix(read_only(arguments)), tokens),
                                        as_matrix(read_only(s.root(k)))};
      tree_choice(ex, in.choice(k), k, logits, s.choices(k), s.weights, as_matrix(weighted_root));
      interpreter.forward(ex, c, w.interpreter, pass, k, as_matrix(read_only(weighted_root)));
    }
    auto const found = interpreter.unbind(ex, w.interpreter, scratch, pass, steps);
    if (unit_fillers)
      transform(ex, unchanged{}, reshape(found, found.extent(0), found.extent(1)), scores);
    else
      matmul(ex, found, transposed(in.fillers), scores);
  }

  template <backend Ex>
  void backward(Ex& ex, call const& c, fields<T const> w, input const& in, saved const& s, const_view<output> d_scores,
                fields<T> gradient) const {
    auto& scratch = *c.scratch;
    auto const frame = scratch.open();
    index_t const batch = in.sizes.batch;
    auto const pass = pass_of(in, s);
    auto const d_memory = scratch.make<tree_memory_view<T>>(steps + 1, batch, interpreter.rows(), fillers());
    auto const d_weights = plan_weights(scratch, batch);
    auto const d_fresh =
        scratch.make<tensor<T, dyn, dyn, D>>(steps, batch, width());  // the gradients of the new token of each step
    auto const widest = batch * tokens_at(steps - 1);
    auto const d_out = scratch.make<tensor<T, dyn, dyn>>(widest, width()),
               d_in = scratch.make<tensor<T, dyn, dyn>>(widest, width());
    {
      auto const inner = scratch.open();
      auto d = as_matrix(d_scores);
      if (!unit_fillers) {
        auto const of_fillers = scratch.make<tensor<T, dyn, dyn>>(batch * positions, fillers());
        matmul(ex, d_scores, in.fillers, of_fillers);
        d = as_matrix(read_only(of_fillers));
      }
      interpreter.unbind_grad(ex, w.interpreter, d, tree_slot(d_memory, steps));
    }
    auto const weight = steps > 1 ? shrink.lay_out(ex, scratch, w.shrink, most_used(in, 1)) : wide_factor<T>{};
    interpreter.begin_backward(ex, d_memory);
    if (empty_tree)
      fill(ex, T(0),
           make_vec(d_weights.data_handle(), static_cast<index_t>(d_weights.size())));  // 0 for the empty tree
    fill(ex, T(0), d_out);
    // The gradients of the arguments' logits of all steps.  Those of tokens that are not trees stay zero.
    auto const all_d_arguments = scratch.make<tensor<T, dyn, dyn>>(batch * tokens_before(steps), 2 * branching());
    fill(ex, T(0), all_d_arguments);
    for (index_t k = steps - 1; k >= 0; --k) {
      auto const inner = scratch.open();
      auto const now = s.at(k);
      index_t const tokens = tokens_at(k);
      if (k + 1 < steps) {  // later steps read slot k + 1 and its token
        interpreter.complete(ex, pass, k + 1, d_memory);
        shrink.backward_input(ex, weight, read_only(slice(d_fresh, k + 1)), used(in, k + 1),
                              flat(tree_slot(d_memory, k + 1)));
      }
      auto const d_weighted_root = scratch.make<tensor<T, dyn, dyn>>(batch, fillers()),
                 d_root = scratch.make<tensor<T, dyn, dyn>>(batch, fillers());
      auto const d_operation = scratch.make<tensor<T, dyn, dyn>>(batch, branching() + 1);
      auto const d_arguments = rows_of(all_d_arguments, batch * tokens_before(k), batch * tokens);
      interpreter.backward(ex, c, w.interpreter, pass, k, d_memory, d_weights, as_matrix(d_weighted_root),
                           gradient.interpreter);
      tree_choice_grad(
          ex, in.choice(k), k, as_matrix(read_only(s.root(k))),
          tree_choices<T const>{as_matrix(read_only(s.operation(k))), s.arguments},
          tree_weights_view<T const>(d_weights), as_matrix(read_only(d_weighted_root)),
          tree_logits<T>{as_matrix(d_operation), agent().of_trees(as_matrix(d_arguments), tokens), as_matrix(d_root)});
      if (root == tree_root::distribution) softmax_grad(ex, s.root(k), d_root, d_root);
      // d_out has the gradients of step k's tokens, which came from step k + 1.
      auto const after = reshape<D>(d_out, batch * tokens, width()), before = reshape<D>(d_in, batch * tokens, width());
      agent().backward(ex, c.child(k), w.agents.at(k), {now.in, in.tokens(k)}, tokens, now.agent, now.out, after,
                       as_matrix(read_only(d_operation)), as_matrix(read_only(d_root)),
                       as_matrix(read_only(d_arguments)), before, gradient.agents.at(k));
      gather_rows(ex, agent_type::token(read_only(before), tokens, newest_at(k)), in.sample, slice(d_fresh, k));
      if (k > 0) {
        auto const to = reshape<D>(d_out, batch * (tokens - 1), width());
        gather_rows(ex, front(read_only(before), tokens, newest_at(k)), in.sample, front(to, tokens - 1, newest_at(k)));
        if (empty_tree)
          gather_rows(ex, agent_type::token(read_only(before), tokens, tokens - 1), in.sample,
                      agent_type::token(to, tokens - 1, tokens - 2));
      } else {
        scatter_add_rows(ex, c.scratch, agent_type::token(read_only(before), tokens, 0), in.zero,
                         as_row(gradient.operation_token));
        scatter_add_rows(ex, c.scratch, agent_type::token(read_only(before), tokens, 1), in.zero,
                         as_row(gradient.root_token));
        if (empty_tree)
          scatter_add_rows(ex, c.scratch, agent_type::token(read_only(before), tokens, tokens - 1), in.zero,
                           as_row(gradient.empty_token));
      }
    }
    // One product for all steps.  Its rows are the slots 0 .. steps - 1, and the gradients of the tokens of these
    // slots.
    index_t const rows = steps * batch;
    shrink.backward_params(ex, c,
                           tensor<T const, dyn, dyn>(s.memory.data_handle(), rows, interpreter.rows() * fillers()),
                           const_view<states>(d_fresh.data_handle(), rows, width()), gradient.shrink);
  }

  input measured_input(tree_dims const& d) const {
    return input::measured(d.batch, positions, steps, tensor<T const, dyn, dyn>(nullptr, symbols, fillers()),
                           empty_tree);
  }
  answers measured_answers(tree_dims const& d) const { return {vec<index_t const>(nullptr, d.batch * positions)}; }

  template <backend Ex>
  void loss(Ex& ex, arena& scratch, input const& in, output const& scores, answers const& targets, vec<T> loss,
            output const& d) const {
    tree_loss(ex, scratch, as_matrix(read_only(scores)), targets.symbols, loss, as_matrix(d), in.loss);
  }

 private:
  /// Returns the index of the newest tree's token at step k.  Only the token of the empty tree, if there is one, has a
  /// larger index.
  constexpr index_t newest_at(index_t k) const { return tree_fixed_tokens + k; }
  tree_weights_view<T> plan_weights(arena& place, index_t batch) const {
    return place.make<tree_weights_view<T>>(steps, batch, choices_at(steps - 1), 2 * branching());
  }
  static tree_pass<T> pass_of(input const& in, saved const& s) { return {in.support, s.memory, s.weights}; }
  /// Returns the number of leading columns of the flat trees of slot k that may be nonzero.  If rows are not positions,
  /// returns the number of all columns.
  constexpr index_t used(input const& in, index_t k) const {
    return Interpreter::rows_are_positions && in.bounds != nullptr ? in.bound(k) * fillers() : shrink.in;
  }
  /// Returns the largest used() of the slots from `first` to steps - 1.  These slots become tokens.
  constexpr index_t most_used(input const& in, index_t first) const {
    index_t most = 0;
    for (index_t k = first; k < steps; ++k) most = std::max(most, used(in, k));
    return most;
  }

  template <class S>
  static tensor<S, dyn, dyn> flat(tree_batch_view<S> t) {
    return reshape(t, t.extent(0), t.extent(1) * t.extent(2));
  }
  /// Returns the first `count` of the `tokens` tokens of every sample, with one row for each sample: (batch, count d).
  template <class S>
  static matrix<S> front(tensor<S, dyn, D> x, index_t tokens, index_t count) {
    index_t const d = x.extent(1);
    return make_matrix(x.data_handle(), x.extent(0) / tokens, count * d, tokens * d);
  }

  /// Copies the tokens of step k except the new token.  If k is 0, these tokens are parameters.  Otherwise, they are
  /// the results of the previous step.
  template <backend Ex>
  void gather_tokens(Ex& ex, fields<T const> w, input const& in, saved const& s, index_t k, states to) const {
    index_t const tokens = tokens_at(k);
    if (k == 0) {
      gather_rows(ex, as_row(w.operation_token), in.zero, agent_type::token(to, tokens, 0));
      gather_rows(ex, as_row(w.root_token), in.zero, agent_type::token(to, tokens, 1));
      if (empty_tree) gather_rows(ex, as_row(w.empty_token), in.zero, agent_type::token(to, tokens, tokens - 1));
      return;
    }
    auto const before = s.at(k - 1).out;
    gather_rows(ex, front(before, tokens - 1, newest_at(k)), in.sample, front(to, tokens, newest_at(k)));
    if (empty_tree)
      gather_rows(ex, agent_type::token(before, tokens - 1, tokens - 2), in.sample,
                  agent_type::token(to, tokens, tokens - 1));
  }
};

}  // namespace triad
