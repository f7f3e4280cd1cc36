// Parses a question of the command line, such as "ann:mother:bea bea:brother:carl" and "ann:carl".
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "graph.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::clutrr {

/// A graph, and the names of its people.
struct story {
  kinship_graph graph;
  std::vector<std::string> people;
};

/// Parses facts and a question; ann:mother:bea means "the mother of ann is bea".  Throws a data_error that names the
/// wrong word.
inline story parse_facts(std::string const& facts, std::string const& asked, vocabulary const& words) {
  story s;
  auto const person = [&](std::string const& name) {
    for (std::size_t i = 0; i < s.people.size(); ++i)
      if (s.people[i] == name) return static_cast<int>(i);
    s.people.push_back(name);
    return static_cast<int>(s.people.size()) - 1;
  };
  auto const split = [](std::string const& text, std::size_t parts, char const* form) {
    std::vector<std::string> result;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ':');) result.push_back(part);
    bool complete = result.size() == parts;
    for (auto const& part : result) complete = complete && !part.empty();
    if (!complete) refuse("\"{}\" is not of the form {}", shortened(text), form);
    return result;
  };
  std::istringstream in(facts);
  for (std::string fact; in >> fact;) {
    auto const parts = split(fact, 3, "person:relation:person");
    int const label = words.edge_label(parts[1]);
    if (label == 0) {
      refuse("\"{}\": the model knows no relation \"{}\"; it knows {}", shortened(fact), shortened(parts[1]),
             words.edge_labels.all());
    }
    int const from = person(parts[0]), to = person(parts[2]);
    if (from == to) refuse("\"{}\": a fact is about two people", shortened(fact));
    s.graph.edges.push_back({from, to, label});
  }
  if (s.graph.edges.empty()) refuse("no facts; give --facts \"ann:mother:bea bea:brother:carl\" --ask ann:carl");
  auto const question = split(asked, 2, "person:person (give it with --ask)");
  auto const known = s.people.size();
  s.graph.query = {person(question[0]), person(question[1])};
  if (s.people.size() != known) refuse("\"{}\" asks about a person that no fact mentions", shortened(asked));
  s.graph.nodes = static_cast<int>(known);
  s.graph.target = -1;
  s.graph.k = static_cast<int>(s.graph.edges.size());
  return s;
}

}  // namespace triad::programs::clutrr
