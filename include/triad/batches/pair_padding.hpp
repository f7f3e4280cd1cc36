// Pads batches of pairs to a few shapes, for backends that record work and replay it, such as CUDA graphs.
// SPDX-License-Identifier: Apache-2.0
//
// This padding is similar to batches/padding.hpp.  But a sequence of m tokens adds only m rows, whereas a graph of m
// nodes adds m^2 rows.  So the missing tokens of sources and of targets are divided evenly among the added pairs.  The
// added pairs are short, so their attention costs little.  An added pair has target tokens only if it has source
// tokens, because target tokens attend to source tokens.  An added pair has no targets in the loss, so its gradients
// are zero.
#pragma once

#include <algorithm>

#include "triad/batches/padding.hpp"
#include "triad/batches/pair_batch.hpp"

namespace triad {

/// Returns the capacity that padded batches need if they have at most `capacity` before padding.  The numbers of tokens
/// are rounded up to the next buckets.  The number of pairs grows, because padding adds short and empty pairs.
constexpr pair_dims padded_room(pair_dims const& capacity) {
  return {padded_graphs(capacity.pairs), bucket_of(capacity.source_rows + 1), bucket_of(capacity.target_rows + 1),
          capacity.longest_source, capacity.longest_target};
}

/// The pairs that pad a batch.
struct pair_padding {
  pair_dims dims;                                       // sizes of the batch, with its padding if it is padded
  index_t pairs = 0, source_rows = 0, target_rows = 0;  // the numbers that padding adds

  /// The numbers of source tokens and of target tokens of added pair p.  All added pairs with tokens have the same
  /// number of tokens, except that the first pairs may have one token more.
  index_t source_tokens(index_t p) const { return tokens_of(source_rows, with_source(), p); }
  index_t target_tokens(index_t p) const { return tokens_of(target_rows, with_target(), p); }

  /// Returns the padding to the smallest possible shape within `room`.  Some shapes are impossible: for example, one
  /// added source token allows only one added target, whose length is limited.  Returns no padding if none of the next
  /// three buckets has a possible shape.
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
