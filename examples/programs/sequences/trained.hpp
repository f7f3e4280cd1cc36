// Reads a trained model from a run's folder.  Computes the capacity that a model needs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <new>
#include <string>
#include <vector>

#include "published.hpp"
#include "shared/cli/record.hpp"
#include "shared/report/refuse.hpp"
#include "task.hpp"
#include "translator.hpp"

namespace triad::programs::sequences {

inline search search_of(options const& o, vocabulary const& words, int n_best = 1) {
  return {o.beam, o.length_penalty, n_best, o.longest_factor,
          o.longest > 0 ? o.longest : 3 * words.longest_target + 10};
}

/// Returns the number of sentences that are translated at once, from 1 to 64.  The decoder stores keys and values for
/// each token of each hypothesis, or four projections for each edge.  The returned number of sentences needs about 200
/// MB for these values.  If it is 1, the sentence may need more.
inline index_t sentences_at_once(options const& o, index_t source, index_t longest) {
  auto const kept = static_cast<double>(of_edges(o) ? (source + longest) * (source + longest) : longest);
  double const values = 4.0 * o.decoder_layers * o.width * o.beam * kept;
  return static_cast<index_t>(std::clamp(5e7 / values, 1.0, 64.0));
}

/// Returns the sizes of a model with memory for batches of o.tokens tokens, and for sequences as long as the longest of
/// training and as long as `longest`.  Unless the model is made for `explain`, there is also memory to search for
/// translations of sources of these lengths.
inline translator_options sizes_for(options const& o, vocabulary const& words, pair_length longest, use what) {
  auto const how = search_of(o, words);
  auto const source = std::max(words.longest_source, longest.source);
  auto const found = how.longest + static_cast<index_t>(how.longest_factor * static_cast<double>(source));
  auto const target = std::max({words.longest_target, longest.target, found});
  auto const sentences = what == use::explaining ? 0 : sentences_at_once(o, source + 1, target + 1);
  auto const given = std::max(words.longest_target, longest.target);
  return {.source_words = words.source.size(),
          .target_words = words.target.size(),
          .tokens = o.tokens,
          .pairs = o.pairs,
          .longest_source = source + 1,
          .longest_target = target + 1,
          .longest_given = given + 1,
          .sentences = sentences,
          .what = what,
          .source_end = words.source.end()};
}

/// Returns the length in tokens of the longest source of the test parts.  The length of the target is 0.
inline pair_length longest_source(data_set const& data, vocabulary& words) {
  std::size_t most = 1;
  auto const add = [&](std::vector<text_pair> const& pairs) {
    for (auto const& pair : pairs) most = std::max(most, words.source.encode(pair.source).size());
  };
  add(data.dev);
  for (auto const& part : data.tests) add(part.pairs);
  return {static_cast<index_t>(most), 0};
}

/// Returns the sources of the test parts that have more than `than` tokens.
inline std::vector<sized_example> larger_sources(data_set const& data, vocabulary& words, index_t than) {
  std::vector<sized_example> all;
  for (auto const& part : data.tests)  // `tests` includes dev
    add_larger(
        all, than, part.pairs.size(), [&](std::size_t i) { return words.source.encode(part.pairs[i].source).size(); },
        [&](std::size_t i) { return "the source of pair " + std::to_string(i + 1) + " of " + part.name; });
  return all;
}

/// Returns the lengths of the longest source and of the longest target of these pairs, in tokens.
inline pair_length longest_of(std::vector<coded_pair> const& pairs) {
  std::size_t source = 1, target = 1;
  for (auto const& pair : pairs) {
    source = std::max(source, pair.source.size());
    target = std::max(target, pair.target.size());
  }
  return {static_cast<index_t>(source), static_cast<index_t>(target)};
}

/// Returns the number of tokens in all pairs, including end tokens, on the side that has more.
inline index_t all_tokens_of(std::vector<coded_pair> const& pairs) {
  std::size_t source = 0, target = 0;
  for (auto const& pair : pairs) {
    source += pair.source.size() + 1;
    target += pair.target.size() + 1;
  }
  return static_cast<index_t>(std::max(source, target));
}

/// Returns the largest number of tokens that a source may have if the sources are not known in advance.
inline index_t most_of_unknown(options const& shape, vocabulary const& words) {
  if (shape.published)
    return std::min(std::max<index_t>(256, words.longest_source), most_of_published(*shape.published));
  return of_edges(shape) ? std::max<index_t>(32, 2 * words.longest_source)  // the number of edges is the square of this
                         : std::max<index_t>(256, words.longest_source);
}

/// Reads the trained model of o.run.  longest(words, shape) must return the length of the longest source to translate.
/// If there is not enough memory, the error message contains `advice`.  Throws data_error.
template <class Longest>
trained<translator> trained_translator(options const& o, use what, Longest const& longest,
                                       room_advice const& advice = {}) {
  auto const path = checkpoint_of(o.run);
  try {
    return {o, open_run(o.run),
            [&](vocabulary& words, options const& shape) {
              if (of_edges(shape) && to_json(words.source) != to_json(words.target))
                refuse("{}: an Edge Transformer has one dictionary for both sides; this one has two", path);
              if (of_edges(shape) && what == use::explaining)
                refuse(
                    "{}: no layer of this model has fuse-attention or attention between words, which is what explain "
                    "shows: the other models of train --model have it",
                    path);
              return sizes_for(shape, words, longest(words, shape), what);
            },
            advice};
  } catch (std::bad_alloc const&) {
    refuse("{}: there is not enough memory to translate with it; give a smaller --beam or --max-length", path);
  }
}

}  // namespace triad::programs::sequences
