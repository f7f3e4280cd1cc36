// Reads labelled graphs from JSON lines, and converts their words to numbers.
// SPDX-License-Identifier: Apache-2.0
//
//   {"nodes": 3, "edges": [[0, "left", 1], [1, "above", 2]], "query": [0, 2], "target": "left-above"}
//
// `nodes` may be a list of the nodes' labels.  A pair of nodes may have several edges, and a node may have edges to
// itself.  The model sees all labels of a pair together as one word.  The word of a pair (i, i) also includes the label
// of node i.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "graph.hpp"
#include "training.hpp"

namespace triad::programs::graphs {

/// A graph with words.  All labels of a pair of nodes are one word.
struct written_graph {
  int nodes = 0;
  std::vector<std::string> node_labels;  // one for each node, or empty
  std::vector<std::pair<node_pair, std::string>> pairs;
  node_pair query{0, 0};
  std::string target;  // empty if unknown

  /// Adds an edge to a graph that a program generates.  A pair of nodes may have several edges.
  written_graph& edge(int from, std::string label, int to) {
    pairs.push_back({{from, to}, std::move(label)});
    return *this;
  }
};

/// Reads the graph of one line.  If `answered`, the line must have a target.  Throws data_error.
written_graph read_graph(nlohmann::json const& line, bool answered);

/// Reads all lines of a file.  If `answered`, each line must have a target.  Appends the file and line number of each
/// graph to `places`.  Throws data_error with file and line.
std::vector<written_graph> read_graphs(std::string const& path, bool answered,
                                       std::vector<std::string>* places = nullptr);

/// Returns a graph with numbers in place of words.  Throws data_error if a word is not in the vocabulary.
labelled_graph numbered(written_graph const& g, vocabulary const& words);

/// Converts graphs that a program made edge by edge to the input of a model.  The vocabulary has the words of `train`
/// in the order of bytes.  Throws data_error if an edge names a node that its graph does not have, or if a label is
/// empty.
data_set data_of(std::vector<written_graph> train, std::vector<written_graph> dev,
                 std::vector<std::pair<std::string, std::vector<written_graph>>> tests);
/// Reads train, dev and the tests of a folder.
data_set read_training(std::string const& folder);
/// Reads the tests of a folder, its dev file if there are no tests, or a single file, with the vocabulary of a model.
/// If `by` names a member of the lines, such as "kind", each file becomes one part for each value of the member.
std::vector<test_part> read_tests(std::string const& path, vocabulary const& words, std::string const& by = {});

/// Divides each part of the data further, by the length of the shortest path between the two nodes of the question.
std::vector<test_part> by_path(std::vector<test_part> const& parts);

/// Prints a summary of a file.
void inspect(std::string const& path);

}  // namespace triad::programs::graphs
