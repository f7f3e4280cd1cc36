// Fills batches of sentences and of their labelled graphs on the host, and copies each batch to a backend's memory.
// Allocates memory only in the constructor.
// SPDX-License-Identifier: Apache-2.0
//
// The Edge Transformer's table of relations has these rows for the edges between tokens and slots, with a reach r:
//
//   0 .. 2 r    from token i to token j: r + (j - i), clipped
//   2 r + 1     from a token to a slot
//   2 r + 2     from a slot to a token
//   2 r + 3     from a slot to a slot
//
// Slot k has the token number tokens + k.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/graph_offsets.hpp"
#include "triad/batches/loader_checks.hpp"
#include "triad/batches/sentence_graph_batch.hpp"
#include "triad/core/batch_views.hpp"

namespace triad {

/// An edge of a graph.  `from` and `to` are indices into the queried nodes.
struct sentence_edge {
  index_t from, label, to;

  friend auto operator<=>(sentence_edge const&, sentence_edge const&) = default;
};
/// A label of a node.  `node` is an index into the queried nodes.
struct labelled_node {
  index_t node, label;

  friend auto operator<=>(labelled_node const&, labelled_node const&) = default;
};
/// A sentence with its graph.  All spans may be empty, except for `tokens`.
struct sentence_graph {
  std::span<index_t const> tokens;
  std::span<index_t const> queried;  // the tokens that are queried nodes, in ascending order; all slots follow them
  std::span<sentence_edge const> edges{};
  std::span<labelled_node const> labels{};
  index_t label = -1;  // of the graph; negative: none
};

/// The sizes of the tables that a batch indexes.
struct sentence_graph_tables {
  index_t tokens = 0;  // the number of words; the slots have the next numbers
  index_t slots = 0;   // K
  index_t reach = 2;   // r: relative positions are limited to -r .. r
  graph_label_counts labels{};

  constexpr index_t token_rows() const { return tokens + slots; }
  constexpr index_t relation_rows() const { return 2 * reach + 4; }
};

/// The weights of the parts of the loss that are not about the answers.
struct graph_loss_weights {
  double bag = 0;       // of the labels that any pair of a graph has
  double pointers = 0;  // of queried tokens that keep their own roles
};

template <backend Ex, class T>
class sentence_graph_loader {
 public:
  using memory = typename Ex::memory;
  using dims_type = sentence_graph_dims;

  /// Allocates memory for batches up to `capacity`.  If the backend computes on a device, `where` must be
  /// memory_of(ex).  On a host, `where` is not needed.
  sentence_graph_loader(sentence_graph_dims const& capacity, sentence_graph_tables const& tables, memory where = {})
      : capacity_(capacity),
        tables_(tables),
        graphs_(capacity.graphs, {"sentence_graph_loader", "a sentence", "tokens and slots"}),
        upload_(upload_bytes(sentence_graph_batch<T>::measured(capacity),
                             graph_answers<T>::measured(capacity.grid, tables.labels)),
                where) {
    expect_capacity({{"tokens", capacity.grid.rows},
                     {"queried nodes", capacity.grid.columns},
                     {"cells", capacity.grid.cells},
                     {"pairs of queried nodes", capacity.grid.pairs}});
    auto const& g = capacity.graphs;
    auto const& z = capacity.grid;
    auto const room = [](auto& values, index_t count) { values.resize(static_cast<std::size_t>(count)); };
    for (auto* v : {&token_, &position_, &self_}) room(*v, g.nodes);
    room(relation_, g.rows);
    for (auto* v : {&rows_, &columns_, &row_begin_, &column_begin_, &cell_begin_, &pair_begin_, &token_cell_begin_,
                    &slots_, &slot_begin_, &slot_cell_begin_, &members_, &label_, &graph_edge_})
      room(*v, g.graphs);
    room(cell_edge_, z.cells), room(row_edge_, z.rows), room(pair_edge_, z.pairs), room(column_edge_, z.columns);
    room(score_row_, z.pairs), room(queried_, z.columns), room(before_, words_before_node * z.columns);
    auto const& anchored = capacity.slot_grid;
    room(token_edge_, capacity.token_grid.cells), room(slot_edge_, anchored.rows);
    for (auto* v : {&from_slot_edge_, &to_slot_edge_}) room(*v, anchored.cells);
    room(role_edges_, capacity.read_by_roles()), room(pair_edges_, capacity.read_by_pairs());
    room(anchor_edges_, capacity.read_by_anchors());
    room(edge_target_, z.pairs * tables.labels.edge), room(node_target_, z.columns * tables.labels.node);
    room(bag_target_, z.graphs * tables.labels.edge);
    room(factor_, static_cast<index_t>(graph_loss_part::count));
  }

  void clear() {
    graphs_.clear();
    grid_ = token_grid_ = slot_grid_ = {};
  }
  /// Sets the weights of the parts of the loss.  They hold for every batch until the next call.
  void weigh(graph_loss_weights const& weights) { weights_ = weights; }
  sentence_graph_dims dims() const { return {graphs_.dims(), grid_, token_grid_, slot_grid_}; }
  /// Returns true if a sentence of n tokens with this number of queried tokens fits.
  bool has_room(index_t n, index_t queried) const {
    return n > 0 && graphs_.has_room(n + tables_.slots) &&
           fits(dims() + sentence_graph_of(n, tables_.slots, queried + tables_.slots), capacity_);
  }

  /// Adds a sentence.  Throws contract_violation if the sentence does not fit, or if one of its numbers is not in the
  /// tables.
  void add(sentence_graph const& s) {
    auto const n = static_cast<index_t>(s.tokens.size()), e = static_cast<index_t>(s.queried.size()), k = tables_.slots,
               m = e + k, all = n + k;
    expect(s, n, m);
    TRIAD_EXPECTS(has_room(n, e), detail::no_room("sentence_graph_loader",
                                                  "a sentence of " + std::to_string(n) + " tokens, " +
                                                      std::to_string(e) + " of them queried,",
                                                  dims(), capacity_));
    auto const first = graphs_.add(all);
    auto const begin = std::exchange(grid_, grid_ + grid_of(n, m)),
               token_begin = std::exchange(token_grid_, token_grid_ + grid_of(n, n)),
               slot_begin = std::exchange(slot_grid_, slot_grid_ + grid_of(k, n));
    auto const graph = at(first.graphs);
    rows_[graph] = n, columns_[graph] = m, members_[graph] = e, label_[graph] = s.label;
    row_begin_[graph] = begin.rows, column_begin_[graph] = begin.columns, cell_begin_[graph] = begin.cells,
    pair_begin_[graph] = begin.pairs, token_cell_begin_[graph] = token_begin.cells;
    slots_[graph] = k, slot_begin_[graph] = slot_begin.rows, slot_cell_begin_[graph] = slot_begin.cells;
    auto const edge = [&](index_t i, index_t j) { return first.rows + i * all + j; };
    auto const node = [&](index_t a) { return a < e ? s.queried[at(a)] : n + a - e; };
    for (index_t i = 0; i < all; ++i) {
      token_[at(first.nodes + i)] = i < n ? s.tokens[at(i)] : tables_.tokens + i - n;
      position_[at(first.nodes + i)] = i;
      self_[at(first.nodes + i)] = edge(i, i);
      for (index_t j = 0; j < all; ++j) relation_[at(edge(i, j))] = relation(i, j, n);
    }
    for (index_t t = 0; t < n; ++t) {
      row_edge_[at(begin.rows + t)] = edge(t, t);
      for (index_t a = 0; a < m; ++a) cell_edge_[at(begin.cells + t * m + a)] = edge(t, node(a));
      for (index_t c = 0; c < n; ++c) token_edge_[at(token_begin.cells + t * n + c)] = edge(t, c);
    }
    for (index_t slot = 0; slot < k; ++slot) {
      slot_edge_[at(slot_begin.rows + slot)] = edge(n + slot, n + slot);
      for (index_t c = 0; c < n; ++c) {
        auto const cell = at(slot_begin.cells + slot * n + c);
        from_slot_edge_[cell] = edge(n + slot, c), to_slot_edge_[cell] = edge(c, n + slot);
      }
    }
    for (index_t a = 0; a < m; ++a) {
      queried_[at(begin.columns + a)] = node(a);
      column_edge_[at(begin.columns + a)] = edge(node(a), node(a));
      for (index_t w = 0; w < words_before_node; ++w) {
        index_t const word = node(a) - words_before_node + w;
        before_[at((begin.columns + a) * words_before_node + w)] =
            a < e && word >= 0 ? s.tokens[at(word)] : tables_.tokens;
      }
      for (index_t b = 0; b < m; ++b) pair_edge_[at(begin.pairs + a * m + b)] = edge(node(a), node(b));
    }
    // The first slot reads the whole sentence.  Without slots, the first token does.
    graph_edge_[graph] = k > 0 ? edge(n, n) : edge(0, 0);

    index_t const r = tables_.labels.edge, u = tables_.labels.node;
    std::fill_n(edge_target_.begin() + begin.pairs * r, m * m * r, std::uint8_t{0});
    std::fill_n(node_target_.begin() + begin.columns * u, m * u, std::uint8_t{0});
    std::fill_n(bag_target_.begin() + begin.graphs * r, r, std::uint8_t{0});
    for (auto const& x : s.edges) {
      edge_target_[at((begin.pairs + x.from * m + x.to) * r + x.label)] = 1;
      bag_target_[at(begin.graphs * r + x.label)] = 1;
    }
    for (auto const& x : s.labels) node_target_[at((begin.columns + x.node) * u + x.label)] = 1;
  }

  /// Returns the batch and its targets, in the backend's memory.  The result is valid until the next call.
  std::pair<sentence_graph_batch<T>, graph_answers<T>> upload() {
    finish();
    return upload_([&](auto const& put) {
      auto const& d = graphs_.dims();
      index_t const b = grid_.graphs, r = tables_.labels.edge, u = tables_.labels.node;
      sentence_graph_batch<T> in;
      in.graphs = graphs_.upload(put);
      in.token = put(token_, d.nodes), in.relation = put(relation_, d.rows), in.position = put(position_, d.nodes),
      in.self = put(self_, d.nodes);
      in.waves = tensor<T const, dyn, dyn>(nullptr, index_t{0}, index_t{0});
      in.grid = {.dims = grid_,
                 .rows = put(rows_, b),
                 .columns = put(columns_, b),
                 .row_begin = put(row_begin_, b),
                 .column_begin = put(column_begin_, b),
                 .cell_begin = put(cell_begin_, b),
                 .pair_begin = put(pair_begin_, b)};
      in.members = put(members_, b);
      in.role_edges = put(role_edges_, dims().read_by_roles());
      in.pair_edges = put(pair_edges_, dims().read_by_pairs());
      in.score_row = put(score_row_, grid_.pairs);
      in.before = put(before_, words_before_node * grid_.columns);
      auto const token_cells = put(token_cell_begin_, b);
      in.token_grid = {.dims = token_grid_,
                       .rows = in.grid.rows,
                       .columns = in.grid.rows,
                       .row_begin = in.grid.row_begin,
                       .column_begin = in.grid.row_begin,
                       .cell_begin = token_cells,
                       .pair_begin = token_cells};
      in.slot_grid = {.dims = slot_grid_,
                      .rows = put(slots_, b),
                      .columns = in.grid.rows,
                      .row_begin = put(slot_begin_, b),
                      .column_begin = in.grid.row_begin,
                      .cell_begin = put(slot_cell_begin_, b),
                      .pair_begin = token_cells};
      in.queried = put(queried_, grid_.columns);
      in.anchor_edges = put(anchor_edges_, dims().read_by_anchors());
      auto const targets = [&](std::vector<std::uint8_t> const& values, index_t rows, index_t columns) {
        return reshape(put(values, rows * columns), rows, columns);
      };
      graph_answers<T> answers;
      answers.edge = targets(edge_target_, grid_.pairs, r);
      answers.node = targets(node_target_, grid_.columns, u);
      answers.bag = targets(bag_target_, b, r);
      answers.graph = put(label_, b);
      answers.factor = put(factor_, static_cast<index_t>(graph_loss_part::count));
      return std::pair(in, answers);
    });
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

  index_t relation(index_t i, index_t j, index_t n) const {
    index_t const r = tables_.reach;
    if (i < n && j < n) return relative_position(i, j, r);
    return i < n ? 2 * r + 1 : j < n ? 2 * r + 2 : 2 * r + 3;
  }
  void expect(sentence_graph const& s, index_t n, index_t m) const {
    auto const within = [](char const* what, index_t found, index_t count) {
      TRIAD_EXPECTS(found >= 0 && found < count, "sentence_graph_loader: " + std::string(what) + " " +
                                                     std::to_string(found) + ", expected 0 to " +
                                                     std::to_string(count - 1));
    };
    TRIAD_EXPECTS(n > 0, "sentence_graph_loader: a sentence without tokens, expected 1 or more");
    for (auto const token : s.tokens) within("token", token, tables_.tokens);
    index_t before = -1;
    for (auto const token : s.queried) {
      within("the queried token", token, n);
      TRIAD_EXPECTS(token > before, "sentence_graph_loader: the queried tokens " + std::to_string(before) + ", " +
                                        std::to_string(token) + ", expected ascending numbers, each once");
      before = token;
    }
    for (auto const& edge : s.edges) {
      within("the first node of an edge", edge.from, m);
      within("the second node of an edge", edge.to, m);
      within("the label of an edge", edge.label, tables_.labels.edge);
    }
    for (auto const& label : s.labels) {
      within("the node of a label", label.node, m);
      within("the label of a node", label.label, tables_.labels.node);
    }
    TRIAD_EXPECTS(s.label < std::max<index_t>(tables_.labels.graph, 0),
                  "sentence_graph_loader: the label of a graph is " + std::to_string(s.label) + ", expected below " +
                      std::to_string(tables_.labels.graph) + ", or a negative number for none");
  }

  /// Joins the lists of edges, and sets the factors of the loss.
  void finish() {
    auto const join = [](std::vector<index_t>& all, auto const&... parts) {
      auto to = all.begin();
      ((to = std::copy_n(parts.first.begin(), parts.second, to)), ...);
    };
    using part = std::pair<std::vector<index_t> const&, index_t>;
    index_t const b = grid_.graphs;
    join(role_edges_, part(cell_edge_, grid_.cells), part(row_edge_, grid_.rows), part(graph_edge_, b));
    join(pair_edges_, part(pair_edge_, grid_.pairs), part(column_edge_, grid_.columns), part(graph_edge_, b));
    join(anchor_edges_, part(token_edge_, token_grid_.cells), part(row_edge_, grid_.rows),
         part(from_slot_edge_, slot_grid_.cells), part(to_slot_edge_, slot_grid_.cells),
         part(slot_edge_, slot_grid_.rows), part(graph_edge_, b));
    for (index_t g = 0; g < b; ++g) {
      index_t const m = columns_[at(g)], first = pair_begin_[at(g)];
      for (index_t a = 0; a < m; ++a)
        for (index_t c = 0; c < m; ++c)
          score_row_[at(first + a * m + c)] = a == c ? grid_.pairs + column_begin_[at(g)] + a : first + a * m + c;
    }
    auto const mean = T(1) / static_cast<T>(std::max<index_t>(b, 1));
    factor_ = {mean, static_cast<T>(weights_.bag) * mean, static_cast<T>(weights_.pointers) * mean};
  }

  sentence_graph_dims capacity_;
  sentence_graph_tables tables_;
  graph_loss_weights weights_{};
  graph_offsets graphs_;
  grid_dims grid_{}, token_grid_{}, slot_grid_{};
  std::vector<index_t> token_, position_, self_, relation_;
  std::vector<index_t> rows_, columns_, row_begin_, column_begin_, cell_begin_, pair_begin_, members_, label_;
  std::vector<index_t> token_cell_begin_, slots_, slot_begin_, slot_cell_begin_, queried_, before_;
  std::vector<index_t> cell_edge_, row_edge_, pair_edge_, column_edge_, graph_edge_;
  std::vector<index_t> token_edge_, slot_edge_, from_slot_edge_, to_slot_edge_;  // of slots that are anchored
  std::vector<index_t> role_edges_, pair_edges_, anchor_edges_, score_row_;
  std::vector<std::uint8_t> edge_target_, node_target_, bag_target_;
  std::vector<T> factor_;
  batch_upload<Ex> upload_;
};

}  // namespace triad
