// Reads and writes corpora of questions that are annotated with the rules that derive them, as lines of JSON.
// SPDX-License-Identifier: Apache-2.0
//
//   {"question": "Did M0 direct M1", "query": "SELECT ...",
//    "rules": ["question:did", ["np:entity"], ["vp:verb", ["verb:direct"], ["np:entity"]]],
//    "heads": [3, 3, 0, 3], "labels": ["aux", "nsubj", "root", "obj"]}                        one object in each line
//   rules: Each application of a rule is a list: the name of the rule, then the applications of rules below it, from
//   left to right.  If there are no applications below, the name alone is enough.
//   heads, labels: One number and one label for each token of the question.  Heads count from 1, and 0 is the root.
//   Both fields are optional.  Other fields are ignored.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "rule_tree.hpp"
#include "shared/data/each_line.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/json_read.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::cfq {

namespace detail {

inline constexpr int deepest_derivation = 1000;
inline constexpr int deepest_line = deepest_derivation + 2;  // with one level too many, which is then reported

inline void add_rules(nlohmann::json const& from, rule_names& names, rule_tree& tree, int below, int which, int depth) {
  bool const list = from.is_array() && !from.empty() && from[0].is_string();
  if (!list && !from.is_string())
    refuse("rules: expected a rule's name, or a list that begins with one, found {}", quoted(from));
  if (depth > deepest_derivation) refuse("rules: the derivation is deeper than {}", deepest_derivation);
  int const node = tree.add(names.add((list ? from[0] : from).get<std::string>()), below, which);
  if (list)
    for (std::size_t i = 1; i < from.size(); ++i)
      add_rules(from[i], names, tree, node, static_cast<int>(i) - 1, depth + 1);
}

inline nlohmann::ordered_json rules_json(rule_tree const& tree, rule_names const& names,
                                         std::vector<std::vector<int>> const& children, int node) {
  auto list = nlohmann::ordered_json::array({names.name(tree.rule[static_cast<std::size_t>(node)])});
  for (int const child : children[static_cast<std::size_t>(node)])
    list.push_back(rules_json(tree, names, children, child));
  return list;
}

}  // namespace detail

inline annotated_question question_from(std::string const& line, rule_names& names) {
  auto const json = read_json_line(line, detail::deepest_line);
  annotated_question q;
  q.question = text::joined(text::words(member<std::string>(json, "question", "a text")));
  q.query = text::joined(text::words(member<std::string>(json, "query", "a text")));
  if (q.question.empty() || q.query.empty()) refuse("a question or a query without words");
  detail::add_rules(member(json, "rules", "a rule's name, or a list that begins with one"), names, q.rules, -1, 0, 1);
  if (json.contains("heads")) q.heads = json_integers<int>(json.at("heads"), "heads");
  if (json.contains("labels")) q.labels = member<std::vector<std::string>>(json, "labels", "a list of texts");
  auto const n = text::words(q.question).size();
  if (q.heads.size() != q.labels.size() || (!q.heads.empty() && q.heads.size() != n))
    refuse("heads and labels: expected one of each for the {} tokens of the question, or neither", n);
  for (int const head : q.heads)
    if (head < 0 || head > static_cast<int>(n)) refuse("head {} is no token of {}", head, n);
  for (auto const& label : q.labels)
    if (text::words(label).size() != 1) refuse("a label is one word, not \"{}\"", label);
  return q;
}

inline std::string to_line(annotated_question const& q, rule_names const& names) {
  nlohmann::ordered_json json;
  json["question"] = q.question;
  json["query"] = q.query;
  json["rules"] = detail::rules_json(q.rules, names, q.rules.children(), 0);
  if (!q.heads.empty()) {
    json["heads"] = q.heads;
    json["labels"] = q.labels;
  }
  return json.dump();
}

/// Reads a corpus.  Leaves out a question that occurred before, and sets `repeated` to the number of such questions.
/// Throws data_error with file and line.
inline corpus read_corpus(std::string const& path, int& repeated) {
  corpus c;
  std::unordered_set<std::string> seen;
  repeated = 0;
  each_line(
      path,
      [&](std::string const& line) {
        auto q = question_from(line, c.names);
        if (seen.insert(q.question).second)
          c.questions.push_back(std::move(q));
        else
          ++repeated;
      },
      "; docs/data.md describes the format");
  if (c.questions.empty()) refuse("{}: there is no question in it", path);
  return c;
}

/// Returns the dependency tree of a question in CoNLL-U.  Only the columns of words, heads and labels are filled.
inline std::string to_conllu(annotated_question const& q) {
  auto const words = text::words(q.question);
  std::string text = "# text = " + q.question + "\n";
  for (std::size_t i = 0; i < words.size(); ++i)
    text += std::to_string(i + 1) + "\t" + words[i] + "\t_\t_\t_\t_\t" + std::to_string(q.heads[i]) + "\t" +
            q.labels[i] + "\t_\t_\n";
  return text + "\n";
}

}  // namespace triad::programs::cfq
