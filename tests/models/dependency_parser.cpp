// Tests dependency parsers: gradients for all combinations of options, and the meaning of scores. Memory must not grow
// with the number of relations times the number of pairs. The bits of the results must not depend on the number of
// threads.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/dependency_parser.hpp"

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/model_use.hpp"
#include "triad/batches/dependency_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/trainer.hpp"

namespace models_dependency_parser_tests {

using namespace triad;
using test::WithinAbs;

constexpr index_t width = 6, reach = 2, tokens = 6, relations = 5, inner = 4;
using sentences = std::vector<std::vector<attached_token>>;
using loader_type = dependency_loader<reference::backend, double>;

// Returns sentences with random parents. The parents need not form trees, because the loss does not require trees.
sentences some_sentences() {
  random_stream random(5, 2);
  sentences all;
  for (index_t n : {4, 1, 3}) {
    auto& s = all.emplace_back();
    for (index_t i = 0; i < n; ++i) {
      auto const draw = [&](std::uint32_t count) { return static_cast<index_t>(random.below(count)); };
      s.push_back({draw(tokens), i == 2 && n == 3 ? -1 : draw(static_cast<std::uint32_t>(n)), draw(relations)});
    }
  }
  return all;
}
template <class Loader>
Loader filled(sentences const& all) {
  Loader loader({3, 26, 8, 92, 4}, reach, width);
  for (auto const& s : all) loader.add(s);
  return loader;
}

edge_trunk_options edge_sizes(bool tied, double dropout) {
  edge_trunk_options z;
  z.tokens = tokens;
  z.relations = 2 * reach + 1;
  z.layers = 2;
  z.tied = tied;
  z.layer = {width, 2, 8, dropout, triangle_form::full, true};
  return z;
}
token_trunk_options token_sizes(bool tied, double dropout) {
  return {tokens, 2, tied, {width, 2, 8, dropout}, dropout};
}

template <class Model, class Ex>
struct parser_use : test::model_use<Model, Ex, loader_type> {
  parser_use(Model const& m, keep k)
      : test::model_use<Model, Ex, loader_type>(m, k, filled<loader_type>(some_sentences())) {}
};

TEMPLATE_TEST_CASE("dependency parsers have the gradient of their loss", "", TRIAD_TEST_BACKENDS) {
  for (bool tied : {false, true}) {
    CAPTURE(tied);
    auto const kept = tied ? keep::inputs : keep::everything;
    double const rate = tied ? 0.3 : 0;
    auto const edges = edge_sizes(tied, rate);
    auto const nodes = token_sizes(tied, rate);
    edge_heads_options const plain{relations};
    biaffine_heads_options const biaffine{relations, inner, rate};
    test::check_gradient_of(
        parser_use<edge_dependency_parser<double>, TestType>(edge_dependency_parser<double>(edges, plain), kept));
    test::check_gradient_of(parser_use<edge_dependency_parser<double, width, 2, 8>, TestType>(
        edge_dependency_parser<double, width, 2, 8>(edges, plain), kept));
    test::check_gradient_of(parser_use<biaffine_dependency_parser<double>, TestType>(
        biaffine_dependency_parser<double>(nodes, biaffine), kept));
    test::check_gradient_of(parser_use<biaffine_dependency_parser<double, width, 2, 8>, TestType>(
        biaffine_dependency_parser<double, width, 2, 8>(nodes, biaffine), kept));
  }
}

// A model with initial values, one batch, and the results.
template <class Model>
struct asked {
  reference::backend ex;
  trainer<Model, reference::backend> work;
  loader_type loader;
  dependency_batch<double> in;
  dependency_scores<double> found;

  asked(Model const& m, sentences const& all)
      : work(ex, m, settings()), loader(filled<loader_type>(all)), in(loader.upload().first) {
    initialize(work.parameters(), 3);
    found = work.infer(in);
  }
  static trainer_options settings() {
    trainer_options o;
    o.capacity = {3, 26, 8, 92, 4};
    return o;
  }
  std::vector<double> relate(token_pairs const& pairs) {
    std::vector<double> logits(static_cast<std::size_t>(pairs.count() * relations));
    test::with_scratch(ex, call{}, [&](auto& backend, call const& c) {
      work.model().relate(backend, c, work.parameters().values(), work.saved(in.graphs.dims), pairs,
                          tensor<double, dyn, dyn>(logits.data(), pairs.count(), relations));
    });
    return logits;
  }
  std::vector<double> arcs() const { return {found.arc.data_handle(), found.arc.data_handle() + found.arc.extent(0)}; }
};
template <class Model>
auto ask(Model const& m, sentences const& all) {
  return std::make_unique<asked<Model>>(m, all);
}

// The row and the two ends of each pair, in all sentences.
struct every_pair {
  std::vector<index_t> edge, child, parent;
  explicit every_pair(graph_batch const& g) {
    for (index_t b = 0; b < g.dims.graphs; ++b)
      for (index_t i = 0; i < g.size(b); ++i)
        for (index_t j = 0; j < g.size(b); ++j) {
          edge.push_back(g.edge_begin(b) + i * g.size(b) + j);
          child.push_back(g.node_begin(b) + i);
          parent.push_back(g.node_begin(b) + j);
        }
  }
  token_pairs view() const {
    auto const n = static_cast<index_t>(edge.size());
    return {make_vec(edge.data(), n), make_vec(child.data(), n), make_vec(parent.data(), n)};
  }
};

template <class Model>
void relations_of_all_pairs_have_those_of_the_right_ones(Model const& m) {
  auto const a = ask(m, some_sentences());
  every_pair const all(a->in.graphs);
  auto const every = a->relate(all.view());
  for (index_t k = 0; k < a->in.pairs.count(); ++k) {
    auto const row = static_cast<std::size_t>(a->in.pairs.edge(k));
    CHECK(all.child[row] == a->in.pairs.child(k));
    CHECK(all.parent[row] == a->in.pairs.parent(k));
    for (index_t r = 0; r < relations; ++r)
      CHECK_THAT(a->found.relation(k, r), WithinAbs(every[row * relations + static_cast<std::size_t>(r)], 1e-12));
  }
}

TEST_CASE("relations that are asked for afterwards are those of training") {
  relations_of_all_pairs_have_those_of_the_right_ones(
      edge_dependency_parser<double>(edge_sizes(false, 0.3), {relations}));
  relations_of_all_pairs_have_those_of_the_right_ones(
      biaffine_dependency_parser<double>(token_sizes(false, 0.3), {relations, inner, 0.3}));
}

template <class Model>
void scores_depend_on_their_own_sentence(Model const& m) {
  auto const all = some_sentences();
  auto const alone = ask(m, {all[0]})->arcs(), beside = ask(m, {all[0], all[2], all[1]})->arcs();
  REQUIRE(alone.size() == 16);
  for (std::size_t e = 0; e < alone.size(); ++e) CHECK(beside[e] == alone[e]);
  auto turned = all[0];
  std::swap(turned[0].token, turned[3].token);
  REQUIRE(turned[0].token != turned[3].token);
  CHECK(ask(m, {turned})->arcs() != alone);
}

TEST_CASE("scores of a sentence do not depend on the other sentences, and do on its words' order") {
  scores_depend_on_their_own_sentence(edge_dependency_parser<double>(edge_sizes(false, 0), {relations}));
  scores_depend_on_their_own_sentence(biaffine_dependency_parser<double>(token_sizes(false, 0), {relations, inner, 0}));
}

template <class Model>
void check_attention(Model const& m, trainer_options o, sentences const& all) {
  reference::backend ex;
  trainer<Model, reference::backend> work(ex, m, o);
  initialize(work.parameters(), 3);
  auto loader = filled<loader_type>(all);
  auto const in = loader.upload().first;
  for (index_t k = 0; k < 2; ++k)
    for (index_t s = 0; s < 3; ++s) {
      auto const n = static_cast<index_t>(all[static_cast<std::size_t>(s)].size());
      auto const table = work.attention(in, {.layer = k, .graph = s, .edge = {n - 1, 0}});
      REQUIRE((table.heads() == 2 && table.terms() == n));
      for (index_t h = 0; h < 2; ++h) {
        double sum = 0;
        for (index_t l = 0; l < n; ++l) sum += table(h, l);
        CHECK_THAT(sum, WithinAbs(1, 1e-12));
      }
    }
  CHECK_THROWS_AS(work.attention(in, {.layer = 2, .graph = 0, .edge = {0, 0}}), contract_violation);
}

TEST_CASE("a parser of edges shows where each of them looked, and one of tokens has no edges") {
  auto const all = some_sentences();
  trainer_options const o{.memory = keep::everything, .capacity = {3, 26, 8, 92, 4}};
  check_attention(edge_dependency_parser<double>(edge_sizes(false, 0), {relations}), o, all);
  check_attention(edge_dependency_parser<double>(edge_sizes(true, 0.3), {relations}), o, all);
  CHECK(shows_attention<edge_dependency_parser<double>, reference::backend>);
  CHECK_FALSE(shows_attention<biaffine_dependency_parser<double>, reference::backend>);
}

TEST_CASE("dependency parsers list their parameters by name") {
  auto const paths_of = [](auto const& m) {
    std::vector<std::string> paths;
    arena measure;
    walk(m.plan_params(measure), [&](std::string const& path, auto) { paths.push_back(path); });
    return paths;
  };
  auto const edges = paths_of(edge_dependency_parser<double>(edge_sizes(true, 0), {relations}));
  CHECK(edges.front() == "encoder.tokens");
  CHECK(std::vector<std::string>(edges.end() - 4, edges.end()) ==
        std::vector<std::string>{"arc.weight", "arc.bias", "relation.weight", "relation.bias"});
  auto const nodes = paths_of(biaffine_dependency_parser<double>(token_sizes(true, 0), {relations, inner, 0}));
  CHECK(std::vector<std::string>(nodes.end() - 18, nodes.end() - 8) ==
        std::vector<std::string>{"ends.arc_child.weight", "ends.arc_child.bias", "ends.arc_parent.weight",
                                 "ends.arc_parent.bias", "ends.relation_child.weight", "ends.relation_child.bias",
                                 "ends.relation_parent.weight", "ends.relation_parent.bias", "arc.weight", "arc.bias"});
  CHECK(nodes[nodes.size() - 8] == "root.weight");
}

TEST_CASE("forty relations more cost a training step forty values a token more, not forty a pair") {
  cpu::backend ex;
  graph_dims const dims{10, 10 * 50 * 50, 500, 10 * 50 * 50 * 50, 50};
  auto const check = [&](auto const& few, auto const& many) {
    using model = std::remove_cvref_t<decltype(few)>;
    trainer_options o;
    o.capacity = dims;
    auto const a = trainer<model, cpu::backend>::plan(ex, few, o), b = trainer<model, cpu::backend>::plan(ex, many, o);
    auto const more = b.saved + b.scratch - a.saved - a.scratch;
    CAPTURE(a.saved, a.scratch, b.saved, b.scratch);
    CHECK(more >= 2 * 40 * 500 * sizeof(float));  // memory for logits and for their gradients
    CHECK(more <= 3 * 40 * 500 * sizeof(float));
  };
  auto const edges = edge_sizes(false, 0.1);
  auto const nodes = token_sizes(false, 0.1);
  check(edge_dependency_parser<float>(edges, {4}), edge_dependency_parser<float>(edges, {44}));
  check(biaffine_dependency_parser<float>(nodes, {4, inner, 0.1}),
        biaffine_dependency_parser<float>(nodes, {44, inner, 0.1}));
}

template <class Model>
std::vector<float> trained_by(Model const& m, int threads) {
  cpu::backend ex(threads);
  auto o = asked<edge_dependency_parser<double>>::settings();
  o.key = 9;
  o.max_norm = 1;
  trainer<Model, cpu::backend> work(ex, m, o);
  initialize(work.parameters(), 3);
  auto loader = filled<dependency_loader<cpu::backend, float>>(some_sentences());
  auto const batch = loader.upload();
  double first = 0;
  for (int i = 0; i < 80; ++i) {
    work.update(batch.first, batch.second, 1e-2);
    if (i == 0) first = static_cast<double>(work.loss());
  }
  CHECK(static_cast<double>(work.loss()) < 0.7 * first);
  auto const flat = work.parameters().flat_values();
  return {flat.data_handle(), flat.data_handle() + flat.extent(0)};
}

TEST_CASE("dependency parsers learn eight tokens, to the same bits with one thread and with three") {
  edge_dependency_parser<float> const edges(edge_sizes(false, 0.1), {relations});
  CHECK(trained_by(edges, 1) == trained_by(edges, 3));
  biaffine_dependency_parser<float> const nodes(token_sizes(false, 0.1), {relations, inner, 0.1});
  CHECK(trained_by(nodes, 1) == trained_by(nodes, 3));
}

}  // namespace models_dependency_parser_tests
