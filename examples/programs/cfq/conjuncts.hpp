// Compares two queries.  The order of their conjuncts does not matter.
// SPDX-License-Identifier: Apache-2.0
//
//   SELECT ... WHERE { a b c . FILTER ( ?x0 != M1 ) . d e f }       conjuncts: the text between { and }, split at `.`
// Two queries are equal if both have the same text before { and the same conjuncts, with the same number of
// repetitions.  No text may follow }.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "triad/io/text/characters.hpp"

namespace triad::programs::cfq {

struct query_parts {
  std::string head;                    // the text up to {
  std::vector<std::string> conjuncts;  // sorted by bytes

  friend bool operator==(query_parts const&, query_parts const&) = default;
};

/// Returns the head and the conjuncts of a query, or nothing if the query does not have this form.
inline std::optional<query_parts> parts_of(std::string const& query) {
  auto const tokens = text::words(query);
  auto const open = std::find(tokens.begin(), tokens.end(), "{");
  if (open == tokens.end() || tokens.back() != "}" || std::count(tokens.begin(), tokens.end(), "{") != 1 ||
      std::count(tokens.begin(), tokens.end(), "}") != 1)
    return std::nullopt;
  query_parts p{text::joined({tokens.begin(), open}), {}};
  std::vector<std::string> conjunct;
  for (auto at = open + 1; at != tokens.end(); ++at) {
    if (*at != "." && *at != "}") {
      conjunct.push_back(*at);
      continue;
    }
    p.conjuncts.push_back(text::joined(conjunct));
    conjunct.clear();
  }
  std::sort(p.conjuncts.begin(), p.conjuncts.end());
  return p;
}

inline bool same_conjuncts(std::string const& a, std::string const& b) {
  if (a == b) return true;
  auto const ours = parts_of(a), theirs = parts_of(b);
  return ours && theirs && *ours == *theirs;
}

/// Returns the query with its conjuncts sorted by bytes.  Returns a text that does not have the form above unchanged.
inline std::string sorted_conjuncts(std::string const& query) {
  auto const parts = parts_of(query);
  if (!parts) return query;
  std::string sorted = parts->head + " {";
  for (std::size_t i = 0; i < parts->conjuncts.size(); ++i) sorted += (i == 0 ? " " : " . ") + parts->conjuncts[i];
  return sorted + " }";
}

}  // namespace triad::programs::cfq
