// How many sentences a model gets right: the whole graph, as published, and the logical form made of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parser.hpp"
#include "task.hpp"

namespace cogs {

/// Sentences, and how many of them are right: parents by themselves or as a tree without cycles, as a graph or as a
/// logical form.
struct tally {
  std::int64_t sentences = 0, graphs = 0, trees = 0, forms = 0, tree_forms = 0,
               differ = 0;  // differ: the tree has other parents

  tally& operator+=(tally const& t) {
    sentences += t.sentences, graphs += t.graphs, trees += t.trees, forms += t.forms, tree_forms += t.tree_forms,
        differ += t.differ;
    return *this;
  }
  double part(std::int64_t right) const {
    return sentences == 0 ? 0 : static_cast<double>(right) / static_cast<double>(sentences);
  }
};

/// The graph that a parse says, in words; with the tree's parents, or each token's own best.
inline tagged_sentence in_words(tagged_sentence const& s, parse const& p, vocabulary const& words, bool tree) {
  tagged_sentence result(s.tokens, s.distribution);
  auto const& parent = tree ? p.tree : p.parent;
  for (std::size_t i = 0; i < s.tokens.size(); ++i) {
    result.parent[i] = parent[i] == static_cast<int>(i) ? -1 : parent[i];
    result.role[i] = words.role.name(p.role[i]);
    result.category[i] = words.category.name(p.category[i]);
    result.noun_type[i] = words.noun_type.name(p.noun_type[i]);
    result.verb_name[i] = words.verb.name(p.verb[i]);
  }
  return result;
}

/// f(sentence, parse) for all of them, in batches that fit.  Throws data_error for a word that the model does not know.
template <class F>
void parse_all(parser& net, sentences const& all, vocabulary const& words, F&& f) {
  for (std::size_t next = 0; next < all.size();) {
    net.clear();
    auto const first = next;
    while (next < all.size() && net.add(numbered(all[next], words))) ++next;
    if (next == first)
      throw triad::data_error("a sentence of " + std::to_string(all[next].size()) +
                              " tokens is longer than there is room for");
    auto const& found = net.infer();
    for (auto i = first; i < next; ++i) f(all[i], found[i - first]);
  }
}

/// By distribution.
inline std::map<std::string, tally> score(parser& net, sentences const& all, vocabulary const& words) {
  std::map<std::string, tally> result;
  parse_all(net, all, words, [&](tagged_sentence const& s, parse const& p) {
    auto const right = to_logical_form(s);
    auto const own = in_words(s, p, words, false), tree = in_words(s, p, words, true);
    auto& t = result[s.distribution];
    ++t.sentences;
    t.graphs += own == s ? 1 : 0;
    t.trees += tree == s ? 1 : 0;
    t.forms += to_logical_form(own) == right ? 1 : 0;
    t.tree_forms += to_logical_form(tree) == right ? 1 : 0;
    t.differ += own.parent != tree.parent ? 1 : 0;
  });
  return result;
}

inline tally total(std::map<std::string, tally> const& parts) {
  tally all;
  for (auto const& [name, t] : parts) all += t;
  return all;
}

/// The part of the sentences whose graph is right.
inline double accuracy(parser& net, sentences const& all, vocabulary const& words) {
  std::int64_t right = 0;
  parse_all(net, all, words,
            [&](tagged_sentence const& s, parse const& p) { right += in_words(s, p, words, false) == s ? 1 : 0; });
  return all.empty() ? 0 : static_cast<double>(right) / static_cast<double>(all.size());
}

}  // namespace cogs
