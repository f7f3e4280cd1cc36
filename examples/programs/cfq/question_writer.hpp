// Writes a question from left to right, and records its words, their dependencies, the applied rules, and the
// conditions of its query.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rule_tree.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::cfq {

/// Writes one question.
class question_writer {
 public:
  explicit question_writer(rule_names& names) : names_(&names) {}

  /// Applies a rule.  Rules that are applied while this object exists become children of the rule.
  class applied {
   public:
    applied(question_writer& w, std::string const& rule) : w_(&w), before_(w.node_), slot_(w.slot_) {
      w.node_ = w.rules_.add(w.names_->add(rule), before_, slot_);
      w.slot_ = 0;
    }
    ~applied() { w_->node_ = before_, w_->slot_ = slot_ + 1; }
    applied(applied const&) = delete;
    applied& operator=(applied const&) = delete;

   private:
    question_writer* w_;
    int before_, slot_;
  };

  void leaf(std::string const& rule) { applied const here(*this, rule); }

  /// Appends a token and returns its number.  The token's head is the root until the token is attached to another head.
  int put(std::string word) {
    tokens_.push_back(std::move(word));
    heads_.push_back(0);
    labels_.emplace_back("root");
    return static_cast<int>(tokens_.size()) - 1;
  }
  void attach(int token, int head, char const* label) {
    heads_[static_cast<std::size_t>(token)] = head + 1;
    labels_[static_cast<std::size_t>(token)] = label;
  }
  void replace(int token, std::string word) { tokens_[static_cast<std::size_t>(token)] = std::move(word); }
  /// Changes the article "a" to "an" if the next word needs it.
  void inflect_article(int token) {
    if (std::string("aeiouAEIOU").find(tokens_[static_cast<std::size_t>(token) + 1][0]) != std::string::npos)
      replace(token, "an");
  }

  std::string variable() { return "?x" + std::to_string(variables_++); }
  std::string entity() { return "M" + std::to_string(entities_++); }
  void require(std::string const& a, std::string const& relation, std::string const& b, bool irreflexive = false) {
    conjuncts_.insert(a + " " + relation + " " + b);
    if (irreflexive) conjuncts_.insert("FILTER ( " + a + " != " + b + " )");
  }

  annotated_question finish(bool counts) const {
    std::string query = counts ? "SELECT count ( * ) WHERE {" : "SELECT DISTINCT ?x0 WHERE {";
    for (bool first = true; auto const& conjunct : conjuncts_) {
      query += (first ? " " : " . ") + conjunct;
      first = false;
    }
    return {text::joined(tokens_), query + " }", rules_, heads_, labels_};
  }
  std::size_t length() const { return tokens_.size(); }

 private:
  rule_names* names_;
  int node_ = -1, slot_ = 0, variables_ = 0, entities_ = 0;
  rule_tree rules_;
  std::vector<std::string> tokens_;
  std::vector<int> heads_;
  std::vector<std::string> labels_;
  std::set<std::string> conjuncts_;
};

}  // namespace triad::programs::cfq
