// The options of training: which there are, what they mean, and which go together.
// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"
#include "shared/report/refuse.hpp"
#include "triad/io/checkpoint.hpp"

namespace triad::programs::graphs {

namespace {

/// Throws data_error if an option has no meaning for a model.
void expect_options_of(std::string const& model, options const& o) {
  if (model != "edge-transformer" && (o.attention != triangle_form::full || o.paper_form))
    refuse("--attention and --paper-form are about triangular attention, which {} does not have", model);
  if (model == "gat" && o.hidden_factor != options().hidden_factor)
    refuse("--hidden-factor is about feed-forward blocks, which gat does not have");
}

}  // namespace

void options::settle() {
  stack_options::settle();
  for (auto const& one : {model, compare})
    if (!one.empty() && one != "none") expect_options_of(one, *this);
  if (compare == model) refuse("--compare {} is the model of the run itself: give another, or none", compare);
  if (layers_from > 0 && !tied)
    refuse(
        "--layers-from is for tied models, whose one layer is applied again and again: leave --untied out, or give "
        "--layers-from 0");
  if (layers_from > layers) refuse("--layers-from {} is more than --layers {}", layers_from, layers);
  if (augment == 0 && augment_with != options().augment_with)
    refuse("--augment-with says how --augment glues: give that a rate above 0");
}

void options::each(option_list& f) {
  stack_options::each(f);
  f("validation", &validation, "Part of the training examples that is held out").between(0.0, 0.9);
  f.seldom("shuffle", &shuffle, "Another order in every epoch; else one random order for all, as the released program")
      .opposite("no-shuffle");
  f("model", &model, "edge-transformer, or the baselines rat, rrat and gat")
      .one_of({"edge-transformer", "rat", "rrat", "gat"})
      .shapes();
  f("compare", &compare, "Another model to train as long, for comparison; none: none")
      .one_of({"none", "rat", "rrat", "gat"})
      .free();
  f("attention", &attention, "full, value-ablation, attention-ablation, both-ablations, flat").shapes();
  f.seldom("paper-form", &paper_form, "The layer of the paper's equation 3 instead of the released program's")
      .shapes_as("form", "released", "paper");
  f.seldom("layers-from", &layers_from,
           "How often a tied layer is applied is drawn for every update, from this to --layers; 0: always --layers")
      .between(0, most_layers)
      .newer();
  f.seldom("dense-loss", &dense_loss,
           "Weight of asking, of every two edges of a training graph that follow each other, what they are together, "
           "or whether that has a name; 0: nothing")
      .not_negative()
      .newer()
      .shapes();
  f("augment", &augment,
    "Rate at which a training graph is glued to another at an edge, where rules of training graphs give it its answer")
      .between(0.0, 1.0)
      .newer();
  f.seldom("augment-with", &augment_with,
           "How --augment glues: detours, which take an edge's place, branches, which share an edge, or both")
      .one_of({"detours", "branches", "both"})
      .newer("both");
  f("epochs", &epochs, "Passes over the examples; of generated ones parts, each ending in a checkpoint")
      .positive()
      .length();
  f("batch", &batch, "Graphs in a batch").positive();

  f("runs", &more_runs, "More runs of the same task: the mean of all their log-probabilities answers")
      .only({"evaluate"})
      .positional()
      .file_or_folder();
  f("layers", &unrolled, "How often a tied layer is applied, if not as often as in training")
      .only({"evaluate"})
      .between(1, most_layers);
  f("confusion", &confusion, "Say which answers are taken for which: the ten most frequent pairs").only({"evaluate"});
  f("out", &out, "Folder for confusion.csv").only({"evaluate"}).file_or_folder();
  f.force(&force, {"evaluate", "explain"});
}

void options::adapt(checkpoint const& file) {
  if (unrolled == 0) return;
  if (!tied)
    refuse(
        "{}: each of its {} layers has parameters of its own, and --layers says how often the one layer of a tied "
        "model is applied; leave it out",
        file.tensors().file(), layers);
  layers = unrolled;
}

}  // namespace triad::programs::graphs
