// Fills batches of labelled graphs on the host and hands them over in a backend's memory; allocates once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/graph_queries.hpp"

namespace triad {

/// The label of the edge from one node to another; labels are counted from 1, since 0 means that there is no edge.
struct labelled_edge {
  index_t source, label, target;
};

/// An ordered pair of a graph's nodes, counted from 0.
struct node_pair {
  index_t source = 0, target = 0;
};

/// A graph as a program has it, and what is asked about it: views of data that somebody else owns.
struct graph_question {
  index_t nodes = 0;
  std::span<labelled_edge const> edges{};
  std::span<index_t const> node_labels{};  // (nodes), the labels of edges (i, i); or none
  node_pair ask{};
  index_t answer = -1;                        // -1: not known
  std::function<index_t(index_t)> inverse{};  // of an edge's label, that of its inverse, which is then an edge as well
};

template <backend Ex>
class graph_loader {
 public:
  using memory = typename Ex::memory;

  /// Room for batches up to these dims.  where: memory_of(ex) of a device's backend; hosts need none.
  explicit graph_loader(graph_dims capacity, memory where = {})
      : graphs_(graph_offsets::padded_for<Ex>(capacity)),
        label_(size(padded_room_for<Ex>(capacity).rows)),
        upload_(bytes(padded_room_for<Ex>(capacity)), where) {
    for (auto* v : {&query_edge_, &query_source_, &query_target_, &target_})
      v->resize(size(padded_room_for<Ex>(capacity).graphs));
  }

  void clear() { graphs_.clear(); }
  bool has_room(index_t n) const { return graphs_.has_room(n); }

  /// One more graph of n nodes, all edges labelled 0; one question about (source, target) whose answer is `answer` (or
  /// -1). Returns where its labels are: label of edge (i, j) at i * n + j.
  index_t* add(index_t n, index_t source, index_t target, index_t answer) {
    TRIAD_EXPECTS(has_room(n), "graph_loader: the batch is full: it has " + std::to_string(dims().graphs) +
                                   " graphs, and there is no room for one of " + std::to_string(n) +
                                   " nodes; ask has_room(n), or make the loader with room_for(data, most)");
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

  /// The same of a graph that is given as a whole.  An inverse edge is added where the graph has none itself, and never
  /// to a node's own.  A contract_violation, before anything is added, where an edge leads to no node of the graph, a
  /// label is below 1, or an edge is given two labels.
  index_t* add(graph_question const& g) {
    auto const text = [](index_t v) { return std::to_string(v); };
    auto const expect_label = [&](index_t i, index_t label, index_t j) {
      TRIAD_EXPECTS(label > 0, "graph_loader: the label of edge (" + text(i) + ", " + text(j) + ") is " + text(label) +
                                   "; labels are 1 or more, since 0 means that there is no edge");
    };
    TRIAD_EXPECTS(g.node_labels.empty() || static_cast<index_t>(g.node_labels.size()) == g.nodes,
                  "graph_loader: " + text(static_cast<index_t>(g.node_labels.size())) +
                      " labels of nodes are given to " + text(g.nodes) + " nodes; give one each, or none");
    for (auto const& e : g.edges) {
      TRIAD_EXPECTS(e.source >= 0 && e.source < g.nodes && e.target >= 0 && e.target < g.nodes,
                    "graph_loader: edge (" + text(e.source) + ", " + text(e.target) + ") is none of a graph of " +
                        text(g.nodes) + " nodes, which are counted from 0");
      expect_label(e.source, e.label, e.target);
      if (g.inverse) expect_label(e.target, g.inverse(e.label), e.source);
    }
    for (std::size_t i = 0; i < g.node_labels.size(); ++i)
      expect_label(static_cast<index_t>(i), g.node_labels[i], static_cast<index_t>(i));

    auto const before = dims();
    auto* const labels = add(g.nodes, g.ask.source, g.ask.target, g.answer);
    auto const give = [&](index_t i, index_t label, index_t j) {
      auto& at = labels[i * g.nodes + j];
      if (at != 0 && at != label) {
        graphs_.take_back(before);
        throw contract_violation("graph_loader: edge (" + text(i) + ", " + text(j) + ") is given the labels " +
                                 text(at) + " and " + text(label) + "; each ordered pair of nodes has one");
      }
      at = label;
    };
    for (std::size_t i = 0; i < g.node_labels.size(); ++i)
      give(static_cast<index_t>(i), g.node_labels[i], static_cast<index_t>(i));
    for (auto const& e : g.edges) give(e.source, e.label, e.target);
    if (g.inverse)
      for (auto const& e : g.edges) {
        auto& back = labels[e.target * g.nodes + e.source];
        if (back == 0) back = g.inverse(e.label);
      }
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
  /// The same, where the backend replays filled up to a shape that other batches have (batches/padding.hpp): to train
  /// on, with a trainer that has padded_room_for<Ex>(capacity).  Graphs that are added are asked nothing.
  graph_queries upload_padded() {
    auto const before = dims();
    auto const pad = [&] {
      graphs_.pad([&](index_t n, graph_dims const& first) {
        auto const g = size(first.graphs);
        // Graphs without nodes look at the first that was added.
        query_edge_[g] = before.rows;
        query_source_[g] = query_target_[g] = before.nodes;
        target_[g] = -1;
        std::fill_n(label_.data() + first.rows, n * n, index_t{0});
      });
    };
    return upload_with(
        pad, [&] { return upload(); }, [&] { graphs_.take_back(before); });
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
