// Tests padded batches: they have few shapes, are filled exactly, and train like batches without padding.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/padding.hpp"

#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"
#include "tests/padded_batches.hpp"
#include "tests/ragged_data.hpp"
#include "tests/replay_number.hpp"
#include "triad/batches/batches.hpp"
#include "triad/batches/dependency_loader.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/batches/sentence_loader.hpp"
#include "triad/core/errors.hpp"
#include "triad/models/dependency_parser.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "triad/models/graph_attention_network.hpp"
#include "triad/models/relation_transformer.hpp"
#include "triad/models/transformer_parser.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace batches_padding_tests {

using namespace triad;
using test::largest_difference, test::outcome, test::outcome_of, test::refusing_memory, test::replaying;

using sizes = std::vector<index_t>;

graph_dims dims_of_all(sizes const& nodes) {
  graph_dims all;
  for (auto const n : nodes) all = all + dims_of(n);
  return all;
}

TEST_CASE("buckets are a twelfth apart at most, where counts are no smaller than that, and hold what they are for") {
  index_t before = 0;
  for (index_t count = 0; count < 20000; ++count) {
    index_t const bucket = bucket_of(count);
    CAPTURE(count, bucket);
    REQUIRE((bucket >= count && bucket >= before && bucket_of(bucket) == bucket));
    REQUIRE((bucket - count < 8 || 12 * (bucket - count) < count));
    before = bucket;
  }
}

TEST_CASE("the graphs that are added have exactly the nodes and edges that are missing") {
  for (auto const& data : {test::like_clutrr(), test::like_cogs()}) {
    graph_dims const capacity = room_for(data.nodes, data.batch, [](index_t n) { return n; });
    auto const room = padded_room(capacity);
    graph_padding padding(capacity);
    test::each_batch(data, 1, [&](sizes const& batch) {
      auto const before = dims_of_all(batch);
      REQUIRE(padding.find(before));
      auto all = batch;
      for (auto const n : padding.nodes()) all.push_back(n);
      auto const after = dims_of_all(all);
      auto const& said = padding.dims();
      CHECK((after.graphs == said.graphs && after.rows == said.rows && after.nodes == said.nodes));
      CHECK((after.max_nodes <= said.max_nodes && after.triangles <= said.triangles));
      CHECK((bucket_of(said.rows) == said.rows && bucket_of(said.nodes) == said.nodes));
      CHECK((fits(said, room) && padding.nodes()[0] > 0));
      auto const again = said;
      CHECK((padding.find(before) && padding.dims().rows == again.rows && padding.dims().nodes == again.nodes));
    });
  }
}

TEST_CASE("a batch for which there is no shape within the room stays as it is") {
  graph_dims const capacity{4, 400, 20, 8000, 20};  // enough for four graphs, or for one of 20 nodes
  graph_padding padding(capacity);
  CHECK_FALSE(padding.find({}));
  CHECK(padding.nodes().empty());
  graph_dims const one = dims_of(20);  // 24 nodes and 416 edges fit, but 4 nodes cannot have exactly 16 edges
  CHECK(padding.find(one));
  CHECK(padding.dims().rows == 416);
  CHECK(padding.dims().nodes == 24);
  graph_dims const full{400, 400, 400, 400, 1};  // graphs of one node, so each adds one node and one edge
  graph_padding tight({400, 400, 23, 400, 1});
  CHECK_FALSE(tight.find(full));
  CHECK(tight.dims().rows == 400);
}

// ---- training -------------------------------------------------------------------------------------------------------

graph_dims const capacity{9, 250, 60, 4000, 7};
sizes const batch_sizes{3, 7, 1, 4, 5, 2, 7};  // 153 edges, 29 nodes

enum class fault { none, answered };

/// Computes the loss and the gradients of one batch. With fault::answered, the first answer in `asked` that is padding
/// counts in the loss.
template <class Ex, class Model, class Fill, class Asked>
outcome trained(Model const& m, Fill const& fill, Asked const& asked, bool padded, fault planted = fault::none) {
  Ex ex;
  trainer<Model, Ex> learner(ex, m, {.key = 7, .capacity = padded_room_for<Ex>(capacity)});
  initialize(learner.parameters(), 3);
  auto&& loader = fill(ex);
  auto const batch = upload_both(loader, padded);
  auto const& dims = batch.in.graphs.dims;
  if (padded) {
    CHECK(dims.rows == 168);
    CHECK(dims.nodes % 8 == 0);
    CHECK(loader.dims().rows == 153);  // padding does not count in loader.dims()
  }
  if (planted == fault::answered) {
    vec<index_t const> const answers = asked(batch.targets);
    auto const count = answers.extent(0) == dims.graphs ? std::ssize(batch_sizes) : index_t{29};
    REQUIRE(answers(count) < 0);
    const_cast<index_t&>(answers(count)) = 0;
  }
  return outcome_of(learner, batch.in, batch.targets);
}

/// Checks that a batch trains in the same way with and without padding. Also checks that a padded row that counts in
/// the loss makes a difference.
template <class Model, class Make, class Fill, class Asked>
void expect_padding_changes_nothing(Model const& m, Make const& make, Fill const& fill, Asked const& asked) {
  auto const filled = [&](auto& ex) {
    auto loader = make(ex);
    random_stream random(11, 0);
    for (auto const n : batch_sizes)
      fill(loader, n,
           [&](index_t below) { return static_cast<index_t>(random.below(static_cast<std::uint32_t>(below))); });
    return loader;
  };
  auto const plain = trained<replaying>(m, filled, asked, false), padded = trained<replaying>(m, filled, asked, true);
  CHECK(largest_difference(plain, padded) < 1e-12);
  CHECK(largest_difference(plain, trained<replaying>(m, filled, asked, true, fault::answered)) > 1e-4);
}

template <class Model>
void expect_graphs(Model const& m) {
  expect_padding_changes_nothing(
      m, [](auto& ex) { return graph_loader<std::remove_cvref_t<decltype(ex)>>(capacity); },
      [](auto& loader, index_t n, auto const& below) {
        auto* const label = loader.add(n, below(n), below(n), below(4));
        for (index_t e = 0; e < n * n; ++e) label[e] = below(5);
      },
      [](auto const& targets) { return targets; });
}

TEST_CASE(
    "padded graphs have the loss and the gradients that they have without padding, and a row that counts is seen") {
  edge_transformer_options z{.labels = 5, .targets = 4, .layers = 2};
  z.layer = {.width = 8, .heads = 2, .hidden = 12, .dropout = 0.2};
  for (bool const prune : {true, false}) {
    z.prune = prune;
    expect_graphs(edge_transformer<double>(z));
  }
  z.layer.variant = triangle_form::flat;
  expect_graphs(edge_transformer<double>(z));
  relation_transformer_options const relations{
      .labels = 5, .targets = 4, .layers = 2, .layer = {.width = 8, .heads = 2, .hidden = 12, .dropout = 0.2}};
  expect_graphs(relation_aware_transformer<double>(relations));
  expect_graphs(relation_updating_transformer<double>(relations));
  expect_graphs(graph_attention_network<double>(
      {.labels = 5, .targets = 4, .layers = 2, .layer = {.width = 8, .heads = 2, .dropout = 0.2}}));
}

TEST_CASE("further questions are padded, and come in parts, with the loss and the gradients of the whole batch") {
  edge_transformer_options z{.labels = 5, .targets = 4, .layers = 2};
  z.layer = {.width = 8, .heads = 2, .hidden = 12};
  auto room = capacity;
  room.further = 20;
  replaying ex;
  trainer learner(ex, edge_transformer<double>(z), {.key = 7, .capacity = padded_room_for<replaying>(room)});
  initialize(learner.parameters(), 3);
  graph_loader<replaying> loader(room);
  loader.further_weight(0.3);
  auto const count = static_cast<index_t>(std::size(batch_sizes));
  auto const fill = [&](index_t first, index_t last) {
    loader.clear();
    for (auto i = first; i < last; ++i) {
      random_stream random(5, static_cast<std::uint64_t>(i));
      auto const n = batch_sizes[static_cast<std::size_t>(i)];
      auto const below = [&](index_t most) {
        return static_cast<index_t>(random.below(static_cast<std::uint32_t>(most)));
      };
      auto* const label = loader.add(n, below(n), below(n), below(4));
      for (index_t e = 0; e < n * n; ++e) label[e] = below(5);
      for (index_t k = 0; k < i % 3; ++k) loader.ask({{below(n), below(n)}, k == 1 && i == 2 ? -1 : below(4)});
    }
  };
  auto const found = [&](bool padded) {
    auto const [in, targets] = padded ? loader.upload_padded() : loader.upload();
    CHECK((in.graphs.dims.further % 8 == 0) == padded);
    CHECK(targets.extent(0) == in.graphs.dims.questions());
    return outcome_of(learner, in, targets);
  };
  fill(0, count);
  REQUIRE(loader.dims().further % 8 != 0);
  auto const whole = found(false), padded = found(true);
  CHECK(largest_difference(whole, padded) < 1e-12);
  double const norm = learner.norm();
  loader.further_weight(0);
  CHECK(std::abs(found(false).loss - whole.loss) > 1e-3);
  loader.further_weight(0.3);
  for (auto const& [first, last] : {std::pair<index_t, index_t>{0, 3}, {3, count}}) {
    fill(first, last);
    auto const [in, targets] = loader.upload_padded();
    learner.accumulate(in, targets, static_cast<double>(last - first) / static_cast<double>(count));
  }
  learner.finish(0.01);
  CHECK_THAT(learner.loss(), test::WithinAbs(whole.loss, 1e-12));
  CHECK_THAT(learner.norm(), test::WithinAbs(norm, 1e-12));
}

template <class Model>
void expect_sentences(Model const& m) {
  for (int kind = 0; kind < 2; ++kind)
    expect_padding_changes_nothing(
        m, [&](auto& ex) { return sentence_loader<std::remove_cvref_t<decltype(ex)>, double>(capacity, 3, m.width()); },
        [](auto& loader, index_t n, auto const& below) {
          std::vector<labelled_token> sentence;
          for (index_t i = 0; i < n; ++i) {
            auto const token = below(9), parent = below(n + 1) - 1, role = below(3), category = below(2);
            auto const noun_type = below(4) - 1;
            sentence.push_back({token, parent, role, category, noun_type, below(5)});
          }
          loader.add(sentence);
        },
        [kind](auto const& targets) { return kind == 0 ? targets.parent : targets.verb; });
}

TEST_CASE(
    "padded sentences have the loss and the gradients that they have without padding, and a row that counts is seen") {
  label_counts const labels{3, 2, 3, 5};
  edge_transformer_parser_options z{.tokens = 9, .relations = 7, .labels = labels, .layers = 2};
  z.layer = {.width = 8, .heads = 2, .hidden = 12, .dropout = 0.2, .attention_bias = true};
  z.positional_dropout = 0.1;
  expect_sentences(edge_transformer_parser<double>(z));
  z.encoding = sequence_encoding::positional;
  z.readout = arcs::from_parent;
  expect_sentences(edge_transformer_parser<double>(z));
  // There is no dropout, because which elements attention drops depends on the sizes of the batch with padding.
  expect_sentences(transformer_parser<double>(
      {.tokens = 9, .labels = labels, .layers = 2, .layer = {.width = 8, .heads = 2, .hidden = 12}}));
}

template <class Model>
void expect_dependencies(Model const& m) {
  for (int kind = 0; kind < 2; ++kind)
    expect_padding_changes_nothing(
        m,
        [&](auto& ex) { return dependency_loader<std::remove_cvref_t<decltype(ex)>, double>(capacity, 3, m.width()); },
        [](auto& loader, index_t n, auto const& below) {
          std::vector<attached_token> sentence;
          for (index_t i = 0; i < n; ++i) {
            auto const token = below(9), parent = below(n + 1) - 1;
            sentence.push_back({token, parent, below(3)});
          }
          loader.add(sentence);
        },
        [kind](auto const& targets) { return kind == 0 ? targets.parent : targets.relation; });
}

TEST_CASE("padded dependencies have the loss and the gradients that they have without padding") {
  edge_trunk_options edges{.tokens = 9, .relations = 7, .layers = 2};
  edges.layer = {.width = 8, .heads = 2, .hidden = 12, .dropout = 0.2};
  expect_dependencies(edge_dependency_parser<double>(edges, {.relations = 3}));
  expect_dependencies(biaffine_dependency_parser<double>(
      {.tokens = 9, .layers = 2, .layer = {.width = 8, .heads = 2, .hidden = 12}}, {.relations = 3, .inner = 8}));
}

TEST_CASE("a backend that does not replay has no padding") {
  CHECK(padded_room_for<reference::backend>(capacity).rows == capacity.rows);
  graph_loader<reference::backend> loader(capacity);
  for (auto const n : batch_sizes) loader.add(n, 0, n - 1, 1);
  auto const number = test::replay_number(loader.upload().first);
  auto const [in, targets] = loader.upload_padded();
  CHECK(test::replay_number(in) == number);
  CHECK(targets.extent(0) == 7);
}

TEST_CASE("a batch whose padded upload fails is the batch that it was") {
  auto const expect_kept = [](auto&& loader, auto const& add) {
    for (auto const n : batch_sizes) add(loader, n);
    refusing_memory::refuses = true;
    CHECK_THROWS_WITH(loader.upload_padded(), test::contains("refused"));
    refusing_memory::refuses = false;
    CHECK(loader.dims().graphs == 7);
    CHECK(loader.dims().rows == 153);
    CHECK(upload_both(loader).in.graphs.dims.rows == 153);
  };
  expect_kept(graph_loader<replaying>(capacity), [](auto& loader, index_t n) { loader.add(n, 0, n - 1, 1); });
  expect_kept(sentence_loader<replaying, double>(capacity, 3, 8),
              [](auto& loader, index_t n) { loader.add(std::vector<labelled_token>(static_cast<std::size_t>(n))); });
  expect_kept(dependency_loader<replaying, double>(capacity, 3, 8),
              [](auto& loader, index_t n) { loader.add(std::vector<attached_token>(static_cast<std::size_t>(n))); });
}

TEST_CASE("batches that are asked for with padding have the samples that they have without") {
  std::vector<index_t> const data{3, 5, 2, 4, 1};
  graph_loader<replaying> loader(capacity);
  auto const add = [](auto& batch, index_t n) { batch.add(n, 0, n - 1, 1); };
  for (bool const pad : {false, true}) {
    index_t samples = 0;
    auto pass = batches(loader, data, add, {.shuffle = 1, .most = 2, .pad = pad});
    for (auto const& [in, targets] : pass) {
      CHECK(targets.extent(0) == in.graphs.dims.graphs);
      CHECK((in.graphs.dims.graphs > pass.samples()) == pad);
      samples += pass.samples();
    }
    CHECK(samples == 5);
  }
  struct without_padding {
    using memory = host_memory;
    void clear() {}
    index_t dims() const { return 0; }
    std::pair<int, int> upload() const { return {1, 2}; }
  } none;
  auto const add_nothing = [](auto&, index_t) {};
  CHECK_THROWS_WITH(batches(none, data, add_nothing, {.pad = true}).begin(), test::contains("leave `pad` out"));
}

}  // namespace batches_padding_tests
