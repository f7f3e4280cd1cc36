// Converts SLOG's logical forms without variables to graphs of their sentences, and back.
// SPDX-License-Identifier: Apache-2.0
//
//   The fox liked a cup that Ada cleaned .
//   like ( agent = * fox , theme = cup ( nmod = clean ( agent = Ada , theme = cup ) ) )
//
//   liked(2) --agent--> fox(1)      liked(2) --theme--> cup(4)      cup(4) --nmod--> cleaned(7)
//   cleaned(7) --agent--> Ada(6)    cleaned(7) --theme--> cup(4)    liked(2): "verb like"    fox(1): "definite"
//
// A form names words and not their places.  The rule that finds the places: read in this order, the parts of a form are
// in the order of the sentence's content words.  A verb comes after its first argument, a noun before its modifiers.
// Three kinds of arguments are passed over, since their word is elsewhere: the noun that a relative clause modifies
// (nmod), the agent of a verb under xcomp, and ?, which is Who or What.
//
// The way back needs the order of a verb's arguments.  In the active voice it is agent, recipient, theme, or agent,
// theme, recipient if the recipient has "to", was moved to the front, or if the theme is queried for.  In the passive
// voice, with "was" before the verb, the subject is first and the agent last.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "tags.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::meanings {

/// The label of a noun with `*` before it.
inline constexpr auto definite_label = "definite";

namespace detail {

template <std::size_t N>
bool is_one_of(std::array<std::string_view, N> const& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
inline bool is_article(std::string_view word) {
  return is_one_of(std::array<std::string_view, 6>{"a", "an", "the", "A", "An", "The"}, word);
}
inline bool is_question_word(std::string_view word) {
  return is_one_of(std::array<std::string_view, 4>{"Who", "What", "who", "what"}, word);
}
/// Returns whether a word is neither a noun nor a verb.
inline bool is_function_word(std::string_view word) {
  return is_article(word) || is_question_word(word) ||
         is_one_of(
             std::array<std::string_view, 11>{"that", "was", "were", "to", "by", "did", "in", "on", "beside", ".", "?"},
             word);
}
inline bool is_clause(std::string_view role) { return role == "ccomp" || role == "xcomp"; }

/// A part of a form: a noun, a name, a verb or ?, with its arguments.
struct form_term {
  bool definite = false;
  std::string word{};
  std::vector<std::pair<std::string, form_term>> arguments{};

  bool is_verb() const { return !arguments.empty() && !arguments.front().first.starts_with("nmod"); }
};

/// Reads a form.
class form_parser {
 public:
  explicit form_parser(std::string_view form) : words_(text::words(form)) {}

  form_term whole() {
    auto t = term(0);
    if (at_ != words_.size()) fail();
    return t;
  }

 private:
  static constexpr int deepest = 200;

  [[noreturn]] void fail() const {
    refuse("the form is no WORD ( ROLE = ..., ... ) from its word {} on, \"{}\"", at_ + 1,
           at_ < words_.size() ? shortened(words_[at_]) : "");
  }
  bool next_is(std::string_view word) const { return at_ < words_.size() && words_[at_] == word; }
  std::string word() {
    static constexpr std::array<std::string_view, 5> marks{"(", ")", ",", "=", "*"};
    if (at_ == words_.size() || is_one_of(marks, words_[at_])) fail();
    return words_[at_++];
  }
  form_term term(int depth) {
    if (depth > deepest) refuse("the form has more than {} levels", deepest);
    form_term t;
    t.definite = next_is("*");
    if (t.definite) ++at_;
    t.word = word();
    if (!next_is("(")) return t;
    do {
      ++at_;
      auto role = word();
      while (!next_is("=")) role += " " + word();
      ++at_;
      t.arguments.emplace_back(std::move(role), term(depth + 1));
    } while (next_is(","));
    if (!next_is(")")) fail();
    ++at_;
    return t;
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
};

/// Finds the words of a form in its sentence.
class form_aligner {
 public:
  form_aligner(std::vector<std::string> tokens, std::string kind) {
    m_.tokens = std::move(tokens);
    m_.kind = std::move(kind);
    for (int i = 0; i < static_cast<int>(m_.tokens.size()); ++i)
      if (!is_function_word(token(i))) content_.push_back(i);
  }

  meaning graph(form_term const& form) {
    if (form.is_verb())
      verb(form, {}, -1);
    else
      noun(form);
    if (next_ != content_.size()) refuse("the form does not name the word \"{}\"", shortened(token(content_[next_])));
    return checked(std::move(m_));
  }

 private:
  struct modified {
    form_term const* noun = nullptr;
    int node = -1;
  };

  std::string const& token(int i) const { return m_.tokens[static_cast<std::size_t>(i)]; }
  int take(std::string const& word) {
    if (next_ == content_.size()) refuse("the sentence has no word for \"{}\" of the form", shortened(word));
    return m_.add(node::token(content_[next_++]));
  }
  void label(int n, std::string text) { m_.node_labels[static_cast<std::size_t>(n)].push_back(std::move(text)); }

  int noun(form_term const& t) {
    if (t.word == "?") {
      auto const queried = std::find_if(m_.tokens.begin(), m_.tokens.end(), is_question_word);
      if (queried == m_.tokens.end() || !t.arguments.empty())
        refuse("the sentence has no Who or What for the ? of the form");
      return m_.add(node::token(static_cast<int>(queried - m_.tokens.begin())));
    }
    int const n = take(t.word);
    if (name_of(m_, n) != t.word)
      refuse("the word \"{}\" of the form is \"{}\" in the sentence", shortened(t.word), shortened(name_of(m_, n)));
    if (t.definite) label(n, definite_label);
    for (auto const& [role, argument] : t.arguments)
      m_.edges.push_back({n, role, role == "nmod" ? verb(argument, {&t, n}, -1) : noun(argument)});
    return n;
  }

  /// `shared`: the noun that this clause modifies, which one of the arguments repeats.  `agent`: the agent that is not
  /// repeated in the sentence, or -1.
  int verb(form_term const& t, modified shared, int agent) {
    if (t.arguments.empty()) refuse("the verb \"{}\" of the form has no arguments", shortened(t.word));
    int own = -1;
    std::vector<std::pair<std::string, int>> found;
    auto const take_own = [&] {
      if (own < 0) own = take(t.word);
    };
    for (auto const& [role, argument] : t.arguments) {
      int to = -1;
      if (agent >= 0 && role == "agent") {
        to = agent;
      } else if (shared.noun != nullptr && argument.arguments.empty() && argument.word == shared.noun->word &&
                 argument.definite == shared.noun->definite) {
        to = shared.node;
        shared.noun = nullptr;
      } else if (is_clause(role)) {
        take_own();
        auto const subject =
            std::find_if(found.begin(), found.end(), [](auto const& one) { return one.first == "agent"; });
        to = verb(argument, {}, role == "xcomp" && subject != found.end() ? subject->second : -1);
      } else {
        to = noun(argument);
      }
      found.emplace_back(role, to);
      take_own();
    }
    label(own, std::string(verb_mark) + t.word);
    for (auto& [role, to] : found) m_.edges.push_back({own, std::move(role), to});
    return own;
  }

  meaning m_;
  std::vector<int> content_;  // the places of the content words
  std::size_t next_ = 0;
};

/// Writes the form of a graph.
class form_writer {
 public:
  explicit form_writer(meaning const& m) : m_(m), out_(m.nodes.size()), reached_(m.nodes.size()) {
    for (auto const& e : m.edges) out_[static_cast<std::size_t>(e.from)].push_back(&e);
    for (std::size_t i = 0; i < out_.size(); ++i)
      std::stable_sort(out_[i].begin(), out_[i].end(), [&](edge const* a, edge const* b) {
        return std::pair(rank(static_cast<int>(i), *a), place(a->to)) <
               std::pair(rank(static_cast<int>(i), *b), place(b->to));
      });
  }

  /// Returns the form, or nothing if the graph has none.
  std::optional<std::string> whole() {
    if (m_.nodes.empty()) return std::nullopt;
    std::vector<bool> is_argument(m_.nodes.size());
    for (auto const& e : m_.edges) is_argument[static_cast<std::size_t>(e.to)] = true;
    auto const roots = std::count(is_argument.begin(), is_argument.end(), false);
    if (roots > 1) return std::nullopt;
    // A noun that only its own relative clause has as an argument is the root of a sentence without a main verb.
    auto const root =
        roots == 0 ? 0
                   : static_cast<int>(std::find(is_argument.begin(), is_argument.end(), false) - is_argument.begin());
    bool const all = write(root) && std::find(reached_.begin(), reached_.end(), false) == reached_.end();
    return all ? std::optional(std::move(text_)) : std::nullopt;
  }

  std::optional<std::string> verb_of(int n) const {
    for (auto const& label : m_.node_labels[static_cast<std::size_t>(n)])
      if (label.starts_with(verb_mark)) return label.substr(verb_mark.size());
    return std::nullopt;
  }
  std::vector<edge const*> const& arguments(int n) const { return out_[static_cast<std::size_t>(n)]; }
  bool is_definite(int n) const {
    auto const& labels = m_.node_labels[static_cast<std::size_t>(n)];
    return std::find(labels.begin(), labels.end(), definite_label) != labels.end();
  }

 private:
  static constexpr int longest = 4096;  // parts of a form; a wrong graph could have a form of any length

  int place(int n) const { return m_.nodes[static_cast<std::size_t>(n)].first; }
  std::string_view word(int place) const {
    bool const is_token = place >= 0 && place < static_cast<int>(m_.tokens.size());
    return is_token ? std::string_view(m_.tokens[static_cast<std::size_t>(place)]) : std::string_view();
  }

  /// Returns the rank of an argument among the arguments of a verb.
  int rank(int verb, edge const& argument) const {
    auto const& role = argument.label;
    int const own = place(verb);
    bool const passive = word(own - 1) == "was" || word(own - 1) == "were";
    if (is_clause(role)) return 9;
    if (role == "agent") return passive ? 8 : 0;
    int recipient = -1;
    bool queried = false;
    std::vector<int> subjects;
    for (auto const* e : out_[static_cast<std::size_t>(verb)]) {
      if (e->label != "recipient" && e->label != "theme") continue;
      if (place(e->to) < own) subjects.push_back(e->to);
      if (e->label == "recipient") recipient = place(e->to);
      queried = queried || (e->label == "theme" && is_question_word(word(place(e->to))));
    }
    if (passive && subjects.size() == 1) return argument.to == subjects.front() ? 1 : 2;
    bool theme_first = passive || queried || recipient < own;
    if (!theme_first) {
      int const before = is_article(word(recipient - 1)) ? recipient - 2 : recipient - 1;
      theme_first = word(before) == "to";
    }
    return (role == "theme") == theme_first ? 1 : 2;
  }

  bool write(int n) {
    if (++written_ > longest) return false;
    reached_[static_cast<std::size_t>(n)] = true;
    auto const& own = m_.nodes[static_cast<std::size_t>(n)];
    if (own.is_slot || own.size() > 1) return false;
    auto const verb = verb_of(n);
    bool const inside = std::find(open_.begin(), open_.end(), n) != open_.end();
    if (verb && (inside || arguments(n).empty())) return false;
    if (!verb && is_definite(n)) text_ += "* ";
    text_ += verb ? *verb : is_question_word(word(place(n))) ? "?" : std::string(word(place(n)));
    if (inside || arguments(n).empty()) return true;
    open_.push_back(n);
    bool first = true;
    for (auto const* e : arguments(n)) {
      text_ += (first ? " ( " : " , ") + e->label + " = ";
      first = false;
      if (!write(e->to)) return false;
    }
    text_ += " )";
    open_.pop_back();
    return true;
  }

  meaning const& m_;
  std::vector<std::vector<edge const*>> out_;  // the arguments of each node, in the order of the form
  std::vector<int> open_{};                    // the nodes whose arguments are being written
  std::vector<bool> reached_;                  // of each node: whether it is in the form
  std::string text_{};
  int written_ = 0;
};

}  // namespace detail

/// Returns the graph of a sentence and its form.  Throws data_error if the form is malformed, or does not name the
/// content words of the sentence.
inline meaning graph_of_form(std::string_view sentence, std::string_view form, std::string kind) {
  auto const t = detail::form_parser(form).whole();
  auto tokens = text::words(sentence);
  if (tokens.size() == 1 && t.arguments.empty() && t.word == tokens[0]) {  // a word alone, whatever it is
    meaning m;
    m.tokens = std::move(tokens);
    m.kind = std::move(kind);
    m.add(node::token(0));
    return m;
  }
  return detail::form_aligner(std::move(tokens), std::move(kind)).graph(t);
}

/// Returns the form of a graph; "" if it has none, as a predicted graph may.
inline std::string variable_free_form(meaning const& given) {
  auto const m = canonical(given);
  return detail::form_writer(m).whole().value_or("");
}

/// Returns the form of a graph in the notation of COGS, with variables such as x _ 3 for token 3.  Definite nouns come
/// first.
inline std::string form_with_variables(meaning const& given) {
  auto const m = canonical(given);
  detail::form_writer const form(m);
  auto const place = [&](int n) { return "x _ " + std::to_string(m.nodes[static_cast<std::size_t>(n)].first); };
  auto const is_name = [&](std::string const& word) { return word[0] >= 'A' && word[0] <= 'Z' && word != "TV"; };
  auto const term = [&](int n) {
    auto const word = name_of(m, n);
    return detail::is_question_word(word) ? "?" : is_name(word) ? word : place(n);
  };
  std::string definite, others;
  for (int n = 0; n < static_cast<int>(m.nodes.size()); ++n) {
    auto const verb = form.verb_of(n);
    auto const word = verb.value_or(name_of(m, n));
    auto const noun = word + " ( " + place(n) + " )";
    auto const add = [&](std::string const& clause) { others += (others.empty() ? "" : " AND ") + clause; };
    if (form.is_definite(n))
      definite += (definite.empty() ? "* " : " ; * ") + noun;
    else if (!verb && term(n) == place(n))
      add(noun);
    for (auto const* e : form.arguments(n))
      add(word + " . " + e->label + " ( " + place(n) + " , " + term(e->to) + " )");
  }
  return definite + (definite.empty() || others.empty() ? "" : " ; ") + others;
}

}  // namespace triad::programs::meanings
