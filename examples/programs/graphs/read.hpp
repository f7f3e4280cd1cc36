// Labelled graphs as JSON lines, in words and by numbers.
// SPDX-License-Identifier: Apache-2.0
//
//   {"nodes": 3, "edges": [[0, "left", 1], [1, "above", 2]], "query": [0, 2], "target": "left-above"}
//
// nodes may be a list of the nodes' labels.  A pair may have several edges, and a node edges to itself: the labels of a
// pair, with those of the node on the diagonal, together are one word for the model.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "training.hpp"

namespace triad::programs::graphs {

/// A graph in words: for each pair that has labels, all of them as one word.
struct written_graph {
  int nodes = 0;
  std::vector<std::string> node_labels;  // none, or of each node
  std::vector<std::pair<node_pair, std::string>> pairs;
  node_pair query{0, 0};
  std::string target;  // "": not known

  /// For graphs that are made: another edge.  A pair may have several.
  written_graph& edge(int from, std::string label, int to) {
    pairs.push_back({{from, to}, std::move(label)});
    return *this;
  }
};

/// One line; `answered`: its target is needed.  Throws data_error.
written_graph read_graph(nlohmann::json const& line, bool answered);

/// All lines of a file; `answered`: each has a target; places: of the graphs, file and line.  Throws data_error with
/// file and line.
std::vector<written_graph> read_graphs(std::string const& path, bool answered,
                                       std::vector<std::string>* places = nullptr);

/// By numbers.  Throws data_error for a word that is not in the vocabulary.
labelled_graph numbered(written_graph const& g, vocabulary const& words);

/// Graphs that were made edge by edge as a model takes them, with the words of train in the order of bytes.  Throws
/// data_error for a node that a graph does not have, and for an empty label.
data_set data_of(std::vector<written_graph> train, std::vector<written_graph> dev,
                 std::vector<std::pair<std::string, std::vector<written_graph>>> tests);
/// train, dev and tests of a folder.
data_set read_training(std::string const& folder);
/// The tests of a folder, its dev where there are none, or one file, in a model's words.  by: each in parts, one for
/// each value of this member of its lines, such as "kind".
std::vector<test_part> read_tests(std::string const& path, vocabulary const& words, std::string const& by = {});

/// Each part in parts, by the fewest edges from the one node of the question to the other.
std::vector<test_part> by_path(std::vector<test_part> const& parts);

/// Prints a summary of a file.
void inspect(std::string const& path);

}  // namespace triad::programs::graphs
