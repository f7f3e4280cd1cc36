// The input and targets of sequence-to-sequence models.  The input is a batch of pairs of a source sequence and a
// target sequence.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "triad/core/batch_views.hpp"
#include "triad/core/sequences.hpp"

namespace triad {

/// The sizes of a batch of pairs.  The host knows these sizes and plans memory with them.
struct pair_dims {
  index_t pairs = 0;                               // b
  index_t source_rows = 0, target_rows = 0;        // the numbers of tokens of all sources and of all targets
  index_t longest_source = 0, longest_target = 0;  // the numbers of tokens of the longest sequences
};

/// Returns the sizes of a batch of one pair.  The numbers of tokens include `begin` and `end`.
constexpr pair_dims dims_of(index_t source_tokens, index_t target_tokens) {
  return {1, source_tokens, target_tokens, source_tokens, target_tokens};
}

/// Returns the sizes of both batches together.
constexpr pair_dims operator+(pair_dims const& a, pair_dims const& b) {
  return {a.pairs + b.pairs, a.source_rows + b.source_rows, a.target_rows + b.target_rows,
          std::max(a.longest_source, b.longest_source), std::max(a.longest_target, b.longest_target)};
}

/// Lists the sizes for core/batch_sizes.hpp.
template <class F>
constexpr void each_count(pair_dims& d, F&& f) {
  f.sum(d.pairs, "pairs");
  f.sum(d.source_rows, "tokens of sources");
  f.sum(d.target_rows, "tokens of targets");
  f.largest(d.longest_source, "in the longest source");
  f.largest(d.longest_target, "in the longest target");
}

/// Returns the smallest sizes into which a batch of sizes a and a batch of sizes b both fit.
constexpr pair_dims larger(pair_dims const& a, pair_dims const& b) {
  return {std::max(a.pairs, b.pairs), std::max(a.source_rows, b.source_rows), std::max(a.target_rows, b.target_rows),
          std::max(a.longest_source, b.longest_source), std::max(a.longest_target, b.longest_target)};
}

/// Returns true if a batch of sizes d fits into `capacity`.
constexpr bool fits(pair_dims const& d, pair_dims const& capacity) {
  return d.pairs <= capacity.pairs && d.source_rows <= capacity.source_rows && d.target_rows <= capacity.target_rows &&
         d.longest_source <= capacity.longest_source && d.longest_target <= capacity.longest_target;
}

/// A batch of sources and of the targets that a decoder reads.  Loaders put sequences one after another, without
/// padding.  Masks are only for batches that are padded to equal lengths.
template <class T>
struct pair_batch {
  pair_dims sizes;
  sequence_batch source, target;                                             // one sequence for each pair
  vec<index_t const> source_token{nullptr, 0}, source_position{nullptr, 0};  // (source rows) position: the row of waves
  vec<index_t const> target_token{nullptr, 0},
      target_position{nullptr, 0};  // (target rows) what the decoder reads: `begin`, then the target
  tensor<T const, dyn, dyn> waves;  // (positions, d) half_waves
  vec<std::uint8_t const> source_masked{nullptr, 0},
      target_masked{nullptr, 0};  // (rows) or (0); 1 if the token is padding, to which no token attends
  // (source rows, e) the encoder's last states, if they are already known; (0, 0): the model computes them.  Only a
  // model with a frozen encoder reads them.
  tensor<T const, dyn, dyn> source_states{nullptr, 0, 0};

  pair_dims const& dims() const { return sizes; }

  /// Lists the views of the batch for core/batch_views.hpp.
  template <class F>
  void each(F&& f) {
    f.value(sizes.pairs, sizes.source_rows, sizes.target_rows, sizes.longest_source, sizes.longest_target);
    source.each(f);
    target.each(f);
    for (auto* view : {&source_token, &source_position}) f(*view, sizes.source_rows);
    for (auto* view : {&target_token, &target_position}) f(*view, sizes.target_rows);
    f.table(waves);
    f.maybe(source_masked);
    f.maybe(target_masked);
    f.maybe(source_states);
  }
  /// Returns a batch of these sizes for planning memory.  The views of the batch have no memory.  `width` is the width
  /// of the model.
  static pair_batch measured(pair_dims const& z, index_t width) {
    pair_batch full;
    full.sizes = z;
    full.source = {z.pairs, z.source_rows, z.longest_source};
    full.target = {z.pairs, z.target_rows, z.longest_target};
    full.waves = tensor<T const, dyn, dyn>(nullptr, std::max(z.longest_source, z.longest_target), width);
    return without_memory(full);
  }
};

/// The targets of a batch of pairs.
struct pair_answers {
  // (target rows) the token that follows each target token; a negative token is not in the loss
  vec<index_t const> next{nullptr, 0};

  template <class F>
  void each(F&& f) {
    f(next);
  }
  /// Returns targets of these sizes for planning memory.  The views of the targets have no memory.
  static pair_answers measured(pair_dims const& dims) { return {vec<index_t const>(nullptr, dims.target_rows)}; }
};

}  // namespace triad
