// The code of docs/trees.md on the tree machine. From pairs of trees it learns to return the left subtree of the root.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <vector>

#include "triad/train/initialize.hpp"
#include "triad/triad.hpp"

using namespace triad;

struct node {
  index_t position, filler;  // breadth first, the root is 0; a symbol from 1
};

int main() {
  index_t const symbols = 8, steps = 2, batch = 16;  // <empty> is a symbol
  tree_positions<> const where(2, 4);                // two children, four levels
  cpu::backend ex;
  tree_machine_options sizes{steps, symbols, true};  // the fillers are unit vectors
  sizes.agent = {{.width = 32, .heads = 4, .hidden = 64, .norms = norm_position::before, .between = activation::gelu},
                 1,
                 2,
                 symbols};
  using machine = tree_machine<float>;
  trainer<machine, cpu::backend>::options_type options;
  options.max_norm = 1;
  options.capacity = {batch};
  trainer<machine, cpu::backend> learner(ex, machine(tree_interpreter<float>(where), where.count(), sizes), options);
  initialize(learner.parameters(), 1, [](std::string const& path) {
    return path.ends_with("_token") ? initializer::normal(1) : initializer::by_name();
  });

  tree_loader<cpu::backend, float> loader({where, steps, symbols, batch});
  random_stream random(1, 0);
  auto const load = [&] {
    loader.clear();
    while (loader.has_room()) {
      std::vector<node> whole, left;
      for (index_t q = 0; q < where.level_begin(3); ++q) {
        if (q > 2 && random.uniform() < 0.5) continue;
        whole.push_back({q, 1 + random.below(symbols - 1)});
        auto const part = where.cons_source(q);  // the child that contains the node, and the node's position there
        if (q > 0 && part.argument == 0) left.push_back({part.position, whole.back().filler});
      }
      loader.add(whole, left);
    }
    return loader.upload();
  };
  for (int step = 0; step < 400; ++step) {
    auto const [trees, targets] = load();
    learner.update(trees, targets, 2e-3);
  }

  auto const [trees, targets] = load();
  auto const scores = learner.infer(trees);
  std::vector<index_t> found(static_cast<std::size_t>(scores.extent(0)));
  decode_rows(ex, as_matrix(read_only(scores)), decode_threshold, make_vec(found.data(), scores.extent(0)));
  index_t whole_trees = 0;
  for (index_t b = 0; b < batch; ++b) {
    bool all = true;
    for (index_t q = b * where.count(); q < (b + 1) * where.count(); ++q)
      all = all && found[static_cast<std::size_t>(q)] == targets.symbols(q);
    whole_trees += all;
  }
  std::printf("%d of %d new trees right, loss %.4f\n", static_cast<int>(whole_trees), static_cast<int>(batch),
              static_cast<double>(learner.loss()));

  auto const traces =
      traces_of(ex, learner.model(), learner.parameters().values(), where, trees, learner.saved(trees.sizes));
  vocabulary labels;
  for (auto const* label : {"a", "b", "c", "d", "e", "f", "g"}) labels.insert(label);
  index_t agreeing = 0;
  for (index_t b = 0; b < batch; ++b) {
    auto const& trace = traces[static_cast<std::size_t>(b)];
    auto const program = likeliest(trace);  // takes the largest weight of every choice
    auto const input = tree_of_labels(where, make_vec(trees.symbols.data_handle() + b * where.count(), where.count()));
    auto const memory = execute(program, input, where.depth());  // without the network
    agreeing += memory.back() == trace.back().tree;
    if (b == 0)
      std::printf("%s, each choice with a weight of %.2f or more\n", to_text(program, labels).c_str(),
                  certainty(trace, program, memory));
  }
  std::printf("%d programs give the machine's tree\n", static_cast<int>(agreeing));
  return whole_trees < batch || agreeing < batch;
}
