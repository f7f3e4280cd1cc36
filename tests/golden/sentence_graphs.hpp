// Golden files of kind sentence_to_graph: the Edge Transformer over tokens and slots, and a head that labels a graph.
// SPDX-License-Identifier: Apache-2.0
//
// The sentences have different lengths, and the loader makes the batch, so the check covers the loader too. In a second
// run, only the input of each layer is stored. Scores, loss and gradients must be the same in both runs.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "edge_layer.hpp"
#include "triad/batches/sentence_graph_loader.hpp"
#include "triad/models/sentence_to_graph.hpp"

namespace triad::golden {

/// The sentences of a file, and what their graphs are.
struct graph_sentences {
  sentence_graph_tables tables;
  sentence_graph_dims dims;
  graph_loss_weights weights;

  explicit graph_sentences(golden_file const& file)
      : tables{.tokens = file.size("words"),
               .slots = file.size("slots"),
               .reach = file.size("reach"),
               .labels = {file.size("edge_labels"), file.size("node_labels"), file.size("graph_labels")}},
        weights{.bag = file.config.at("bag").get<double>(), .pointers = file.config.at("pointers").get<double>()},
        tokens_(file.integers("in/tokens")),
        queried_(file.integers("in/queried")),
        graph_label_(file.integers("in/graph_label")) {
    auto const lengths = file.integers("in/lengths"), members = file.integers("in/members");
    auto const edges = file.integers("in/edges"), labels = file.integers("in/labels");
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      one_sentence one{lengths[s], members.at(s), {}, {}};
      auto const number = static_cast<index_t>(s);
      for (std::size_t k = 0; k + 3 < edges.size(); k += 4)
        if (edges[k] == number) one.edges.push_back({edges[k + 1], edges[k + 2], edges[k + 3]});
      for (std::size_t k = 0; k + 2 < labels.size(); k += 3)
        if (labels[k] == number) one.labels.push_back({labels[k + 1], labels[k + 2]});
      dims = dims + sentence_graph_of(one.tokens, tables.slots, one.members + tables.slots);
      sentences_.push_back(std::move(one));
    }
  }

  template <class Loader>
  void add_to(Loader& loader) const {
    std::span<index_t const> tokens(tokens_), queried(queried_);
    for (std::size_t s = 0; s < sentences_.size(); ++s) {
      auto const& one = sentences_[s];
      auto const take = [](std::span<index_t const>& from, index_t count) {
        auto const first = from.first(static_cast<std::size_t>(count));
        from = from.subspan(first.size());
        return first;
      };
      loader.add({.tokens = take(tokens, one.tokens),
                  .queried = take(queried, one.members),
                  .edges = one.edges,
                  .labels = one.labels,
                  .label = graph_label_.at(s)});
    }
  }

 private:
  struct one_sentence {
    index_t tokens, members;
    std::vector<sentence_edge> edges;
    std::vector<labelled_node> labels;
  };
  std::vector<index_t> tokens_, queried_, graph_label_;
  std::vector<one_sentence> sentences_;
};

struct sentence_to_graph {
  static constexpr std::string_view kind = "sentence_to_graph";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    graph_sentences const sentences(file);
    index_t const d = file.shape("param/encoder.tokens", 2)[1];
    sentence_to_graph_options const sizes{.tokens = sentences.tables.token_rows(),
                                          .relations = sentences.tables.relation_rows(),
                                          .layers = file.size("layers"),
                                          .tied = file.flag("tied"),
                                          .layer = layer_options(file, "layers.0.")};
    auto const head = file.config.at("head").get<std::string>();
    auto const check_both = [&](auto const& model) {
      check_way<T>(ex, file, r, sentences, model, "", keep::everything);
      check_way<T>(ex, file, r, sentences, model, "recomputed", keep::inputs);
    };
    auto const& labels = sentences.tables.labels;
    if (head == "edge") {
      check_both(edge_sentence_to_graph<T>(sizes, {extents<dyn>(d), labels}));
    } else if (head == "predicate") {
      predicate_head_options const options{
          .labels = labels,
          .pointer_words = file.config.value("pointer_words", false) ? sentences.tables.tokens : 0,
          .pointers_after = file.size("pointers_after"),
          .lists = {file.config.at("distance").get<double>(), file.size("squarings")},
          .slots = slots_of(file),
          .implied_labels = file.config.value("implied_labels", false)};
      check_both(predicate_sentence_to_graph<T>(sizes, {extents<dyn>(d), options}));
    } else {
      throw data_error(file.path().string() + ": head is " + head + "; expected edge or predicate");
    }
  }

 private:
  /// The form of the slots.  Without the key, slots are nodes.
  static slot_form slots_of(golden_file const& file) {
    auto const form = file.config.value("slot_form", "nodes");
    if (form != "nodes" && form != "anchors")
      throw data_error(file.path().string() + ": slot_form is " + form + "; expected nodes or anchors");
    return form == "anchors" ? slot_form::anchors : slot_form::nodes;
  }

  template <class T, backend Ex, class Model>
  static void check_way(Ex& ex, golden_file const& file, report& r, graph_sentences const& sentences,
                        Model const& model, std::string const& label, keep kept) {
    workbench<Ex> bench(ex);
    renaming const names = layer_names(file) + renaming{{{"norm.gain", "norm.weight"}}};
    auto params = load_parameters(bench, model, file, names);
    sentence_graph_loader<Ex, T> loader(sentences.dims, sentences.tables, memory_of(ex));
    loader.weigh(sentences.weights);
    sentences.add_to(loader);
    auto const batch = loader.upload();
    auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, sentences.dims, kept); });
    auto const output = [&] { return bench.place([&](arena& a) { return model.plan_output(a, sentences.dims); }); };
    auto const scores = output(), d = output();
    auto const loss = bench.template make<vec<T>>(1);

    bench.run([&](auto& backend, call const& c) {
      model.forward(backend, c, params.values(), batch.first, saved, scores);
      model.loss(backend, *c.scratch, batch.first, scores, batch.second, loss, d);
      model.backward(backend, c, params.values(), batch.first, saved, d, params.gradients());
    });
    auto const compare = [&](char const* name, auto const& found) {
      if (found.size() > 0) r.output(name, bench.read(found), label);
    };
    compare("edge", scores.edge);
    compare("node", scores.node);
    compare("graph", scores.graph);
    compare("bag", scores.bag);
    compare("pointers", scores.pointers);
    compare("loss", loss);
    for (index_t k = 0; k < model.trunk.layers.count(); ++k)
      r.output("hidden_" + std::to_string(k), bench.read(saved.trunk.layers.state(k)), label);
    compare_gradients(bench, params, r, names, label);
  }
};

}  // namespace triad::golden
