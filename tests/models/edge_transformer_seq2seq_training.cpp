// Tests training of the encoder-decoder Edge Transformer: the number of threads does not change a bit, a step does not
// allocate memory, and training uses exactly the planned memory.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/catch.hpp"
#include "tests/models/pair_training.hpp"
#include "triad/batches/edge_pair_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace models_edge_transformer_seq2seq_training_tests {

using namespace triad;
using test::allocations;

using model = edge_transformer_seq2seq<float>;
using pair_trainer = trainer<model, cpu::backend>;

constexpr index_t width = 16, heads = 2, words = 11, begin_token = 1, end_token = 2;
constexpr auto relational = sequence_encoding::relational, positional = sequence_encoding::positional;

edge_transformer_seq2seq_options sizes(sequence_encoding encoding) {
  edge_transformer_seq2seq_options z;
  z.tokens = words;
  z.reach = 3;
  z.layers = 3;
  z.layer = {width, heads, 4 * width, 0.2, triangle_form::full, true};
  z.encoding = encoding;
  z.positional_dropout = 0.2;
  z.smoothing = {0.1};
  return z;
}

struct run {
  cpu::backend ex;
  pair_trainer train;
  edge_pair_loader<cpu::backend, float> loader;

  static pair_trainer::options_type options(keep kept) {
    pair_trainer::options_type o;
    o.max_norm = 1;
    o.key = 5;
    o.memory = kept;
    for (int p = 0; p < 6; ++p) o.capacity = o.capacity + edge_pair_dims_of(9, 5);
    return o;
  }
  run(int threads, sequence_encoding encoding, keep kept = keep::everything)
      : ex(threads),
        train(ex, model(sizes(encoding)), options(kept)),
        loader(options(kept).capacity, train.model().layout, width, begin_token, end_token) {
    initialize(train.parameters(), 3);
  }
  run(run const&) = delete;
  run& operator=(run const&) = delete;

  /// Makes an update on batch `number`. Batches with odd numbers have fewer pairs.
  float update(std::uint64_t number) { return test::update_on_pairs(train, loader, number, number % 2 == 0 ? 6 : 3); }
};

TEST_CASE("an encoder and decoder of edges train to the same bits on one, two and three threads, whatever they keep") {
  for (auto encoding : {relational, positional}) {
    CAPTURE(static_cast<int>(encoding));
    auto const one = test::trace_of(run(1, encoding));
    for (float v : one) REQUIRE(std::isfinite(v));
    CHECK(one == test::trace_of(run(2, encoding)));
    CHECK(one == test::trace_of(run(3, encoding)));
    CHECK(one == test::trace_of(run(2, encoding, keep::inputs)));
  }
}

TEST_CASE("a training step of an encoder and decoder of edges allocates nothing, nor does its loader") {
  REQUIRE(allocations.load() > 0);  // shows that allocations are counted
  for (auto encoding : {relational, positional}) {
    test::expect_no_allocations(run(2, encoding));
  }
}

TEST_CASE("the plan of an encoder and decoder of edges is what they hold, and a larger batch is refused") {
  run r(1, relational);
  CHECK(r.train.bytes().parameters == r.train.parameters().bytes());
  std::vector<index_t> const long_one(20, 4);
  CHECK_FALSE(r.loader.has_room(20, 3));
  edge_pair_dims wide;
  for (int p = 0; p < 6; ++p) wide = wide + edge_pair_dims_of(21, 21);
  edge_pair_loader<cpu::backend, float> wider(wide, r.train.model().layout, width, begin_token, end_token);
  for (int p = 0; p < 6; ++p) wider.add(long_one, long_one);
  auto const both = wider.upload();
  CHECK_THROWS_WITH(r.train.update(both.first, both.second, 0.1),
                    test::contains("more was asked for than was measured"));
}

TEST_CASE(
    "either side keeps thirteen values a column of an edge in each layer, and of what is not read no more than up to "
    "the triangle") {
  // Each view of a plan begins at a cache line and ends with slack.
  constexpr std::size_t per_view = arena_slack + arena_alignment;
  constexpr index_t layers = 3, layer = 12 * width + 2 * heads + 4, below_the_triangle = 6 * width + 2 * heads + 2,
                    read = 8 * width + 2;
  for (auto encoding : {relational, positional})
    for (auto const& z : {edge_pair_dims_of(40, 30), edge_pair_dims_of(9, 5) + edge_pair_dims_of(5, 1)}) {
      index_t const s = z.source.rows, n = z.whole.rows, t = z.targets,
                    ends = encoding == relational ? 0 : (z.source.nodes + z.whole.nodes) * width;
      auto const expect = [&](keep kept, bool prune, index_t floats) {
        auto one = sizes(encoding);
        one.prune = prune;
        auto const bytes = planned_bytes([&](arena& a) { (void)model(one).plan_saved(a, z, kept); }),
                   exact = static_cast<std::size_t>(floats) * sizeof(float);
        CHECK(bytes >= exact);
        CHECK(bytes <= exact + 15 * (2 * layers + 1) * per_view);
      };
      index_t const states = (s + n) * (1 + layers) * width;  // the inputs and outputs of the layers
      expect(keep::everything, false, ends + states + t * width + layers * (s + n) * layer);
      index_t const pruned = ends + states - n * width + t * width + n * below_the_triangle + t * read;
      expect(keep::everything, true, pruned + layers * s * layer + (layers - 1) * n * layer);
      expect(keep::inputs, true, pruned + (s + n) * layer);
    }
}

}  // namespace models_edge_transformer_seq2seq_training_tests
