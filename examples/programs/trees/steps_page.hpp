// An HTML page with the steps of a machine on one tree.  For each step, it shows every weight, and the trees that the
// step read and wrote.  Trees are shown as symbols, and as weighted mixtures of symbols.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "explanation.hpp"
#include "shared/report/page.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/vocabulary.hpp"

namespace triad::programs::trees {

/// Returns the nodes of a tree; each node comes after its parent.
inline nlohmann::ordered_json page_tree(symbol_tree const& tree) {
  auto nodes = nlohmann::ordered_json::array();
  tree.walk([&](index_t at, index_t parent, index_t) {
    nodes.push_back(
        {{"label", tree.label(at)}, {"parent", parent == no_node ? -1 : parent}, {"side", tree[at].child_number}});
  });
  return nodes;
}

/// Returns a node for each position at which some symbol has at least the score `least`, and for each position above
/// such a position.  A node has its best symbol, and up to `most_others` other symbols.
inline nlohmann::ordered_json blended_tree(std::vector<written_symbol> const& symbols,
                                           tree_positions<> const& positions, vocabulary const& labels) {
  constexpr double least = 0.1;
  constexpr std::size_t most_others = 4;
  std::map<index_t, std::vector<written_symbol>> at;  // sorted by position, so that parents come before children
  for (auto const& s : symbols) at[s.position].push_back(s);
  std::map<index_t, index_t> number;  // the number of the node at each drawn position
  for (auto& [position, written] : at) {
    std::stable_sort(written.begin(), written.end(), [](auto const& a, auto const& b) { return a.score > b.score; });
    if (written.front().score < least) continue;
    for (auto p = position; number.emplace(p, 0).second && p > 0;) p = positions.parent(p);
  }
  auto nodes = nlohmann::ordered_json::array();
  for (auto& [position, its_number] : number) {
    its_number = static_cast<index_t>(nodes.size());
    nlohmann::ordered_json node{{"label", std::string(empty_label)},
                                {"parent", position == 0 ? -1 : number[positions.parent(position)]},
                                {"side", position == 0 ? 0 : positions.child_number(position)},
                                {"score", 0}};
    if (auto const found = at.find(position); found != at.end()) {
      auto const& written = found->second;
      node["label"] = labels.label(written.front().label);
      node["score"] = written.front().score;
      for (std::size_t k = 1; k < std::min(written.size(), most_others + 1); ++k)
        node["others"].push_back({labels.label(written[k].label), written[k].score});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

inline nlohmann::ordered_json steps_page(explanation const& e, tree_positions<> const& positions,
                                         vocabulary const& labels, std::string const& verdict) {
  using json = nlohmann::ordered_json;
  char const* const names[] = {"car", "cdr", "left", "right"};
  json steps = json::array();
  for (auto const& s : e.steps) {
    std::string instruction = name_of(s.what);
    if (s.what == tree_operation::cons) instruction += " " + s.root;
    json taken = json::array(), operations, arguments, empty;
    for (auto const& a : s.arguments) {
      instruction += " " + name_of_tree(a.tree);
      taken.push_back({{"argument", names[static_cast<std::size_t>(a.which)]},
                       {"tree", a.tree == no_tree ? index_t{-1} : a.tree},
                       {"weight", a.weight}});
    }
    for (auto const o : {tree_operation::car, tree_operation::cdr, tree_operation::cons})
      operations[name_of(o)] = s.all.weight(o);
    for (std::size_t a = 0; a < 4; ++a) {
      for (auto const& weights : s.all.arguments) arguments[names[a]].push_back(weights[a]);
      if (s.all.empty) empty[names[a]] = (*s.all.empty)[a];
    }
    json step{{"operation", name_of(s.what)},
              {"instruction", std::move(instruction)},
              {"needed", s.needed},
              {"operations", std::move(operations)},
              {"arguments", std::move(arguments)},
              {"taken", std::move(taken)},
              {"tree", page_tree(s.tree)},
              {"blended", blended_tree(s.all.symbols, positions, labels)}};
    if (s.all.empty) step["empty"] = std::move(empty);
    if (s.what == tree_operation::cons) step["root"] = {{"label", s.root}, {"score", s.root_score}};
    steps.push_back(std::move(step));
  }
  json lead = json::array({"The answer: " + (e.steps.empty() ? shown(e.source) : shown(e.steps.back().tree))});
  if (!verdict.empty()) lead.push_back(verdict);
  json view{{"kind", "steps"},      {"source", page_tree(e.source)}, {"steps", std::move(steps)},
            {"program", e.program}, {"least", e.certainty},          {"agrees", e.agrees}};
  return {{"title", "What the machine did with " + shown(e.source)},
          {"lead", std::move(lead)},
          {"views", json::array({std::move(view)})}};
}

}  // namespace triad::programs::trees
