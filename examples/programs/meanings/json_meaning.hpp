// Reads and writes sentences with their graphs as JSON lines, the form for data of your own.
// SPDX-License-Identifier: Apache-2.0
//
//   {"tokens": ["put", "the", "red", "cup", "away"], "nodes": [0, [1, 3], "slot 0"],
//    "edges": [[0, "theme", 1], [2, "agent", 0]], "node_labels": [["imperative"], [], []],
//    "label": "command", "slots": 1, "kind": "transitive"}
//
//   tokens       the words of the sentence
//   nodes        a node is the number of a token, a span [first, last] of tokens, or a slot: "slot 0", "slot 1", ...
//   edges        [from, "label", to]; both ends are places in the list of nodes, from 0
//   node_labels  the labels of each node, one list for each; may be missing
//   label        the label of the whole graph; may be missing
//   slots        the number of slots that a graph of this file may have; may be missing
//   kind         the kind of sentence, for tables of scores; may be missing
//
// `nodes` may be missing too.  Then the ends of edges are the numbers of tokens, and with n tokens the number n + k is
// slot k.  Every token is then a node.  A slot is a node if it has an edge or a label, so that `slots` may be the same
// in every line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/json_read.hpp"

namespace triad::programs::meanings {

/// Returns the "tokens" of a line.  Throws data_error if a token is empty or contains a tab or a line end.
inline std::vector<std::string> tokens_of(nlohmann::json const& line) {
  auto tokens = member<std::vector<std::string>>(line, "tokens", "a list of words");
  if (tokens.empty()) refuse("\"tokens\" is empty, expected a word or more");
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].empty() || tokens[i].find_first_of("\t\n\r") != std::string::npos)
      refuse("token {} is {}, expected a word without tabs and line ends", i, quoted(nlohmann::json(tokens[i])));
  return tokens;
}

namespace detail {

inline node node_of(nlohmann::json const& value) {
  constexpr auto slot = std::string_view("slot ");
  if (is_integer<int>(value)) return node::token(value.get<int>());
  if (value.is_array() && value.size() == 2 && is_integer<int>(value[0]) && is_integer<int>(value[1]))
    return node::span(value[0].get<int>(), value[1].get<int>());
  if (value.is_string())
    if (auto const text = value.get<std::string>(); text.starts_with(slot)) {
      auto const number = nlohmann::json::parse(text.substr(slot.size()), nullptr, false);
      if (is_integer<int>(number) && number.dump() == text.substr(slot.size())) return node::slot(number.get<int>());
    }
  refuse("a node is {}, expected the number of a token, a span [first, last] or \"slot 0\"", quoted(value));
}

inline std::string text_member(nlohmann::json const& line, char const* name) {
  return line.contains(name) ? member<std::string>(line, name, "a text") : std::string();
}

}  // namespace detail

/// Returns the graph of one line, in canonical order.  Throws data_error.
inline meaning meaning_of(nlohmann::json const& line) {
  constexpr auto nodes_are = "a list of nodes: numbers of tokens, spans [first, last] and \"slot 0\"",
                 edges_are = "a list of [node, \"label\", node]", labels_are = "a list of lists of texts";
  meaning m;
  m.tokens = tokens_of(line);
  int const tokens = static_cast<int>(m.tokens.size());
  int slots = most_slots;
  if (line.contains("slots")) {
    slots = member<int>(line, "slots", "a whole number");
    if (slots < 0 || slots > most_slots) refuse("\"slots\" is {}, expected 0 to {}", slots, most_slots);
  }
  bool const listed = line.contains("nodes");
  if (listed) {
    auto const& nodes = member(line, "nodes", nodes_are);
    if (!nodes.is_array()) refuse_member("nodes", nodes_are, nodes);
    for (auto const& n : nodes) m.nodes.push_back(detail::node_of(n));
    for (auto const& n : m.nodes)
      if (n.is_slot && n.first >= slots)
        refuse("a node is slot {}, expected a slot below {}, the number of slots; change \"slots\"", n.first, slots);
  } else {
    for (int i = 0; i < tokens; ++i) m.nodes.push_back(node::token(i));
    for (int k = 0; k < (line.contains("slots") ? slots : 0); ++k) m.nodes.push_back(node::slot(k));
  }
  auto const& edges = member(line, "edges", edges_are);
  if (!edges.is_array()) refuse_member("edges", edges_are, edges);
  for (auto const& e : edges) {
    if (!e.is_array() || e.size() != 3 || !is_integer<int>(e[0]) || !e[1].is_string() || !is_integer<int>(e[2]))
      refuse("an edge is {}, expected [node, \"label\", node]; the nodes are whole numbers", quoted(e));
    m.edges.push_back({e[0].get<int>(), e[1].get<std::string>(), e[2].get<int>()});
  }
  if (line.contains("node_labels"))
    m.node_labels = member<std::vector<std::vector<std::string>>>(line, "node_labels", labels_are);
  m.label = detail::text_member(line, "label");
  m.kind = detail::text_member(line, "kind");
  m = checked(std::move(m));
  if (listed) return m;
  std::vector<bool> used(m.nodes.size());
  for (auto const& e : m.edges) used[static_cast<std::size_t>(e.from)] = used[static_cast<std::size_t>(e.to)] = true;
  meaning kept = m;
  kept.nodes.clear();
  kept.node_labels.clear();
  std::vector<int> place(m.nodes.size());
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    place[i] = static_cast<int>(kept.nodes.size());
    if (m.nodes[i].is_slot && !used[i] && m.node_labels[i].empty()) continue;
    kept.nodes.push_back(m.nodes[i]);
    kept.node_labels.push_back(m.node_labels[i]);
  }
  for (auto& e : kept.edges)
    e = {place[static_cast<std::size_t>(e.from)], e.label, place[static_cast<std::size_t>(e.to)]};
  return kept;
}

/// Returns the members of a graph other than its tokens and its kind, for a line that is copied with its answer.
inline json_members members_of(meaning const& given) {
  auto const m = canonical(given);
  auto nodes = nlohmann::ordered_json::array(), edges = nodes;
  bool labelled = false;
  for (auto const& n : m.nodes)
    if (n.is_slot)
      nodes.push_back(name_of(m, n));
    else if (n.size() == 1)
      nodes.push_back(n.first);
    else
      nodes.push_back({n.first, n.last});
  for (auto const& e : m.edges) edges.push_back({e.from, e.label, e.to});
  for (auto const& labels : m.node_labels) labelled = labelled || !labels.empty();
  json_members all{{"nodes", nodes}, {"edges", edges}};
  if (labelled) all.emplace_back("node_labels", m.node_labels);
  if (!m.label.empty()) all.emplace_back("label", m.label);
  return all;
}

/// Returns the members of a predicted graph for a line that may have a given graph, of which no member stays.
inline json_members answer_members(meaning const& m) {
  auto all = members_of(m);
  for (auto const* const name : {"node_labels", "label", "slots"})
    if (std::none_of(all.begin(), all.end(), [&](auto const& one) { return one.first == name; }))
      all.emplace_back(name, nlohmann::ordered_json(nlohmann::ordered_json::value_t::discarded));
  return all;
}

/// Returns a graph as one line, without a line end.
inline std::string json_line(meaning const& m) {
  nlohmann::ordered_json line;
  line["tokens"] = m.tokens;
  for (auto& [name, value] : members_of(m)) line[name] = value;
  if (!m.kind.empty()) line["kind"] = m.kind;
  return json_text_of(line);
}

}  // namespace triad::programs::meanings
