// Fills batches of sentences with dependencies on the host and hands them over in a backend's memory; allocates once.
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

/// A token, its parent, and the relation between the two; negative: no target.
struct attached_token {
  index_t token = 0;
  index_t parent = -1;  // place in the sentence from 0; its own for a root; of CoNLL-U: text::parents_of
  index_t relation = -1;
};

template <backend Ex, class T>
class dependency_loader {
 public:
  using memory = typename Ex::memory;

  /// Room for batches up to these dims.  Relative positions are clipped at `reach`; `width` of the position waves: the
  /// model's.  where: memory_of(ex) of a device's backend; hosts need none.
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

  /// One more sentence.  Throws contract_violation where it has no room, has a token below 0, or a parent that is not
  /// one of its tokens; whether the model knows each token is checked by its gather_rows(), on hosts.
  void add(std::span<attached_token const> sentence) {
    auto const word = [&](index_t i) -> attached_token const& { return sentence[static_cast<std::size_t>(i)]; };
    auto const n = static_cast<index_t>(sentence.size());
    sentences_.expect_tokens(n, [&](index_t i) { return word(i).token; }, [&](index_t i) { return word(i).parent; });
    auto const first = sentences_.add(n, [&](index_t i) { return word(i).token; });
    for (index_t i = 0; i < n; ++i) {
      auto const at = static_cast<std::size_t>(first.nodes + i);
      index_t const p =
          word(i).parent >= 0 ? word(i).parent : i;  // a token of unknown parent has a pair that nothing is asked about
      parent_[at] = word(i).parent;
      relation_[at] = word(i).parent >= 0 ? word(i).relation : -1;
      edge_[at] = first.rows + i * n + p;
      child_[at] = first.nodes + i;
      parent_row_[at] = first.nodes + p;
    }
  }

  graph_dims const& dims() const { return sentences_.dims(); }

  /// The batch with its target pairs, and its targets, in the backend's memory, valid until the next call.
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

  /// The same, to train on.  Where the backend replays, the batch is padded to a shape that other batches share
  /// (batches/padding.hpp), and the trainer needs a capacity of padded_room_for<Ex>(capacity).  Tokens of the
  /// padding have no targets; their pair is the first of them with itself.
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
