// Converts logical forms in the notation of COGS to graphs and back.
// SPDX-License-Identifier: Apache-2.0
//
//   * girl ( x _ 1 ) ; see . agent ( x _ 2 , x _ 1 ) AND see . theme ( x _ 2 , Emma )
//
// A variable x _ i stands for token i.  Definite nouns come first.  All other terms follow, ordered by their variables.
// Each clause of a verb becomes an edge from the verb.  `noun . nmod . in ( x _ i , x _ j )` becomes two edges: from
// noun i to the preposition, and from the preposition to noun j.  If a verb controls another verb, as in "wish to
// crawl", the logical form has an agent for both verbs, and the graph only for the first.
#pragma once

#include <algorithm>
#include <charconv>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sentence.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::cogs {

/// Splits a text at single spaces.
inline std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    auto const end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Converts one logical form to the graph of its sentence.  Throws data_error with the reason.  The caller adds file
/// and line to the message.
class form_reader {
 public:
  form_reader(std::string_view sentence, std::string_view form, std::string_view distribution)
      : result_(words_of(sentence), std::string(distribution)) {
    if (result_.tokens.empty()) refuse("the sentence is empty");
    for (int i = 0; i < result_.size(); ++i) places_[result_.tokens[at(i)]].push_back(i);
    if (distribution == "primitive")
      read_primitive(form);
    else
      read_clauses(form);
  }

  tagged_sentence take() { return std::move(result_); }

 private:
  struct argument {
    int token = -1;
    std::string name{};  // set if the argument is not a variable
    friend bool operator==(argument const&, argument const&) = default;
  };
  struct clause {
    std::string head;
    std::vector<argument> arguments;
    std::string text;
  };

  /// Reads the form of a sentence of one word.  The number of arguments decides the word's category.
  void read_primitive(std::string_view form) {
    if (result_.size() != 1) refuse("a primitive of {} words, expected one", result_.size());
    auto const words = words_of(form);
    auto const lambdas = std::count(words.begin(), words.end(), "LAMBDA");
    result_.category[0] = lambdas == 0 ? "PNOUN" : lambdas == 1 ? "CNOUN" : "VERB";
    if (lambdas >= 2) result_.verb_name[0] = result_.tokens[0];
  }

  void read_clauses(std::string_view form) {
    mark_names();
    auto clauses = split(form);
    merge_controlled(clauses);
    for (auto const& c : clauses) {
      if (c.head.find('.') == std::string::npos)
        read_noun(c);
      else if (auto const nmod = c.head.find(".nmod."); nmod != std::string::npos)
        read_modifier(c, c.head.substr(nmod + 6));
      else
        read_verb(c);
    }
  }

  void mark_names() {
    for (int i = 0; i < result_.size(); ++i) {
      auto const& word = result_.tokens[at(i)];
      bool const upper = word[0] >= 'A' && word[0] <= 'Z';
      if (upper && word != "A" && word != "An" && word != "The" && word != "TV") result_.category[at(i)] = "PNOUN";
    }
  }

  std::vector<clause> split(std::string_view form) const {
    std::string text(form);
    std::erase(text, ' ');
    std::vector<std::string> pieces;
    auto const cut = [&](std::string const& from, std::string const& separator) {
      for (std::size_t begin = 0;;) {
        auto const end = from.find(separator, begin);
        pieces.push_back(from.substr(begin, end - begin));
        if (end == std::string::npos) break;
        begin = end + separator.size();
      }
    };
    auto const first = text.find("AND");
    cut(text.substr(0, first), ";");
    if (first != std::string::npos) cut(text.substr(first + 3), "AND");
    std::vector<clause> clauses;
    for (auto const& piece : pieces) clauses.push_back(parse(piece));
    return clauses;
  }

  clause parse(std::string const& text) const {
    auto const open = text.find('(');
    if (open == std::string::npos || open == 0 || text.back() != ')')
      refuse("\"{}\" is no clause head(argument, ...)", text);
    clause c{text.substr(0, open), {}, text};
    auto inside = text.substr(open + 1, text.size() - open - 2);
    for (std::size_t begin = 0; begin <= inside.size();) {
      auto const end = std::min(inside.find(',', begin), inside.size());
      c.arguments.push_back(read_argument(inside.substr(begin, end - begin), text));
      begin = end + 1;
    }
    bool const noun = c.head.find('.') == std::string::npos;
    if (c.arguments.size() != (noun ? 1u : 2u) || c.arguments[0].token < 0)
      refuse("\"{}\": a noun has one variable, any other clause a variable and an argument", text);
    return c;
  }

  argument read_argument(std::string const& text, std::string const& of) const {
    if (text.empty()) refuse("\"{}\": an argument is missing", of);
    if (!text.starts_with("x_")) return {-1, text};
    int i = -1;
    auto const [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), i);
    if (error != std::errc() || end != text.data() + text.size() || i < 0 || i >= result_.size())
      refuse("\"{}\": {} is no token of a sentence of {}", of, text, result_.size());
    return {i, {}};
  }

  /// If the form has v.xcomp(a, b) and v.agent(a, c), removes the clause in which c is the agent of b.
  void merge_controlled(std::vector<clause>& clauses) {
    // Two indexes of the clauses v.agent(a, c).  The first finds them by v and a, the second by v, a and c.  Each list
    // is in the order of the form.  A removed clause is deleted from a list when the list is next read.
    using list = std::deque<std::size_t>;
    std::map<std::pair<std::string, int>, list> of_verb;
    std::map<std::tuple<std::string, int, int, std::string>, list> of_agent;
    std::vector<bool> gone(clauses.size());
    auto const controls = [](clause const& c) { return c.head.ends_with(".xcomp"); };
    if (std::none_of(clauses.begin(), clauses.end(), controls)) return;
    for (std::size_t k = 0; k < clauses.size(); ++k) {
      auto const& c = clauses[k];
      if (!c.head.ends_with(".agent")) continue;
      auto const& [who, who_by_name] = c.arguments[1];
      of_verb[{c.head, c.arguments[0].token}].push_back(k);
      of_agent[{c.head, c.arguments[0].token, who, who_by_name}].push_back(k);
    }
    auto const first_of = [&](list& all) {
      while (!all.empty() && gone[all.front()]) all.pop_front();
      return all.empty() ? clauses.size() : all.front();
    };
    for (std::size_t k = 0; k < clauses.size(); ++k) {
      auto const& xcomp = clauses[k];
      if (!controls(xcomp)) continue;
      auto const verb = xcomp.head.substr(0, xcomp.head.size() - 6);
      int const b = token_of(xcomp.arguments[1], xcomp);
      auto const agent = first_of(of_verb[{verb + ".agent", xcomp.arguments[0].token}]);
      if (agent == clauses.size()) refuse("\"{}\": no agent of {}", xcomp.text, verb);
      auto const& controlled = result_.tokens[at(b)];
      auto const& [who, who_by_name] = clauses[agent].arguments[1];
      auto const again = first_of(of_agent[{controlled + ".agent", b, who, who_by_name}]);
      if (again == clauses.size()) refuse("\"{}\": {} does not have the same agent", xcomp.text, controlled);
      gone[again] = true;
      result_.verb_name[at(b)] = controlled;
    }
    std::vector<clause> rest;
    for (std::size_t k = 0; k < clauses.size(); ++k)
      if (!gone[k]) rest.push_back(std::move(clauses[k]));
    clauses = std::move(rest);
  }

  void read_noun(clause const& c) {
    int const i = c.arguments[0].token;
    result_.category[at(i)] = "CNOUN";
    result_.noun_type[at(i)] = c.head[0] == '*' ? "DEF" : "INDEF";
  }

  void read_modifier(clause const& c, std::string const& preposition) {
    int const i = c.arguments[0].token, j = token_of(c.arguments[1], c);
    auto const& all = places_of(preposition);
    auto const first = std::upper_bound(all.begin(), all.end(), i);
    if (first == all.end() || *first >= j) refuse("\"{}\": {} does not stand between its nouns", c.text, preposition);
    if (first + 1 != all.end() && *(first + 1) < j)
      refuse("\"{}\": {} stands twice between its nouns", c.text, preposition);
    int const found = *first;
    attach(j, found, "PP_NOUN", c);
    attach(found, i, "PREP", c);
  }

  void read_verb(clause const& c) {
    auto const dot = c.head.find('.');
    auto const verb = c.head.substr(0, dot), role = c.head.substr(dot + 1);
    int const i = c.arguments[0].token;
    attach(token_of(c.arguments[1], c), i, role, c);
    auto& name = result_.verb_name[at(i)];
    if (!name.empty() && name != verb) refuse("\"{}\": the token is the verb {} already", c.text, name);
    name = verb;
    result_.category[at(i)] = "VERB";
  }

  void attach(int child, int parent, std::string const& role, clause const& c) {
    if (result_.parent[at(child)] >= 0) refuse("\"{}\": {} would have two parents", c.text, result_.tokens[at(child)]);
    result_.parent[at(child)] = parent;
    result_.role[at(child)] = role;
  }

  int token_of(argument const& a, clause const& c) const {
    if (a.token >= 0) return a.token;
    auto const& all = places_of(a.name);
    if (all.size() != 1) refuse("\"{}\": {} does not stand exactly once in the sentence", c.text, a.name);
    return all[0];
  }

  /// Returns the positions of a word in the sentence, in ascending order.
  std::vector<int> const& places_of(std::string const& word) const {
    static std::vector<int> const nowhere;
    auto const found = places_.find(word);
    return found == places_.end() ? nowhere : found->second;
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  tagged_sentence result_;
  std::unordered_map<std::string, std::vector<int>> places_;  // the positions of each word in the sentence
};

/// Returns the graph of a logical form.  Throws data_error if the form is malformed, or is not about the sentence.
inline tagged_sentence from_logical_form(std::string_view sentence, std::string_view form,
                                         std::string_view distribution) {
  return form_reader(sentence, form, distribution).take();
}

/// Returns the logical form of a graph.  Returns nothing if an edge label has no edge, a verb's argument has no verb,
/// or a modifier has no noun, which may happen in a predicted graph.
inline std::optional<std::string> to_logical_form(tagged_sentence const& s) {
  static std::vector<std::string> const verb_roles{"agent", "theme", "recipient", "xcomp", "ccomp"};
  auto const at = [](int i) { return static_cast<std::size_t>(i); };
  auto const word = [&](int i) { return s.tokens[at(i)] == "TV" ? std::string("tv") : s.tokens[at(i)]; };
  auto const variable = [](int i) { return "x _ " + std::to_string(i); };
  auto const term = [&](int i) { return s.category[at(i)] == "PNOUN" ? s.tokens[at(i)] : variable(i); };
  auto const binary = [&](std::string const& head, int i, std::string const& other) {
    return head + " ( " + variable(i) + " , " + other + " )";
  };

  std::vector<std::string> definite;
  std::vector<std::tuple<int, int, std::string>> others;
  for (int i = 0; i < s.size(); ++i) {
    auto const& type = s.noun_type[at(i)];
    if (type == "DEF") definite.push_back("* " + word(i) + " ( " + variable(i) + " )");
    if (type == "INDEF") others.emplace_back(i, -1, word(i) + " ( " + variable(i) + " )");

    auto const& role = s.role[at(i)];
    int const p = s.parent[at(i)];
    if (role.empty() || role == "PREP") continue;
    if (p < 0 || p >= s.size()) return std::nullopt;
    if (role == "PP_NOUN") {
      int const noun = s.parent[at(p)];
      if (noun < 0 || noun >= s.size()) return std::nullopt;
      others.emplace_back(noun, i, binary(word(noun) + " . nmod . " + s.tokens[at(p)], noun, term(i)));
      continue;
    }
    if (std::find(verb_roles.begin(), verb_roles.end(), role) == verb_roles.end() || s.verb_name[at(p)].empty())
      return std::nullopt;
    others.emplace_back(p, i, binary(s.verb_name[at(p)] + " . " + role, p, term(i)));
    if (role != "xcomp") continue;
    int controller = -1;
    for (int a = 0; a < s.size(); ++a)
      if (s.role[at(a)] == "agent" && s.parent[at(a)] == p) controller = a;
    if (controller < 0 || s.verb_name[at(i)].empty()) return std::nullopt;
    others.emplace_back(i, controller, binary(s.verb_name[at(i)] + " . agent", i, term(controller)));
  }
  std::stable_sort(others.begin(), others.end(), [](auto const& a, auto const& b) {
    return std::pair(std::get<0>(a), std::get<1>(a)) < std::pair(std::get<0>(b), std::get<1>(b));
  });
  std::string form;
  for (auto const& d : definite) form += (form.empty() ? "" : " ; ") + d;
  for (bool first = true; auto const& [i, j, text] : others) {
    form += form.empty() ? text : (first ? " ; " : " AND ") + text;
    first = false;
  }
  return form;
}

}  // namespace triad::programs::cogs
