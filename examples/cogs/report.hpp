// Accuracy by kind of sentence as people read it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "../common/svg_bars.hpp"
#include "../common/table.hpp"
#include "score.hpp"

namespace cogs {

/// The other kinds are lexical: known words where they have not been.
inline bool is_structural(std::string const& kind) {
  static std::set<std::string> const kinds{"cp_recursion",     "pp_recursion",   "obj_pp_to_subj_pp",
                                           "subject_modifier", "deeper_clauses", "deeper_modifiers"};
  return kinds.contains(kind);
}

inline std::string percent(double part) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f", 100 * part);
  return text;
}

/// graph: each token's own best parent, as published; tree: the best parents without a cycle; form: the logical form
/// made of it.
inline std::string table_of(std::map<std::string, tally> const& kinds) {
  triad::examples::text_table table({"", "graph", "tree", "form", "form of tree", "parents differ", "sentences"});
  auto const row = [&](std::string const& name, tally const& t) {
    table.row({name, percent(t.part(t.graphs)), percent(t.part(t.trees)), percent(t.part(t.forms)),
               percent(t.part(t.tree_forms)), std::to_string(t.differ), std::to_string(t.sentences)});
  };
  for (bool structural : {false, true}) {
    tally group;
    for (auto const& [kind, t] : kinds)
      if (is_structural(kind) == structural) group += t;
    if (group.sentences == 0) continue;
    row(structural ? "structural" : "lexical", group);
    for (auto const& [kind, t] : kinds)
      if (is_structural(kind) == structural) row("  " + kind, t);
  }
  row("all", total(kinds));
  return table.text();
}

/// The same as a chart: the published measure, and the logical form made of the tree.
inline triad::examples::bar_chart chart_of(std::map<std::string, tally> const& kinds) {
  triad::examples::bar_chart chart{
      "COGS: generalisation by kind of sentence, %", {"whole graph, as published", "logical form of the tree"}, {}};
  for (bool structural : {true, false}) {
    triad::examples::bar_group group{structural ? "structural" : "lexical", {}};
    for (auto const& [kind, t] : kinds)
      if (is_structural(kind) == structural) group.rows.push_back({kind, {t.part(t.graphs), t.part(t.tree_forms)}});
    if (!group.rows.empty()) chart.groups.push_back(group);
  }
  return chart;
}

}  // namespace cogs
