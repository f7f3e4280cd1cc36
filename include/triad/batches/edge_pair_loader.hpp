// Fills batches of pairs of sequences, as graphs, on the host.  Copies each batch to a backend's memory.  Allocates
// memory only in the constructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/constant_table.hpp"
#include "triad/batches/edge_pair_batch.hpp"
#include "triad/batches/graph_offsets.hpp"
#include "triad/batches/loader_checks.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/core/batch_views.hpp"

namespace triad {

namespace detail {
/// Returns the capacity for whole graphs.  The capacity includes the sources that are added to pad the source graphs of
/// a batch.
constexpr graph_dims whole_with_sources(edge_pair_dims const& capacity) {
  auto const source = padded_room(capacity.source);
  auto whole = capacity.whole;
  whole.graphs = std::max(whole.graphs, source.graphs);
  whole.rows += source.rows - capacity.source.rows;
  whole.nodes += source.nodes - capacity.source.nodes;
  whole.triangles = std::max(whole.triangles, padded_room(whole).triangles);
  return whole;
}
}  // namespace detail

/// Returns the capacity that padded batches need if they have at most `capacity` before padding.  The numbers of edges
/// and nodes are rounded up to the next bucket.  The number of target tokens grows by an eighth of the number of nodes.
constexpr edge_pair_dims padded_room(edge_pair_dims const& capacity) {
  auto source = padded_room(capacity.source);
  auto const whole = padded_room(detail::whole_with_sources(capacity));
  source.graphs = whole.graphs;
  return {whole.graphs, source, whole, capacity.targets + whole.nodes / 8};
}

/// Fills batches with pairs.  Takes sequences without `begin` and `end`, as pair_loader does.  For a source s and a
/// target t, the model reads `s end` and `begin t`, and predicts `t end`.
template <backend Ex, class T>
class edge_pair_loader {
 public:
  using memory = typename Ex::memory;

  /// Allocates memory for batches up to `capacity` (see edge_pair_dims_of).  The capacity includes one additional token
  /// for every sequence.  `layout` and `width` must equal those of the model.  If the backend computes on a device,
  /// `where` must be memory_of(ex).  On a host, `where` is not needed.  If a decoder will continue to longer targets
  /// than the added targets, `positions` is the number of position encodings.
  edge_pair_loader(edge_pair_dims const& capacity, edge_pair_layout const& layout, index_t width, index_t begin_token,
                   index_t end_token, memory where = {}, index_t positions = 0)
      : capacity_(checked(capacity)),
        layout_(layout),
        begin_(begin_token),
        end_(end_token),
        room_(padded_room_for<Ex>(capacity)),
        source_(graph_offsets::padded_for<Ex>(capacity.source, room_.pairs)),
        whole_(graph_offsets::padded_for<Ex>(replays<Ex> ? detail::whole_with_sources(capacity) : capacity.whole,
                                             room_.pairs)),
        upload_(bytes(room_), where),
        waves_(position_waves(std::max(capacity.whole.max_nodes, positions),
                              checked_size("edge_pair_loader", {"width", width})),
               width, where) {
    TRIAD_EXPECTS(begin_token >= 0 && end_token >= 0, "edge_pair_loader: begin_token is " +
                                                          std::to_string(begin_token) + " and end_token is " +
                                                          std::to_string(end_token) + ", expected 0 or more");
    sources_.resize(size(room_.pairs));
    for (auto* v : {&source_token_, &source_position_, &source_self_}) v->resize(size(room_.source.nodes));
    for (auto* v : {&source_relation_, &source_row_}) v->resize(size(room_.source.rows));
    for (auto* v : {&token_, &position_}) v->resize(size(room_.whole.nodes));
    for (auto* v : {&place_, &known_, &relation_, &origin_}) v->resize(size(room_.whole.rows));
    for (auto* v : {&target_token_, &target_self_, &wanted_, &next_}) v->resize(size(room_.targets));
  }

  void clear() {
    source_.clear();
    whole_.clear();
    targets_ = 0;
  }

  /// Returns true if a pair with these numbers of tokens, without `begin` and `end`, fits.
  bool has_room(index_t source_length, index_t target_length) const {
    return source_length >= 0 && source_length < capacity_.whole.max_nodes && target_length >= 0 &&
           target_length < capacity_.whole.max_nodes && source_length + target_length < most_nodes &&
           fits(dims() + edge_pair_dims_of(source_length + 1, target_length + 1), capacity_);
  }
  /// Adds a pair.  Throws contract_violation if the pair does not fit or a token is below 0.  Does not check that the
  /// model knows each token.  On a host, gather_rows() checks the tokens when the model reads the batch.
  void add(std::span<index_t const> source, std::span<index_t const> target) {
    detail::expect_pair("edge_pair_loader", source, target, has_room(count(source), count(target)), dims(), capacity_);
    index_t const first = targets_;
    add_graphs(source, count(target) + 1);
    target_token_[size(first)] = begin_;
    std::copy(target.begin(), target.end(), target_token_.begin() + first + 1);
    std::copy(target.begin(), target.end(), next_.begin() + first);
    next_[size(targets_ - 1)] = end_;
    std::copy(target_token_.begin() + first, target_token_.begin() + targets_,
              token_.begin() + whole_.dims().nodes - (targets_ - first));
  }

  /// Like has_room() and add(), but for a source alone, whose target a decoder will write.  The target in the batch is
  /// empty.
  bool has_room(index_t source_length) const {
    return source_length >= 0 && source_length < capacity_.whole.max_nodes && source_length < most_nodes &&
           fits(dims() + edge_pair_dims_of(source_length + 1, 0), capacity_);
  }
  void add_source(std::span<index_t const> source) {
    detail::expect_source("edge_pair_loader", source, has_room(count(source)), dims(), capacity_);
    add_graphs(source, 0);
  }

  edge_pair_dims dims() const { return {source_.dims().graphs, source_.dims(), whole_.dims(), targets_}; }

  /// Returns the batch and its targets, in the backend's memory.  The result is valid until the next call.
  std::pair<edge_pair_batch<T>, pair_answers> upload() {
    auto const z = dims();
    // A single table has the initial states of edges, followed by the states from the encoder, which begin at index
    // `known_from`.  In a positional layout, every row of the batch has its own initial state, so the index depends on
    // the batch.
    index_t const known_from = relational() ? layout_.relative.count() : z.whole.rows;
    for (index_t r = 0; r < z.whole.rows; ++r) {
      auto const known = known_[size(r)], itself = relational() ? place_[size(r)] : r;
      relation_[size(r)] = known < 0 ? itself : known_from;
      origin_[size(r)] = known < 0 ? itself : known_from + known;
    }
    return upload_([&](auto const& put) {
      edge_pair_batch<T> in;
      in.sizes = z;
      in.layout = layout_;
      auto const waves = waves_.view();
      auto const graphs = source_.upload(put), whole = whole_.upload(put);
      in.source = {graphs,
                   put(source_token_, z.source.nodes),
                   put(source_relation_, z.source.rows),
                   put(source_position_, z.source.nodes),
                   put(source_self_, z.source.nodes),
                   waves};
      in.whole = {whole,
                  put(token_, z.whole.nodes),
                  put(relation_, z.whole.rows),
                  put(position_, z.whole.nodes),
                  vec<index_t const>(nullptr, 0),
                  waves};
      in.sources = put(sources_, z.pairs);
      in.target_token = put(target_token_, z.targets);
      in.target_self = put(target_self_, z.targets);
      in.wanted = put(wanted_, z.targets);
      in.origin = put(origin_, z.whole.rows);
      in.source_row = put(source_row_, z.source.rows);
      return std::pair(in, pair_answers{put(next_, z.targets)});
    });
  }

  /// Returns a batch for training.  If the backend replays recorded work, pads the source graphs to one of a few
  /// shapes, and then the whole graphs (batches/padding.hpp).  The capacity of the trainer must then be
  /// padded_room_for<Ex>(capacity).  The padding consists of pairs with only a source, pairs with only a target, and
  /// empty pairs.  Added pairs have no targets in the loss.
  std::pair<edge_pair_batch<T>, pair_answers> upload_padded() {
    auto const source = source_.dims(), whole = whole_.dims();
    auto const targets = targets_;
    auto const take_back = [&] {
      source_.take_back(source);
      whole_.take_back(whole);
      targets_ = targets;
    };
    auto const pad = [&] {
      if (replays<Ex> && !fill_up()) take_back();
    };
    return upload_with(pad, [&] { return upload(); }, take_back);
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static index_t count(std::span<index_t const> tokens) { return static_cast<index_t>(tokens.size()); }
  bool relational() const { return layout_.encoding == sequence_encoding::relational; }
  static edge_pair_dims const& checked(edge_pair_dims const& z) {
    expect_capacity({{"pairs", z.pairs}, {"targets", z.targets}});
    return z;
  }
  static std::size_t bytes(edge_pair_dims const& z) {
    return upload_bytes(edge_pair_batch<T>::measured(z, 0), edge_pair_batch<T>::measured_answers(z));
  }

  /// Adds the two graphs of a pair whose target has t tokens.  Does not write the tokens of the target.
  void add_graphs(std::span<index_t const> source, index_t t) {
    index_t const s = count(source) + 1;
    auto const of_source = source_.add(s), all = whole_.add(s + t);
    lay(of_source, all, s, t, [&](index_t i) { return i + 1 < s ? source[size(i)] : end_; });
  }
  /// Writes the two graphs of a pair.  `of_source` and `all` are the offsets of the source graph and of the whole
  /// graph.  `s` and `t` are the numbers of tokens of the source and of the target.  token(i) returns token i of the
  /// source.
  template <class Token>
  void lay(graph_dims const& of_source, graph_dims const& all, index_t s, index_t t, Token const& token) {
    index_t const n = s + t;
    sources_[size(all.graphs)] = s;
    for (index_t i = 0; i < s; ++i) {
      source_token_[size(of_source.nodes + i)] = token_[size(all.nodes + i)] = token(i);
      source_position_[size(of_source.nodes + i)] = i;
      source_self_[size(of_source.nodes + i)] = of_source.rows + i * s + i;
      for (index_t j = 0; j < s; ++j) {
        index_t const r = of_source.rows + i * s + j;
        source_relation_[size(r)] = i + j == 0 ? layout_.relative.begin() : layout_.relative.within(i, j);
        source_row_[size(r)] = all.rows + i * n + j;
      }
    }
    for (index_t i = 0; i < n; ++i) {
      position_[size(all.nodes + i)] = i < s ? i : i - s;
      for (index_t j = 0; j < n; ++j) {
        auto const at = size(all.rows + i * n + j);
        known_[at] = i < s && j < s ? of_source.rows + i * s + j : -1;
        place_[at] = place_of(i, j, s);
      }
    }
    for (index_t i = s; i < n; ++i, ++targets_) {
      target_self_[size(targets_)] = all.rows + i * n + i;
      wanted_[size(targets_)] = all.rows + (layout_.readout == edge_readout::diagonal ? i : s) * n + i;
    }
  }

  /// Adds pairs with only a source until the source graphs have one of the shapes of padded batches.  Then adds pairs
  /// with only a target until the whole graphs have one of these shapes.  Returns false if there is no shape that fits.
  /// In this case, some pairs may have been added.
  bool fill_up() {
    auto const no_token = [](index_t) { return index_t{0}; };
    bool fit = true;
    auto const sources_too = [&](index_t s, graph_dims const& first) {
      auto const& all = whole_.dims();
      fit = fit && all.rows + s * s <= room_.whole.rows && all.nodes + s <= room_.whole.nodes;
      if (fit) lay(first, whole_.add_padding(s), s, 0, no_token);
    };
    if (!source_.pad(sources_too) || !fit) return false;
    auto const targets_too = [&](index_t t, graph_dims const& first) {
      fit = fit && targets_ + t <= room_.targets;
      if (!fit) return;
      std::fill_n(token_.begin() + first.nodes, t, index_t{0});
      std::fill_n(target_token_.begin() + targets_, t, index_t{0});
      std::fill_n(next_.begin() + targets_, t, index_t{-1});
      lay(source_.add_padding(0), first, 0, t, no_token);
    };
    return whole_.pad(targets_too) && fit;
  }
  /// Returns the table row for edge (i, j) of a whole graph with s source nodes.
  index_t place_of(index_t i, index_t j, index_t s) const {
    auto const& p = layout_.relative;
    if ((i < s) != (j < s)) return i < s ? p.to_target() : p.to_source();
    return i == s && j == s ? p.begin() : p.within(i, j);
  }

  edge_pair_dims capacity_;
  edge_pair_layout layout_;
  index_t begin_, end_, targets_ = 0;
  edge_pair_dims room_;  // the capacity including padding, if the backend replays recorded work
  graph_offsets source_, whole_;
  std::vector<index_t> sources_;
  std::vector<index_t> source_token_, source_position_, source_self_, source_relation_, source_row_;
  std::vector<index_t> token_, position_, place_, known_, relation_,
      origin_;  // known_: the row among the sources' edges, or -1
  std::vector<index_t> target_token_, target_self_, wanted_, next_;
  batch_upload<Ex> upload_;
  constant_table<T, memory> waves_;
};

}  // namespace triad
