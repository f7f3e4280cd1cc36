// Training and evaluation for all programs whose data are labelled graphs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "network.hpp"
#include "shared/cli/record.hpp"
#include "shared/report/svg_plot.hpp"
#include "shared/run/training.hpp"

namespace triad::programs::graphs {

using graph_list = std::vector<labelled_graph>;

struct test_part {
  std::string name;
  graph_list graphs;
  // The origin of each graph, such as data/test.jsonl:3.  If this is empty, messages name graphs by their numbers.
  std::vector<std::string> places{};
};

/// Adds to `to` all graphs with more than `than` nodes.  `name` is the name of their part.
void add_larger_graphs(std::vector<sized_example>& to, int than, graph_list const& graphs,
                       std::vector<std::string> const& places, std::string const& name);

/// The training and test data of a model.
struct data_set {
  vocabulary words;
  graph_list train, dev;  // without dev, options::validation is the fraction of train that is held out
  std::vector<std::string> train_places{}, dev_places{};  // like test_part::places
  std::vector<test_part> tests;

  // Makes training example `number`.  If this function is set, its examples are used instead of `train`.
  std::function<labelled_graph(std::uint64_t seed, std::int64_t number)> made;
  std::int64_t const* made_in_all = nullptr;  // number of generated examples; --minutes may change it
  int made_nodes = 0;                         // largest number of nodes of a generated example
};

int most_nodes(graph_list const& graphs);
int most_nodes(std::vector<test_part> const& parts);

/// Texts for the output of a program's training.
struct run_texts {
  std::string title{};                                     // title of the plot of accuracies
  std::string x{};                                         // name of its x axis
  std::string no_tests{};                                  // advice that is printed if no test part was scored
  std::function<double(std::string const& part)> place{};  // the x coordinate of a part; empty: there is no plot
  std::optional<series> paper{};                           // the paper's results, for the plot
};

/// The verb `train`.  Trains the model once for each seed, and the model o.compare once for comparison.  Prints the
/// accuracy on each part of the data.  Returns the exit status.
int train(options& o, data_set const& data, run_texts const& say);

/// Reads the vocabulary of a trained model from its checkpoint.  Throws data_error.
vocabulary words_of(checkpoint const& file);

/// Reads the model of a checkpoint, with memory for graphs of up to `most` nodes.  If `explaining`, a batch has one
/// graph, and the model keeps all intermediate values.
trained<network> trained_model(options const& o, checkpoint const& file, int most, bool explaining = false);
/// Reads the model of a checkpoint, with memory for all graphs of `parts`.  If there is not enough memory, the error
/// names the largest graphs.
trained<network> trained_model(options const& o, checkpoint const& file, std::vector<test_part> const& parts);

/// Answers questions one at a time.  If a graph is larger than all graphs before, makes a model with more memory.
class answerer {
 public:
  answerer(options const& o, checkpoint const& file) : options_(o), file_(file) {}

  /// Returns the number of the likeliest target.
  int operator()(labelled_graph const& graph);
  /// Returns the probability of every target, by number.
  std::vector<double> probabilities(labelled_graph const& graph);

 private:
  /// Makes this graph the model's batch, and returns the model.
  network& asked(labelled_graph const& graph);

  options const& options_;
  checkpoint const& file_;
  int most_ = 0;
  std::optional<trained<network>> model_;
};

/// Returns the width of a table column for these names.
std::size_t widest(std::vector<std::string> const& names);

/// Calls f(graph, number of the likeliest target) for all graphs.  Puts the graphs into batches that fit into memory.
void answer_all(network& net, graph_list const& graphs, std::function<void(labelled_graph const&, int)> const& f);

/// Returns the fraction of right answers, from 0 to 1.
double accuracy(network& net, graph_list const& graphs);

/// The verb `evaluate`.  Prints the accuracy on each part of the data.  Also counts each mistake: with o.confusion,
/// prints the most frequent mistakes; with o.out, writes all counts to confusion.csv.  With o.more_runs, averages the
/// answers of all runs.
void evaluate(options const& o, checkpoint const& file, std::vector<test_part> const& parts);

/// Prints the proof path of the answer about a graph, and draws the path into the folder o.out.  `names` are the names
/// of the nodes.
void explain(options const& o, checkpoint const& file, labelled_graph const& graph,
             std::vector<std::string> const& names);

}  // namespace triad::programs::graphs
