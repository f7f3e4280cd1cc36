// A layer of pointers on the three sentences of graph_sentences.hpp, with the memory of its forward pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "tests/layers/heads/graph_sentences.hpp"
#include "tests/layers/outcome.hpp"

namespace triad::test {

template <class Layer>
struct pointer_run {
  graph_sentences sentences;
  sentence_graph_batch<double> in = sentences.loader.upload().first;
  Layer layer;
  spoiled_memory memory{[this](arena& place) { return layer.plan_saved(place, in.grid.dims); }};
  typename Layer::saved saved;
  index_t rows = in.graphs.dims.rows, pairs = in.grid.dims.pairs;

  explicit pointer_run(Layer l) : layer(std::move(l)) {
    auto place = memory.place();
    saved = layer.plan_saved(place, in.grid.dims);
  }
};

}  // namespace triad::test
