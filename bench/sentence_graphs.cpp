// Times training steps of models from sentences to graphs, with the sizes of CFQ's questions.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "run_training.hpp"
#include "training_tasks.hpp"
#include "triad/batches/sentence_graph_loader.hpp"
#include "triad/models/sentence_to_graph.hpp"

namespace bench {
namespace {

/// Sentences of equal length, of which some tokens are queried.  The labels are those of CFQ: 38 of edges, 28 of nodes,
/// 2 of graphs.
struct sentence_graph_task {
  index_t sentences = 32, tokens = 13, queried = 4, layers = 4, width = 64, heads = 4;
  triad::slot_form slots = triad::slot_form::nodes;
  static constexpr triad::sentence_graph_tables tables{.tokens = 90, .slots = 4, .reach = 2, .labels = {38, 28, 2}};
  static constexpr triad::keep memory = triad::keep::everything;

  index_t examples() const { return sentences; }
  triad::sentence_graph_dims dims() const {
    triad::sentence_graph_dims all;
    for (index_t i = 0; i < sentences; ++i)
      all = all + triad::sentence_graph_of(tokens, tables.slots, queried + tables.slots);
    return all;
  }
  triad::edge_transformer_layer_options layer() const {
    return {.width = width, .heads = heads, .hidden = 2 * width, .dropout = 0.1, .attention_bias = true};
  }

  template <class T>
  auto model() const {
    triad::sentence_to_graph_options const sizes{.tokens = tables.token_rows(),
                                                 .relations = tables.relation_rows(),
                                                 .layers = layers,
                                                 .layer = layer(),
                                                 .input_dropout = 0.1};
    return triad::predicate_sentence_to_graph<T>(sizes, {triad::extents<triad::dyn>(width),
                                                         {.labels = tables.labels,
                                                          .pointer_words = tables.tokens,
                                                          .lists = {.distance = triad::distance_to_nearest},
                                                          .slots = slots,
                                                          .implied_labels = true}});
  }
  template <class T, class Ex>
  auto loader(Ex& ex) const {
    return triad::sentence_graph_loader<Ex, T>(dims(), tables, triad::memory_of(ex));
  }
  template <class Loader>
  void fill(Loader& loader) const {
    triad::random_stream random(5, 0);
    std::vector<index_t> words(static_cast<std::size_t>(tokens)), nodes;
    for (index_t i = 0; i < queried; ++i) nodes.push_back(3 * i);
    index_t const m = queried + tables.slots;
    for (index_t s = 0; s < sentences; ++s) {
      for (auto& word : words) word = random_index(random, tables.tokens);
      std::vector<triad::sentence_edge> edges;
      for (int e = 0; e < 6; ++e)
        edges.push_back({random_index(random, m), random_index(random, tables.labels.edge), random_index(random, m)});
      std::vector<triad::labelled_node> const labels{
          {random_index(random, m), random_index(random, tables.labels.node)}};
      loader.add({.tokens = words, .queried = nodes, .edges = edges, .labels = labels, .label = s % 2});
    }
    loader.weigh({.bag = 0.5, .pointers = 0.1});
  }
  template <class Loader>
  static auto upload(Loader& loader) {
    return loader.upload();
  }

  /// Counts the work of a step without the heads' sums over tokens.  The last layer computes the rows that the head
  /// reads.
  work_model count_work() const {
    auto const all = dims();
    bool const anchored = slots == triad::slot_form::anchors;
    index_t const d = width, read = anchored ? all.read_by_anchors() : all.read_by_roles(),
                  roles = anchored ? all.token_grid.cells : all.grid.cells;
    graph_sizes const graphs{std::vector<index_t>(static_cast<std::size_t>(sentences), tokens + tables.slots)};
    work_model work;
    graphs.count_layers(work, layer(), true, static_cast<double>(layers - 1));
    work.projections(layer().variant, all.graphs.rows, d, true, 1, read);
    work.feed_forward(read, d, layer().hidden, d, true);
    graphs.count_triangles(work, layer(), true, 1);
    work.linear(roles, d, 3, true);
    if (anchored) work.linear(2 * all.slot_grid.cells + all.slot_grid.rows, d, 1, true);
    work.linear(all.grid.rows, d, tables.labels.edge + tables.labels.node, true);
    work.linear(all.grid.columns, triad::words_before_node * d, d, true);
    work.linear(all.grid.columns, d, 1, true);
    return work;
  }
};

[[maybe_unused]] bool const registered = [] {
  for (auto const slots : {triad::slot_form::nodes, triad::slot_form::anchors}) {
    sentence_graph_task task;
    task.slots = slots;
    auto checked = task;
    checked.sentences = 4;
    register_training("sentence_to_graph_step",
                      slots == triad::slot_form::nodes ? "/b:32/n:13/l:4/d:64/h:4" : "/b:32/n:13/l:4/d:64/h:4/anchors",
                      task, checked);
  }
  return true;
}();

}  // namespace
}  // namespace bench
