// The interface of a model of labelled graphs on one backend, and its options.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph.hpp"
#include "shared/backend/network.hpp"
#include "shared/cli/options.hpp"
#include "shared/run/learner.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/train/attention_table.hpp"

namespace triad::programs::graphs {

/// Options of the model and its training.  The defaults are the settings of the Edge Transformer paper for CLUTRR.
/// Where the paper gives no setting, the default is that of the released program.
struct options : stack_options {
  triangle_form attention = triangle_form::full;
  bool paper_form = false;  // uses the paper's form of the layer instead of the released program's
  double validation = 0.2;  // fraction of the training examples that is held out
  bool shuffle = false;     // puts the examples into a new order in every epoch
  int epochs = 50;
  int batch = 400;
  std::string compare;  // another model to train in the same way, for comparison; empty or "none": no comparison
  int layers_from = 0;  // tied models: each update draws its number of layers, at least this; 0: always `layers`
  double augment = 0;   // probability that a training graph is joined to another
  std::string augment_with = "both";  // detours, branches, both
  double dense_loss = 0;              // weight of the loss of questions about every two consecutive edges; 0: none

  // evaluate
  bool confusion = false;              // prints the most frequent mistakes
  std::vector<std::string> more_runs;  // more runs whose answers are averaged with those of `run`
  int unrolled = 0;                    // number of times that a tied layer is applied; 0: as in training

  options() {
    model = "edge-transformer";  // edge-transformer, rat, rrat, gat
    layers = 8;
    width = 200;
    tied = true;
    dropout = 0.2;
    warmup = 100;
  }
  void settle() override;
  void each(option_list& f) override;
  void adapt(checkpoint const& file) override;

  /// The number of logits of a model with `names` targets: one more if there is a logit for "no name".
  int classes(int names) const { return dense_loss > 0 ? names + 1 : names; }
};

/// Sizes of a model and of its batches.  The memory is enough for a batch of `batch` graphs of up to `usual` nodes, and
/// for a batch of fewer graphs of up to `most` nodes.
struct network_room {
  int labels, names;  // number of rows of the embedding; number of targets
  int batch, usual, most;
  bool learns;      // false: there is memory for inference only
  int further = 0;  // largest number of additional questions about a graph

  graph_dims capacity() const {
    auto room = room_for_graphs(batch, usual, most);
    room.further = index_t{batch} * further;
    return room;
  }
};

class network : public learner {
 public:
  using options = graphs::options;
  using room = network_room;
  using vocabulary = graphs::vocabulary;

  // To use a batch: clear it, add graphs, then call one of the functions below.
  virtual void clear() = 0;
  /// Adds a graph to the batch.  Returns false if the batch has no memory left for the graph.
  virtual bool add(labelled_graph const& graph) = 0;

  /// From now on, a tied layer is applied `layers` times.  `layers` is at most the number of layers in the options.
  virtual void set_depth(int layers) = 0;

  /// Returns the likeliest target of each graph of the batch.
  virtual std::vector<index_t> const& infer() = 0;
  /// Returns the scores of all targets of each graph of the batch: (graphs, names).
  virtual std::vector<float> const& logits() = 0;
  /// Returns the attention of an edge.  infer() must have been called before.  The table has no rows if the model has
  /// no triangular attention.
  virtual attention_table<float> attention(attention_place const& at) = 0;

  /// Makes the model that the options describe, and moves the backend into the model.  The source file of each backend
  /// calls this function.
  template <class Ex>
  static std::unique_ptr<network> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::graphs
