// What a model answers for an example has the same bits when the example is alone and in any batch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "triad/cpu/products/engine.hpp"

namespace triad::test {

/// The engine that computes products, and the precision of their factors.  The engine must compute rows independently.
struct engine_use {
  cpu::product_engine const* engine;
  cpu::arithmetic factors;
};

// Each function asks the models of a family about some examples: about each example alone, on one thread, and about
// batches of them on one and on three threads.  The batches differ in their order, in the lengths of the examples and
// in the number of examples.  All numbers that a model computes for an example must have the same bits.

void expect_graphs_same_alone(engine_use const& use);      // models of labelled graphs
void expect_parsers_same_alone(engine_use const& use);     // parsers of sentences
void expect_pairs_same_alone(engine_use const& use);       // encoder-decoders of tokens, and their decoding
void expect_edge_pairs_same_alone(engine_use const& use);  // encoder-decoders of edges, and their decoding
void expect_trees_same_alone(engine_use const& use);       // tree machines

}  // namespace triad::test
