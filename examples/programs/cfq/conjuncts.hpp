// Compares two queries by their conjuncts, regardless of the order of the conjuncts.
// SPDX-License-Identifier: Apache-2.0
//
//   SELECT ... WHERE { a b c . FILTER ( ?x0 != M1 ) . d e f }       conjuncts: what stands between { and }, cut at `.`
// The conjuncts are compared as multisets. The texts before { must be equal, and nothing may follow }.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "triad/io/text/characters.hpp"

namespace triad::programs::cfq {

struct query_parts {
  std::string head;                    // up to {
  std::vector<std::string> conjuncts;  // in the order of bytes

  friend bool operator==(query_parts const&, query_parts const&) = default;
};

/// Nothing where the tokens are no query of this form.
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

/// The query with its conjuncts in the order of bytes; what is no query of this form stays as it is.
inline std::string sorted_conjuncts(std::string const& query) {
  auto const parts = parts_of(query);
  if (!parts) return query;
  std::string sorted = parts->head + " {";
  for (std::size_t i = 0; i < parts->conjuncts.size(); ++i) sorted += (i == 0 ? " " : " . ") + parts->conjuncts[i];
  return sorted + " }";
}

}  // namespace triad::programs::cfq
