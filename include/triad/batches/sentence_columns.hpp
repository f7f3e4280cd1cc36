// The columns that all loaders of sentences fill: tokens, positions, relative positions of edges, and position
// encodings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "triad/batches/constant_table.hpp"
#include "triad/batches/graph_offsets.hpp"
#include "triad/batches/padding.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/batches/token_sequences.hpp"

namespace triad {

template <backend Ex, class T>
class sentence_columns {
 public:
  using memory = typename Ex::memory;

  /// Relative positions are limited to -reach .. reach.  `width` is the width of the model and of the position
  /// encodings.  Each position must be below `positions` or below the length of the longest sentence.  `loader` is the
  /// name of the loader in messages.
  sentence_columns(char const* loader, graph_dims const& capacity, index_t reach, index_t width, memory where,
                   index_t positions = 0)
      : loader_(loader),
        reach_(reach),
        positions_(std::max(capacity.max_nodes, positions)),
        graphs_(graph_offsets::padded_for<Ex>(capacity, 0, {loader, "a sentence", "tokens"})),
        waves_(position_waves(positions_, checked_size(loader, {"width", width})), width, where) {
    auto const room = padded_room_for<Ex>(capacity);
    for (auto* v : {&token_, &position_, &self_}) v->resize(static_cast<std::size_t>(room.nodes));
    relation_.resize(static_cast<std::size_t>(room.rows));
  }

  void clear() { graphs_.clear(); }
  bool has_room(index_t n) const { return graphs_.has_room(n); }
  /// Throws contract_violation if one of the n tokens is below 0 or has a parent outside of the sentence.
  template <class Token, class Parent>
  void expect_tokens(index_t n, Token const& token, Parent const& parent) const {
    index_t bad = 0;
    while (bad < n && token(bad) >= 0 && parent(bad) < n) ++bad;
    TRIAD_EXPECTS(bad == n || token(bad) >= 0, std::string(loader_) + ": token " + std::to_string(bad) +
                                                   " of a sentence is " + std::to_string(token(bad)) +
                                                   ", expected 0 or more");
    TRIAD_EXPECTS(bad == n, std::string(loader_) + ": the parent of token " + std::to_string(bad) + " is " +
                                std::to_string(parent(bad)) + ", expected a token of its sentence, 0 to " +
                                std::to_string(n - 1) + ", or -1 for none");
  }
  graph_dims const& dims() const { return graphs_.dims(); }

  /// Adds a sentence of n tokens.  token(i) returns token i, and position(i) returns its position, for 0 <= i < n.
  /// Returns the sizes before this sentence.
  template <class Token, class Position>
  graph_dims add(index_t n, Token const& token, Position const& position) {
    auto const first = graphs_.add(n);
    bool stands = true;
    for (index_t i = 0; i < n; ++i) stands = stands && position(i) >= 0 && position(i) < positions_;
    if (!stands) graphs_.take_back(first);
    TRIAD_EXPECTS(stands, std::string(loader_) + ": the position of a token is outside 0 to " +
                              std::to_string(positions_ - 1) +
                              ", expected one of those; give the loader more positions");
    lay(n, first, token, position);
    return first;
  }
  /// Adds a sentence in which token i has the position i.
  template <class Token>
  graph_dims add(index_t n, Token const& token) {
    return add(n, token, place);
  }

  /// Adds sentences of token 0 until the batch has one of the shapes of padded batches.  take_back(sizes before
  /// padding) removes these sentences.
  void pad() {
    graphs_.pad([&](index_t n, graph_dims const& first) { lay(n, first, [](index_t) { return index_t{0}; }, place); });
  }
  void take_back(graph_dims const& before) { graphs_.take_back(before); }

  /// `put` is the function that batch_upload passes to fill(put).
  template <class Put>
  token_sequences<T> upload(Put const& put) const {
    index_t const nodes = dims().nodes;
    auto const graphs = graphs_.upload(put);
    auto const token = put(token_, nodes), relation = put(relation_, dims().rows), position = put(position_, nodes),
               self = put(self_, nodes);
    return {.graphs = graphs,
            .token = token,
            .relation = relation,
            .position = position,
            .self = self,
            .waves = waves_.view()};
  }

 private:
  static index_t place(index_t i) { return i; }

  template <class Token, class Position>
  void lay(index_t n, graph_dims const& first, Token const& token, Position const& position) {
    for (index_t i = 0; i < n; ++i) {
      auto const at = static_cast<std::size_t>(first.nodes + i);
      token_[at] = token(i);
      position_[at] = position(i);
      self_[at] = first.rows + i * n + i;
      for (index_t j = 0; j < n; ++j)
        relation_[static_cast<std::size_t>(first.rows + i * n + j)] =
            relative_position(position(i), position(j), reach_);
    }
  }

  char const* loader_;
  index_t reach_, positions_;
  graph_offsets graphs_;
  std::vector<index_t> token_, relation_, position_, self_;
  constant_table<T, memory> waves_;
};

}  // namespace triad
