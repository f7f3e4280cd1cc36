// Tests that layers and models refuse impossible sizes and rates.
// SPDX-License-Identifier: Apache-2.0
#include "tests/misuse/misuse.hpp"
#include "triad/models/dependency_parser.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/models/graph_attention_network.hpp"
#include "triad/models/relation_transformer.hpp"
#include "triad/models/roberta.hpp"
#include "triad/models/transformer_parser.hpp"
#include "triad/models/tree_machine.hpp"

namespace misuse_models_tests {

using namespace triad;
using test::expect_rate_checked;
using test::expect_sentence;
using test::expect_sizes_checked;

// Makes an entry for a member of Sizes `z`: the name in messages, and a function that returns the member.
#define FIELD(name, path) {name, [](auto& z) -> index_t& { return z.path; }}
#define RATE(path) [](auto& z) -> double& { return z.path; }

constexpr edge_transformer_layer_options edges{.width = 8, .heads = 2, .hidden = 12};
constexpr transformer_layer_options tokens{.width = 8, .heads = 2, .hidden = 12};

TEST_CASE("layers of impossible sizes are refused in a sentence") {
  expect_sizes_checked<edge_transformer_layer<float>, edge_transformer_layer_options>(
      "edge_transformer_layer", edges, {FIELD("width", width), FIELD("heads", heads), FIELD("hidden", hidden)});
  expect_sizes_checked<transformer_layer<float>, transformer_layer_options>(
      "transformer_layer", tokens, {FIELD("width", width), FIELD("heads", heads), FIELD("hidden", hidden)});
  expect_sizes_checked<relation_layer<float>, relation_layer_options>(
      "relation_layer", {8, 2, 12, 0}, {FIELD("width", width), FIELD("heads", heads), FIELD("hidden", hidden)});
  expect_sizes_checked<relation_update_layer<float>, relation_layer_options>(
      "relation_update_layer", {8, 2, 12, 0}, {FIELD("width", width), FIELD("heads", heads), FIELD("hidden", hidden)});
  expect_sizes_checked<graph_attention_layer<float>, graph_attention_layer_options>(
      "graph_attention_layer", {8, 2}, {FIELD("width", width), FIELD("heads", heads)});
  expect_sizes_checked<neural_tree_agent<float>, tree_agent_options>(
      "neural_tree_agent", {.layer = tokens, .layers = 2, .branching = 2, .fillers = 4},
      {FIELD("width", layer.width), FIELD("heads", layer.heads), FIELD("hidden", layer.hidden), FIELD("layers", layers),
       FIELD("branching", branching), FIELD("fillers", fillers)});
  expect_sizes_checked<fused_stack<float>, fused_stack_options>(
      "fused_stack", {.layer = tokens, .layers = 2},
      {FIELD("width", layer.width), FIELD("heads", layer.heads), FIELD("hidden", layer.hidden),
       FIELD("layers", layers)});
  expect_rate_checked<edge_transformer_layer<float>, edge_transformer_layer_options>("edge_transformer_layer", edges,
                                                                                     RATE(dropout));
  expect_rate_checked<transformer_layer<float>, transformer_layer_options>("transformer_layer", tokens, RATE(dropout));
  expect_rate_checked<relation_layer<float>, relation_layer_options>("relation_layer", {8, 2, 12, 0}, RATE(dropout));
  expect_rate_checked<graph_attention_layer<float>, graph_attention_layer_options>("graph_attention_layer", {8, 2},
                                                                                   RATE(dropout));
  expect_rate_checked<fused_stack<float>, fused_stack_options>("fused_stack", {.layer = tokens, .layers = 2},
                                                               RATE(layer.dropout));
}

TEST_CASE("models of impossible sizes are refused in a sentence") {
  edge_transformer_options const graphs{.labels = 5, .targets = 3, .layers = 2, .layer = edges};
  expect_sizes_checked<edge_transformer<float>, edge_transformer_options>(
      "edge_transformer", graphs,
      {FIELD("width", layer.width), FIELD("heads", layer.heads), FIELD("hidden", layer.hidden), FIELD("labels", labels),
       FIELD("targets", targets), FIELD("layers", layers)});
  expect_rate_checked<edge_transformer<float>, edge_transformer_options>("edge_transformer", graphs,
                                                                         RATE(layer.dropout));

  relation_transformer_options const relations{.labels = 5, .targets = 3, .layers = 2, .layer = {8, 2, 12, 0}};
  std::vector<test::size_field<relation_transformer_options>> const of_relations{
      FIELD("width", layer.width), FIELD("heads", layer.heads), FIELD("hidden", layer.hidden),
      FIELD("labels", labels),     FIELD("targets", targets),   FIELD("layers", layers)};
  expect_sizes_checked<relation_aware_transformer<float>>("relation_aware_transformer", relations, of_relations);
  expect_sizes_checked<relation_updating_transformer<float>>("relation_updating_transformer", relations, of_relations);

  graph_attention_network_options const neighbours{.labels = 5, .targets = 3, .layers = 2, .layer = {8, 2}};
  expect_sizes_checked<graph_attention_network<float>, graph_attention_network_options>(
      "graph_attention_network", neighbours,
      {FIELD("width", layer.width), FIELD("heads", layer.heads), FIELD("labels", labels), FIELD("targets", targets),
       FIELD("layers", layers)});

  edge_transformer_seq2seq_options pairs;
  pairs.tokens = 9, pairs.reach = 4, pairs.layers = 2, pairs.layer = edges;
  expect_sizes_checked<edge_transformer_seq2seq<float>, edge_transformer_seq2seq_options>(
      "edge_transformer_seq2seq", pairs,
      {FIELD("width", layer.width), FIELD("heads", layer.heads), FIELD("hidden", layer.hidden), FIELD("tokens", tokens),
       FIELD("reach", reach), FIELD("layers", layers)});
  expect_rate_checked<edge_transformer_seq2seq<float>, edge_transformer_seq2seq_options>(
      "edge_transformer_seq2seq", pairs, RATE(positional_dropout));

  fused_transformer_options fused;
  fused.source_tokens = fused.target_tokens = 9;
  fused.encoder = fused.decoder = {.layer = tokens, .layers = 2};
  expect_sizes_checked<fused_transformer<float>, fused_transformer_options>(
      "fused_transformer", fused,
      {FIELD("width", encoder.layer.width), FIELD("heads", encoder.layer.heads), FIELD("hidden", encoder.layer.hidden),
       FIELD("layers", encoder.layers), FIELD("width", decoder.layer.width), FIELD("heads", decoder.layer.heads),
       FIELD("hidden", decoder.layer.hidden), FIELD("layers", decoder.layers), FIELD("source_tokens", source_tokens),
       FIELD("target_tokens", target_tokens)});
  expect_rate_checked<fused_transformer<float>, fused_transformer_options>("fused_transformer", fused, RATE(dropout));
}

TEST_CASE("parsers of impossible sizes are refused in a sentence") {
  edge_transformer_parser_options by_edges{.tokens = 9, .labels = {2, 2, 2, 2}, .layers = 2, .layer = edges};
  expect_sizes_checked<edge_transformer_parser<float>, edge_transformer_parser_options>(
      "edge_transformer_parser", by_edges,
      {FIELD("width", layer.width), FIELD("heads", layer.heads), FIELD("hidden", layer.hidden), FIELD("tokens", tokens),
       FIELD("relations", relations), FIELD("layers", layers), FIELD("roles", labels.role),
       FIELD("categories", labels.category), FIELD("noun types", labels.noun_type), FIELD("verbs", labels.verb)});
  transformer_parser_options by_tokens{.tokens = 9, .labels = {2, 2, 2, 2}, .layers = 2, .layer = tokens};
  expect_sizes_checked<transformer_parser<float>, transformer_parser_options>(
      "transformer_parser", by_tokens,
      {FIELD("width", layer.width), FIELD("heads", layer.heads), FIELD("hidden", layer.hidden), FIELD("tokens", tokens),
       FIELD("layers", layers), FIELD("roles", labels.role)});
  for (auto bad : test::no_sizes) {
    using biaffine = biaffine_dependency_parser<float>;
    token_trunk_options const trunk{.tokens = 9, .layers = 1, .layer = tokens};
    auto const number = std::to_string(bad);
    expect_sentence("biaffine relations", [&] { biaffine(trunk, {.relations = bad, .inner = 4}); }, number);
    expect_sentence("biaffine inner", [&] { biaffine(trunk, {.relations = 3, .inner = bad}); }, number);
    edge_trunk_options const pairs{.tokens = 9, .layers = 1, .layer = edges};
    expect_sentence("edge heads' relations", [&] { edge_dependency_parser<float>(pairs, {.relations = bad}); }, number);
  }
}

TEST_CASE("tree machines of impossible sizes are refused in a sentence") {
  tree_positions<> const where(2, 3);
  tree_machine_options const good{
      .steps = 2, .symbols = 5, .agent = {.layer = tokens, .layers = 1, .branching = 2, .fillers = 4}};
  auto const made = [&](auto change, index_t bad) {
    auto z = good;
    change(z) = bad;
    expect_sentence(
        "tree_machine of " + std::to_string(bad),
        [&] { tree_machine<float>(tree_interpreter<float>(where), where.count(), z); }, std::to_string(bad));
  };
  for (auto bad : test::no_sizes) {
    made([](auto& z) -> index_t& { return z.steps; }, bad);
    made([](auto& z) -> index_t& { return z.symbols; }, bad);
    made([](auto& z) -> index_t& { return z.agent.fillers; }, bad);
    made([](auto& z) -> index_t& { return z.agent.layer.width; }, bad);
    expect_sentence("positions of depth", [&] { tree_positions<>(2, bad); }, std::to_string(bad));
    expect_sentence("positions of branching", [&] { tree_positions<>(bad, 30); }, std::to_string(bad));
  }
}

TEST_CASE("a static size given another value is refused with both numbers") {
  using fixed = edge_transformer<float, 8, 2, 12>;
  edge_transformer_options const right{.labels = 5, .targets = 3, .layer = edges}, without{.labels = 5, .targets = 3};
  CHECK(fixed(right).width() == 8);
  CHECK(fixed(without).layers.layer.attention.heads() == 2);
  auto z = right;
  z.layer.width = 16;
  expect_sentence("width", [&] { fixed const m(z); }, "width is 16, expected 8");
  z = right, z.layer.heads = 4;
  expect_sentence("heads", [&] { fixed const m(z); }, "heads is 4, expected 2");
  z = right, z.layer.hidden = 16;
  expect_sentence("hidden", [&] { fixed const m(z); }, "hidden is 16, expected 12");

  auto const of_other = [](auto make) { expect_sentence("another width", make, "is 16, expected "); };
  of_other([] { feed_forward<float, 8, 12, 8>(16, 12, 8); });
  of_other([] { feed_forward<float, 8, 12, 8>(8, 16, 8); });
  of_other([] { feed_forward<float, 8, 12, 8>(8, 12, 16); });
  of_other([] { transformer_layer<float, 8, 2, 12>({16, 2, 12}); });
  of_other([] { relation_layer<float, 8, 2, 12>({16, 2, 12}); });
  of_other([] { relation_update_layer<float, 8, 2, 12>({8, 2, 16}); });
  of_other([] { graph_attention_layer<float, 8, 2>({16, 2}); });
  of_other([] { fuse_attention_layer<float, 8, 2>(16, 2); });
  of_other([] { fused_stack<float, 8, 2, 12>({.layer = {16, 2, 12}}); });
  of_other([] { biaffine_heads<float, 8>(16, {3, 4}); });
  of_other([] { edge_heads<float, 8>(16, {3}); });
  CHECK(transformer_layer<float, 8, 2, 12>({}).width() == 8);
  CHECK(fused_stack<float, 8, 2, 12>({.layers = 2}).width() == 8);
}

TEST_CASE("what does not go together is refused in a sentence") {
  expect_sentence(
      "heads that do not divide", [] { edge_transformer_layer<float>({8, 3, 12}); },
      "heads are 3 and width is 8, expected heads that divide the width");
  expect_sentence("nothing given", [] { edge_transformer_layer<float>({}); }, "was not given");
  expect_sentence("no hidden", [] { edge_transformer_layer<float>({.width = 8}); }, "hidden was not given");
  expect_sentence("fused_layer", [] { fused_layer<float>({8, 3, 12}, 0, false); }, "heads that divide the width");
  expect_sentence(
      "more fused than layers", [] { fused_stack<float>({.layer = tokens, .layers = 2, .fused = 4}); },
      "fuse-attention");
  expect_sentence("64 fused", [] { (void)all_fused(64); }, "64");
  expect_sentence("-1 fused", [] { (void)all_fused(-1); }, "-1");
  expect_sentence("top of none", [] { (void)only_top_fused(0); }, "layers is 0");
  expect_sentence(
      "negative reach", [] { transformer_layer<float>({.width = 8, .hidden = 4, .reach = -1}); },
      "reach of relative positions is -1");
  expect_sentence("negative source", [] { fused_stack<float>({.layer = tokens, .source_width = -4}); }, "-4");
  expect_sentence(
      "dense matrices overflow",
      [] {
        edge_transformer<float> const m(
            {.labels = 5, .targets = 3, .layer = {.width = largest_size, .hidden = largest_size}});
        arena place;
        (void)m.plan_params(place);
      },
      "more than any memory");
  struct config {
    index_t width = 8, layers = 1, heads = 2, hidden = 12, tokens = 9, positions = 12, padding = 1;
    double epsilon = 1e-5;
  };
  fused_transformer_options z;
  z.target_tokens = 9, z.decoder = {.layer = tokens};
  CHECK_NOTHROW(roberta_under_decoder<float>(config{}, z));
  for (auto bad : {index_t{-1}, index_t{11}, test::most_index}) {
    config c;
    c.padding = bad;
    expect_sentence("roberta's padding", [&] { (void)roberta_under_decoder<float>(c, z); }, std::to_string(bad));
  }
  for (auto bad : test::no_sizes) {
    config c;
    c.tokens = bad;
    expect_sentence("roberta's tokens", [&] { (void)roberta_under_decoder<float>(c, z); }, std::to_string(bad));
    c = {}, c.positions = bad;
    expect_sentence("roberta's positions", [&] { (void)roberta_under_decoder<float>(c, z); }, std::to_string(bad));
    c = {}, c.width = bad;
    expect_sentence("roberta's width", [&] { (void)roberta_under_decoder<float>(c, z); }, std::to_string(bad));
  }
}

}  // namespace misuse_models_tests
