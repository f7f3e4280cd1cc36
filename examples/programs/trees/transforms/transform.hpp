// Converts sentences to active, passive or logical trees and back, and selects a subtree by a sequence of car and cdr.
// SPDX-License-Identifier: Apache-2.0
//
//   active    ( S NPa ( VP ( V v ) NPb ) )
//   passive   ( S NPb ( VP ( AUXPS was ) ( VPPS ( V v ) ( PPPS ( PPS by ) NPa ) ) ) )
//   logical   ( LF ( V v ) ( ARGS NPa NPb ) )      NPa the agent, NPb the patient
//   NP        ( NP ( DET d ) AP )          AP    ( AP ( N n ) )  or  ( AP ( ADJ a ) AP )
//
// A verb has the same form in all three trees.  In car-cdr-seq, the source is an active or passive tree, and the label
// of its root is a function C..R.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sentences.hpp"

namespace triad::programs::transforms {

enum class form { active, passive, logical };

inline char const* root_of(form f) { return f == form::logical ? "LF" : "S"; }

namespace detail {

/// Writes a sentence as a tree by opening and closing its nodes.
class tree_writer {
 public:
  symbol_tree write(sentence const& s, form f, std::string root) {
    node(std::move(root), [&] {
      if (f == form::active) {
        add(s.agent);
        node("VP", [&] {
          word("V", s.verb);
          add(s.patient);
        });
      } else if (f == form::passive) {
        add(s.patient);
        node("VP", [&] {
          word("AUXPS", "was");
          node("VPPS", [&] {
            word("V", s.verb);
            node("PPPS", [&] {
              word("PPS", "by");
              add(s.agent);
            });
          });
        });
      } else {
        word("V", s.verb);
        node("ARGS", [&] {
          add(s.agent);
          add(s.patient);
        });
      }
    });
    return made_.finish();
  }

 private:
  template <class F>
  void node(std::string label, F&& children) {
    made_.open(std::move(label));
    children();
    made_.close();
  }
  void word(char const* label, std::string const& text) {
    node(label, [&] { node(text, [] {}); });
  }
  void add(noun_phrase const& p) {
    node("NP", [&] {
      word("DET", p.determiner);
      for (auto const& adjective : p.adjectives) {
        made_.open("AP");
        word("ADJ", adjective);
      }
      node("AP", [&] { word("N", p.noun); });
      for (std::size_t k = 0; k < p.adjectives.size(); ++k) made_.close();
    });
  }

  symbol_tree::builder made_;
};

}  // namespace detail

/// Returns the sentence as a tree whose root has the label `root`.
inline symbol_tree tree_of(sentence const& s, form f, std::string root) {
  return detail::tree_writer().write(s, f, std::move(root));
}
inline symbol_tree tree_of(sentence const& s, form f) { return tree_of(s, f, root_of(f)); }

/// Returns the sentence of a tree, or nothing if the tree is not a sentence of this form.
inline std::optional<sentence> sentence_of(symbol_tree const& tree, form f) {
  // Takes the words of the tree in their order.  At the end, compares `tree` with the tree of the resulting sentence,
  // which checks everything else.
  std::vector<noun_phrase> phrases;
  sentence found;
  tree.walk([&](index_t at, index_t parent, index_t) {
    if (parent == no_node || !tree.is_leaf(at)) return;
    auto const &kind = tree.label(parent), &word = tree.label(at);
    if (kind == "V") found.verb = word;
    if (kind == "DET") phrases.push_back({word, {}, {}});
    if (phrases.empty()) return;
    if (kind == "ADJ") phrases.back().adjectives.push_back(word);
    if (kind == "N") phrases.back().noun = word;
  });
  if (phrases.size() != 2) return std::nullopt;
  bool const agent_first = f != form::passive;
  found.agent = std::move(phrases[agent_first ? 0 : 1]);
  found.patient = std::move(phrases[agent_first ? 1 : 0]);
  if (tree_of(found, f) != tree) return std::nullopt;
  return found;
}

/// Returns the row with its sentences in this voice.  Does not change logical forms.  Returns nothing if one of the
/// trees is not a sentence of this grammar.
inline std::optional<row> in_voice(row const& r, form voice) {
  auto const told = [&](symbol_tree const& tree) -> std::optional<symbol_tree> {
    if (sentence_of(tree, form::logical)) return tree;
    for (auto const f : {form::active, form::passive})
      if (auto const s = sentence_of(tree, f)) return tree_of(*s, voice);
    return std::nullopt;
  };
  auto source = told(r.source), target = told(r.target);
  if (!source || !target) return std::nullopt;
  return row{*std::move(source), *std::move(target)};
}

/// Returns the names of all 30 sequences of 1 to 4 steps: CAR, CDR, CAAR, CADR, ...
inline std::vector<std::string> car_cdr_functions() {
  std::vector<std::string> names;
  for (unsigned length = 1; length <= 4; ++length)
    for (unsigned choice = 0; choice < 1u << length; ++choice) {
      std::string name = "C";
      for (unsigned k = length; k-- > 0;) name += (choice >> k & 1u) != 0 ? 'D' : 'A';
      names.push_back(name + 'R');
    }
  return names;
}

/// Applies a function C..R to a tree.  A selects the left child, and D the right child.  The letter next to R is
/// applied first: CADR is the car of the cdr.  The paper refers to "the Lisp convention" (appendix E), but its examples
/// do not depend on the order.  Returns an empty tree if a selected child does not exist.
inline symbol_tree car_cdr(symbol_tree const& tree, std::string_view function) {
  TRIAD_EXPECTS(function.size() > 2 && function.front() == 'C' && function.back() == 'R',
                "car_cdr: a function is C, letters A and D, and R");
  index_t at = tree.empty() ? no_node : 0;
  for (auto k = function.size() - 2; k > 0 && at != no_node; --k) at = tree.child(at, function[k] == 'A' ? 0 : 1);
  return tree.subtree(at);
}

}  // namespace triad::programs::transforms
