// Tests the work and the memory of decoding by new edges: the number of triangles that each method computes, and the
// caches for later steps.
// SPDX-License-Identifier: Apache-2.0
#include "triad/decoding/edge_decoding.hpp"

#include "tests/catch.hpp"
#include "triad/reference/reference.hpp"

namespace decoding_edge_decoding_tests {

using namespace triad;

TEST_CASE("a decoder of edges computes a fraction of the triangles that passes compute") {
  auto const all = decoding_triples::of(15, 50, 6);
  CHECK(all.published == 6 * 4586625);  // 16^3 + ... + 65^3
  CHECK(all.published > 20 * all.incremental);
  CHECK(all.masked > 15 * all.incremental);

  // Compares with counts by the definition: triangle (i, l, j) is computed if l < max(s, i + 1, j + 1).
  auto const small = decoding_triples::of(3, 4, 2);
  index_t masked = 0, published = 0;
  for (index_t n = 4; n <= 7; ++n)
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        for (index_t l = 0; l < n; ++l) published += 2, masked += l < causal_end(3, n, i, j) ? 2 : 0;
  CHECK(small.masked == masked);
  CHECK(small.published == published);
}

edge_transformer_seq2seq<double> model_of(sequence_encoding encoding, edge_readout readout, index_t layers = 3) {
  edge_transformer_seq2seq_options z;
  z.tokens = 9;
  z.reach = 2;
  z.layers = layers;
  z.layer = {8, 2, 16};
  z.encoding = encoding;
  z.readout = readout;
  return edge_transformer_seq2seq<double>(z);
}

TEST_CASE(
    "a decoder keeps of every finished edge its projections, and in the last layer of those that are read alone") {
  // There are two sources, of 3 tokens and of 1 token, and two hypotheses of 4 tokens for each source. In step t, each
  // hypothesis has 2 (s + t) + 1 new edges.
  auto const z = edge_pair_dims_of(3, 0) + edge_pair_dims_of(1, 0);
  index_t const beam = 2, longest = 4;
  index_t of_steps = 0, last_step = 0;
  for (index_t t = 0; t < longest; ++t) {
    last_step = beam * ((2 * (3 + t) + 1) + (2 * (1 + t) + 1));
    of_steps += last_step;
  }
  CHECK(of_steps == 128);  // 20 + 28 + 36 + 44
  for (auto encoding : {sequence_encoding::relational, sequence_encoding::positional})
    for (auto readout : {edge_readout::diagonal, edge_readout::from_begin}) {
      auto const m = model_of(encoding, readout);
      edge_decoding<edge_transformer_seq2seq<double>> const d{m, beam, longest};
      arena measure;
      auto const at = d.plan(measure, z);
      bool const own = readout == edge_readout::diagonal, relational = encoding == sequence_encoding::relational;
      CAPTURE(own, relational);
      CHECK(d.rows(z, 0) == beam * (7 + 3));
      CHECK((at.caches.extent(0) == 2 && at.caches.extent(1) == 10 + of_steps && at.caches.extent(2) == 4 * 8));
      CHECK(at.last.extent(0) == (own ? last_step : of_steps));
      CHECK(at.x[0].extent(0) == last_step);
      CHECK(at.table.extent(0) == (relational ? 2 * 2 + 4 : 0));
      CHECK(at.left.extent(0) == (relational ? 0 : 4 + 4 * longest));
      CHECK((at.final.extent(0) == 4 && at.logits.extent(0) == 4 && at.logits.extent(1) == 9));
    }
}

TEST_CASE("scratch memory of a decoder grows with its room, and a larger beam's plan with the hypotheses") {
  reference::backend ex;
  auto const m = model_of(sequence_encoding::relational, edge_readout::diagonal);
  using decoding = edge_decoding<edge_transformer_seq2seq<double>>;
  auto const bytes = [&](index_t beam, index_t longest) {
    return planned_bytes([&](arena& a) { (void)decoding{m, beam, longest}.plan(a, edge_pair_dims_of(3, 0)); });
  };
  auto const scratch = [&](index_t beam, index_t longest) {
    return decoding{m, beam, longest}.scratch(ex, edge_pair_dims_of(3, 0));
  };
  CHECK(scratch(4, 6) > scratch(2, 6));
  CHECK(scratch(2, 9) > scratch(2, 6));
  // Each additional hypothesis needs at least memory for the projections of its edges, which are 32 numbers for each
  // edge in each of two layers.
  index_t edges = 0;
  for (index_t t = 0; t < 6; ++t) edges += 2 * (3 + t) + 1;
  CHECK(bytes(3, 6) - bytes(2, 6) > static_cast<std::size_t>(edges) * 32 * 8 * 2);
}

}  // namespace decoding_edge_decoding_tests
