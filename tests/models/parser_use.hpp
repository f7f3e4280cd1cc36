// A parser and a batch of three sentences, for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/models/model_use.hpp"
#include "triad/batches/sentence_loader.hpp"

namespace triad::test {

inline constexpr index_t parser_width = 6, parser_reach = 2;
inline constexpr index_t parser_tokens = 6;
inline constexpr label_counts parser_labels{3, 2, 4, 5};

inline std::vector<std::vector<labelled_token>> parser_sentences() {
  random_stream random(5, 1);
  std::vector<std::vector<labelled_token>> all;
  for (index_t n : {4, 1, 3}) {
    auto& s = all.emplace_back();
    for (index_t i = 0; i < n; ++i) {
      auto const draw = [&](std::uint32_t count) { return static_cast<index_t>(random.below(count)); };
      s.push_back(
          {draw(parser_tokens), draw(static_cast<std::uint32_t>(n)), draw(3), draw(2), draw(4), i == 2 ? -1 : draw(5)});
    }
  }
  return all;
}

using loader_of_sentences = sentence_loader<reference::backend, double>;

/// The same sentences with some tokens dropped. Each token has its word and a position. The distances between positions
/// are larger than in the sentences.
inline std::vector<std::vector<labelled_token>> dropped_sentences() {
  auto all = parser_sentences();
  index_t number = 0;
  for (auto& s : all)
    for (auto& t : s) {
      t.word = t.token;
      if (number % 3 == 1) t.token = 0;
      t.position = 2 * (&t - s.data()) + number++ % 2;
    }
  return all;
}

inline loader_of_sentences loaded_sentences(std::vector<std::vector<labelled_token>> const& all) {
  loader_of_sentences loader({3, 26, 8, 92, 4}, parser_reach, parser_width, {}, 9);
  for (auto const& s : all) loader.add(s);
  return loader;
}

template <class Model, class Ex>
struct parser_use : model_use<Model, Ex, loader_of_sentences> {
  template <class Sizes>
  parser_use(Sizes const& z, keep k, std::vector<std::vector<labelled_token>> const& all = parser_sentences())
      : model_use<Model, Ex, loader_of_sentences>(Model(z), k, loaded_sentences(all)) {}
};

}  // namespace triad::test
