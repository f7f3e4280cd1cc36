// The page of `explain --html`: a sentence with its predicted graph, and the words that made each edge and each label.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "explained.hpp"
#include "triad/io/text/characters.hpp"

namespace triad::programs::meanings {

namespace detail {

/// Rounds to four decimal places.
inline double rounded(double p) { return std::round(1e4 * p) / 1e4; }

/// Returns the contributions as the script of the page reads them: for each, the word and its factors.
inline nlohmann::ordered_json by_json(std::vector<contribution> const& by) {
  auto all = nlohmann::ordered_json::array();
  for (auto const& one : by) {
    auto factors = nlohmann::ordered_json::array({rounded(one.predicate)});
    for (double const role : one.roles) factors.push_back(rounded(role));
    all.push_back({{"word", one.token}, {"weight", rounded(one.product())}, {"factors", std::move(factors)}});
  }
  return all;
}

}  // namespace detail

/// Returns the data of the page.  shared/report/page_arcs_graph_maps.inc describes a view of the kind `graph`.
inline nlohmann::ordered_json page_of(explained_graph const& e, double threshold) {
  using json = nlohmann::ordered_json;
  using detail::rounded, detail::by_json;
  auto const& m = e.graph;
  json nodes = json::array(), edges = json::array();
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    auto const& n = m.nodes[i];
    json labels = json::array(), takes = json::array(), removed = json::array();
    for (auto const& one : e.labels)
      if (one.node == static_cast<int>(i))
        labels.push_back({{"name", one.label}, {"weight", rounded(one.probability)}, {"by", by_json(one.by)}});
    for (auto const& one : e.taken)
      if (one.node == static_cast<int>(i))
        takes.push_back({{"word", one.token}, {"name", name_at(m, one.token)}, {"weight", rounded(one.probability)}});
    for (auto const& one : e.removed)
      if (one.node == static_cast<int>(i))
        removed.push_back({{"name", fmt::format("{} ({:.2f} without edges, {:.2f} with them), by {}", one.label,
                                                one.before, one.after, text_of(one.by))},
                           {"weight", rounded(one.by.front().probability)}});
    nodes.push_back({{"name", name_of(m, n)},
                     {"slot", n.is_slot},
                     {"first", n.first},
                     {"last", n.last},
                     {"labels", std::move(labels)},
                     {"takes", std::move(takes)},
                     {"removed", std::move(removed)}});
  }
  for (auto const& one : e.edges)
    edges.push_back({{"from", one.from},
                     {"to", one.to},
                     {"label", one.label},
                     {"weight", rounded(one.probability)},
                     {"by", by_json(one.by)}});
  json lead = json::array();
  if (!m.label.empty())
    lead.push_back(fmt::format("The graph has the label {}: {:.3f}.", m.label, e.graph_probability));
  lead.push_back(
      fmt::format("The predicted graph has the edges and the labels with a probability of at least {}.", threshold));
  json view{{"kind", "graph"},
            {"words", m.tokens},
            {"nodes", std::move(nodes)},
            {"edges", std::move(edges)},
            {"predicates", e.has_predicates}};
  return {{"title", text::joined(m.tokens)}, {"lead", std::move(lead)}, {"views", json::array({std::move(view)})}};
}

}  // namespace triad::programs::meanings
