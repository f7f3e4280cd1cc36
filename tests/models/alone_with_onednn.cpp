// Tests that what every model answers for an example does not depend on its batch if oneDNN computes the products.
// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/models/alone.hpp"
#include "triad/cpu/products/onednn.hpp"

namespace models_alone_with_onednn_tests {

using namespace triad;

/// Calls expect(use) for each precision in which oneDNN computes rows independently on this processor.
template <class Expect>
void with_onednn(Expect&& expect) {
  auto const& engine = cpu::onednn_engine::instance();
  if (!engine.rows_are_independent()) return;
  for (auto const factors : {cpu::arithmetic::float32, cpu::arithmetic::bf16})
    if (engine.computes(factors)) {
      CAPTURE(factors == cpu::arithmetic::bf16);
      expect(test::engine_use{&engine, factors});
    }
}

TEST_CASE("with oneDNN, models of graphs answer with the same bits alone and in any batch") {
  with_onednn(test::expect_graphs_same_alone);
}

TEST_CASE("with oneDNN, parsers answer with the same bits alone and in any batch") {
  with_onednn(test::expect_parsers_same_alone);
}

TEST_CASE("with oneDNN, encoder-decoders of tokens answer and decode with the same bits alone and in any batch") {
  with_onednn(test::expect_pairs_same_alone);
}

TEST_CASE("with oneDNN, encoder-decoders of edges answer and decode with the same bits alone and in any batch") {
  with_onednn(test::expect_edge_pairs_same_alone);
}

TEST_CASE("with oneDNN, tree machines answer with the same bits alone and in any batch") {
  with_onednn(test::expect_trees_same_alone);
}

}  // namespace models_alone_with_onednn_tests
