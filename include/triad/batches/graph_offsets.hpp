// Sizes of the graphs of a batch, and where the nodes, edges and triangles of each begin.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "triad/batches/loader_checks.hpp"
#include "triad/batches/padding.hpp"

namespace triad {

/// No graph or sequence is longer: n^3 still fits into a capacity.
inline constexpr index_t most_nodes = index_t{1} << 20;

/// Whose graphs they are, and what a user calls one and its nodes, in messages.
struct graph_words {
  char const* loader = "graph_offsets";
  char const* one = "a graph";
  char const* nodes = "nodes";
};

/// Sizes and offsets of graphs as they are added.
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
  /// With room for what pads a batch, where the backend replays.  graphs: room for at least this number in all.
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
  /// For a graph of n nodes with this number of questions beyond one.
  bool has_room(index_t n, index_t further = 0) const {
    if (n < 1 || n > capacity_.max_nodes || n > most_nodes) return false;  // n^3 is an index
    if (further < 0 || further > capacity_.further) return false;
    auto all = dims_ + dims_of(n);
    all.further += further;
    return fits(all, capacity_);
  }
  bool has_room_to_ask() const { return dims_.graphs > 0 && dims_.further < capacity_.further; }
  /// One more question about the last graph; returns how many there were beyond one for each.
  index_t ask() { return dims_.further++; }

  /// One more graph of n nodes; returns the dims before it, which say where its first node, edge and triangle are.
  graph_dims add(index_t n) {
    expect_room(n);
    return append(n);
  }
  /// Throws contract_violation where one more, with this number of questions beyond one, has no room.
  void expect_room(index_t n, index_t further = 0) const {
    TRIAD_EXPECTS(has_room(n, further),
                  detail::no_room(words_.loader,
                                  std::string(words_.one) + " of " + std::to_string(n) + " " + words_.nodes +
                                      (further > 0 ? " with " + std::to_string(further) + " further questions" : ""),
                                  dims_, capacity_));
  }

  /// Fills the batch up to a shape that others have, until take_back(): add(n, dims before it) for each graph of n
  /// nodes after the others, of which the first has some and the last may have none.  Where the backend does not
  /// replay, or no shape is near, nothing is added.
  /// Returns whether it was filled up.
  template <class Add>
  bool pad(Add const& add) {
    if (!padding_ || !padding_->find(dims_)) return false;
    for (auto const n : padding_->nodes()) add(n, append(n));
    dims_ = padding_->dims();
    return true;
  }
  /// One more graph of n nodes, or of none, as padding of another batch has it; returns the dims before it.
  graph_dims add_padding(index_t n) { return append(n); }

  /// What was added since the dims were these.
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
