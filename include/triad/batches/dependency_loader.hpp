// Fills batches of sentences with dependencies on the host, and copies each batch to a backend's memory.  Allocates
// memory only in the constructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/dependency_batch.hpp"
#include "triad/batches/padding.hpp"
#include "triad/batches/sentence_columns.hpp"
#include "triad/core/batch_views.hpp"

namespace triad {

/// A token, its parent, and its relation to the parent.  A negative number means that there is no target.
struct attached_token {
  index_t token = 0;
  index_t parent = -1;  // index in the sentence; a root has its own index; text::parents_of() returns such indices
  index_t relation = -1;
};

template <backend Ex, class T>
class dependency_loader {
 public:
  using memory = typename Ex::memory;

  /// Allocates memory for batches up to `capacity`.  Relative positions are limited to -reach .. reach.  `width` is the
  /// width of the model and of the position encodings.  If the backend computes on a device, `where` must be
  /// memory_of(ex).  On a host, `where` is not needed.
  dependency_loader(graph_dims capacity, index_t reach, index_t width, memory where = {})
      : sentences_("dependency_loader", capacity, reach, width, where),
        upload_(upload_bytes(dependency_batch<T>::measured(padded_room_for<Ex>(capacity), 0),
                             dependency_answers::measured(padded_room_for<Ex>(capacity))),
                where) {
    for (auto* v : {&parent_, &relation_, &edge_, &child_, &parent_row_})
      v->resize(static_cast<std::size_t>(padded_room_for<Ex>(capacity).nodes));
  }

  void clear() { sentences_.clear(); }
  bool has_room(index_t n) const { return sentences_.has_room(n); }

  /// Adds a sentence.  Throws contract_violation if the sentence does not fit, if a token is below 0, or if a parent is
  /// not a token of the sentence.  Does not check that the model knows each token.  On a host, gather_rows() checks the
  /// tokens when the model reads the batch.
  void add(std::span<attached_token const> sentence) {
    auto const word = [&](index_t i) -> attached_token const& { return sentence[static_cast<std::size_t>(i)]; };
    auto const n = static_cast<index_t>(sentence.size());
    sentences_.expect_tokens(n, [&](index_t i) { return word(i).token; }, [&](index_t i) { return word(i).parent; });
    auto const first = sentences_.add(n, [&](index_t i) { return word(i).token; });
    for (index_t i = 0; i < n; ++i) {
      auto const at = static_cast<std::size_t>(first.nodes + i);
      index_t const p = word(i).parent >= 0 ? word(i).parent : i;  // no parent: the pair (i, i), which has no target
      parent_[at] = word(i).parent;
      relation_[at] = word(i).parent >= 0 ? word(i).relation : -1;
      edge_[at] = first.rows + i * n + p;
      child_[at] = first.nodes + i;
      parent_row_[at] = first.nodes + p;
    }
  }

  graph_dims const& dims() const { return sentences_.dims(); }

  /// Returns the batch, which has pairs, and the targets, in the backend's memory.  The result is valid until the next
  /// call.
  std::pair<dependency_batch<T>, dependency_answers> upload() {
    return upload_([&](auto const& put) {
      index_t const nodes = dims().nodes;
      auto const sentences = sentences_.upload(put);
      auto const edge = put(edge_, nodes), child = put(child_, nodes), parent_row = put(parent_row_, nodes),
                 parent = put(parent_, nodes);
      return std::pair(dependency_batch<T>{{sentences}, {edge, child, parent_row}},
                       dependency_answers{parent, put(relation_, nodes)});
    });
  }

  /// Returns a batch for training.  If the backend replays recorded work, pads the batch to one of a few shapes
  /// (batches/padding.hpp).  The capacity of the trainer must then be padded_room_for<Ex>(capacity).  Added tokens have
  /// no targets.  The pair of every added token is the first added token with itself.
  std::pair<dependency_batch<T>, dependency_answers> upload_padded() {
    auto const before = dims();
    auto const pad = [&] {
      sentences_.pad();
      auto const added = [&](std::vector<index_t>& all, index_t value) {
        std::fill(all.begin() + before.nodes, all.begin() + dims().nodes, value);
      };
      added(parent_, -1);
      added(relation_, -1);
      added(edge_, before.rows);
      added(child_, before.nodes);
      added(parent_row_, before.nodes);
    };
    return upload_with(pad, [&] { return upload(); }, [&] { sentences_.take_back(before); });
  }

 private:
  sentence_columns<Ex, T> sentences_;
  std::vector<index_t> parent_, relation_, edge_, child_, parent_row_;
  batch_upload<Ex> upload_;
};

}  // namespace triad
