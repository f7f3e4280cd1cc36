// A predicted graph with the probability of each edge and of each label, and with the words that contribute to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "network.hpp"
#include "numbered.hpp"
#include "triad/ops/noisy_or.hpp"
#include "vocabulary.hpp"

namespace triad::programs::meanings {

/// What one token contributes to an edge or to a label: the factors of the formulas of
/// triad/layers/heads/predicate_head.hpp.
struct contribution {
  int token;
  double predicate;           // p_t[r] of an edge, q_t[u] of a label
  std::vector<double> roles;  // first[t, a] and second[t, b] of an edge; one number for a label

  double product() const {
    double p = predicate;
    for (double const role : roles) p *= role;
    return p;
  }
};

/// An edge of the graph.  The nodes are given by their indices in meaning::nodes.
struct explained_edge {
  int from, to;
  std::string label;
  double probability;
  std::vector<contribution> by;  // the largest first; empty if the model has no predicates
};

/// A label of a node.  The label is "" if the probability is that of the node itself: that its words are one node, or
/// that it is a node although it has neither an edge nor a label.
struct explained_label {
  int node;
  std::string label;
  double probability;
  std::vector<contribution> by;
};

/// A label that the words give to a node, and that is not in the graph because edges of the node imply it.
struct removed_label {
  struct edge {
    std::string label;
    double probability;  // that an edge with this label removes the node's label
  };
  int node;
  std::string label;
  double before, after;  // the probability of the label, without edges and with them
  std::vector<edge> by;  // the largest first
};

/// A node that has the roles of another token: a member of a list, or a slot with an anchor.
struct taken_roles {
  int node, token;
  double probability;
};

/// The least probability with which a node takes over the roles of another token.
inline constexpr double least_taken = 0.5;

struct explained_graph {
  meaning graph{};
  std::vector<explained_edge> edges{};
  std::vector<explained_label> labels{};
  std::vector<removed_label> removed{};
  std::vector<taken_roles> taken{};  // with a probability of at least least_taken
  double graph_probability = 0;      // of the label of the graph
  bool has_predicates = false;
};

namespace detail {

inline double weight_of(contribution const& one) { return one.product(); }
inline double weight_of(removed_label::edge const& one) { return one.probability; }

/// Returns those of `count` causes that weigh at least 0.01, the largest first.  The largest cause is always there.
/// of(k) returns cause k.
template <class F>
auto largest(index_t count, F const& of) {
  std::vector<decltype(of(count))> all;
  for (index_t k = 0; k < count; ++k) all.push_back(of(k));
  std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return weight_of(a) > weight_of(b); });
  constexpr double least = 0.01;
  std::size_t kept = std::min<std::size_t>(1, all.size());
  while (kept < all.size() && weight_of(all[kept]) >= least) ++kept;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(kept), all.end());
  return all;
}

/// Returns the edges that remove label u of column a.
inline std::vector<removed_label::edge> removing(found_causes const& causes, index_t a, index_t u,
                                                 std::vector<std::string> const& relations) {
  return largest(causes.relations, [&](index_t r) {
    return removed_label::edge{relations[static_cast<std::size_t>(r)], causes.removal_of(a, r, u)};
  });
}

}  // namespace detail

/// Returns the probabilities that slot k has the roles of each token, the largest first.
inline std::vector<contribution> anchors_of(found_causes const& causes, std::size_t k) {
  auto const* const first = causes.anchor.data() + k * static_cast<std::size_t>(causes.tokens);
  return detail::largest(
      causes.tokens, [&](index_t t) { return contribution{static_cast<int>(t), static_cast<double>(first[t]), {}}; });
}

/// Explains the model's answer for a sentence.  `graph` is the answer as a graph, and `threshold` is the least
/// probability of what is in it.
inline explained_graph explained(meaning graph, found_graph const& found, found_causes const& causes,
                                 vocabulary const& v, double threshold) {
  explained_graph e;
  e.graph = std::move(graph);
  e.graph_probability = static_cast<double>(found.graph_probability);
  e.has_predicates = causes.tokens > 0;
  auto const queried = question_of(e.graph.tokens, v).queried;
  auto const members = static_cast<index_t>(queried.size());
  // The node of a column; -1: none.
  auto const node_of = [&](index_t column) {
    auto const& all = e.graph.nodes;
    auto const at = std::find_if(all.begin(), all.end(), [&](node const& n) {
      return column < members ? !n.is_slot && n.last == queried[static_cast<std::size_t>(column)]
                              : n == node::slot(static_cast<int>(column - members));
    });
    return at == all.end() ? -1 : static_cast<int>(at - all.begin());
  };
  for (std::size_t i = 0; i + 2 < found.edges.size(); i += 3) {
    index_t const a = found.edges[i], r = found.edges[i + 1], b = found.edges[i + 2];
    e.edges.push_back(
        {node_of(a), node_of(b), v.relations()[static_cast<std::size_t>(r)],
         static_cast<double>(found.edge_probabilities[i / 3]), detail::largest(causes.tokens, [&](index_t t) {
           return contribution{
               static_cast<int>(t), causes.predicate_of(t, r), {causes.role_of(t, a, 0), causes.role_of(t, b, 1)}};
         })});
  }
  auto const alone = v.alone_in(e.graph);
  for (std::size_t i = 0; i + 1 < found.labels.size(); i += 2) {
    index_t const a = found.labels[i], u = found.labels[i + 1];
    int const at = node_of(a);
    if (at < 0) continue;  // a slot is no span
    bool const internal = u < v.internal_labels();
    // An internal label is shown only if the graph has the node because of it.
    if (internal) {
      auto const& n = e.graph.nodes[static_cast<std::size_t>(at)];
      int const tokens = v.tokens_of_label(u);
      if (tokens > 0 ? n.is_slot || n.size() != tokens : !alone[static_cast<std::size_t>(at)]) continue;
    }
    e.labels.push_back({at, internal ? std::string() : v.label_name(u),
                        static_cast<double>(found.label_probabilities[i / 2]),
                        detail::largest(causes.tokens, [&](index_t t) {
                          return contribution{static_cast<int>(t), causes.label_of(t, u), {causes.role_of(t, a, 2)}};
                        })});
  }
  if (!causes.implied.empty()) {
    std::set<std::pair<index_t, index_t>> there;  // the labels of columns that are in the graph
    for (std::size_t i = 0; i + 1 < found.labels.size(); i += 2) there.emplace(found.labels[i], found.labels[i + 1]);
    for (index_t a = 0; a < causes.columns; ++a)
      for (index_t u = v.internal_labels(); u < causes.labels; ++u) {
        double missed = 1, kept = 1;
        for (index_t t = 0; t < causes.tokens; ++t)
          missed *= 1 - noisy_or_kappa * causes.label_of(t, u) * causes.role_of(t, a, 2);
        for (index_t r = 0; r < causes.relations; ++r) kept *= 1 - noisy_or_kappa * causes.removal_of(a, r, u);
        double const before = 1 - missed;
        if (before < threshold || there.contains({a, u}) || node_of(a) < 0) continue;
        e.removed.push_back(
            {node_of(a), v.label_name(u), before, before * kept, detail::removing(causes, a, u, v.relations())});
      }
  }
  // Labels that words decide come from their own words.
  for (std::size_t i = 0; i < e.graph.nodes.size(); ++i)
    if (auto const& n = e.graph.nodes[i]; !n.is_slot)
      for (auto const& label : v.labels_of_word(v.word(e.graph.tokens[static_cast<std::size_t>(n.last)])))
        e.labels.push_back({static_cast<int>(i), label, 1, {contribution{n.last, 1, {}}}});
  std::stable_sort(e.labels.begin(), e.labels.end(), [](auto const& a, auto const& b) { return a.node < b.node; });
  if (!causes.heads.empty())
    for (index_t a = 0; a < members; ++a)
      for (index_t b = 0; b < a; ++b)
        if (float const p = causes.heads[static_cast<std::size_t>(a * causes.columns + b)];
            p >= least_taken && node_of(a) >= 0)
          e.taken.push_back(
              {node_of(a), static_cast<int>(queried[static_cast<std::size_t>(b)]), static_cast<double>(p)});
  for (std::size_t k = 0; k < causes.absent.size(); ++k)
    if (int const slot = node_of(members + static_cast<index_t>(k)); slot >= 0)
      for (auto const& one : anchors_of(causes, k))
        if (one.predicate >= least_taken) e.taken.push_back({slot, one.token, one.predicate});
  return e;
}

/// Returns the words of the node that ends with a token, or the token if there is no such node.
inline std::string name_at(meaning const& m, int token) {
  for (auto const& n : m.nodes)
    if (!n.is_slot && n.last == token) return name_of(m, n);
  return m.tokens[static_cast<std::size_t>(token)];
}

/// Returns the edges that remove a label, for people: at most three, such as "directed 0.98  produced 0.21".
inline std::string text_of(std::vector<removed_label::edge> const& by) {
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(3, by.size()); ++k)
    text += fmt::format("{}{} {:.2f}", k > 0 ? "  " : "", by[k].label, by[k].probability);
  return text;
}

/// Returns the contributions for people, such as "directed 0.98  and (2) 0.01": at most three.  A word that is in the
/// sentence more than once is followed by its index, from 0.
inline std::string text_of(std::vector<contribution> const& by, meaning const& m) {
  std::string text;
  for (std::size_t k = 0; k < std::min<std::size_t>(3, by.size()); ++k) {
    auto const& word = m.tokens[static_cast<std::size_t>(by[k].token)];
    bool const once = std::count(m.tokens.begin(), m.tokens.end(), word) == 1;
    text += fmt::format("{}{}{} {:.2f}", k > 0 ? "  " : "", word, once ? "" : fmt::format(" ({})", by[k].token),
                        by[k].product());
  }
  return text;
}

}  // namespace triad::programs::meanings
