// Fills batches of sentences on the host, and copies each batch to a backend's memory.  Allocates memory only in the
// constructor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/batches/padding.hpp"
#include "triad/batches/sentence_batch.hpp"
#include "triad/batches/sentence_columns.hpp"
#include "triad/core/batch_views.hpp"

namespace triad {

/// A token and its targets.  A negative number means that there is no target.
struct labelled_token {
  index_t token = 0;
  index_t parent = -1;  // index in the sentence; a root has its own index
  index_t role = -1, category = -1, noun_type = -1, verb = -1;
  index_t word = -1;      // the original token, if it was dropped and `token` replaces it; otherwise negative
  index_t position = -1;  // the position for the encoding; negative: the index in the sentence
};

template <backend Ex, class T>
class sentence_loader {
 public:
  using memory = typename Ex::memory;

  /// Allocates memory for batches up to `capacity`.  Relative positions are limited to -reach .. reach.  `width` is the
  /// width of the model and of the position encodings.  If the backend computes on a device, `where` must be
  /// memory_of(ex).  On a host, `where` is not needed.  Each position must be below `positions` or below the length of
  /// the longest sentence.
  sentence_loader(graph_dims capacity, index_t reach, index_t width, memory where = {}, index_t positions = 0)
      : sentences_("sentence_loader", capacity, reach, width, where, positions),
        upload_(upload_bytes(with_words(sentence_batch<T>::measured(padded_room_for<Ex>(capacity), 0)),
                             parse_answers::measured(padded_room_for<Ex>(capacity))),
                where) {
    for (auto* v : {&word_, &parent_, &role_, &category_, &noun_type_, &verb_})
      v->resize(static_cast<std::size_t>(padded_room_for<Ex>(capacity).nodes));
  }

  void clear() {
    sentences_.clear();
    drops_ = false;
  }
  bool has_room(index_t n) const { return sentences_.has_room(n); }

  /// Adds a sentence.  Throws contract_violation if the sentence does not fit, if a token is below 0, or if a parent is
  /// not a token of the sentence.  Does not check that the model knows each token.  On a host, gather_rows() checks the
  /// tokens when the model reads the batch.
  void add(std::span<labelled_token const> sentence) {
    auto const word = [&](index_t i) -> labelled_token const& { return sentence[static_cast<std::size_t>(i)]; };
    auto const n = static_cast<index_t>(sentence.size());
    sentences_.expect_tokens(n, [&](index_t i) { return word(i).token; }, [&](index_t i) { return word(i).parent; });
    auto const first = sentences_.add(
        n, [&](index_t i) { return word(i).token; },
        [&](index_t i) { return word(i).position < 0 ? i : word(i).position; });
    for (index_t i = 0; i < n; ++i) {
      auto const at = static_cast<std::size_t>(first.nodes + i);
      drops_ = drops_ || word(i).word >= 0;
      word_[at] = word(i).word < 0 ? word(i).token : word(i).word;
      parent_[at] = word(i).parent;
      role_[at] = word(i).role, category_[at] = word(i).category, noun_type_[at] = word(i).noun_type,
      verb_[at] = word(i).verb;
    }
  }

  graph_dims const& dims() const { return sentences_.dims(); }

  /// Returns the batch and its targets, in the backend's memory.  The result is valid until the next call.
  std::pair<sentence_batch<T>, parse_answers> upload() {
    return upload_([&](auto const& put) {
      index_t const nodes = dims().nodes;
      auto const sentences = sentences_.upload(put);
      auto const parent = put(parent_, nodes), role = put(role_, nodes), category = put(category_, nodes),
                 noun_type = put(noun_type_, nodes), verb = put(verb_, nodes);
      sentence_batch<T> batch{sentences};
      if (drops_) batch.word = put(word_, nodes);
      return std::pair(batch, parse_answers{parent, role, category, noun_type, verb});
    });
  }

  /// Returns a batch for training.  If the backend replays recorded work, pads the batch to one of a few shapes
  /// (batches/padding.hpp).  The capacity of the trainer must then be padded_room_for<Ex>(capacity).  Added tokens have
  /// no targets.
  std::pair<sentence_batch<T>, parse_answers> upload_padded() {
    auto const before = dims();
    auto const pad = [&] {
      sentences_.pad();
      std::fill(word_.begin() + before.nodes, word_.begin() + dims().nodes, index_t{0});
      for (auto* v : {&parent_, &role_, &category_, &noun_type_, &verb_})
        std::fill(v->begin() + before.nodes, v->begin() + dims().nodes, index_t{-1});
    };
    return upload_with(pad, [&] { return upload(); }, [&] { sentences_.take_back(before); });
  }

 private:
  static sentence_batch<T> with_words(sentence_batch<T> full) {
    full.word = full.token;
    return full;
  }

  sentence_columns<Ex, T> sentences_;
  bool drops_ = false;  // whether a token of the batch was dropped
  std::vector<index_t> word_, parent_, role_, category_, noun_type_, verb_;
  batch_upload<Ex> upload_;
};

}  // namespace triad
