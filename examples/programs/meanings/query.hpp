// Converts queries in the form of CFQ and MCWQ to graphs of their questions, and back to the text of the query.
// SPDX-License-Identifier: Apache-2.0
//
//   Did M0 's director marry M1    SELECT count ( * ) WHERE { ?x0 film.director.film M0 . ... FILTER ( ?x0 != M1 ) }
//
// An entity M0, M1, ... is the node of its token.  The variable ?x0 is slot 0, and so on.  A conjunct of two of them
// is an edge: ?x0 --film.director.film--> M0.  Any other conjunct is a label of its subject: `a film.director`,
// `people.person.gender m_05zppz`.  The text before { is the label of the graph.  A FILTER says that the ends of an
// edge differ.  Every edge `sibling` or `spouse` has a FILTER, and no other edge has one, so FILTERs are not in the
// graph.
//
// query_of() sorts the conjuncts by bytes.  The queries of CFQ are sorted, so each query comes back as it was written.
// The conjuncts of a query of MCWQ have the order of the query of CFQ from which it was made.  The query of MCWQ does
// not determine this order.  So it comes back as the same set of conjuncts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cfq/conjuncts.hpp"
#include "meaning.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::meanings {

/// Returns the number after `prefix` in a text such as M12 or ?x3.  Returns -1 if the text is not the prefix and a
/// number below 10,000.
inline int number_after(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return -1;
  text.remove_prefix(prefix.size());
  if (text.empty() || text.size() > 4 || (text.size() > 1 && text[0] == '0')) return -1;
  int number = 0;
  for (char const c : text) {
    if (c < '0' || c > '9') return -1;
    number = 10 * number + (c - '0');
  }
  return number;
}
inline bool is_entity(std::string_view word) { return number_after("M", word) >= 0; }

/// Returns the words of a question.  An apostrophe and an s become one word, 's, even if the data set has a space
/// between them.
inline std::vector<std::string> words_of_question(std::string_view question) {
  std::vector<std::string> words;
  for (auto& word : text::words(question))
    if (word == "s" && !words.empty() && words.back() == "'")
      words.back() = "'s";
    else
      words.push_back(std::move(word));
  return words;
}

/// Returns the question of these words.  `apart`: an apostrophe and an s are written as in CFQ, ' s; otherwise as in
/// MCWQ, 's.
inline std::string question_of(std::vector<std::string> words, bool apart) {
  if (apart)
    for (auto& word : words)
      if (word == "'s") word = "' s";
  return text::joined(words);
}

/// Returns whether every edge with this label has a FILTER in CFQ or in MCWQ.  In MCWQ, P26 is a spouse, and P3373 is a
/// sibling.
inline bool has_filter(std::string_view label) {
  static constexpr std::array<std::string_view, 2> parts{"sibling_s", "spouse_s"}, names{"wdt:P26", "wdt:P3373"};
  return std::any_of(parts.begin(), parts.end(), [&](auto p) { return label.find(p) != std::string_view::npos; }) ||
         std::find(names.begin(), names.end(), label) != names.end();
}

namespace detail {

inline std::string filter_of(std::string_view from, std::string_view to) {
  return fmt::format("FILTER ( {} != {} )", from, to);
}

}  // namespace detail

/// Returns the query of a graph, with its conjuncts sorted by bytes.
inline std::string query_of(meaning const& m) {
  auto const name = [&](int i) {
    auto const& n = m.nodes[static_cast<std::size_t>(i)];
    return n.is_slot ? "?x" + std::to_string(n.first) : name_of(m, n);
  };
  cfq::query_parts parts{m.label, {}};
  for (auto const& e : m.edges) {
    auto const from = name(e.from), to = name(e.to);
    parts.conjuncts.push_back(from + " " + e.label + " " + to);
    if (has_filter(e.label)) parts.conjuncts.push_back(detail::filter_of(from, to));
  }
  for (int i = 0; i < static_cast<int>(m.nodes.size()); ++i)
    for (auto const& label : m.node_labels[static_cast<std::size_t>(i)])
      parts.conjuncts.push_back(name(i) + " " + label);
  std::sort(parts.conjuncts.begin(), parts.conjuncts.end());
  std::string query = parts.head + " {";
  for (std::size_t i = 0; i < parts.conjuncts.size(); ++i) query += (i == 0 ? " " : " . ") + parts.conjuncts[i];
  return query + " }";
}

/// Returns the row of a question and its query.  The kind is the first word of the question.  If the query has no graph
/// over the question's words, the row is left out.  Throws data_error if the query does not have the form above.
inline given_row graph_of_query(std::string_view question, std::string const& query) {
  auto const parts = cfq::parts_of(query);
  if (!parts) refuse("the query is \"{}\", expected SELECT ... WHERE {{ conjuncts }}", shortened(query));
  given_row result;
  result.written = query;
  auto& m = result.graph;
  m.tokens = words_of_question(question);
  if (m.tokens.empty()) refuse("the question has no words");
  m.kind = m.tokens.front();
  meaning const bare = m;
  auto const left_out = [&](std::string reason) { return given_row{bare, std::move(reason), query}; };

  std::map<std::string, int, std::less<>> entities;  // the node of each entity
  for (int i = 0; i < static_cast<int>(m.tokens.size()); ++i) {
    auto const& word = m.tokens[static_cast<std::size_t>(i)];
    if (is_entity(word) && !entities.emplace(word, m.add(node::token(i))).second)
      return left_out("an entity is twice in the question");
  }
  m.label = parts->head;
  std::vector<std::string> filters, expected;
  bool absent = false;
  auto const end_of = [&](std::string const& word) {
    if (int const k = number_after("?x", word); k >= 0 && k < most_slots) return m.add(node::slot(k));
    auto const found = entities.find(word);
    absent = absent || found == entities.end();
    return found == entities.end() ? -1 : found->second;
  };
  for (auto const& conjunct : parts->conjuncts) {
    if (conjunct.empty() && parts->conjuncts.size() == 1) continue;  // { }: a graph without edges and labels
    auto const words = text::words(conjunct);
    if (words.size() == 6 && words[0] == "FILTER" && words[1] == "(" && words[3] == "!=" && words[5] == ")") {
      filters.push_back(conjunct);
      continue;
    }
    bool const subject = !words.empty() && (number_after("?x", words[0]) >= 0 || is_entity(words[0]));
    if (words.size() != 3 || !subject)
      refuse("a conjunct is \"{}\", expected: a variable or an entity, a predicate, and an object",
             shortened(conjunct));
    int const from = end_of(words[0]);
    if (number_after("?x", words[2]) < 0 && !is_entity(words[2])) {
      if (from >= 0) m.node_labels[static_cast<std::size_t>(from)].push_back(words[1] + " " + words[2]);
      continue;
    }
    m.edges.push_back({from, words[1], end_of(words[2])});
    if (has_filter(words[1])) expected.push_back(detail::filter_of(words[0], words[2]));
  }
  if (absent) return left_out("an entity of the query is not in the question");
  if (std::set(m.edges.begin(), m.edges.end()).size() < m.edges.size()) return left_out("a conjunct is twice in it");
  for (auto const& labels : m.node_labels)
    if (std::set(labels.begin(), labels.end()).size() < labels.size()) return left_out("a conjunct is twice in it");
  std::sort(expected.begin(), expected.end());
  if (filters != expected) return left_out("its FILTERs are not those of its siblings and spouses");
  m = canonical(std::move(m));
  return result;
}

}  // namespace triad::programs::meanings
