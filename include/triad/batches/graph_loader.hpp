// Fills batches of labelled graphs on the host and hands them over in a backend's memory; allocates once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/graph_queries.hpp"

namespace triad {

template <backend Ex>
class graph_loader {
 public:
  using memory = typename Ex::memory;

  /// Room for batches up to these dims.  where: memory_of(ex) of a device's backend; hosts need none.
  explicit graph_loader(graph_dims capacity, memory where = {})
      : graphs_(capacity), label_(size(capacity.rows)), upload_(bytes(capacity), where) {
    for (auto* v : {&query_edge_, &query_source_, &query_target_, &target_}) v->resize(size(capacity.graphs));
  }

  void clear() { graphs_.clear(); }
  bool has_room(index_t n) const { return graphs_.has_room(n); }

  /// One more graph of n nodes, all edges labelled 0; one question about (source, target) whose answer is `answer` (or
  /// -1). Returns where its labels are: label of edge (i, j) at i * n + j.
  index_t* add(index_t n, index_t source, index_t target, index_t answer) {
    TRIAD_EXPECTS(n > 0 && has_room(n), "graph_loader: the batch is full");
    TRIAD_EXPECTS(source >= 0 && source < n && target >= 0 && target < n,
                  "graph_loader: the question names a node that is not there");
    auto const first = graphs_.add(n);
    auto const g = size(first.graphs);
    query_edge_[g] = first.rows + source * n + target;
    query_source_[g] = first.nodes + source;
    query_target_[g] = first.nodes + target;
    target_[g] = answer;
    auto* const labels = label_.data() + first.rows;
    std::fill_n(labels, n * n, index_t{0});
    return labels;
  }

  graph_dims const& dims() const { return graphs_.dims(); }
  /// One for each graph of the batch, until the next add().
  std::span<index_t const> answers() const { return {target_.data(), size(dims().graphs)}; }

  /// The batch in the backend's memory, until the next call.
  graph_queries upload() {
    return upload_([&](auto const& put) {
      index_t const b = dims().graphs;
      auto const graphs = graphs_.upload(put);
      auto const label = put(label_, dims().rows);
      auto const query = put(query_edge_, b), source = put(query_source_, b), target = put(query_target_, b);
      answer_ = put(target_, b);
      return graph_queries{graphs, label, query, source, target};
    });
  }
  /// The answers of the uploaded batch.
  vec<index_t const> uploaded_answers() const {
    TRIAD_EXPECTS(answer_.data_handle() != nullptr,
                  "graph_loader: upload() comes before uploaded_answers(), also among the arguments of one call");
    return answer_;
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static std::size_t bytes(graph_dims const& d) {
    return upload_bytes(graph_queries::measured(d), vec<index_t const>(nullptr, d.graphs));
  }

  graph_offsets graphs_;
  std::vector<index_t> label_, query_edge_, query_source_, query_target_, target_;
  batch_upload<Ex> upload_;
  vec<index_t const> answer_{nullptr, 0};
};

}  // namespace triad
