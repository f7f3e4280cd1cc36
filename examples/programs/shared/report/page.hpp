// A page that explains a prediction: one HTML file with interactive figures.  It loads nothing from a network.
// SPDX-License-Identifier: Apache-2.0
//
//   {"title": "bea is ann's mother", "lead": ["..."], "views": [{"kind": "triangles", ...}, ...]}
//
// page_triangles_steps.inc and page_arcs_graph_maps.inc define the views and their data.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "triad/train/attention_table.hpp"

namespace triad::programs {

/// Returns the page as the text of a file.  No text in `data` can become markup or script.
std::string to_page(nlohmann::ordered_json const& data);

/// Writes the page to a file.  Throws data_error on failure.
void write_page(std::string const& path, nlohmann::ordered_json const& data);

/// Returns a weight from 0 to 1 in thousandths, as views of attention store it.  Returns 0 if the weight is not finite.
int thousandths(double weight);

/// The largest number of nodes for which a page is written.  A page has a number for each layer, head and triple of
/// nodes, so with more nodes it would be too large.
inline constexpr int most_nodes_of_page = 48;

/// Returns the data of a view of the attention to middle nodes. weights[layer][head] has the weights of all middle
/// nodes for each edge; the edges are in row order.
nlohmann::ordered_json attention_view(std::vector<std::vector<std::vector<int>>> const& weights, int nodes);

/// Returns the data of such a view for a model. of_edge(layer, i, j) must return the attention of edge (i, j).
template <class F>
nlohmann::ordered_json attention_view(int layers, int nodes, F const& of_edge) {
  std::vector<std::vector<std::vector<int>>> weights(static_cast<std::size_t>(layers));
  for (int layer = 0; layer < layers; ++layer)
    for (int i = 0; i < nodes; ++i)
      for (int j = 0; j < nodes; ++j) {
        triad::attention_table<float> const table = of_edge(layer, i, j);
        auto& heads = weights[static_cast<std::size_t>(layer)];
        heads.resize(static_cast<std::size_t>(table.heads()));
        for (index_t h = 0; h < table.heads(); ++h)
          for (index_t l = 0; l < table.terms(); ++l)
            heads[static_cast<std::size_t>(h)].push_back(thousandths(static_cast<double>(table(h, l))));
      }
  return attention_view(weights, nodes);
}

}  // namespace triad::programs
