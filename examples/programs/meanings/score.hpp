// Scores of predicted graphs: exact matches, and precision and recall of edges and labels.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "meaning.hpp"
#include "shared/report/confusion.hpp"
#include "shared/run/training.hpp"

namespace triad::programs::meanings {

/// How many things are in the given graphs, in the predicted graphs, and in both.
struct overlap {
  long long given = 0, found = 0, both = 0;

  double precision() const { return found > 0 ? static_cast<double>(both) / static_cast<double>(found) : 0; }
  double recall() const { return given > 0 ? static_cast<double>(both) / static_cast<double>(given) : 0; }
  /// The harmonic mean of precision and recall: 2 both / (given + found).  1 if there is nothing to find, and nothing
  /// was found.
  double f1() const {
    return given + found > 0 ? 2 * static_cast<double>(both) / static_cast<double>(given + found) : 1;
  }
  overlap& operator+=(overlap const& more) {
    given += more.given;
    found += more.found;
    both += more.both;
    return *this;
  }
  template <class Set>
  void add(Set const& of_given, Set const& of_found) {
    given += static_cast<long long>(of_given.size());
    found += static_cast<long long>(of_found.size());
    for (auto const& one : of_found) both += of_given.count(one) != 0 ? 1 : 0;
  }
};

struct kind_tally {
  long long rows = 0, exact = 0;

  double exact_match() const { return rows > 0 ? static_cast<double>(exact) / static_cast<double>(rows) : 0; }
};

struct graph_tally : kind_tally {
  overlap edges, pairs, labels;                      // edges with and without their labels; labels of nodes
  std::map<std::string, overlap> by_edge, by_label;  // of each label of edges, and of each label of nodes
  std::map<std::string, kind_tally> by_kind;

  /// Adds a row, whose predicted graph is `right` or not.  The edges and labels of a row that was left out are not
  /// counted.  If a pair of nodes lacks one label of an edge and has one other instead, adds both labels to `confused`,
  /// under the name `part`.
  void add(given_row const& row, meaning const& predicted, bool right, confusion* confused = nullptr,
           std::string const& part = {}) {
    ++rows;
    exact += right ? 1 : 0;
    auto& kind = by_kind[row.graph.kind];
    ++kind.rows;
    kind.exact += right ? 1 : 0;
    if (!row.left_out.empty()) return;
    auto const given = things_of(row.graph), found = things_of(predicted);
    edges.add(given.edges, found.edges);
    pairs.add(given.pairs, found.pairs);
    labels.add(given.labels, found.labels);
    add_by_name(by_edge, given.edges, found.edges);
    add_by_name(by_label, given.labels, found.labels);
    if (confused != nullptr)
      for (auto const& pair : given.pairs) {
        auto const of = [&](std::set<std::tuple<node, node, std::string>> const& all) {
          std::set<std::string> names;
          for (auto at = all.lower_bound({pair.first, pair.second, ""});
               at != all.end() && std::get<0>(*at) == pair.first && std::get<1>(*at) == pair.second; ++at)
            names.insert(std::get<2>(*at));
          return names;
        };
        auto const right_names = of(given.edges), found_names = of(found.edges);
        std::vector<std::string> missed, wrong;
        std::set_difference(right_names.begin(), right_names.end(), found_names.begin(), found_names.end(),
                            std::back_inserter(missed));
        std::set_difference(found_names.begin(), found_names.end(), right_names.begin(), right_names.end(),
                            std::back_inserter(wrong));
        if (missed.empty() && wrong.empty())
          for (auto const& name : right_names) confused->add(part, name, name);
        else if (missed.size() == 1 && wrong.size() == 1)
          confused->add(part, missed[0], wrong[0]);
      }
  }

 private:
  struct things {
    std::set<std::tuple<node, node, std::string>> edges;
    std::set<std::pair<node, node>> pairs;
    std::set<std::pair<node, std::string>> labels;
  };
  static things things_of(meaning const& m) {
    things all;
    auto const at = [&](int n) { return m.nodes[static_cast<std::size_t>(n)]; };
    for (auto const& e : m.edges) {
      all.edges.insert({at(e.from), at(e.to), e.label});
      all.pairs.insert({at(e.from), at(e.to)});
    }
    for (std::size_t i = 0; i < m.nodes.size(); ++i)
      for (auto const& label : m.node_labels[i]) all.labels.insert({m.nodes[i], label});
    return all;
  }
  template <class Set>
  static void add_by_name(std::map<std::string, overlap>& all, Set const& given, Set const& found) {
    constexpr auto last = std::tuple_size_v<typename Set::value_type> - 1;
    for (auto const& one : given) ++all[std::get<last>(one)].given;
    for (auto const& one : found) {
      auto& of = all[std::get<last>(one)];
      ++of.found;
      of.both += given.count(one) != 0 ? 1 : 0;
    }
  }
};

/// The scores of a part as fractions, by kind if there are several kinds.
inline part_scores scores_of(std::string const& part, graph_tally const& t) {
  part_scores s{
      part, {{"exact match", t.exact_match()}, {"edges F1", t.edges.f1()}, {"labels F1", t.labels.f1()}}, t.rows};
  if (t.by_kind.size() > 1)
    for (auto const& [kind, of] : t.by_kind) s.kinds.push_back({kind, of.exact_match(), of.rows});
  return s;
}

}  // namespace triad::programs::meanings
