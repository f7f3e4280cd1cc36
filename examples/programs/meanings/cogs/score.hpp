// Converts the words of sentences to numbers.  Scores a model by the number of right graphs, as in the paper, and by
// the number of right logical forms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "logical_form.hpp"
#include "parser.hpp"
#include "read.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "shared/report/svg_bars.hpp"
#include "shared/report/table.hpp"
#include "shared/run/sentence_training.hpp"

namespace triad::programs::cogs {

using sentences = std::vector<tagged_sentence>;

/// Returns a sentence with numbers in place of words.  A root is its own parent.  An unknown word is an error.  An
/// unknown label becomes a number that the model never predicts.
inline std::vector<labelled_token> numbered(tagged_sentence const& s, vocabulary const& words) {
  std::vector<labelled_token> result;
  for (int i = 0; i < s.size(); ++i) {
    auto const at = static_cast<std::size_t>(i);
    int const token = words.tokens.find(s.tokens[at]);
    if (token < 0)
      refuse("\"{}\" is not one of the {} words that the model knows", shortened(s.tokens[at]),
             words.tokens.names().size());
    result.push_back({token, s.parent[at] < 0 ? i : s.parent[at], words.role.find(s.role[at]),
                      words.category.find(s.category[at]), words.noun_type.find(s.noun_type[at]),
                      words.verb.find(s.verb_name[at])});
  }
  return result;
}

/// The number of sentences, and the numbers of right answers.  For `graphs` and `forms`, each token has its best
/// parent.  For `trees` and `tree_forms`, it has its parent in the best tree.
struct tally {
  std::int64_t sentences = 0, graphs = 0, trees = 0, forms = 0, tree_forms = 0;
  std::int64_t differ = 0;  // number of sentences whose best parents and best tree differ

  tally& operator+=(tally const& t) {
    sentences += t.sentences, graphs += t.graphs, trees += t.trees, forms += t.forms, tree_forms += t.tree_forms,
        differ += t.differ;
    return *this;
  }
  double part(std::int64_t right) const {
    return sentences == 0 ? 0 : static_cast<double>(right) / static_cast<double>(sentences);
  }
};

/// Returns the graph of a parse in words.  If `tree`, the parents are those of the best tree.  Otherwise each token has
/// its best parent.
inline tagged_sentence in_words(tagged_sentence const& s, parse const& p, vocabulary const& words, bool tree) {
  tagged_sentence result(s.tokens, s.distribution);
  auto const& parent = tree ? p.tree : p.parent;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    result.parent[i] = parent[i] == static_cast<int>(i) ? -1 : parent[i];
    result.role[i] = words.role.name_or_none(p.role[i]);
    result.category[i] = words.category.name_or_none(p.category[i]);
    result.noun_type[i] = words.noun_type.name_or_none(p.noun_type[i]);
    result.verb_name[i] = words.verb.name_or_none(p.verb[i]);
  }
  return result;
}

/// Calls f(sentence, parse) for all sentences.  Throws data_error if the model does not know a word.
template <class F>
void parse_all(parser& net, sentences const& all, vocabulary const& words, F const& f) {
  parse_in_batches(net, all, [&](tagged_sentence const& s) { return numbered(s, words); }, f);
}

/// Returns the scores of each kind of sentence.  The kind of a sentence is its `distribution`.
inline std::map<std::string, tally> score(parser& net, sentences const& all, vocabulary const& words) {
  std::map<std::string, tally> result;
  parse_all(net, all, words, [&](tagged_sentence const& s, parse const& p) {
    auto const right = to_logical_form(s);
    auto const own = in_words(s, p, words, false), tree = in_words(s, p, words, true);
    auto& t = result[s.distribution];
    ++t.sentences;
    t.graphs += own == s ? 1 : 0;
    t.trees += tree == s ? 1 : 0;
    t.forms += right && to_logical_form(own) == right ? 1 : 0;  // a graph without a form counts as wrong
    t.tree_forms += right && to_logical_form(tree) == right ? 1 : 0;
    t.differ += own.parent != tree.parent ? 1 : 0;
  });
  return result;
}

inline tally total(std::map<std::string, tally> const& parts) {
  tally all;
  for (auto const& [name, t] : parts) all += t;
  return all;
}

/// Returns the fraction of sentences whose graph is right.
inline double accuracy(parser& net, sentences const& all, vocabulary const& words) {
  std::int64_t right = 0;
  parse_all(net, all, words,
            [&](tagged_sentence const& s, parse const& p) { right += in_words(s, p, words, false) == s ? 1 : 0; });
  return all.empty() ? 0 : static_cast<double>(right) / static_cast<double>(all.size());
}

/// Returns whether a kind of sentence is structural.  All other kinds are lexical: they have known words in new
/// positions.
inline bool is_structural(std::string const& kind) {
  static std::set<std::string> const kinds{"cp_recursion",      "pp_recursion",   "obj_pp_to_subj_pp",
                                           "subject_modifier",  "deeper_clauses", "deeper_modifiers",
                                           "name-before-theme", "inner-modifier", "deepest-clauses",
                                           "deepest-modifiers", "longest"};
  return kinds.contains(kind);
}

inline std::string percent(double part) { return fmt::format("{:.1f}", 100 * part); }

/// Returns a table of scores.  In the column `graph`, each token has its best parent, as in the paper.  In the column
/// `tree`, it has its parent in the best tree.  Two more columns score the logical forms of these two graphs.
inline std::string table_of(std::map<std::string, tally> const& kinds) {
  text_table table({"", "graph", "tree", "form", "form of tree", "parents differ", "sentences"});
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

/// Returns a chart of two columns of that table: `graph`, and the logical forms of trees.  `what` names the sentences.
inline bar_chart chart_of(std::map<std::string, tally> const& kinds, std::string const& what) {
  bar_chart chart{
      "COGS: " + what + " by kind of sentence, %", {"whole graph, as published", "logical form of the tree"}, {}};
  for (bool structural : {true, false}) {
    bar_group group{structural ? "structural" : "lexical", {}};
    for (auto const& [kind, t] : kinds)
      if (is_structural(kind) == structural) group.rows.push_back({kind, {t.part(t.graphs), t.part(t.tree_forms)}});
    if (!group.rows.empty()) chart.groups.push_back(group);
  }
  return chart;
}

}  // namespace triad::programs::cogs
