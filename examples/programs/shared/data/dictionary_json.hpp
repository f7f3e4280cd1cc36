// Converts a dictionary to JSON for a checkpoint, and back.  The JSON has the tokens and their counts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "shared/report/refuse.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/text/dictionary.hpp"

namespace triad::programs {

inline nlohmann::json dictionary_json(text::dictionary const& words) {
  nlohmann::json tokens = nlohmann::json::array(), counts = tokens;
  for (auto n = text::dictionary::specials; n < words.size(); ++n) {
    tokens.push_back(words.token(n));
    counts.push_back(words.count(n));
  }
  nlohmann::json json{{"tokens", tokens}, {"counts", counts}};
  if (!words.overwriting().empty()) json["overwriting"] = words.overwriting();
  return json;
}

/// Reads a dictionary from JSON.  Throws data_error, or nlohmann::json::exception if a list is missing.
inline text::dictionary dictionary_from(nlohmann::json const& json) {
  auto const tokens = json.at("tokens").get<std::vector<std::string>>();
  auto const counts = json_integers<long long>(json.at("counts"), "counts");
  if (tokens.size() != counts.size()) refuse("tokens and counts of a dictionary differ in number");
  std::vector<std::pair<std::string, long long>> entries;
  for (std::size_t i = 0; i < tokens.size(); ++i) entries.emplace_back(tokens[i], counts[i]);
  std::vector<index_t> overwriting;
  if (json.contains("overwriting")) overwriting = json_integers<index_t>(json.at("overwriting"), "overwriting");
  return text::dictionary::of(entries, overwriting);
}

}  // namespace triad::programs
