// A tree machine and a batch of small random trees, for tests of results and gradients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/ragged.hpp"
#include "triad/batches/tree_loader.hpp"
#include "triad/models/tree_machine.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/parameters.hpp"

namespace triad::test {

struct tree_node {
  index_t position, filler;
};
using tree_nodes = std::vector<tree_node>;

/// Returns a random tree of at most `levels` levels. The tree has a root. Each child of a node exists with probability
/// 0.7.
inline tree_nodes random_tree(tree_positions<> where, index_t symbols, index_t levels, std::uint64_t stream) {
  random_stream random(23, stream);
  auto const symbol = [&] { return 1 + static_cast<index_t>(random.below(static_cast<std::uint32_t>(symbols - 1))); };
  tree_nodes all{{0, symbol()}};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (index_t c = 0; c < where.branching() && where.level_of(all[i].position) + 1 < levels; ++c)
      if (random.uniform() < 0.7) all.push_back({where.child(all[i].position, c), symbol()});
  return all;
}

/// Returns the subtree at child c of the root.
inline tree_nodes child_of(tree_positions<> where, tree_nodes const& tree, index_t c) {
  tree_nodes part;
  for (auto const& n : tree)
    if (auto const up = where.cons_source(n.position); up.position != no_position && up.argument == c)
      part.push_back({up.position, n.filler});
  return part;
}

/// Trees, and the arguments for a pass over the trees. The right answer for a tree is its first child.
template <class T>
struct some_trees {
  tree_positions<> where;
  index_t steps, symbols, fillers;
  std::vector<std::pair<tree_nodes, tree_nodes>> pairs;
  std::vector<T> table;                            // (v, f) table of fillers; empty: unit vectors
  std::vector<T> operation_noise, argument_noise;  // empty if there is no noise
  choice_over over = choice_over::trees;
  bool empty_tree;
  tree_loader<reference::backend, T> loader;

  some_trees(index_t branching, index_t depth, index_t batch, index_t machine_steps, index_t v,
             index_t general_fillers = 0, index_t levels = 0, bool with_empty_tree = false)
      : where(branching, depth),
        steps(machine_steps),
        symbols(v),
        fillers(general_fillers > 0 ? general_fillers : v),
        empty_tree(with_empty_tree),
        loader({where, machine_steps, v, batch, with_empty_tree}) {
    for (index_t b = 0; b < batch; ++b) {
      auto const tree = random_tree(where, v, levels > 0 ? levels : depth, static_cast<std::uint64_t>(b));
      pairs.emplace_back(tree, child_of(where, tree, 0));
    }
    if (general_fillers > 0) {
      table = random_values<T>(v * fillers, 4);
      std::fill_n(table.begin(), fillers, T(0));
    }
  }
  some_trees(some_trees const&) = delete;
  some_trees& operator=(some_trees const&) = delete;

  index_t batch() const { return static_cast<index_t>(pairs.size()); }
  void add_noise(choice_over what, bool on_operations = true, bool on_arguments = true) {
    over = what;
    if (on_operations) operation_noise = random_values<T>(steps * batch() * (where.branching() + 1), 5);
    if (on_arguments) argument_noise = random_values<T>(steps * batch() * last_arguments(), 6);
  }
  tree_machine_options sizes(transformer_layer_options const& layer, index_t layers) const {
    return {steps, symbols, table.empty(), {layer, layers, where.branching(), fillers}, tree_root::scores, empty_tree};
  }
  /// Returns the number of scores of arguments at the last step.
  index_t last_arguments() const { return tree_choices_at(steps - 1, empty_tree) * 2 * where.branching(); }

  /// Returns a batch of the trees [first, first + count). It is valid until the next call.
  std::pair<tree_batch<T>, tree_answers> batch_of(index_t first, index_t count) {
    loader.clear();
    for (index_t b = first; b < first + count; ++b)
      loader.add(pairs[static_cast<std::size_t>(b)].first, pairs[static_cast<std::size_t>(b)].second);
    auto both = loader.upload();
    auto& in = both.first;
    if (!table.empty()) in.fillers = tensor<T const, dyn, dyn>(table.data(), symbols, fillers);
    in.over = over;
    if (!operation_noise.empty()) {
      in.operation_temperature = 0.7;
      in.operation_noise =
          tensor<T const, dyn, dyn, dyn>(operation_noise.data(), steps, batch(), where.branching() + 1);
    }
    if (!argument_noise.empty()) {
      in.argument_temperature = 1.6;
      in.argument_noise = tensor<T const, dyn, dyn, dyn>(argument_noise.data(), steps, batch(), last_arguments());
    }
    return both;
  }
  std::pair<tree_batch<T>, tree_answers> all() { return batch_of(0, batch()); }
};

/// All results of a pass over a batch. The operator == compares every bit.
template <class T>
struct machine_outcome {
  T loss = 0;
  std::vector<T> scores, memory, gradient;
  std::vector<T> chosen;  // the weights of operations, arguments and roots in all steps
  bool operator==(machine_outcome const&) const = default;
};

/// A model with random parameters, which depend on the parameters' paths. Makes passes over batches in memory that
/// starts as NaN.
template <class Model>
struct machine_use {
  using T = typename Model::value_type;
  Model model;
  parameter_set<Model, reference::backend> parameters;
  keep kept = keep::everything;
  bool train = true;
  std::uint64_t step = 3;

  explicit machine_use(Model const& m) : model(m), parameters(m, holding::gradients) {
    walk(parameters.mutable_values(), [](std::string const& path, auto view) {
      random_stream random(3, path_stream(path));
      for (std::size_t i = 0; i < view.size(); ++i) view.data_handle()[i] = static_cast<T>(random.uniform(-0.7, 0.7));
    });
  }
  machine_use(machine_use const&) = delete;
  machine_use& operator=(machine_use const&) = delete;

  std::vector<double> values() {
    std::vector<double> all;
    walk(parameters.values(), [&](std::string const&, auto view) {
      all.insert(all.end(), view.data_handle(), view.data_handle() + view.size());
    });
    return all;
  }
  void set_values(std::vector<double> const& all) {
    auto from = all.begin();
    walk(parameters.mutable_values(), [&](std::string const&, auto view) {
      for (std::size_t i = 0; i < view.size(); ++i) view.data_handle()[i] = static_cast<T>(*from++);
    });
  }

  template <class Ex>
  machine_outcome<T> run(Ex& ex, typename Model::input const& in, tree_answers const& targets, bool back = true) {
    auto const flat = parameters.flat_gradients();
    std::fill_n(flat.data_handle(), flat.size(), T(0));
    spoiled_memory const memory([&](arena& a) {
      (void)model.plan_output(a, in.sizes);
      (void)model.plan_output(a, in.sizes);
      return model.plan_saved(a, in.sizes, kept);
    });
    auto place = memory.place();
    auto const scores = model.plan_output(place, in.sizes), d = model.plan_output(place, in.sizes);
    auto const saved = model.plan_saved(place, in.sizes, kept);
    machine_outcome<T> found;
    call c;
    c.train = train;
    c.key = 7;
    c.step = &step;
    with_scratch(ex, c, [&](auto& backend, call const& now) {
      model.forward(backend, now, parameters.values(), in, saved, scores);
      model.loss(backend, *now.scratch, in, scores, targets, make_vec(&found.loss, 1), d);
      if (back) model.backward(backend, now, parameters.values(), in, saved, d, parameters.gradients());
    });
    auto const values = [](auto view) { return std::vector<T>(view.data_handle(), view.data_handle() + view.size()); };
    found.scores = values(scores);
    found.memory = values(saved.memory);
    auto const note = [&](auto const& view) {
      found.chosen.insert(found.chosen.end(), view.data_handle(), view.data_handle() + view.size());
    };
    note(saved.operations);
    note(saved.roots);
    for (index_t k = 0; k < model.steps; ++k)
      for (index_t b = 0; b < in.sizes.batch; ++b)
        for (index_t i = 0; i < model.choices_at(k); ++i)
          for (index_t a = 0; a < saved.arguments.extent(3); ++a) found.chosen.push_back(saved.arguments(k, b, i, a));
    if (back)
      walk(parameters.gradients(), [&](std::string const&, auto view) {
        found.gradient.insert(found.gradient.end(), view.data_handle(), view.data_handle() + view.size());
      });
    return found;
  }

 private:
  static std::uint64_t path_stream(std::string const& path) {
    std::uint64_t sum = 1;
    for (char const c : path) sum = sum * 131 + static_cast<unsigned char>(c);
    return sum;
  }
};

}  // namespace triad::test
