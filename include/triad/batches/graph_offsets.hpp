// The sizes of the graphs of a batch, and the index at which the nodes, edges and triangles of each graph begin.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "triad/batches/loader_checks.hpp"
#include "triad/batches/padding.hpp"

namespace triad {

/// The largest number of nodes of a graph or sequence.  The third power of this number fits into index_t.
inline constexpr index_t most_nodes = index_t{1} << 20;

/// The words for error messages: the name of the loader, and the loader's words for a graph and for the nodes of a
/// graph.
struct graph_words {
  char const* loader = "graph_offsets";
  char const* one = "a graph";
  char const* nodes = "nodes";
};

/// Records the sizes and offsets of graphs as they are added.
class graph_offsets {
 public:
  explicit graph_offsets(graph_dims const& capacity, graph_words const& words = {})
      : words_(words), capacity_(capacity) {
    expect_capacity({{"graphs", capacity.graphs},
                     {"rows", capacity.rows},
                     {"nodes", capacity.nodes},
                     {"triangles", capacity.triangles},
                     {"max_nodes", capacity.max_nodes},
                     {"further", capacity.further}});
    reserve(capacity.graphs);
  }
  /// Returns empty offsets with this capacity.  If the backend replays recorded work, the capacity of the result
  /// includes padding.  The result has room for at least `graphs` graphs.
  template <backend Ex>
  static graph_offsets padded_for(graph_dims const& capacity, index_t graphs = 0, graph_words const& words = {}) {
    graph_offsets all(capacity, words);
    if constexpr (replays<Ex>) {
      all.padding_.emplace(capacity);
      all.reserve(std::max(graphs, padded_room(capacity).graphs));
    }
    return all;
  }

  void clear() { dims_ = {}; }
  graph_dims const& dims() const { return dims_; }
  /// Returns true if a graph of n nodes with this number of further questions fits.
  bool has_room(index_t n, index_t further = 0) const {
    if (n < 1 || n > capacity_.max_nodes || n > most_nodes) return false;  // so that n^3 fits into index_t
    if (further < 0 || further > capacity_.further) return false;
    auto all = dims_ + dims_of(n);
    all.further += further;
    return fits(all, capacity_);
  }
  bool has_room_to_ask() const { return dims_.graphs > 0 && dims_.further < capacity_.further; }
  /// Adds a further question about the last graph.  Returns the index of this question among the further questions.
  index_t ask() { return dims_.further++; }

  /// Adds a graph of n nodes.  Returns the sizes before this graph, which are the offsets of the first node, edge and
  /// triangle of the graph.
  graph_dims add(index_t n) {
    expect_room(n);
    return append(n);
  }
  /// Throws contract_violation if a graph of n nodes with this number of further questions does not fit.
  void expect_room(index_t n, index_t further = 0) const {
    TRIAD_EXPECTS(has_room(n, further),
                  detail::no_room(words_.loader,
                                  std::string(words_.one) + " of " + std::to_string(n) + " " + words_.nodes +
                                      (further > 0 ? " with " + std::to_string(further) + " further questions" : ""),
                                  dims_, capacity_));
  }

  /// Adds graphs until the batch has one of the shapes of padded batches.  take_back() removes the added graphs.  For
  /// each added graph of n nodes, calls add(n, sizes before this graph).  The first added graph has at least one node;
  /// the last graphs may have no nodes.  Adds nothing if the backend does not replay recorded work, or if no shape is
  /// near.  Returns whether the batch was padded.
  template <class Add>
  bool pad(Add const& add) {
    if (!padding_ || !padding_->find(dims_)) return false;
    for (auto const n : padding_->nodes()) add(n, append(n));
    dims_ = padding_->dims();
    return true;
  }
  /// Adds a graph of n >= 0 nodes, because a graph was added to another set of graphs as padding.  Returns the sizes
  /// before this graph.
  graph_dims add_padding(index_t n) { return append(n); }

  /// Removes every graph that was added after the sizes were `before`.
  void take_back(graph_dims const& before) { dims_ = before; }

  template <class Put>
  graph_batch upload(Put const& put) const {
    index_t const b = dims_.graphs;
    return {dims_, put(nodes_, b), put(node_, b), put(edge_, b), put(triangle_, b)};
  }

 private:
  void reserve(index_t count) {
    for (auto* v : {&nodes_, &node_, &edge_, &triangle_}) v->resize(static_cast<std::size_t>(count));
  }
  graph_dims append(index_t n) {
    auto const before = dims_;
    auto const g = static_cast<std::size_t>(before.graphs);
    nodes_[g] = n;
    node_[g] = before.nodes;
    edge_[g] = before.rows;
    triangle_[g] = before.triangles;
    dims_ = before + dims_of(n);
    return before;
  }

  graph_words words_;
  graph_dims capacity_, dims_;
  std::vector<index_t> nodes_, node_, edge_, triangle_;
  std::optional<graph_padding> padding_;
};

}  // namespace triad
