// Training and predictions of all programs whose data are labelled graphs.
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
  std::vector<std::string> places{};  // of the graphs, such as data/test.jsonl:3; none: they are known by their numbers
};

/// Adds those of the graphs, called `name`, that have more than `than` nodes.
void add_larger_graphs(std::vector<sized_example>& to, int than, graph_list const& graphs,
                       std::vector<std::string> const& places, std::string const& name);

/// The training and test data of a model.
struct data_set {
  vocabulary words;
  graph_list train, dev;  // no dev: options::validation of train is held out, by the seed
  std::vector<std::string> train_places{}, dev_places{};  // as those of a part
  std::vector<test_part> tests;

  // Instead of train, examples that are made as they are needed, each by its number.
  std::function<labelled_graph(std::uint64_t seed, std::int64_t number)> made;
  std::int64_t const* made_in_all = nullptr;  // how many: an option, which --minutes may change
  int made_nodes = 0;                         // of the largest
};

int most_nodes(graph_list const& graphs);
int most_nodes(std::vector<test_part> const& parts);

/// What else a program's runs have.
struct run_texts {
  std::string title{};                                     // of the plot of accuracies
  std::string x{};                                         // its axis
  std::string no_tests{};                                  // what is said where nothing was measured
  std::function<double(std::string const& part)> place{};  // of a part on that axis; none: no plot
  std::optional<series> paper{};                           // what is quoted
};

/// train: one run for each seed, and of o.compare; then accuracy by part.  The exit status.
int train(options& o, data_set const& data, run_texts const& say);

/// The vocabulary of a trained model, from its checkpoint.  Throws data_error.
vocabulary words_of(checkpoint const& file);

/// The model of a checkpoint, with memory for graphs of up to `most` nodes; explaining: for one graph, keeping all
/// intermediate values.
trained<network> trained_model(options const& o, checkpoint const& file, int most, bool explaining = false);
/// The same with memory for all graphs of some parts.  If memory is short, the error names the largest graphs.
trained<network> trained_model(options const& o, checkpoint const& file, std::vector<test_part> const& parts);

/// Answers one question after another; remakes the model if a graph is larger than all before.
class answerer {
 public:
  answerer(options const& o, checkpoint const& file) : options_(o), file_(file) {}

  /// The number of the likeliest target.
  int operator()(labelled_graph const& graph);
  /// The probability of every target, by number.
  std::vector<double> probabilities(labelled_graph const& graph);

 private:
  /// The model, with this graph as its batch.
  network& asked(labelled_graph const& graph);

  options const& options_;
  checkpoint const& file_;
  int most_ = 0;
  std::optional<trained<network>> model_;
};

/// The width of a column that holds these names.
std::size_t widest(std::vector<std::string> const& names);

/// Calls f(graph, number of the likeliest target) for all graphs, in batches that fit.
void answer_all(network& net, graph_list const& graphs, std::function<void(labelled_graph const&, int)> const& f);

/// The fraction of right answers, from 0 to 1.
double accuracy(network& net, graph_list const& graphs);

/// evaluate: accuracy by part, and which answers a checkpoint's model takes for which, printed with o.confusion and
/// written to o.out/confusion.csv.  With o.more_runs all of them answer together.
void evaluate(options const& o, checkpoint const& file, std::vector<test_part> const& parts);

/// Prints the proof path of the answer about a graph whose nodes have these names, and draws it to o.out.
void explain(options const& o, checkpoint const& file, labelled_graph const& graph,
             std::vector<std::string> const& names);

}  // namespace triad::programs::graphs
