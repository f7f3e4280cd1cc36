// Joins two training graphs into one; the question and the answer of the first graph stay the same.
// SPDX-License-Identifier: Apache-2.0
//
//   detour  an edge labelled r is replaced by a graph whose answer is r, between the same two nodes
//   branch  a second graph also has an edge labelled r; the two edges become one, and the second graph's other edges
//           are added
//
// With 0 -a- 1 -b- 2, and at its edge b:
//   detour  by a graph of the edges c, d with the answer b:   0 -a- 1 -c- 3 -d- 2
//   branch  by a graph of the edges e, b, f:                  0 -a- 1 -b- 2,  3 -e- 1,  2 -f- 4
//
// A joined graph is used as an example only if the training graphs show that its answer is right.  It is kept if all of
// these conditions hold:
//
// 1. The rules of composition, which are learned from graphs of two edges (rules.hpp), derive its answer from its
// edges, and give no pair of nodes two names.
//
// 2. For any two consecutive edges, some training graph has consecutive edges with the same two labels in the same
// order.
//
// 3. Each node has one kind.  Two labels are of one kind if both describe the same node of a training graph: they are
// the labels of two edges into the node, or the label of the last edge and the answer.  All edges into a node have
// labels of the node's kind.  For each edge out of a node, some training graph has an edge with this label out of a
// node of this kind.  In data about families, the kinds are men and women.
//
// 4. A graph with a detour has no more edges than the largest training graph.
//
// Facts that graphs of two edges cannot show, such as that no person has two mothers, are not checked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "rules.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::graphs {

enum class gluing { detours, branches, both };

namespace detail {

/// Adds all edges of `other` except edge number `without`.  The two nodes of `from_here` become those of `to_there`.
/// All other nodes get new numbers.
inline void add_edges(labelled_graph& to, labelled_graph const& other, std::size_t without, node_pair from_here,
                      node_pair to_there) {
  std::vector<int> number(static_cast<std::size_t>(other.nodes), -1);
  number[static_cast<std::size_t>(from_here.from)] = to_there.from;
  number[static_cast<std::size_t>(from_here.to)] = to_there.to;
  auto const of = [&](int node) {
    int& n = number[static_cast<std::size_t>(node)];
    if (n < 0) n = to.nodes++;
    return n;
  };
  for (std::size_t e = 0; e < other.edges.size(); ++e) {
    if (e == without) continue;
    int const from = of(other.edges[e].from), end = of(other.edges[e].to);
    to.edges.push_back({from, end, other.edges[e].label});
  }
}

}  // namespace detail

/// Returns `base` with its edge `at` replaced by all edges of `other`.  The two nodes of the question of `other` become
/// the nodes of edge `at`.
inline labelled_graph with_detour(labelled_graph const& base, std::size_t at, labelled_graph const& other) {
  auto glued = base;
  glued.further.clear();
  auto const replaced = base.edges[at];
  glued.edges.erase(glued.edges.begin() + static_cast<std::ptrdiff_t>(at));
  detail::add_edges(glued, other, other.edges.size(), other.query, {replaced.from, replaced.to});
  if (base.k > 0) glued.k = base.k + static_cast<int>(other.edges.size()) - 1;
  return glued;
}

/// Returns `base` with `other` added.  The edge `shared` of `other` becomes the edge `at` of `base`.
inline labelled_graph with_branch(labelled_graph const& base, std::size_t at, labelled_graph const& other,
                                  std::size_t shared) {
  auto glued = base;
  glued.further.clear();
  detail::add_edges(glued, other, shared, {other.edges[shared].from, other.edges[shared].to},
                    {base.edges[at].from, base.edges[at].to});
  return glued;
}

/// Joins pairs of graphs of a list.  The list must outlive this object.
class glued_graphs {
 public:
  /// `rules` must be learned from the same graphs.
  glued_graphs(std::vector<labelled_graph> const& all, vocabulary const& words, composition_rules const& rules,
               gluing how)
      : all_(all), how_(how), labels_(words.edge_labels.end()) {
    for (int t = 0; t < words.targets.end(); ++t) {
      int const label = words.edge_label(words.target_name(t));
      name_of_target_.push_back(label > 0 ? label : labels_ + t);  // a new name, if the target is no label
    }
    names_ = static_cast<std::size_t>(labels_ + words.targets.end());
    composed_.assign(names_ * names_, no_name);
    rules.each([&](int first, int second, int target) {
      composed_[pair(first, second)] = target < 0 ? several : name_of_target_[static_cast<std::size_t>(target)];
    });
    kind_.resize(names_);
    std::iota(kind_.begin(), kind_.end(), 0);
    for (auto const& g : all) learn_kinds(g);
    for (auto& k : kind_) k = kind(k);
    follows_.resize(names_ * names_);
    leaves_.resize(names_ * names_);
    left_.resize(names_);
    with_answer_.resize(names_);
    with_label_.resize(names_);
    for (std::size_t i = 0; i < all.size(); ++i) learn(all[i], i);
  }

  /// The largest possible number of nodes of a joined graph.
  int most_nodes() const { return how_ == gluing::detours ? most_nodes_ : std::max(most_nodes_, 2 * most_nodes_ - 2); }

  /// Returns whether a detour is possible, which is so if some answer is also the label of an edge.
  bool has_detours() const {
    for (int label = 1; label < labels_; ++label)
      if (!with_answer_[static_cast<std::size_t>(label)].empty() &&
          !with_label_[static_cast<std::size_t>(label)].empty())
        return true;
    return false;
  }

  /// Joins `base` and another graph of the list.  Returns nothing if no draw gives an acceptable graph.
  std::optional<labelled_graph> operator()(labelled_graph const& base, random_stream random) const {
    if (base.edges.empty()) return std::nullopt;
    for (int draw = 0; draw < most_draws; ++draw) {
      bool const detour = how_ == gluing::detours || (how_ == gluing::both && random.below(2) == 0);
      auto const at = random.below(static_cast<std::uint32_t>(base.edges.size()));
      auto glued = detour ? draw_detour(base, at, random) : draw_branch(base, at, random);
      if (glued && glued->nodes <= most_nodes() && is_kept(*glued)) return glued;
    }
    return std::nullopt;
  }

  /// Returns whether `g` fulfils conditions 1 to 3 above.
  bool is_kept(labelled_graph const& g) const { return is_answered(g) && follow(g) && have_kinds(g); }

  /// Returns the kind of node to which an edge or target with this name leads.  Names have numbers: first all labels,
  /// then all targets that are no labels.
  int kind_of_name(int name) const { return kind_[static_cast<std::size_t>(name)]; }
  int name_of_target(int target) const { return name_of_target_[static_cast<std::size_t>(target)]; }

 private:
  static constexpr int most_draws = 8;
  static constexpr int no_name = -1, several = -2;

  std::size_t pair(int first, int second) const {
    return static_cast<std::size_t>(first) * names_ + static_cast<std::size_t>(second);
  }
  int kind(int name) {
    auto& up = kind_[static_cast<std::size_t>(name)];
    return up == name ? name : up = kind(up);
  }
  void are_one_kind(int a, int b) {
    int const one = kind(a), two = kind(b);
    kind_[static_cast<std::size_t>(std::max(one, two))] = std::min(one, two);
  }
  void learn_kinds(labelled_graph const& g) {
    std::vector<int> into(static_cast<std::size_t>(g.nodes), no_name);
    if (g.target >= 0) into[static_cast<std::size_t>(g.query.to)] = name_of_target(g.target);
    for (auto const& e : g.edges) {
      int& before = into[static_cast<std::size_t>(e.to)];
      if (before >= 0) are_one_kind(before, e.label);
      before = e.label;
    }
  }
  void learn(labelled_graph const& g, std::size_t number) {
    most_edges_ = std::max(most_edges_, g.edges.size());
    most_nodes_ = std::max(most_nodes_, g.nodes);
    for (auto const& first : g.edges)
      for (auto const& second : g.edges)
        if (first.to == second.from) {
          follows_[pair(first.label, second.label)] = true;
          leaves_[pair(kind_of_name(first.label), second.label)] = true;
          left_[static_cast<std::size_t>(second.label)] = true;
        }
    for (std::size_t e = 0; e < g.edges.size(); ++e)
      with_label_[static_cast<std::size_t>(g.edges[e].label)].emplace_back(number, e);
    if (g.target < 0 || g.edges.size() < 2 || g.query.from == g.query.to) return;
    auto& by_size = with_answer_[static_cast<std::size_t>(name_of_target(g.target))];
    if (by_size.size() <= g.edges.size()) by_size.resize(g.edges.size() + 1);
    by_size[g.edges.size()].push_back(number);
  }

  std::optional<labelled_graph> draw_detour(labelled_graph const& base, std::size_t at, random_stream& random) const {
    auto const& e = base.edges[at];
    if (e.from == e.to) return std::nullopt;
    auto const& by_size = with_answer_[static_cast<std::size_t>(e.label)];
    auto const most = std::min(by_size.size(), most_edges_ + 2 - std::min(most_edges_ + 2, base.edges.size()));
    std::size_t count = 0;
    for (std::size_t size = 2; size < most; ++size) count += by_size[size].size();
    if (count == 0) return std::nullopt;
    std::size_t k = random.below(static_cast<std::uint32_t>(count)), size = 2;
    for (; k >= by_size[size].size(); ++size) k -= by_size[size].size();
    return with_detour(base, at, all_[by_size[size][k]]);
  }
  std::optional<labelled_graph> draw_branch(labelled_graph const& base, std::size_t at, random_stream& random) const {
    auto const& e = base.edges[at];
    auto const& alike = with_label_[static_cast<std::size_t>(e.label)];
    if (e.from == e.to || alike.empty()) return std::nullopt;
    auto const& [number, shared] = alike[random.below(static_cast<std::uint32_t>(alike.size()))];
    auto const& other = all_[number];
    if (other.edges[shared].from == other.edges[shared].to) return std::nullopt;
    return with_branch(base, at, other, shared);
  }

  /// Returns whether the rules derive the answer of `g`, and give no pair of nodes two names.
  bool is_answered(labelled_graph const& g) const {
    auto const n = static_cast<std::size_t>(g.nodes);
    std::vector<int> name(n * n, no_name);
    auto const of = [&](auto from, auto to) -> int& {
      return name[static_cast<std::size_t>(from) * n + static_cast<std::size_t>(to)];
    };
    for (auto const& e : g.edges) {
      if (of(e.from, e.to) >= 0) return false;  // a pair of nodes with two edges
      of(e.from, e.to) = e.label;
    }
    for (bool more = true; more;) {
      more = false;
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t middle = 0; middle < n; ++middle) {
          int const first = of(i, middle);
          if (first < 0 || i == middle) continue;
          for (std::size_t j = 0; j < n; ++j) {
            int const second = of(middle, j);
            if (second < 0 || j == i || j == middle) continue;
            int const both = composed_[pair(first, second)];
            if (both == no_name || of(i, j) == both) continue;
            if (both == several || of(i, j) >= 0) return false;
            of(i, j) = both;
            more = true;
          }
        }
    }
    return g.target >= 0 && of(g.query.from, g.query.to) == name_of_target(g.target);
  }
  bool follow(labelled_graph const& g) const {
    for (auto const& first : g.edges)
      for (auto const& second : g.edges)
        if (first.to == second.from && !follows_[pair(first.label, second.label)]) return false;
    return true;
  }
  bool have_kinds(labelled_graph const& g) const {
    auto const can_be = [&](int node, int kind) {
      return std::all_of(g.edges.begin(), g.edges.end(), [&](edge const& e) {
        bool const into = e.to != node || kind_of_name(e.label) == kind;
        bool const out = e.from != node || !left_[static_cast<std::size_t>(e.label)] || leaves_[pair(kind, e.label)];
        return into && out;
      });
    };
    for (int node = 0; node < g.nodes; ++node) {
      bool any = false;
      for (int k = 1; !any && k < static_cast<int>(names_); ++k) any = kind_of_name(k) == k && can_be(node, k);
      if (!any) return false;
    }
    return true;
  }

  std::vector<labelled_graph> const& all_;
  gluing how_;
  int labels_;         // number of the first name that is a target but no label
  std::size_t names_;  // number of names of edges and targets
  std::vector<int> name_of_target_, composed_, kind_;
  // An element of these tables is true if a given graph has two consecutive edges with a property. follows_, by two
  // labels: the edges have these labels in this order. leaves_, by kind and label: the first edge leads to a node of
  // the kind, and the second edge has the label. left_, by label: the second edge has the label.
  std::vector<bool> follows_, leaves_, left_;
  std::vector<std::vector<std::vector<std::size_t>>> with_answer_;            // graphs, by name and number of edges
  std::vector<std::vector<std::pair<std::size_t, std::size_t>>> with_label_;  // graphs and edges, by label
  std::size_t most_edges_ = 0;
  int most_nodes_ = 0;
};

}  // namespace triad::programs::graphs
