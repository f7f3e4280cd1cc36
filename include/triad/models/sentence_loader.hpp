// Fills batches of sentences on the host and hands them over in a backend's memory; allocates once.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "triad/models/batch_upload.hpp"
#include "triad/models/sentence_batch.hpp"

namespace triad {

/// A token, and what is right about it; negative: not asked.
struct labelled_token {
  index_t token = 0;
  index_t parent = -1;  // place in the sentence; its own for a root
  index_t role = -1, category = -1, noun_type = -1, verb = -1;
};

template <backend Ex, class T>
class sentence_loader {
 public:
  using memory = typename Ex::memory;

  /// Room for batches up to these dims.  Relative positions are clipped at `reach`; `width` of the position waves: the model's.
  /// where: memory_of(ex) of a device's backend; hosts need none.
  sentence_loader(graph_dims capacity, index_t reach, index_t width, memory where = {})
      : reach_(reach), width_(width), most_(capacity.max_nodes), graphs_(capacity), upload_(bytes(capacity), where),
        waves_(static_cast<std::size_t>(capacity.max_nodes * width) * sizeof(T) + arena_slack, where) {
    for (auto* v : {&token_, &position_, &self_, &parent_, &role_, &category_, &noun_type_, &verb_}) v->resize(size(capacity.nodes));
    relation_.resize(size(capacity.rows));
    std::vector<T> waves;
    for (float const v : position_waves(most_, width)) waves.push_back(static_cast<T>(v));
    waves_.memory().from_host(waves_.data(), waves.data(), waves.size() * sizeof(T));
  }

  void clear() { graphs_.clear(); }
  bool has_room(index_t n) const { return graphs_.has_room(n); }

  void add(std::span<labelled_token const> sentence) {
    auto const n = static_cast<index_t>(sentence.size());
    auto const first = graphs_.add(n);
    for (index_t i = 0; i < n; ++i) {
      auto const& word = sentence[size(i)];
      auto const at = size(first.nodes + i);
      token_[at] = word.token;
      position_[at] = i;
      self_[at] = first.rows + i * n + i;
      parent_[at] = word.parent;
      role_[at] = word.role, category_[at] = word.category, noun_type_[at] = word.noun_type, verb_[at] = word.verb;
      for (index_t j = 0; j < n; ++j) relation_[size(first.rows + i * n + j)] = relative_position(i, j, reach_);
    }
  }

  graph_dims const& dims() const { return graphs_.dims(); }

  /// The batch and what is right, in the backend's memory, until the next call.
  std::pair<sentence_batch<T>, parse_answers> upload() {
    return upload_([&](auto const& put) {
      index_t const nodes = dims().nodes;
      auto const graphs = graphs_.upload(put);
      auto const token = put(token_, nodes), relation = put(relation_, dims().rows), position = put(position_, nodes), self = put(self_, nodes);
      auto const parent = put(parent_, nodes), role = put(role_, nodes), category = put(category_, nodes), noun_type = put(noun_type_, nodes);
      tensor<T const, dyn, dyn> const waves(static_cast<T const*>(waves_.data()), most_, width_);
      return std::pair(sentence_batch<T>{{graphs, token, relation, position, self, waves}},
                       parse_answers{parent, role, category, noun_type, put(verb_, nodes)});
    });
  }

 private:
  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static std::size_t bytes(graph_dims const& d) {
    return planned_bytes([&](arena& a) {
      graph_offsets::plan(a, d);
      a.make<vec<index_t>>(d.rows);
      for (int i = 0; i < 8; ++i) a.make<vec<index_t>>(d.nodes);
    });
  }

  index_t reach_, width_, most_;
  graph_offsets graphs_;
  std::vector<index_t> token_, relation_, position_, self_, parent_, role_, category_, noun_type_, verb_;
  batch_upload<Ex> upload_;
  buffer<memory> waves_;
};

}  // namespace triad
