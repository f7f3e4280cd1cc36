// An HTML page that shows the weight with which each layer reads each earlier layer, and the attention between words.
// It has the means over many pairs, and the weights of every word for one pair.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attention_page.hpp"
#include "shared/report/page.hpp"
#include "translator.hpp"

namespace triad::programs::sequences {

/// The pair that a page shows word by word.
struct read_pair {
  std::string source, target;
  std::vector<std::string> source_words, target_words;  // names of the rows of each side
  layer_reads reads;
  pair_attention attention;

  /// False if a side has too many words for maps of words.
  bool has_maps() const { return std::max(source_words.size(), target_words.size()) <= most_words_of_map; }
};

inline std::string layer_name(std::size_t layer) { return layer == 0 ? "embedding" : "layer " + std::to_string(layer); }

namespace detail {

inline nlohmann::ordered_json names_of_layers(std::size_t first, std::size_t end) {
  auto names = nlohmann::ordered_json::array();
  for (auto k = first; k < end; ++k) names.push_back(layer_name(k));
  return names;
}

/// Returns a map of weights for one side: its rows are layers, and its columns are the layers that they read.
inline nlohmann::ordered_json map_of_side(std::string const& side, std::vector<std::vector<double>> const& weights) {
  auto rows = nlohmann::ordered_json::array();
  for (auto const& weights_of_layer : weights) {
    auto row = nlohmann::ordered_json(weights_of_layer);
    while (row.size() < weights.size()) row.push_back(nullptr);
    rows.push_back(std::move(row));
  }
  auto const layers = weights.size();
  return {{"kind", "maps"},
          {"title", side},
          {"row", "layer"},
          {"column", "reads from"},
          {"step", "map"},
          {"says", "Of its attention to earlier layers, each of them gets"},
          {"maps", nlohmann::ordered_json::array({{{"name", "mean"},
                                                   {"rows", names_of_layers(1, layers + 1)},
                                                   {"columns", names_of_layers(0, layers)},
                                                   {"choices", {{{"name", "mean of heads"}, {"values", rows}}}}}})}};
}

/// Returns maps of words and earlier layers for each layer with fuse-attention: one map for the mean of all heads, and
/// one map for each head.
inline nlohmann::ordered_json map_of_words(std::string const& side, std::string const& row,
                                           std::vector<std::string> const& words,
                                           std::vector<std::vector<float>> const& reads) {
  auto maps = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < reads.size(); ++k) {
    auto const& values = reads[k];  // (words, heads, k + 1)
    auto const sources = k + 1, heads = values.size() / (words.size() * sources);
    if (values.empty()) continue;
    auto choices = nlohmann::ordered_json::array();
    for (std::size_t h = 0; h <= heads; ++h) {  // 0: the mean of all heads; h: head h
      auto rows = nlohmann::ordered_json::array();
      for (std::size_t w = 0; w < words.size(); ++w) {
        auto& cells = rows.emplace_back(nlohmann::ordered_json::array());
        for (std::size_t j = 0; j < sources; ++j) {
          double sum = 0;
          for (std::size_t one = h > 0 ? h - 1 : 0; one < (h > 0 ? h : heads); ++one)
            sum += static_cast<double>(values[(w * heads + one) * sources + j]);
          cells.push_back(thousandths(sum / (h > 0 ? 1 : static_cast<double>(heads))) / 1000.0);
        }
      }
      choices.push_back({{"name", h > 0 ? fmt::format("head {}", h) : fmt::format("mean of {} heads", heads)},
                         {"values", std::move(rows)}});
    }
    maps.push_back({{"name", layer_name(k + 1)},
                    {"rows", words},
                    {"columns", names_of_layers(0, sources)},
                    {"choices", std::move(choices)}});
  }
  return {{"kind", "maps"},
          {"title", side + ", word by word"},
          {"row", row},
          {"column", "reads from"},
          {"step", "layer"},
          {"initial", maps.empty() ? 0 : maps.size() - 1},
          {"says", "Of its attention to earlier layers, each of them gets"},
          {"maps", std::move(maps)}};
}

}  // namespace detail

inline nlohmann::ordered_json layers_page(layer_weights const& weights, std::size_t pairs, read_pair const& one) {
  auto views = nlohmann::ordered_json::array();
  if (!weights.encoder.empty()) views.push_back(detail::map_of_side("Encoder", weights.encoder));
  if (!weights.decoder.empty()) views.push_back(detail::map_of_side("Decoder", weights.decoder));
  auto const add_words = [&](nlohmann::ordered_json view) {
    if (!view["maps"].empty()) views.push_back(std::move(view));
  };
  add_words(detail::map_of_words("Encoder", "word", one.source_words, one.reads.encoder));
  add_words(detail::map_of_words("Decoder", "word that is written", one.target_words, one.reads.decoder));
  auto lead = nlohmann::ordered_json::array();
  if (views.empty())
    lead.push_back("No layer of this model has fuse-attention, so only attention between words is shown.");
  else
    lead.push_back(
        fmt::format("Encoder, decoder: mean over tokens and heads of {} pair{}.", pairs, pairs == 1 ? "" : "s"));
  lead.push_back("Word by word: " + one.source + " \u2192 " + one.target);
  if (one.has_maps())
    for (auto& view : attention_views(one.attention, one.source_words, one.target_words))
      views.push_back(std::move(view));
  else
    lead.push_back(
        fmt::format("Attention between words is left out: a side has more than {} tokens.", most_words_of_map - 1));
  return {{"title", "What layers and words read"}, {"lead", std::move(lead)}, {"views", std::move(views)}};
}

}  // namespace triad::programs::sequences
