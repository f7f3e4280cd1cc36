// Writes the steps of a machine for one tree as text, as JSON, and for Graphviz.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "data.hpp"
#include "triad/tree/explanation.hpp"
#include "triad/tree/s_expression.hpp"

namespace triad::programs::trees {

using explanation = tree_explanation;

inline std::string weight_text(double weight) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", weight);
  return text;
}

/// Returns the name of a tree, such as "T3", or "<empty>".
inline std::string name_of_tree(index_t number) {
  return number == no_tree ? std::string(empty_label) : fmt::format("T{}", number);
}

/// Returns the title of a step, such as "CONS 0.99 LF T3 1.00 T1 0.98".
inline std::string headline(explained_step const& s) {
  std::string text = std::string(name_of(s.what)) + " " + weight_text(s.weight);
  if (s.what == tree_operation::cons) text += "  " + s.root;
  for (auto const& a : s.arguments) text += "  " + name_of_tree(a.tree) + " " + weight_text(a.weight);
  return text;
}

inline std::string shown(symbol_tree const& tree) { return tree.empty() ? std::string(empty_label) : to_text(tree); }

inline std::string to_text(explanation const& e) {
  std::string text = "T0  input\n      " + shown(e.source) + "\n";
  for (std::size_t k = 0; k < e.steps.size(); ++k) {
    auto const& s = e.steps[k];
    text += fmt::format("T{}  {}{}\n      {}\n", k + 1, headline(s), s.needed ? "" : "  (not needed)", shown(s.tree));
  }
  return text + "\nprogram      " + e.program + "\nleast weight " + weight_text(e.certainty) + "\n" +
         (e.agrees ? "run on trees of symbols, it gives the machine's answer\n"
                   : "run on trees of symbols, it does not give the machine's answer\n");
}

inline std::string to_json(explanation const& e) {
  nlohmann::ordered_json json;
  json["source"] = to_text(e.source);
  json["program"] = e.program;
  json["least_weight"] = e.certainty;
  json["agrees"] = e.agrees;
  json["steps"] = nlohmann::ordered_json::array();
  for (auto const& s : e.steps) {
    nlohmann::ordered_json step;
    step["operation"] = name_of(s.what);
    step["needed"] = s.needed;
    for (auto const o : {tree_operation::car, tree_operation::cdr, tree_operation::cons})
      step["operations"][name_of(o)] = s.all.weight(o);
    char const* const names[] = {"car", "cdr", "left", "right"};
    for (auto const& a : s.arguments)
      step["arguments"].push_back(
          {{"argument", names[static_cast<std::size_t>(a.which)]},
           {"tree", a.tree == no_tree ? nlohmann::ordered_json(empty_label) : nlohmann::ordered_json(a.tree)},
           {"weight", a.weight}});
    for (std::size_t a = 0; a < 4; ++a) {
      for (auto const& weights : s.all.arguments) step["weights"][names[a]].push_back(weights[a]);
      if (s.all.empty) step["empty"][names[a]] = (*s.all.empty)[a];
    }
    if (s.what == tree_operation::cons) step["root"] = {{"label", s.root}, {"score", s.root_score}};
    step["tree"] = to_text(s.tree);
    json["steps"].push_back(std::move(step));
  }
  return json.dump(2) + "\n";
}

/// Returns a graph for Graphviz whose nodes are trees.  An edge leads from each tree to each tree that is made from it.
/// Trees that the result does not need are grey.
inline std::string to_dot(explanation const& e) {
  auto const quoted = [](std::string const& text) {
    std::string result = "\"";
    for (char const c : text) {
      if (c == '"' || c == '\\') result += '\\';
      if (c == '\n')
        result += "\\n";
      else
        result += c;
    }
    return result + "\"";
  };
  std::string text =
      "digraph program {\n  node [shape=box, fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n";
  text += "  T0 [label=" + quoted("T0  input\n" + shown(e.source)) + "];\n";
  auto const node = [](index_t tree) { return tree == no_tree ? std::string("empty") : name_of_tree(tree); };
  bool const empty = std::any_of(e.steps.begin(), e.steps.end(), [](explained_step const& s) {
    return std::any_of(s.arguments.begin(), s.arguments.end(), [](auto const& a) { return a.tree == no_tree; });
  });
  if (empty) text += "  empty [label=" + quoted(std::string(empty_label)) + "];\n";
  char const* const names[] = {"", "", "left ", "right "};
  for (std::size_t k = 0; k < e.steps.size(); ++k) {
    auto const& s = e.steps[k];
    auto const name = fmt::format("T{}", k + 1);
    std::string const colour = s.needed ? "" : ", color=gray, fontcolor=gray";
    text += "  " + name + " [label=" + quoted(name + "  " + headline(s) + "\n" + shown(s.tree)) + colour + "];\n";
    for (auto const& a : s.arguments)
      text += "  " + node(a.tree) + " -> " + name +
              " [label=" + quoted(names[static_cast<std::size_t>(a.which)] + weight_text(a.weight)) + colour + "];\n";
  }
  return text + "}\n";
}

}  // namespace triad::programs::trees
