// The scores of a head that labels graphs, with memory of their own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <vector>

#include "tests/ragged.hpp"
#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/core/buffer.hpp"

namespace triad::test {

/// Scores that are filled with NaN, or with random values of a stream.
template <class Head>
struct scores_of_graphs {
  buffer<> memory;
  graph_scores<double> scores;

  scores_of_graphs(Head const& head, sentence_graph_dims const& dims, int stream = 0)
      : memory(planned_bytes([&](arena& place) { (void)head.plan_output(place, dims); })) {
    std::memset(memory.data(), 0xff, memory.bytes());
    auto place = memory.place();
    scores = head.plan_output(place, dims);
    if (stream == 0) return;
    scores.each([&](auto const& view) {
      auto const values = random_values(static_cast<index_t>(view.size()), static_cast<std::uint64_t>(stream++));
      std::copy(values.begin(), values.end(), view.data_handle());
    });
  }

  /// Returns the sum of the products of the scores.
  double along(scores_of_graphs const& other) const {
    std::vector<double> a, b;
    auto const into = [](std::vector<double>& all) {
      return [&all](auto const& view) { all.insert(all.end(), view.data_handle(), view.data_handle() + view.size()); };
    };
    scores.each(into(a));
    other.scores.each(into(b));
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  }
};

}  // namespace triad::test
