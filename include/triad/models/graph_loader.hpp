// Fills batches of labelled graphs on the host and hands them over in a backend's memory; allocates once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "triad/core/backend.hpp"
#include "triad/core/views.hpp"
#include "triad/models/graph_queries.hpp"

namespace triad {

/// The dims of one graph of n nodes.
constexpr graph_dims dims_of(index_t n) { return {1, n * n, n, n * n * n, n}; }

constexpr graph_dims operator+(graph_dims a, graph_dims const& b) {
  return {a.graphs + b.graphs, a.rows + b.rows, a.nodes + b.nodes, a.triangles + b.triangles, std::max(a.max_nodes, b.max_nodes)};
}

/// The smallest dims that hold either of two batches.
constexpr graph_dims larger(graph_dims a, graph_dims const& b) {
  return {std::max(a.graphs, b.graphs), std::max(a.rows, b.rows), std::max(a.nodes, b.nodes), std::max(a.triangles, b.triangles),
          std::max(a.max_nodes, b.max_nodes)};
}

template <backend Ex>
class graph_loader {
 public:
  using memory = typename Ex::memory;

  /// Room for batches up to these dims.  where: memory_of(ex) of a device's backend; hosts need none.
  explicit graph_loader(graph_dims capacity, memory where = {})
      : capacity_(capacity), label_(size(capacity.rows)), staged_(bytes(capacity)), memory_(bytes(capacity), where) {
    for (auto* v : {&nodes_, &node_, &edge_, &triangle_, &query_edge_, &query_source_, &query_target_, &target_}) v->resize(size(capacity.graphs));
    clear();
  }

  void clear() { dims_ = {}; }

  bool has_room(index_t n) const {
    auto const after = dims_ + dims_of(n);
    return after.graphs <= capacity_.graphs && after.rows <= capacity_.rows && after.nodes <= capacity_.nodes &&
           after.triangles <= capacity_.triangles && after.max_nodes <= capacity_.max_nodes;
  }

  /// One more graph of n nodes, all edges labelled 0; one question about (source, target) whose answer is `answer` (or -1).
  /// Returns where its labels are: label of edge (i, j) at i * n + j.
  index_t* add(index_t n, index_t source, index_t target, index_t answer) {
    auto const after = dims_ + dims_of(n);
    TRIAD_EXPECTS(n > 0 && has_room(n), "graph_loader: the batch is full");
    TRIAD_EXPECTS(source >= 0 && source < n && target >= 0 && target < n, "graph_loader: the question names a node that is not there");
    auto const g = size(dims_.graphs);
    nodes_[g] = n;
    node_[g] = dims_.nodes;
    edge_[g] = dims_.rows;
    triangle_[g] = dims_.triangles;
    query_edge_[g] = dims_.rows + source * n + target;
    query_source_[g] = dims_.nodes + source;
    query_target_[g] = dims_.nodes + target;
    target_[g] = answer;
    auto* const labels = label_.data() + dims_.rows;
    std::fill_n(labels, n * n, index_t{0});
    dims_ = after;
    return labels;
  }

  graph_dims const& dims() const { return dims_; }
  /// One for each graph of the batch, until the next add().
  std::span<index_t const> answers() const { return {target_.data(), size(dims_.graphs)}; }

  /// The batch in the backend's memory, until the next call.  It is laid out on the host first: one copy takes it there.
  graph_queries upload() {
    auto here = staged_.place(), there = memory_.place();
    auto const put = [&](std::vector<index_t> const& from, index_t count) {
      auto const copy = here.template make<vec<index_t>>(count);
      std::copy_n(from.data(), count, copy.data_handle());
      return vec<index_t const>(there.template make<vec<index_t>>(count));
    };
    index_t const b = dims_.graphs;
    graph_batch const graphs{dims_, put(nodes_, b), put(node_, b), put(edge_, b), put(triangle_, b)};
    auto const label = put(label_, dims_.rows);
    auto const query = put(query_edge_, b), source = put(query_source_, b), target = put(query_target_, b);
    answer_ = put(target_, b).data_handle();
    memory_.memory().from_host(memory_.data(), staged_.data(), here.used());
    return {graphs, label, query, source, target};
  }
  /// The answers of the uploaded batch.
  vec<index_t const> uploaded_answers() const {
    TRIAD_EXPECTS(answer_ != nullptr, "graph_loader: upload() comes before uploaded_answers(), also among the arguments of one call");
    return make_vec(answer_, dims_.graphs);
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static std::size_t bytes(graph_dims const& d) {
    return planned_bytes([&](arena& a) {
      for (int i = 0; i < 8; ++i) a.make<vec<index_t>>(d.graphs);
      a.make<vec<index_t>>(d.rows);
    });
  }

  graph_dims capacity_, dims_;
  std::vector<index_t> nodes_, node_, edge_, triangle_, label_, query_edge_, query_source_, query_target_, target_;
  buffer<> staged_;
  buffer<memory> memory_;
  index_t const* answer_ = nullptr;
};

}  // namespace triad
