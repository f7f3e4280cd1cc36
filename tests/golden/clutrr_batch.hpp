// The inputs of the CLUTRR models: padded graphs, the labels of their edges, and one question for each graph.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "family.hpp"
#include "triad/batches/graph_queries.hpp"
#include "triad/ops/cross_entropy.hpp"

namespace triad::golden {

struct clutrr_batch {
  graph_queries queries;
  vec<index_t const> target;  // (b)
};

/// Reads <prefix>batched_graphs, pad_mask, query_edges and query_labels. Masked scores have the fill value of the
/// released program.
template <backend Ex>
clutrr_batch load_batch(workbench<Ex>& bench, golden_file const& file, std::string const& prefix = "in/") {
  auto const shape = file.shape(prefix + "batched_graphs", 3);  // (b, n, n)
  index_t const graphs = shape[0], n = shape[1];
  auto const padding = file.integers(prefix + "pad_mask"),
             queries = file.integers(prefix + "query_edges");  // (b, n), (b, 3)
  std::vector<index_t> edge, source, target;
  for (std::size_t q = 0; q + 2 < queries.size(); q += 3) {
    index_t const b = queries[q], i = queries[q + 1], j = queries[q + 2];
    if (b != static_cast<index_t>(q / 3) || b >= graphs || i < 0 || i >= n || j < 0 || j >= n)
      throw data_error(file.path().string() + ": " + prefix + "query_edges asks for no edge of graph " +
                       std::to_string(q / 3));
    source.push_back(b * n + i);
    target.push_back(b * n + j);
    edge.push_back((b * n + i) * n + j);
  }
  std::vector<std::uint8_t> masked;
  for (index_t b = 0; b < graphs; ++b)
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        masked.push_back(padding.at(static_cast<std::size_t>(b * n + i)) != 0 ||
                         padding.at(static_cast<std::size_t>(b * n + j)) != 0);
  return {{bench.complete_graphs(graphs, n), bench.make_vec(file.integers(prefix + "batched_graphs")),
           bench.make_vec(edge), bench.make_vec(source), bench.make_vec(target),
           bench.mask_of_padding(padding, graphs, n, -1e9), bench.make_vec(masked)},
          bench.make_vec(file.integers(prefix + "query_labels"))};
}

/// The outputs of all CLUTRR models: logits (b, targets), the loss and its gradient, and the best target for each
/// question.
template <class T>
struct answers {
  tensor<T, dyn, dyn> logits, dlogits;  // (b, targets)
  vec<T> loss;                          // (1)
  vec<index_t> best;                    // (b)

  template <backend Ex>
  answers(workbench<Ex>& bench, index_t questions, index_t targets)
      : logits(bench.template make<tensor<T, dyn, dyn>>(questions, targets)),
        dlogits(bench.template make<tensor<T, dyn, dyn>>(questions, targets)),
        loss(bench.template make<vec<T>>(1)),
        best(bench.template make<vec<index_t>>(questions)) {}

  template <backend Ex>
  void score(Ex& ex, vec<index_t const> target) const {
    cross_entropy(ex, logits, target, loss, dlogits);
    argmax_rows(ex, logits, best);
  }
  template <backend Ex>
  void compare(workbench<Ex>& bench, report& r, std::string const& label = {}) const {
    r.output("logits", bench.read(logits), label);
    r.output("loss", bench.read(loss), label);
    r.integers("pred", bench.read_exact(best), label);
  }
};

}  // namespace triad::golden
