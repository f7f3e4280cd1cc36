// Fills batches of labelled graphs on the host, and copies each batch to a backend's memory.  Allocates memory only in
// the constructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/graph_offsets.hpp"
#include "triad/batches/graph_queries.hpp"
#include "triad/batches/padding.hpp"
#include "triad/core/finite.hpp"

namespace triad {

namespace detail {
inline void expect_query(char const* what, index_t source, index_t target, index_t nodes) {
  TRIAD_EXPECTS(source >= 0 && source < nodes && target >= 0 && target < nodes,
                std::string("graph_loader: ") + what + " about nodes " + std::to_string(source) + " and " +
                    std::to_string(target) + ", expected nodes 0 to " + std::to_string(nodes - 1));
}
}  // namespace detail

/// An edge between two nodes, and its label.  Labels start at 1.  Label 0 means that there is no edge.
struct labelled_edge {
  index_t source, label, target;
};

/// An ordered pair of nodes of a graph.  Nodes are numbered from 0.
struct node_pair {
  index_t source = 0, target = 0;
};

/// An additional question about a graph: how is `ask.target` related to `ask.source`?
struct further_question {
  node_pair ask{};
  index_t answer = -1;  // -1: unknown
};

/// A graph and a question about it.  The caller owns the data to which the spans refer.
struct graph_question {
  index_t nodes = 0;
  std::span<labelled_edge const> edges{};
  std::span<index_t const> node_labels{};  // (nodes) or (0); the label of edge (i, i) for each node i
  node_pair ask{};
  index_t answer = -1;                          // -1: unknown
  std::function<index_t(index_t)> inverse{};    // returns the label of the inverse of an edge; if given, inverse edges
                                                // are added
  std::span<further_question const> further{};  // more questions; graph_loader::further_weight() sets their weight
};

template <backend Ex>
class graph_loader {
 public:
  using memory = typename Ex::memory;

  /// Allocates memory for batches up to `capacity`.  If the backend computes on a device, `where` must be
  /// memory_of(ex).  On a host, `where` is not needed.
  explicit graph_loader(graph_dims capacity, memory where = {})
      : graphs_(graph_offsets::padded_for<Ex>(capacity, 0, {.loader = "graph_loader"})),
        label_(size(padded_room_for<Ex>(capacity).rows)),
        upload_(bytes(padded_room_for<Ex>(capacity)), where) {
    for (auto* v : {&query_edge_, &query_source_, &query_target_, &target_})
      v->resize(size(padded_room_for<Ex>(capacity).questions()));
    for (auto* v : {&further_edge_, &further_source_, &further_target_, &further_answer_})
      v->resize(size(padded_room_for<Ex>(capacity).further));
  }

  void clear() { graphs_.clear(); }
  /// Returns true if a graph of n nodes with this number of further questions fits.
  bool has_room(index_t n, index_t further = 0) const { return graphs_.has_room(n, further); }
  /// Sets w, the weight of all further questions of a batch together (batches/graph_queries.hpp).  The initial weight
  /// is 1.
  void further_weight(double weight) {
    TRIAD_EXPECTS(weight >= 0 && is_finite(weight), "graph_loader: the weight of further questions is " +
                                                        std::to_string(weight) +
                                                        ", expected a finite number of 0 or more");
    further_weight_ = weight;
  }

  /// Adds a graph of n nodes and a question about (source, target).  `answer` is -1 if the answer is unknown.  All
  /// edges have the label 0.  Returns a pointer to the labels, which the caller can then set.  The label of edge (i, j)
  /// has index i * n + j.
  index_t* add(index_t n, index_t source, index_t target, index_t answer) {
    graphs_.expect_room(n);
    detail::expect_query("a question", source, target, n);
    auto const first = last_ = graphs_.add(n);
    auto const g = size(first.graphs);
    query_edge_[g] = first.rows + source * n + target;
    query_source_[g] = first.nodes + source;
    query_target_[g] = first.nodes + target;
    target_[g] = answer;
    auto* const labels = label_.data() + first.rows;
    std::fill_n(labels, n * n, index_t{0});
    return labels;
  }

  /// Adds a further question about the last graph.  In the batch, further questions follow the first questions of all
  /// graphs.
  void ask(further_question const& q) {
    TRIAD_EXPECTS(graphs_.has_room_to_ask(), "graph_loader: another question after " + std::to_string(dims().further) +
                                                 " further ones of " + std::to_string(dims().graphs) +
                                                 " graphs, expected room for it; make capacity.further larger");
    index_t const rows = dims().rows - last_.rows, n = dims().nodes - last_.nodes;
    TRIAD_EXPECTS(rows == n * n, "graph_loader: a further question before any graph, expected add() first");
    detail::expect_query("a further question", q.ask.source, q.ask.target, n);
    auto const at = size(graphs_.ask());
    further_edge_[at] = last_.rows + q.ask.source * n + q.ask.target;
    further_source_[at] = last_.nodes + q.ask.source;
    further_target_[at] = last_.nodes + q.ask.target;
    further_answer_[at] = q.answer;
  }

  /// Adds a graph with its edges and questions.  Adds missing inverse edges, except for edges from a node to itself.
  /// If an end of an edge is not a node of the graph, if a label is below 1, or if an edge has two labels, throws
  /// contract_violation and adds nothing.
  index_t* add(graph_question const& g) {
    auto const text = [](index_t v) { return std::to_string(v); };
    auto const expect_label = [&](index_t i, index_t label, index_t j) {
      TRIAD_EXPECTS(label > 0, "graph_loader: the label of edge (" + text(i) + ", " + text(j) + ") is " + text(label) +
                                   ", expected 1 or more: 0 means that there is no edge");
    };
    TRIAD_EXPECTS(g.node_labels.empty() || static_cast<index_t>(g.node_labels.size()) == g.nodes,
                  "graph_loader: " + std::to_string(g.node_labels.size()) + " labels of nodes, expected " +
                      text(g.nodes) + ", one for each, or none");
    for (auto const& q : g.further) detail::expect_query("a further question", q.ask.source, q.ask.target, g.nodes);
    graphs_.expect_room(g.nodes, static_cast<index_t>(g.further.size()));
    for (auto const& e : g.edges) {
      TRIAD_EXPECTS(e.source >= 0 && e.source < g.nodes && e.target >= 0 && e.target < g.nodes,
                    "graph_loader: edge (" + text(e.source) + ", " + text(e.target) + "), expected nodes 0 to " +
                        text(g.nodes - 1));
      expect_label(e.source, e.label, e.target);
      if (g.inverse) expect_label(e.target, g.inverse(e.label), e.source);
    }
    for (std::size_t i = 0; i < g.node_labels.size(); ++i)
      expect_label(static_cast<index_t>(i), g.node_labels[i], static_cast<index_t>(i));

    auto const before = dims(), last = last_;
    auto* const labels = add(g.nodes, g.ask.source, g.ask.target, g.answer);
    auto const give = [&](index_t i, index_t label, index_t j) {
      auto& at = labels[i * g.nodes + j];
      if (at != 0 && at != label) {
        graphs_.take_back(before);
        last_ = last;
        throw contract_violation("graph_loader: edge (" + text(i) + ", " + text(j) + ") has labels " + text(at) +
                                 " and " + text(label) + ", expected one label for each ordered pair of nodes");
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
    for (auto const& q : g.further) ask(q);
    return labels;
  }

  graph_dims const& dims() const { return graphs_.dims(); }
  /// Returns the answers to the first questions of all graphs.  The span is valid until the next add().
  std::span<index_t const> answers() const { return {target_.data(), size(dims().graphs)}; }

  /// Returns the batch and its answers, in the backend's memory.  The result is valid until the next call.
  std::pair<graph_queries, vec<index_t const>> upload() {
    return upload_([&](auto const& put) {
      index_t const q = dims().questions();
      join_further();
      auto const graphs = graphs_.upload(put);
      auto const label = put(label_, dims().rows);
      auto const query = put(query_edge_, q), source = put(query_source_, q), target = put(query_target_, q);
      auto const answer = put(target_, q);
      graph_queries batch{graphs, label, query, source, target};
      if (dims().further > 0) batch.further_share = put(further_share_, 1);
      return std::pair(batch, answer);
    });
  }
  /// Returns a batch for training.  If the backend replays recorded work, pads the batch to one of a few shapes
  /// (batches/padding.hpp).  The capacity of the trainer must then be padded_room_for<Ex>(capacity).  Added graphs have
  /// no answers.
  std::pair<graph_queries, vec<index_t const>> upload_padded() {
    auto const before = dims();
    auto const pad = [&] {
      bool const padded = graphs_.pad([&](index_t n, graph_dims const& first) {
        auto const g = size(first.graphs);
        // The questions of all added graphs refer to the first added node, because some added graphs have no nodes.
        query_edge_[g] = before.rows;
        query_source_[g] = query_target_[g] = before.nodes;
        target_[g] = -1;
        std::fill_n(label_.data() + first.rows, n * n, index_t{0});
      });
      for (auto f = before.further; padded && f < dims().further; ++f) {
        further_edge_[size(f)] = before.rows;
        further_source_[size(f)] = further_target_[size(f)] = before.nodes;
        further_answer_[size(f)] = -1;
      }
    };
    return upload_with(pad, [&] { return upload(); }, [&] { graphs_.take_back(before); });
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static std::size_t bytes(graph_dims const& d) {
    return upload_bytes(graph_queries::measured(d), vec<index_t const>(nullptr, d.questions()));
  }
  /// Copies the further questions to the place after the first questions of all graphs.
  void join_further() {
    auto const b = static_cast<std::ptrdiff_t>(dims().graphs), f = static_cast<std::ptrdiff_t>(dims().further);
    if (f == 0) return;
    auto const copy = [&](std::vector<index_t> const& from, std::vector<index_t>& to) {
      std::copy_n(from.begin(), f, to.begin() + b);
    };
    copy(further_edge_, query_edge_);
    copy(further_source_, query_source_);
    copy(further_target_, query_target_);
    copy(further_answer_, target_);
    auto const known = [](auto begin, std::ptrdiff_t count) {
      return static_cast<double>(std::count_if(begin, begin + count, [](index_t answer) { return answer >= 0; }));
    };
    double const graphs = known(target_.begin(), b), others = known(further_answer_.begin(), f);
    TRIAD_EXPECTS(graphs > 0 || others == 0 || further_weight_ == 0,
                  "graph_loader: no graph of this batch has an answer to its own question, expected one: further "
                  "questions alone weigh nothing; give one of a graph's questions as its own");
    further_share_[0] = graphs > 0 ? further_weight_ * others / graphs : 0;
  }

  graph_offsets graphs_;
  graph_dims last_;  // the dims before the last graph was added
  std::vector<index_t> label_, query_edge_, query_source_, query_target_, target_;
  std::vector<index_t> further_edge_, further_source_, further_target_, further_answer_;
  std::vector<double> further_share_{0.0};
  double further_weight_ = 1;
  batch_upload<Ex> upload_;
};

}  // namespace triad
