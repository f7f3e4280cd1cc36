// Heat maps of the attention between the words of one pair: views of an HTML page, and a picture.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "attention_maps.hpp"
#include "shared/report/page.hpp"
#include "shared/report/svg_heat_map.hpp"
#include "triad/core/contracts.hpp"

namespace triad::programs::sequences {

/// The largest number of words on a side of a pair whose attention is drawn.  A page has the square of this number for
/// each layer and head.
inline constexpr std::size_t most_words_of_map = 61;

/// The names of the rows and columns of maps, and what they are.
struct words_of_map {
  std::string row, column;                 // what a row is, and what a column is
  std::vector<std::string> rows, columns;  // names
};

/// Returns the words that a decoder reads when it writes `target`: the begin mark, then all words but the last.
inline std::vector<std::string> words_read(std::vector<std::string> const& target) {
  std::vector<std::string> read{"<s>"};
  read.insert(read.end(), target.begin(), target.end());
  read.pop_back();
  return read;
}

namespace detail {

inline void expect_words(attention_map const& map, words_of_map const& words) {
  TRIAD_EXPECTS(static_cast<std::size_t>(map.queries) == words.rows.size() &&
                    static_cast<std::size_t>(map.keys) == words.columns.size(),
                fmt::format("attention map: {} queries and {} keys, expected {} and {}, the numbers of words",
                            map.queries, map.keys, words.rows.size(), words.columns.size()));
}

/// Returns a view with one map for each layer, which has the mean of all heads and, if there are several, each head.
inline nlohmann::ordered_json attention_view(std::string const& title, std::vector<attention_map> const& layers,
                                             words_of_map const& words, std::string const& says) {
  auto maps = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < layers.size(); ++k) {
    auto const& map = layers[k];
    expect_words(map, words);
    auto choices = nlohmann::ordered_json::array();
    auto const add = [&](std::string const& name, auto const& weight) {
      auto rows = nlohmann::ordered_json::array();
      for (index_t i = 0; i < map.queries; ++i) {
        auto& cells = rows.emplace_back(nlohmann::ordered_json::array());
        for (index_t j = 0; j < map.keys; ++j)
          if (map.causal && j > i)
            cells.push_back(nullptr);
          else
            cells.push_back(thousandths(weight(i, j)) / 1000.0);
      }
      choices.push_back({{"name", name}, {"values", std::move(rows)}});
    };
    if (map.heads > 1)
      add(fmt::format("mean of {} heads", map.heads), [&](index_t i, index_t j) { return map.mean(i, j); });
    for (index_t h = 0; h < map.heads; ++h)
      add(fmt::format("head {}", h + 1), [&](index_t i, index_t j) { return map(h, i, j); });
    maps.push_back({{"name", fmt::format("layer {}", k + 1)},
                    {"rows", words.rows},
                    {"columns", words.columns},
                    {"choices", std::move(choices)}});
  }
  return {{"kind", "maps"},         {"title", title},         {"row", words.row},
          {"column", words.column}, {"step", "layer"},        {"initial", maps.empty() ? 0 : maps.size() - 1},
          {"says", says},           {"maps", std::move(maps)}};
}

}  // namespace detail

/// Returns the views of a pair: cross-attention, and the self-attention of encoder and decoder.  `source` and `target`
/// name the rows of each side, the end mark included.  Returns no views if there is no attention.
inline std::vector<nlohmann::ordered_json> attention_views(pair_attention const& a,
                                                           std::vector<std::string> const& source,
                                                           std::vector<std::string> const& target) {
  std::vector<nlohmann::ordered_json> views;
  auto const add = [&](char const* title, std::vector<attention_map> const& layers, words_of_map const& words,
                       char const* says) {
    if (!layers.empty()) views.push_back(detail::attention_view(title, layers, words, says));
  };
  add("Attention from target to source", a.cross, {"word that is written", "source word", target, source},
      "Of the attention to the source, each source word gets");
  add("Attention within the source", a.encoder, {"source word", "attends to", source, source},
      "Of the attention of this word, each source word gets");
  add("Attention within the target", a.decoder, {"word that is written", "attends to", target, words_read(target)},
      "Of the attention to the words so far, each of them gets");
  return views;
}

/// Returns a heat map of the mean over the heads of one layer.
inline heat_map picture_of(std::string const& title, attention_map const& map, words_of_map const& words) {
  detail::expect_words(map, words);
  heat_map picture{title, words.row, words.column, words.rows, words.columns, {}};
  for (index_t i = 0; i < map.queries; ++i) {
    auto& row = picture.values.emplace_back();
    for (index_t j = 0; j < map.keys; ++j) row.push_back(map.mean(i, j));
  }
  return picture;
}

}  // namespace triad::programs::sequences
