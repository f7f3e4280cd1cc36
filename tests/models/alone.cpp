// Tests that what every model answers for an example does not depend on its batch: on its place, on the other examples,
// on their lengths and on their number. An engine of plain loops computes the products.
// SPDX-License-Identifier: Apache-2.0
#include "tests/models/alone.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/cpu/products/loop_engine.hpp"
#include "tests/models/machine_use.hpp"
#include "tests/ragged.hpp"
#include "tests/role_matrices.hpp"
#include "triad/batches/dependency_loader.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/batches/sentence_graph_loader.hpp"
#include "triad/batches/sentence_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/decoding/edge_decoder.hpp"
#include "triad/decoding/fused_decoder.hpp"
#include "triad/models/dependency_parser.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "triad/models/graph_attention_network.hpp"
#include "triad/models/relation_transformer.hpp"
#include "triad/models/roberta.hpp"
#include "triad/models/sentence_to_graph.hpp"
#include "triad/models/transformer_parser.hpp"
#include "triad/train/parameters.hpp"
#include "triad/train/runner.hpp"

namespace models_alone_tests {

using namespace triad;
using test::engine_use;
using tokens = std::vector<index_t>;

constexpr index_t width = 40, heads = 4, hidden = 72;  // some kernels compute vectors of 8 or 16, and a rest
constexpr edge_transformer_layer_options edge_layer{.width = width, .heads = heads, .hidden = hidden, .dropout = 0.1};
constexpr transformer_layer_options token_layer{.width = width, .heads = heads, .hidden = hidden, .dropout = 0.1};

// ---- the law --------------------------------------------------------------------------------------------------------

constexpr std::size_t many_examples = 70;  // some kernels divide the work of 64 or more examples in another way
constexpr std::size_t decoded_examples = 20;

using order = std::vector<std::size_t>;  // the examples of a batch
using numbers = std::vector<double>;     // what a model computes for an example; a double holds every float

template <class View>
void append(numbers& to, View view, index_t first, index_t count) {
  to.insert(to.end(), view.data_handle() + first, view.data_handle() + first + count);
}
bool same_bits(numbers const& a, numbers const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
  });
}

/// ask(ex, order) must return the numbers of each example of a batch. Examples below `count` exist. The last example is
/// the largest, and the first three are small. `most` is the size of the largest batch.
template <class Ask>
void expect_same_alone(engine_use const& use, std::size_t count, std::size_t most, Ask&& ask) {
  cpu::backend one(1, use.engine, use.factors), three(3, use.engine, use.factors);
  std::vector<numbers> alone;
  for (std::size_t i = 0; i < count; ++i) {
    alone.push_back(ask(one, order{i}).front());
    REQUIRE_FALSE(alone.back().empty());
    REQUIRE(std::none_of(alone.back().begin(), alone.back().end(), [](double x) { return x != x; }));
  }
  order all(count), reversed, many;
  std::iota(all.begin(), all.end(), std::size_t{0});
  reversed.assign(all.rbegin(), all.rend());
  for (std::size_t i = 0; i < most; ++i) many.push_back(i % 3);
  many[most / 2] = count - 1;
  auto const expect = [&](char const* name, cpu::backend& ex, order const& which) {
    auto const found = ask(ex, which);
    REQUIRE(found.size() == which.size());
    for (std::size_t i = 0; i < which.size(); ++i) {
      CAPTURE(name, ex.threads, i, which[i]);
      CHECK(same_bits(found[i], alone[which[i]]));
    }
  };
  expect("in order", one, all);
  expect("in order", three, all);
  expect("reversed", three, reversed);
  expect("the first next to the largest", three, {count - 1, 0});
  expect("many", three, many);
}

/// Sets all parameters to random values, which depend only on the model.
template <class Parameters>
void draw(Parameters& all) {
  random_stream random(4, 1);
  walk(all.mutable_values(), [&](std::string const& path, auto view) {
    double const middle = path.ends_with("gain") ? 1 : 0;
    auto const v = as_vec(view);
    for (index_t i = 0; i < v.extent(0); ++i) v(i) = static_cast<float>(middle + random.uniform(-0.3, 0.3));
  });
}

/// Returns `count` random numbers from `least` to `end` - 1.
tokens drawn(index_t count, index_t least, index_t end, std::uint64_t stream) {
  random_stream random(5, stream);
  tokens all;
  for (index_t i = 0; i < count; ++i) all.push_back(least + random.below(static_cast<std::uint32_t>(end - least)));
  return all;
}

// ---- models of labelled graphs --------------------------------------------------------------------------------------

constexpr index_t labels = 7, targets = 5;
tokens const nodes_of_graphs{5, 1, 3, 12, 20, 23};  // 20 nodes is the largest graph that is not computed by tiles

template <class Model, class Options>
void graphs_alone(engine_use const& use, char const* name, Options const& z) {
  CAPTURE(name);
  expect_same_alone(use, nodes_of_graphs.size(), many_examples, [&](cpu::backend& ex, order const& which) {
    tokens sizes;
    for (auto i : which) sizes.push_back(nodes_of_graphs[i]);
    auto const room = test::ragged(sizes).dims;
    graph_loader<cpu::backend> loader(room);
    for (auto i : which) {
      auto const n = nodes_of_graphs[i];
      auto const label = drawn(n * n, 0, labels, i);
      std::copy(label.begin(), label.end(), loader.add(n, 0, n - 1, 0));
    }
    runner run(ex, Model(z), room);
    draw(run.parameters());
    auto const logits = run(typename Model::input(loader.upload().first));
    std::vector<numbers> found(which.size());
    for (std::size_t b = 0; b < which.size(); ++b) append(found[b], logits, static_cast<index_t>(b) * targets, targets);
    return found;
  });
}

// ---- parsers of sentences -------------------------------------------------------------------------------------------

tokens const words_of_sentences{5, 1, 3, 12, 23};
constexpr index_t words = 9, reach = 3, relations = 6;

/// Asks about sentences whose tokens are made by word(token, number in the sentence, number of tokens).
/// put(found, scores, graphs, b) must append the scores of sentence b.
template <template <class, class> class Loader, class Model, class Word, class Put>
void sentences_alone(engine_use const& use, char const* name, Model const& model, Word&& word, Put&& put) {
  CAPTURE(name);
  expect_same_alone(use, words_of_sentences.size(), many_examples, [&](cpu::backend& ex, order const& which) {
    tokens sizes;
    for (auto i : which) sizes.push_back(words_of_sentences[i]);
    auto const room = test::ragged(sizes).dims;
    Loader<cpu::backend, float> loader(room, reach, width);
    for (auto i : which) {
      index_t const n = words_of_sentences[i];
      std::vector<std::remove_cvref_t<decltype(word(n, n, n))>> sentence;
      for (auto const t : drawn(n, 0, words, i)) sentence.push_back(word(t, std::ssize(sentence), n));
      loader.add(sentence);
    }
    runner run(ex, model, room);
    draw(run.parameters());
    auto const in = loader.upload().first;
    auto const scores = run(in);
    std::vector<numbers> found(which.size());
    for (std::size_t b = 0; b < which.size(); ++b) put(found[b], scores, in.graphs, static_cast<index_t>(b));
    return found;
  });
}

template <class Model>
void parser_alone(engine_use const& use, char const* name, Model const& model) {
  auto const word = [](index_t token, index_t, index_t) { return labelled_token{.token = token}; };
  sentences_alone<sentence_loader>(
      use, name, model, word, [](numbers& to, parse_scores<float> const& y, graph_batch const& g, index_t b) {
        append(to, y.parent, g.edge_begin(b), g.size(b) * g.size(b));
        for (auto const& of : {y.labels.role, y.labels.category, y.labels.noun_type, y.labels.verb})
          append(to, of, g.node_begin(b) * of.extent(1), g.size(b) * of.extent(1));
      });
}
template <class Model>
void dependencies_alone(engine_use const& use, char const* name, Model const& model) {
  auto const word = [](index_t token, index_t i, index_t n) { return attached_token{token, (i + 1) % n, 0}; };
  sentences_alone<dependency_loader>(
      use, name, model, word, [](numbers& to, dependency_scores<float> const& y, graph_batch const& g, index_t b) {
        append(to, y.arc, g.edge_begin(b), g.size(b) * g.size(b));
        append(to, y.relation, g.node_begin(b) * relations, g.size(b) * relations);
      });
}

/// Every second token is queried, and there are two slots.
template <class Model>
void sentence_graphs_alone(engine_use const& use, char const* name, Model const& model,
                           sentence_graph_tables const& tables) {
  CAPTURE(name);
  constexpr std::array<index_t, 6> lengths{4, 1, 2, 9, 15, 21};
  auto const queried = [](index_t n) {
    tokens all;
    for (index_t i = 0; i < n; i += 2) all.push_back(i);
    return all;
  };
  expect_same_alone(use, lengths.size(), many_examples, [&](cpu::backend& ex, order const& which) {
    sentence_graph_dims room;
    for (auto i : which) room = room + sentence_graph_of(lengths[i], tables.slots, (lengths[i] + 1) / 2 + tables.slots);
    sentence_graph_loader<cpu::backend, float> loader(room, tables);
    for (auto i : which) {
      auto const sentence = drawn(lengths[i], 0, tables.tokens, i);
      auto const nodes = queried(lengths[i]);
      loader.add({.tokens = sentence, .queried = nodes});
    }
    runner run(ex, model, room);
    draw(run.parameters());
    auto const in = loader.upload().first;
    auto const scores = run(in);
    std::vector<numbers> found;
    for (index_t g = 0; g < in.grid.dims.graphs; ++g) {
      index_t const m = in.grid.columns(g);
      auto& own = found.emplace_back();
      auto const rows = [&](auto const& view, index_t first, index_t count) {
        append(own, view, first * view.extent(1), count * view.extent(1));
      };
      rows(scores.edge, in.grid.pair_begin(g), m * m);
      rows(scores.node, in.grid.column_begin(g), m);
      rows(scores.graph, g, 1);
      if (scores.bag.extent(0) > 0) rows(scores.bag, g, 1);
      if (scores.pointers.extent(0) > 0) append(own, scores.pointers, in.grid.pair_begin(g), m * m);
    }
    return found;
  });
}

// ---- encoder-decoders of tokens -------------------------------------------------------------------------------------

constexpr index_t vocabulary = 11, begin_token = 1, end_token = 2, beam = 2, longest = 5;
struct lengths {
  index_t source, target;
};

beam_search_options search_options(index_t most) {
  beam_search_options o;
  o.beam = beam, o.n_best = beam, o.longest = most, o.begin = begin_token, o.end = end_token;
  return o;
}

/// Computes `longest` steps for hypotheses whose tokens and parents depend only on the example and the step. Then
/// searches. Returns the logits and the best hypotheses of each example.
template <class Decoder, class Values, class Batch>
std::vector<numbers> decoded(Decoder& decoder, Values const& w, Batch const& in, order const& which) {
  std::vector<numbers> found(which.size());
  decoder.begin(w, in);
  for (index_t t = 0; t < longest; ++t) {
    tokens next, parents;
    for (std::size_t b = 0; b < which.size(); ++b) {
      auto const stream = which[b] * 100 + static_cast<std::uint64_t>(t);
      for (auto const token : drawn(beam, 3, vocabulary, stream)) next.push_back(t == 0 ? begin_token : token);
      for (auto const slot : drawn(beam, 0, beam, stream))
        parents.push_back(static_cast<index_t>(b) * beam + (t == 0 ? std::ssize(parents) % beam : slot));
    }
    auto const logits = decoder.step(w, next, parents);
    for (std::size_t b = 0; b < which.size(); ++b)
      append(found[b], logits, static_cast<index_t>(b) * beam * vocabulary, beam * vocabulary);
  }
  beam_search search(static_cast<index_t>(which.size()), vocabulary, search_options(longest - 1));
  decoder.find(w, in, search);
  for (std::size_t b = 0; b < which.size(); ++b)
    for (auto const& h : search.best(static_cast<index_t>(b))) {
      found[b].push_back(h.score);
      for (auto const token : h.tokens) found[b].push_back(static_cast<double>(token));
    }
  return found;
}

/// Asks about all tokens of the targets, and decodes.
template <class Model>
void pairs_alone(engine_use const& use, char const* name, Model const& model, std::vector<lengths> const& sizes) {
  CAPTURE(name);
  auto const source = [&](std::size_t i) { return drawn(sizes[i].source, 3, vocabulary, 2 * i); };
  auto const with_loader = [&](order const& which, auto&& f) {
    pair_dims room;
    for (auto i : which) room = room + dims_of(sizes[i].source + 1, std::max(longest, sizes[i].target + 1));
    f(room, pair_loader<cpu::backend, float>(room, model.width(), begin_token, end_token));
  };
  expect_same_alone(use, sizes.size(), many_examples, [&](cpu::backend& ex, order const& which) {
    std::vector<numbers> found(which.size());
    with_loader(which, [&](pair_dims const& room, auto loader) {
      for (auto i : which) loader.add(source(i), drawn(sizes[i].target, 3, vocabulary, 2 * i + 1));
      runner run(ex, model, room);
      draw(run.parameters());
      auto const in = loader.upload().first;
      auto const logits = run(in);
      for (std::size_t b = 0; b < which.size(); ++b)
        append(found[b], logits, in.target.begin(static_cast<index_t>(b)) * vocabulary,
               in.target.size(static_cast<index_t>(b)) * vocabulary);
    });
    return found;
  });
  expect_same_alone(use, sizes.size(), decoded_examples, [&](cpu::backend& ex, order const& which) {
    std::vector<numbers> found;
    with_loader(which, [&](pair_dims const& room, auto loader) {
      for (auto i : which) loader.add_source(source(i));
      fused_decoder<Model, cpu::backend> decoder(ex, model, {room, beam, longest});
      parameter_set<Model, cpu::backend> parameters(model, holding::values);
      draw(parameters);
      found = decoded(decoder, parameters.values(), loader.upload().first, which);
    });
    return found;
  });
}

fused_transformer_options pair_options() {
  fused_transformer_options z;
  z.source_tokens = z.target_tokens = vocabulary;
  z.encoder = z.decoder = {.layer = token_layer, .layers = 2};
  return z;
}

struct published {
  index_t width = 48, layers = 2, heads = 3, hidden = 80, tokens = vocabulary, positions = 40, padding = 1;
  double epsilon = 1e-5;
};

// ---- encoder-decoders of edges --------------------------------------------------------------------------------------

void edge_pairs_alone(engine_use const& use, char const* name, edge_transformer_seq2seq_options const& z) {
  CAPTURE(name);
  using model_type = edge_transformer_seq2seq<float>;
  model_type const model(z);
  std::vector<lengths> const sizes{{4, 2}, {1, 0}, {2, 3}, {7, 5}, {14, 9}};
  auto const source = [&](std::size_t i) { return drawn(sizes[i].source, 3, vocabulary, 2 * i); };
  auto const with_loader = [&](order const& which, auto&& f) {
    edge_pair_dims room;
    for (auto i : which) room = room + edge_pair_dims_of(sizes[i].source + 1, std::max(longest, sizes[i].target + 1));
    f(room, edge_pair_loader<cpu::backend, float>(room, model.layout, width, begin_token, end_token));
  };
  expect_same_alone(use, sizes.size(), many_examples, [&](cpu::backend& ex, order const& which) {
    std::vector<numbers> found(which.size());
    with_loader(which, [&](edge_pair_dims const& room, auto loader) {
      for (auto i : which) loader.add(source(i), drawn(sizes[i].target, 3, vocabulary, 2 * i + 1));
      runner run(ex, model, room);
      draw(run.parameters());
      auto const logits = run(loader.upload().first);
      index_t first = 0;
      for (std::size_t b = 0; b < which.size(); ++b) {
        index_t const count = (sizes[which[b]].target + 1) * vocabulary;
        append(found[b], logits, first, count);
        first += count;
      }
    });
    return found;
  });
  expect_same_alone(use, sizes.size(), decoded_examples, [&](cpu::backend& ex, order const& which) {
    std::vector<numbers> found;
    with_loader(which, [&](edge_pair_dims const& room, auto loader) {
      for (auto i : which) loader.add_source(source(i));
      edge_decoder<model_type, cpu::backend> decoder(ex, model, {room, beam, longest});
      parameter_set<model_type, cpu::backend> parameters(model, holding::values);
      draw(parameters);
      found = decoded(decoder, parameters.values(), loader.upload().first, which);
    });
    return found;
  });
}

// ---- tree machines --------------------------------------------------------------------------------------------------

constexpr index_t levels = 5, steps = 3, symbols = 9;

template <class Model>
void trees_alone(engine_use const& use, char const* name, Model const& model, tree_positions<> where) {
  CAPTURE(name);
  // A batch is computed up to the deepest tree. The last tree has all levels.
  expect_same_alone(use, 5, many_examples, [&](cpu::backend& ex, order const& which) {
    auto const batch = static_cast<index_t>(which.size());
    tree_loader<cpu::backend, float> loader({where, steps, symbols, batch, model.empty_tree});
    for (auto i : which) {
      auto const tree = test::random_tree(where, symbols, static_cast<index_t>(i) + 1, i);
      loader.add(tree, tree);
    }
    runner run(ex, model, tree_dims{batch});
    draw(run.parameters());
    auto const scores = run(loader.upload().first);
    std::vector<numbers> found(which.size());
    index_t const each = where.count() * symbols;
    for (std::size_t b = 0; b < which.size(); ++b) append(found[b], scores, static_cast<index_t>(b) * each, each);
    return found;
  });
}

// ---- with an engine of plain loops ----------------------------------------------------------------------------------

template <class Expect>
void with_loops(Expect&& expect) {
  test::loop_engine const engine(true);
  for (auto const factors : {cpu::arithmetic::float32, cpu::arithmetic::bf16}) {
    CAPTURE(factors == cpu::arithmetic::bf16);
    expect(engine_use{&engine, factors});
  }
  CHECK(engine.outside == 0);
}

TEST_CASE("models of graphs answer with the same bits alone and in any batch") {
  with_loops(test::expect_graphs_same_alone);
}

TEST_CASE("parsers answer with the same bits alone and in any batch") { with_loops(test::expect_parsers_same_alone); }

TEST_CASE("encoder-decoders of tokens answer and decode with the same bits alone and in any batch") {
  with_loops(test::expect_pairs_same_alone);
}

TEST_CASE("encoder-decoders of edges answer and decode with the same bits alone and in any batch") {
  with_loops(test::expect_edge_pairs_same_alone);
}

TEST_CASE("tree machines answer with the same bits alone and in any batch") {
  with_loops(test::expect_trees_same_alone);
}

}  // namespace models_alone_tests

namespace triad::test {

void expect_graphs_same_alone(engine_use const& use) {
  using namespace models_alone_tests;
  edge_transformer_options edges{.labels = labels, .targets = targets, .layers = 2, .tied = false, .layer = edge_layer};
  graphs_alone<edge_transformer<float>>(use, "edge transformer", edges);
  graphs_alone<edge_transformer<float, dyn, dyn, dyn, form::paper>>(use, "edge transformer, paper", edges);
  edges.prune = false;
  edges.layer.attention_bias = true;
  for (auto const variant : {triangle_form::full, triangle_form::value_ablation, triangle_form::attention_ablation,
                             triangle_form::both_ablations, triangle_form::flat}) {
    edges.layer.variant = variant;
    CAPTURE(static_cast<int>(variant));
    graphs_alone<edge_transformer<float>>(use, "edge transformer, not pruned", edges);
  }
  relation_transformer_options const nodes{.labels = labels,
                                           .targets = targets,
                                           .layers = 2,
                                           .tied = true,
                                           .layer = {.width = width, .heads = heads, .hidden = hidden}};
  graphs_alone<relation_aware_transformer<float>>(use, "relation-aware transformer", nodes);
  graphs_alone<relation_updating_transformer<float>>(use, "relation-updating transformer", nodes);
  graph_attention_network_options const neighbours{
      .labels = labels, .targets = targets, .layers = 2, .tied = true, .layer = {.width = width, .heads = heads}};
  graphs_alone<graph_attention_network<float>>(use, "graph attention network", neighbours);
}

void expect_parsers_same_alone(engine_use const& use) {
  using namespace models_alone_tests;
  constexpr label_counts kinds{3, 2, 4, 5};
  edge_transformer_parser_options edges;
  edges.tokens = words, edges.relations = 2 * reach + 1, edges.labels = kinds, edges.layers = 2;
  edges.layer = edge_layer;
  for (auto const encoding : {sequence_encoding::relational, sequence_encoding::positional}) {
    edges.encoding = encoding;
    edges.readout = encoding == sequence_encoding::relational ? arcs::from_child : arcs::from_parent;
    parser_alone(use, "edge transformer parser", edge_transformer_parser<float>(edges));
  }
  parser_alone(use, "transformer parser", transformer_parser<float>({words, kinds, 2, false, token_layer}));
  edge_trunk_options of_edges;
  of_edges.tokens = words, of_edges.relations = 2 * reach + 1, of_edges.layers = 2, of_edges.layer = edge_layer;
  sentence_graph_tables const tables{.tokens = words, .slots = 2, .reach = reach, .labels = {5, 3, 2}};
  sentence_to_graph_options const to_graph{
      .tokens = tables.token_rows(), .relations = tables.relation_rows(), .layers = 3, .layer = edge_layer};
  extents<dyn> const of_width(width);
  sentence_graphs_alone(use, "sentence to graph, edges",
                        edge_sentence_to_graph<float>(to_graph, {of_width, tables.labels}), tables);
  for (auto form : {slot_form::nodes, slot_form::anchors})
    for (index_t after : {0, 2}) {
      predicate_head_options const of_head{.labels = tables.labels, .pointers_after = after, .slots = form};
      sentence_graphs_alone(use, "sentence to graph, predicates",
                            predicate_sentence_to_graph<float>(to_graph, {of_width, of_head}), tables);
    }
  predicate_head_options const by_words{.labels = tables.labels, .pointer_words = words};
  sentence_graphs_alone(use, "sentence to graph, predicates, pointers by words",
                        predicate_sentence_to_graph<float>(to_graph, {of_width, by_words}), tables);
  sentence_graphs_alone(
      use, "sentence to graph, predicates, implied labels",
      predicate_sentence_to_graph<float>(to_graph, {of_width, {.labels = tables.labels, .implied_labels = true}}),
      tables);
  auto plain_layer = token_layer;
  plain_layer.norms = norm_position::before;
  token_to_graph_options const plain{
      .tokens = tables.token_rows(), .relations = tables.relation_rows(), .layers = 2, .layer = plain_layer};
  sentence_graphs_alone(use, "sentence to graph, plain, edges",
                        plain_edge_sentence_to_graph<float>(plain, {of_width, tables.labels}), tables);
  sentence_graphs_alone(
      use, "sentence to graph, plain, predicates",
      plain_predicate_sentence_to_graph<float>(plain, {of_width, {.labels = tables.labels, .pointers_after = 1}}),
      tables);
  dependencies_alone(use, "dependency parser of edges", edge_dependency_parser<float>(of_edges, {relations}));
  token_trunk_options const of_tokens{.tokens = words, .layers = 2, .layer = token_layer};
  dependencies_alone(use, "biaffine dependency parser",
                     biaffine_dependency_parser<float>(of_tokens, {.relations = relations, .inner = width}));
}

void expect_pairs_same_alone(engine_use const& use) {
  using namespace models_alone_tests;
  // Attention to up to 256 tokens is computed in registers, and to more tokens by products of BLAS.
  std::vector<lengths> const sizes{{4, 3}, {1, 0}, {3, 8}, {20, 40}, {270, 30}};
  using model = fused_transformer<float>;
  auto z = pair_options();
  pairs_alone(use, "plain", model(z), sizes);
  z.encoder.fused = z.decoder.fused = all_fused(2);
  pairs_alone(use, "fused", model(z), sizes);
  z.encoder.layer.norms = z.decoder.layer.norms = norm_position::before;
  z.encoder.layer.reach = z.decoder.layer.reach = 3;
  z.positions = false;
  z.tied_output = false;
  pairs_alone(use, "fused, relative positions, norms before", model(z), sizes);
  z = pair_options();
  z.encoder.link = z.decoder.link = layer_link::weighted;
  pairs_alone(use, "weighted links", model(z), sizes);
  z.encoder.link = z.decoder.link = layer_link::sum;
  pairs_alone(use, "sums", model(z), sizes);
  z = pair_options();
  z.decoder.fused = all_fused(2);
  pairs_alone(use, "a published encoder", roberta_under_decoder<float>(published{}, z),
              {{4, 3}, {1, 0}, {3, 8}, {20, 20}, {30, 2}});
}

void expect_edge_pairs_same_alone(engine_use const& use) {
  using namespace models_alone_tests;
  edge_transformer_seq2seq_options z;
  z.tokens = vocabulary, z.reach = reach, z.layers = 3, z.layer = edge_layer;
  z.layer.attention_bias = true;
  edge_pairs_alone(use, "relational, read at the token", z);
  z.encoding = sequence_encoding::positional, z.readout = edge_readout::from_begin;
  edge_pairs_alone(use, "positional, read from the beginning", z);
  z.layer.variant = triangle_form::both_ablations;
  edge_pairs_alone(use, "both ablations", z);
}

void expect_trees_same_alone(engine_use const& use) {
  using namespace models_alone_tests;
  tree_positions<> const where(2, levels);
  for (auto const norms : {norm_position::before, norm_position::after}) {
    bool const before = norms == norm_position::before;
    auto layer = token_layer;
    layer.norms = norms, layer.between = activation::gelu;
    tree_machine_options const z{
        steps, symbols, true, {layer, 2, 2, symbols}, before ? tree_root::distribution : tree_root::scores, before};
    trees_alone(use, "by rows", tree_machine<float>(tree_interpreter<float>(where), where.count(), z), where);
    some_maps<float> const maps(where, before);
    trees_alone(use, "by matrices",
                tree_machine<float, matrix_interpreter<float>>(maps.interpreter(), where.count(), z), where);
  }
}

}  // namespace triad::test
