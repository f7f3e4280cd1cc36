// Converts the tags of COGS' sentences to graphs, and back to the logical form.
// SPDX-License-Identifier: Apache-2.0
//
//   A fox saw Ada      fox(1): "CNOUN", "INDEF"    saw(2): "VERB", "verb see"    Ada(3): "PNOUN"
//                      saw(2) --agent--> fox(1)    saw(2) --theme--> Ada(3)
//
// The nodes are the tokens that have a tag or an edge.  Category, type of noun and verb are labels of nodes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cogs/logical_form.hpp"
#include "cogs/sentence.hpp"
#include "meaning.hpp"

namespace triad::programs::meanings {

/// The label of a verb is this and its lemma.
inline constexpr std::string_view verb_mark = "verb ";

inline meaning graph_of_tags(cogs::tagged_sentence const& s) {
  meaning m;
  m.tokens = s.tokens;
  m.kind = s.distribution;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    auto const token = node::token(static_cast<int>(i));
    auto const add = [&](std::string label) {
      m.node_labels[static_cast<std::size_t>(m.add(token))].push_back(std::move(label));
    };
    if (!s.category[i].empty()) add(s.category[i]);
    if (!s.noun_type[i].empty()) add(s.noun_type[i]);
    if (!s.verb_name[i].empty()) add(std::string(verb_mark) + s.verb_name[i]);
    if (s.parent[i] < 0) continue;
    int const from = m.add(node::token(s.parent[i])), to = m.add(token);
    m.edges.push_back({from, s.role[i], to});
  }
  return checked(std::move(m));
}

/// Returns the tags of a graph.  Returns nothing if the graph is not of this form: a node has two parents, two labels
/// of one sort or an unknown label, or is no token.
inline std::optional<cogs::tagged_sentence> tags_of(meaning const& m) {
  static constexpr std::array<std::string_view, 3> categories{"PNOUN", "CNOUN", "VERB"};
  static constexpr std::array<std::string_view, 2> noun_types{"DEF", "INDEF"};
  cogs::tagged_sentence s(m.tokens, m.kind);
  auto const token = [&](int i) { return static_cast<std::size_t>(m.nodes[static_cast<std::size_t>(i)].first); };
  auto const has = [](auto const& names, std::string const& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (int i = 0; i < static_cast<int>(m.nodes.size()); ++i) {
    auto const& n = m.nodes[static_cast<std::size_t>(i)];
    if (n.is_slot || n.size() > 1) return std::nullopt;
    for (auto const& label : m.node_labels[static_cast<std::size_t>(i)]) {
      bool const verb = label.starts_with(verb_mark);
      if (!verb && !has(categories, label) && !has(noun_types, label)) return std::nullopt;
      auto& tag = verb ? s.verb_name[token(i)] : has(categories, label) ? s.category[token(i)] : s.noun_type[token(i)];
      if (!tag.empty()) return std::nullopt;
      tag = verb ? label.substr(verb_mark.size()) : label;
    }
  }
  for (auto const& e : m.edges) {
    if (s.parent[token(e.to)] >= 0) return std::nullopt;
    s.parent[token(e.to)] = static_cast<int>(token(e.from));
    s.role[token(e.to)] = e.label;
  }
  return s;
}

/// Returns the logical form of a graph; "" if it has none.
inline std::string form_of_graph(meaning const& m) {
  auto const s = tags_of(m);
  return s ? cogs::to_logical_form(*s).value_or("") : "";
}

}  // namespace triad::programs::meanings
