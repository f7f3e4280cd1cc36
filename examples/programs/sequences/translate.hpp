// Translates many sentences, in batches of sentences with similar lengths.  Computes the loss of many pairs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "shared/backend/in_batches.hpp"
#include "shared/run/permute.hpp"
#include "task.hpp"
#include "translator.hpp"

namespace triad::programs::sequences {

/// Returns the error message for a sentence that is too long; `sentence` is its number from 0.
inline std::string too_long(std::size_t sentence) {
  return "sentence " + std::to_string(sentence + 1) +
         " has more tokens than the model was given room for; cut it, or give a larger --max-length";
}

/// Calls f(number, translations) for each source, in an unspecified order.  `number` is the number of the source.  The
/// best translation is the first.
template <class F>
void translate_all(translator& net, std::vector<std::vector<index_t>> const& sources, search const& how, F&& f) {
  auto const order =
      order_by(sources.size(), [&](std::size_t a, std::size_t b) { return sources[a].size() > sources[b].size(); });
  in_batches(
      net, order.size(), [&](std::size_t i) { return net.add(sources[order[i]]); },
      [&](std::size_t i) { return too_long(order[i]); }, [&]() -> auto const& { return net.translate(how); },
      [&](std::size_t first, std::size_t last, std::vector<std::vector<hypothesis>> const& found) {
        for (auto i = first; i < last; ++i) f(order[i], found[i - first]);
      });
}

/// Returns the best translation of the source of each pair, as text.
inline std::vector<std::string> translations(translator& net, std::vector<text_pair> const& pairs, vocabulary& words,
                                             search const& how) {
  std::vector<std::vector<index_t>> sources;
  for (auto const& pair : pairs) sources.push_back(words.source.encode(pair.source));
  std::vector<std::string> result(pairs.size());
  translate_all(net, sources, how, [&](std::size_t i, std::vector<hypothesis> const& found) {
    if (!found.empty()) result[i] = words.target.decode(found.front().tokens);
  });
  return result;
}

/// Calls f(length, answer()) for each batch of pairs.  `length` has the number of source tokens and the number of
/// target tokens in the batch, including end tokens.
template <class Answer, class F>
void for_batches(translator& net, std::vector<coded_pair> const& pairs, Answer const& answer, F const& f) {
  in_batches(
      net, pairs.size(), [&](std::size_t i) { return net.add(pairs[i].source, pairs[i].target); }, too_long, answer,
      [&](std::size_t first, std::size_t last, auto const& found) {
        pair_length sum{0, 0};
        for (auto i = first; i < last; ++i)
          sum.source += static_cast<index_t>(pairs[i].source.size()) + 1,
              sum.target += static_cast<index_t>(pairs[i].target.size()) + 1;
        f(sum, found);
      });
}

/// Returns the mean of -log probability over the target tokens of all pairs.
inline double mean_loss(translator& net, std::vector<coded_pair> const& pairs) {
  double sum = 0, all = 0;
  for_batches(
      net, pairs, [&] { return net.loss(); },
      [&](pair_length const& length, double loss) {
        auto const tokens = static_cast<double>(length.target);
        sum += loss * tokens;
        all += tokens;
      });
  return all > 0 ? sum / all : 0;
}

/// Returns the weights with which layers read earlier layers.  The weights are means over heads and tokens: source
/// tokens for the encoder, and target tokens for the decoder.
inline layer_weights mean_weights(translator& net, std::vector<coded_pair> const& pairs) {
  layer_weights sum;
  pair_length all{0, 0};
  auto const add = [](auto& to, auto const& from, index_t tokens) {
    to.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i].resize(from[i].size());
      for (std::size_t j = 0; j < from[i].size(); ++j) to[i][j] += static_cast<double>(tokens) * from[i][j];
    }
  };
  for_batches(
      net, pairs, [&] { return net.read_weights(); },
      [&](pair_length const& length, layer_weights const& here) {
        add(sum.encoder, here.encoder, length.source);
        add(sum.decoder, here.decoder, length.target);
        all = {all.source + length.source, all.target + length.target};
      });
  auto const divide = [](auto& side, index_t tokens) {
    for (auto& row : side)
      for (auto& weight : row) weight /= static_cast<double>(tokens);
  };
  divide(sum.encoder, all.source);
  divide(sum.decoder, all.target);
  return sum;
}

}  // namespace triad::programs::sequences
