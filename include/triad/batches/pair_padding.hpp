// Batches of pairs of few shapes, for backends that replay: pairs that fill a batch up to the next shape.
// SPDX-License-Identifier: Apache-2.0
//
// As batches/padding.hpp, but a sequence adds its tokens alone and no square of them.  So the tokens that are missing,
// on either side, are shared out evenly among the pairs that are added: these are short, and what their attention costs
// is little.  A pair that is added has tokens of a target only where it has tokens of a source to look at.  It is asked
// about nowhere, so its loss does not count and its gradients are zeros.
#pragma once

#include <algorithm>

#include "triad/batches/padding.hpp"
#include "triad/batches/pair_batch.hpp"

namespace triad {

/// Room for padded batches of which each has at most `capacity` before it is padded: more pairs, which are short or
/// empty, and the tokens of the next buckets.
constexpr pair_dims padded_room(pair_dims const& capacity) {
  return {padded_graphs(capacity.pairs), bucket_of(capacity.source_rows + 1), bucket_of(capacity.target_rows + 1),
          capacity.longest_source, capacity.longest_target};
}

/// The pairs that pad a batch.
struct pair_padding {
  pair_dims dims;                                       // of the batch with its padding, or of the batch alone
  index_t pairs = 0, source_rows = 0, target_rows = 0;  // that are added

  /// Tokens of added pair p, of its source and of its target: the same in all pairs that have any, but for one more in
  /// the first ones.
  index_t source_tokens(index_t p) const { return tokens_of(source_rows, with_source(), p); }
  index_t target_tokens(index_t p) const { return tokens_of(target_rows, with_target(), p); }

  /// Of a batch in a room.  The smallest shape, of which some are skipped: one token cannot be looked at by more than
  /// the longest target has.  Nothing is added where there is no shape in three buckets.
  static pair_padding of(pair_dims const& batch, pair_dims const& room) {
    auto const longest_of = [](index_t n, index_t most) { return std::min((n + 15) / 16 * 16, most); };
    pair_padding p;
    p.dims = batch;
    if (batch.pairs == 0 || batch.target_rows == 0) return p;
    p.pairs = padded_graphs(batch.pairs) - batch.pairs;
    index_t const longest_source = longest_of(batch.longest_source, room.longest_source),
                  longest_target = longest_of(batch.longest_target, room.longest_target);
    index_t const target_rows = bucket_of(batch.target_rows + 1);
    index_t source_rows = batch.source_rows;
    for (int bucket = 0; bucket < 3; ++bucket) {
      source_rows = bucket_of(source_rows + 1);
      p.source_rows = source_rows - batch.source_rows;
      p.target_rows = target_rows - batch.target_rows;
      if (source_rows > room.source_rows || target_rows > room.target_rows || batch.pairs + p.pairs > room.pairs) break;
      if (p.source_rows > p.pairs * longest_source || p.target_rows > p.with_source() * longest_target) continue;
      p.dims = {batch.pairs + p.pairs, source_rows, target_rows, longest_source, longest_target};
      return p;
    }
    p.pairs = p.source_rows = p.target_rows = 0;
    return p;
  }

 private:
  index_t with_source() const { return std::min(source_rows, pairs); }
  index_t with_target() const { return std::min(target_rows, with_source()); }
  static constexpr index_t tokens_of(index_t rows, index_t among, index_t p) {
    return p < among ? rows / among + (p < rows % among) : 0;
  }
};

}  // namespace triad
