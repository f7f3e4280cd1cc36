// Tests padded batches of pairs that are stored as graphs: padding fills a batch exactly and does not change training,
// and padded batches have few shapes.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "tests/catch.hpp"
#include "tests/padded_batches.hpp"
#include "tests/ragged_data.hpp"
#include "tests/replay_number.hpp"
#include "triad/batches/batches.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/core/errors.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace batches_edge_pair_loader_padded_tests {

using namespace triad;
using test::largest_difference, test::outcome, test::outcome_of, test::refusing_memory, test::replaying;

constexpr index_t begin_token = 1, end_token = 2, words = 8;
using model = edge_transformer_seq2seq<double>;

/// The numbers of tokens of a source and a target, without the end token and the begin token.
struct lengths {
  index_t source, target;
};
std::vector<lengths> const five{{3, 4}, {1, 5}, {5, 1}, {2, 3}, {4, 2}};

edge_pair_dims capacity_for(std::vector<lengths> const& pairs) {
  edge_pair_dims z;
  for (auto const& p : pairs) z = z + edge_pair_dims_of(p.source + 1, p.target + 1);
  return z;
}

template <class Loader>
void fill(Loader& loader, std::vector<lengths> const& pairs) {
  random_stream random(11, 0);
  for (auto const& p : pairs) {
    auto const sequence = [&](index_t n) {
      std::vector<index_t> all(static_cast<std::size_t>(n));
      for (auto& w : all) w = 3 + random.below(static_cast<std::uint32_t>(words - 3));
      return all;
    };
    auto const source = sequence(p.source), target = sequence(p.target);
    loader.add(source, target);
  }
}

index_t sum(vec<index_t const> v) { return std::accumulate(v.data_handle(), v.data_handle() + v.size(), index_t{0}); }
index_t sum_of_squares(vec<index_t const> v) {
  return std::inner_product(v.data_handle(), v.data_handle() + v.size(), v.data_handle(), index_t{0});
}

/// Checks that source graphs and whole graphs have exactly as many nodes and edges as the batch's sizes say, and that
/// these sizes are buckets.
void expect_filled(edge_pair_batch<double> const& in, edge_pair_dims const& room) {
  auto const& z = in.sizes;
  auto const expect_graphs = [](graph_batch const& g) {
    CHECK(sum(g.size) == g.dims.nodes);
    CHECK(sum_of_squares(g.size) == g.dims.rows);
    CHECK((bucket_of(g.dims.nodes) == g.dims.nodes && bucket_of(g.dims.rows) == g.dims.rows));
  };
  expect_graphs(in.source.graphs);
  expect_graphs(in.whole.graphs);
  CHECK((z.source.graphs == z.pairs && z.whole.graphs == z.pairs));
  CHECK(sum(in.sources) == z.source.nodes);
  CHECK(z.targets == z.whole.nodes - z.source.nodes);
  CHECK(fits(z, room));
}

outcome trained(model const& m, bool padded, bool a_row_counts = false) {
  replaying ex;
  auto const capacity = capacity_for(five);
  trainer<model, replaying> learner(ex, m, {.key = 7, .capacity = padded_room_for<replaying>(capacity)});
  initialize(learner.parameters(), 3);
  edge_pair_loader<replaying, double> loader(capacity, m.layout, m.width(), begin_token, end_token);
  fill(loader, five);
  auto const [in, targets] = upload_both(loader, padded);
  if (padded) {
    expect_filled(in, padded_room(capacity));
    CHECK((loader.dims().pairs == 5 && loader.dims().targets == 20));  // padding does not count in loader.dims()
    REQUIRE((in.sizes.targets > 20 && targets.next(20) < 0));
    if (a_row_counts) const_cast<index_t&>(targets.next(20)) = 3;
  }
  return outcome_of(learner, in, targets);
}
TEST_CASE(
    "padded pairs of graphs have the loss and the gradients that they have without, and a row that counts is seen") {
  for (auto const encoding : {sequence_encoding::relational, sequence_encoding::positional})
    for (auto const readout : {edge_readout::diagonal, edge_readout::from_begin}) {
      CAPTURE(static_cast<int>(encoding), static_cast<int>(readout));
      edge_transformer_seq2seq_options z;
      z.tokens = words;
      z.reach = 2;
      z.layers = 2;
      z.layer = {6, 2, 8, 0.2, triangle_form::full, true};
      z.encoding = encoding;
      z.readout = readout;
      model const m(z);
      auto const plain = trained(m, false);
      CHECK(largest_difference(plain, trained(m, true)) < 1e-12);
      CHECK(largest_difference(plain, trained(m, true, true)) > 1e-4);
    }
}

TEST_CASE("a batch of pairs of graphs stays as it is where its upload fails, or where it cannot be filled up") {
  auto const layout = model([] {
                        edge_transformer_seq2seq_options z;
                        z.tokens = words, z.layer = {6, 2, 8, 0, triangle_form::full, true};
                        return z;
                      }())
                          .layout;
  edge_pair_loader<replaying, double> loader(capacity_for(five), layout, 6, begin_token, end_token);
  fill(loader, five);
  auto const expect_five = [&] {
    auto const z = loader.upload().first.sizes;
    CHECK((z.pairs == 5 && z.source.nodes == 20 && z.whole.nodes == 40 && z.targets == 20));
  };
  refusing_memory::refuses = true;
  CHECK_THROWS_WITH(loader.upload_padded(), test::contains("refused"));
  refusing_memory::refuses = false;
  expect_five();
  // Each graph has one source node and one target node. The next bucket for the whole graphs would need more target
  // nodes than the capacity has.
  std::vector<lengths> const least(3);
  auto few = capacity_for(least);
  few.whole.max_nodes = 2;
  edge_pair_loader<replaying, double> tight(few, layout, 6, begin_token, end_token);
  fill(tight, least);
  auto const in = tight.upload_padded().first;
  CHECK((in.sizes.pairs == 3 && in.sizes.source.nodes == 3 && in.sizes.whole.nodes == 6 && in.sizes.targets == 3));
  CHECK(padded_room_for<reference::backend>(few).pairs == 3);
}

TEST_CASE("padding sources never takes more of the whole graphs than there is room for") {
  // The capacity for whole graphs is enough for exactly three pairs with sources of one token, including the end. The
  // capacity for sources is enough for three other pairs. With five more sources of one node, the sources would have
  // the size of a bucket, but the whole graphs would exceed their capacity.
  std::vector<lengths> const all{{0, 2}, {0, 3}, {0, 4}, {1, 0}, {0, 0}, {0, 0}}, three(all.begin(), all.begin() + 3);
  auto room = capacity_for(three);
  room.source = capacity_for({all.begin() + 3, all.end()}).source;
  edge_pair_loader<replaying, double> loader(room, {}, 6, begin_token, end_token);
  fill(loader, three);
  auto const z = loader.upload_padded().first.sizes;
  CHECK((z.pairs == 3 && z.source.rows == 3 && z.whole.rows == 77));
}

TEST_CASE("shuffled batches of pairs of graphs have few padded shapes, and less than a tenth is added") {
  auto data = test::like_cogs();
  for (std::size_t k = 0; k < data.nodes.size() / 2; ++k) data.nodes[k] = data.nodes[2 * k];
  data.nodes.resize(data.nodes.size() / 2);
  index_t const longest = 24;
  auto const pair = [](index_t n) { return lengths{n, n + n % 3}; };
  graph_dims const sources{100, 100 * longest * longest, 100 * longest, 100 * longest * longest * longest, longest};
  index_t const n = 2 * longest + 2;
  edge_pair_loader<replaying, double> loader(
      {100, sources, {100, 100 * n * n, 100 * n, 100 * n * n * n, n}, 100 * (longest + 2)},
      {sequence_encoding::relational, {2}, edge_readout::diagonal}, 4, begin_token, end_token);
  std::set<std::uint64_t> shapes;
  double before = 0, after = 0, updates = 0, known = 0;
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch)
    test::each_batch(data, epoch, [&](std::vector<index_t> const& batch) {
      loader.clear();
      std::vector<lengths> pairs;
      for (auto const length : batch) pairs.push_back(pair(length));
      fill(loader, pairs);
      before += static_cast<double>(loader.dims().source.rows + loader.dims().whole.rows);
      auto const both = loader.upload_padded();
      after += static_cast<double>(both.first.sizes.source.rows + both.first.sizes.whole.rows);
      CHECK(both.first.sizes.pairs > 100);
      bool const met = !shapes.insert(test::replay_number(both.first)).second;
      if (epoch == 1) return;
      updates += 1;
      known += met;
    });
  CHECK(known >= 0.95 * updates);
  CHECK(after - before < 0.1 * before);
  CHECK(after > before);
}

}  // namespace batches_edge_pair_loader_padded_tests
