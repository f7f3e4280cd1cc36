// Reads sentences with their graphs.  A graph is given by tags in JSON lines, or by a logical form, as in the published
// COGS.
// SPDX-License-Identifier: Apache-2.0
//
//   .jsonl  {"tokens": [...], "parent": [...], "role": [...], "category": [...], "noun_type": [...],
//            "verb_name": [...], "distribution": "..."}
//   .tsv    sentence, logical form and distribution, separated by tabs
// Both kinds of file may be gzipped.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "logical_form.hpp"
#include "shared/data/each_line.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/data/text_pairs.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/json_read.hpp"

namespace triad::programs::cogs {

/// Reads one line of a .jsonl file.
inline tagged_sentence from_json(std::string const& line) {
  auto const json = read_json_line(line);
  auto const texts = [&](char const* name) { return member<std::vector<std::string>>(json, name, "a list of texts"); };
  tagged_sentence s;
  s.tokens = texts("tokens");
  s.parent = json_integers<int>(member(json, "parent", "a list of integers"), "parent");
  s.role = texts("role");
  s.category = texts("category");
  s.noun_type = texts("noun_type");
  s.verb_name = texts("verb_name");
  s.distribution = member<std::string>(json, "distribution", "a text");
  auto const n = s.tokens.size();
  if (n == 0) refuse("the sentence is empty");
  if (s.parent.size() != n || s.role.size() != n || s.category.size() != n || s.noun_type.size() != n ||
      s.verb_name.size() != n)
    refuse("the lists do not have one entry for each of the {} tokens", n);
  for (int i = 0; i < s.size(); ++i) {
    int const p = s.parent[static_cast<std::size_t>(i)];
    if (p < -1 || p >= s.size()) refuse("parent {} is no token of a sentence of {}", p, n);
    if (p == i) refuse("token {} is its own parent; that of a root is -1", i);
  }
  return s;
}

/// Returns a sentence as one line of a .jsonl file.
inline std::string to_json_line(tagged_sentence const& s) {
  nlohmann::ordered_json json;
  json["tokens"] = s.tokens;
  json["parent"] = s.parent;
  json["role"] = s.role;
  json["category"] = s.category;
  json["noun_type"] = s.noun_type;
  json["verb_name"] = s.verb_name;
  json["distribution"] = s.distribution;
  return json.dump();
}

/// Reads one line of a .tsv file.
inline tagged_sentence from_tsv(std::string_view line) {
  auto const first = line.find('\t'), second = first == std::string_view::npos ? first : line.find('\t', first + 1);
  if (second == std::string_view::npos || line.find('\t', second + 1) != std::string_view::npos)
    refuse("three columns are expected: sentence, logical form, distribution");
  return from_logical_form(line.substr(0, first), line.substr(first + 1, second - first - 1), line.substr(second + 1));
}

/// Reads all sentences of a file.  The ending of the file's name, without .gz, decides the format.
inline std::vector<tagged_sentence> read_sentences(std::string const& path) {
  std::string_view name = path;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  bool const tagged = name.ends_with(".jsonl");
  if (!tagged && !name.ends_with(".tsv")) refuse("{}: a .jsonl or a .tsv file is expected, gzipped or not", path);
  std::vector<tagged_sentence> sentences;
  each_line(path, [&](std::string const& line) {
    if (!tagged && sentences.empty()) expect_no_header(line);
    sentences.push_back(tagged ? from_json(line) : from_tsv(line));
  });
  if (sentences.empty()) refuse("{}: there is no sentence in it", path);
  return sentences;
}

}  // namespace triad::programs::cogs
