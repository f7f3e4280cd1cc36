// The interface of a model from sentences to graphs on one backend, and the options of the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "numbered.hpp"
#include "shared/backend/network.hpp"
#include "shared/data/questions.hpp"
#include "shared/run/learner.hpp"
#include "triad/batches/sentence_graph_loader.hpp"
#include "vocabulary.hpp"

namespace triad::programs::meanings {

/// The defaults are our own settings.
struct options : stack_options {
  int least_count = 1;              // least number of times that a word of the dictionary occurs in the training set
  int slots = 0;                    // nodes that no token names; 0: as many as the training graphs have
  std::string slot_form = "nodes";  // nodes: slots have roles of their own; anchors: slots have the roles of a token

  std::string head = "edges";   // edges: labels straight from the states; predicates: tokens with roles
  bool implied_labels = false;  // edges remove labels that they imply
  bool word_labels = false;     // labels that words decide are looked up
  triangle_form attention = triangle_form::full;
  double inner_dropout = 0;    // dropout rate of attention weights and hidden units
  int max_offset = 2;          // longest distance in tokens with its own relative position
  bool lists = false;          // members of a list take over the roles of the list's first member
  int lists_after = 0;         // edge-transformer: the layer whose states show the lists; 0: words show them
  double list_penalty = 1.2;   // weight of the penalty of list members that keep their own roles
  double list_accuracy = 0.6;  // the penalty begins when this fraction of the training graphs is right
  double bag = 0.5;            // weight of the loss of the labels that any pair of a graph has

  int updates = 6000, evaluate_every = 200;
  int batch = 32;                 // sentences in a batch
  int dev_size = 500;             // largest number of sentences that a checkpoint is validated on
  bool dev_only = false;          // no test file is read
  bool choose_threshold = false;  // each checkpoint chooses its threshold on its dev sentences
  double decay = 0;
  double augment = 0;                       // probability that a phrase of a training sentence is replaced
  std::string phrase_words = "a,an,the";    // words that belong to the phrase whose head they precede; none: no word
  std::string question_words = "who,what";  // words that no phrase has; none: no word

  double threshold = 0.5;         // evaluate, predict, explain: probability from which on a label is there
  std::string sentence;           // predict, explain
  std::string format = "json";    // predict: json, query, dot
  programs::questions questions;  // predict
  bool unknown = false;           // predict, explain: replaces unknown words by <unk>
  bool confusion = false;         // evaluate
  int count = 300;                // generate: number of training commands

  options() {
    model = "edge-transformer";
    layers = 4;
    width = 64;
    heads = 4;
    hidden_factor = 2;
    dropout = 0.1;
    dropout_places = "first states and branches";
    rate = 1.2e-3;
    warmup = 300;
    average = 0.997;
  }
  void settle() override;
  void each(option_list& f) override;
  void restored(checkpoint const& file) override;
};

/// Sets the defaults of o.preset.
///   cfq-queries   our settings for CFQ's questions: four slots, predicates, and two kinds of prior knowledge, which
///                 are lists and implied labels
///   cogs, slog    our settings for the logical forms of these data: labels that words decide are looked up
///   small         some thousand sentences of your own in a few minutes
inline void apply_preset(options& o) {
  if (o.preset == "cfq-queries") {
    o.slots = 4;
    o.head = "predicates";
    o.lists = true;
    o.implied_labels = true;
  }
  if (o.preset == "cogs" || o.preset == "slog") {
    o.word_labels = true;
    o.updates = 6000;
    o.evaluate_every = 1000;
    if (o.preset == "slog") o.layers = 6;
  }
  if (o.preset == "small") {
    o.updates = 1500;
    o.evaluate_every = 150;
    o.warmup = 100;
    o.rate = 2e-3;
    o.average = 0.99;
  }
  if (o.preset == "smoke") {
    o.head = "predicates";
    o.layers = 2;
    o.width = 16;
    o.heads = 2;
    o.dropout = 0;
    o.warmup = 0;
    o.updates = 20;
    o.evaluate_every = 10;
    o.batch = 8;
    o.dev_size = 8;
    o.average = 0;
  }
}

/// The model's answer for one sentence, as numbers.
struct found_graph {
  std::vector<index_t> edges;             // from, relation, to of each edge
  std::vector<index_t> labels;            // column, label of each label
  index_t graph_label = -1;               // -1: graphs have no label
  std::vector<float> edge_probabilities;  // of each edge in `edges`
  std::vector<float> label_probabilities;
  float graph_probability = 0;
};
inline auto tied_parts(found_graph& g) {
  return std::tie(g.edges, g.labels, g.graph_label, g.edge_probabilities, g.label_probabilities, g.graph_probability);
}

/// Returns the answer with a higher threshold: the edges and labels that have at least this probability.
inline found_graph cut(found_graph const& all, double threshold) {
  found_graph g;
  g.graph_label = all.graph_label;
  g.graph_probability = all.graph_probability;
  auto const take = [&](auto const& from, auto const& probabilities, std::size_t size, auto& to, auto& kept) {
    for (std::size_t i = 0; i < probabilities.size(); ++i) {
      if (!(probabilities[i] >= threshold)) continue;
      for (std::size_t k = size * i; k < size * (i + 1); ++k) to.push_back(from[k]);
      kept.push_back(probabilities[i]);
    }
  };
  take(all.edges, all.edge_probabilities, 3, g.edges, g.edge_probabilities);
  take(all.labels, all.label_probabilities, 2, g.labels, g.label_probabilities);
  return g;
}

/// What the tokens of one sentence contribute to its graph: the predicates and the roles of ops/noisy_or.hpp.
struct found_causes {
  index_t tokens = 0, columns = 0, relations = 0, labels = 0;
  std::vector<float> predicate;  // (tokens, relations)
  std::vector<float> label;      // (tokens, labels)
  std::vector<float> role;       // (tokens, columns, 3)
  std::vector<float> heads;      // (columns, columns): whose roles a column takes; empty: the model has no lists
  // The probability that a slot has the roles of a token, and that a slot is not in the graph.  Empty: slots are nodes.
  std::vector<float> anchor, absent;  // (slots, tokens), (slots)
  // The probability that an edge implies a label of its first node, and that such an edge leaves a column.  Empty:
  // edges imply no labels.
  std::vector<float> implied, leaving;  // (relations, labels), (columns, relations)

  /// The probability that token t is a predicate for edges with this label, and for labels of nodes with this name.
  double predicate_of(index_t t, index_t relation) const {
    return static_cast<double>(predicate[at(t * relations + relation)]);
  }
  double label_of(index_t t, index_t name) const { return static_cast<double>(label[at(t * labels + name)]); }
  /// How likely edges with this label remove the label `name` from a column.
  double removal_of(index_t column, index_t relation, index_t name) const {
    return static_cast<double>(implied[at(relation * labels + name)]) *
           static_cast<double>(leaving[at(column * relations + relation)]);
  }
  /// The probability that the column has role k at token t.
  double role_of(index_t t, index_t column, index_t k) const {
    return static_cast<double>(role[at((t * columns + column) * 3 + k)]);
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
};

/// Sizes of a model and of its batches.
struct network_room {
  sentence_graph_tables tables;
  sentence_graph_dims capacity;
  bool learns;  // false: memory for inference only
};

class network : public learner {
 public:
  using options = meanings::options;
  using vocabulary = meanings::vocabulary;
  using room = network_room;

  // To use a batch: clear it, add sentences, then call one of the functions below.
  virtual void clear() = 0;
  /// Adds a sentence to the batch.  Returns false if the batch has no memory left for the sentence.
  virtual bool add(example const& e) = 0;
  /// Sets the weights of the parts of the loss of the next batches.
  virtual void weigh(graph_loss_weights const& weights) = 0;
  /// Returns the graphs of the sentences of the batch.
  virtual std::vector<found_graph> const& infer() = 0;
  /// Returns what the tokens of the only sentence of the batch contribute.  infer() must have been called before.
  /// Returns no tokens if the model has no predicates.
  virtual found_causes causes() = 0;
  /// The update from which on list members that keep their own roles are penalised; negative: not yet.  Checkpoints
  /// keep it.
  std::int64_t penalty_from = -1;
  /// An edge or a label is in the graphs of infer() if it has at least this probability.  Checkpoints keep a threshold
  /// that was chosen on dev.
  double threshold = 0.5;
  bool has_chosen_threshold = false;

  /// Makes the model that the options describe, and moves the backend into the model.  The source file of each backend
  /// calls this function.
  template <class Ex>
  static std::unique_ptr<network> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::meanings
