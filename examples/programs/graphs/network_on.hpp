// The models of labelled graphs.  Each combines a triad model with a backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "network.hpp"
#include "shared/run/learner_on.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/models/edge_transformer.hpp"
#include "triad/models/graph_attention_network.hpp"
#include "triad/models/relation_transformer.hpp"
#include "triad/train/row_classes.hpp"

namespace triad::programs::graphs {

template <class Model, class Ex>
class network_on final : public learner_on<network_on<Model, Ex>, network, Model, Ex> {
  using base = learner_on<network_on<Model, Ex>, network, Model, Ex>;
  using base::ex_, base::trainer_;

 public:
  network_on(Ex ex, Model const& m, options const& o, network_room const& z)
      : base(std::move(ex), m, settings_of<Ex>(o, z)),
        loader_(z.capacity(), memory_of(ex_)),
        names_(z.names),
        classes_(ex_) {
    loader_.further_weight(o.dense_loss);
  }

  /// Returns how a parameter is initialised, as in the released program.  The readout is initialised with PyTorch's
  /// defaults, all other parameters with Xavier uniform.
  static initializer first_values(std::string const& path) {
    return path.starts_with("readout") && path.ends_with("weight") ? initializer::linear_uniform()
                                                                   : initializer::by_name();
  }

  void clear() override { loader_.clear(); }
  bool add(labelled_graph const& g) override {
    if (!loader_.has_room(g.nodes, static_cast<index_t>(g.further.size()))) return false;
    auto* const label = loader_.add(g.nodes, g.query.from, g.query.to, g.target);
    for (auto const& e : g.edges) label[e.from * g.nodes + e.to] = e.label;
    for (auto const& q : g.further) loader_.ask({{q.query.from, q.query.to}, q.target});
    return true;
  }
  /// Uploads the batch for training.
  auto upload() { return loader_.upload_padded(); }

  void set_depth(int layers) override { trainer_.set_depth(layers); }

  std::vector<index_t> const& infer() override { return classes_(of_names(trainer_.infer(loader_.upload().first))); }
  std::vector<float> const& logits() override {
    auto const scores = trainer_.infer(loader_.upload().first);
    logits_ = host_copy(memory_of(ex_), scores);
    auto const all = static_cast<std::size_t>(scores.extent(1)), names = static_cast<std::size_t>(names_);
    for (std::size_t r = 1; r < logits_.size() / all; ++r)
      std::copy_n(logits_.begin() + static_cast<std::ptrdiff_t>(r * all), names,
                  logits_.begin() + static_cast<std::ptrdiff_t>(r * names));
    logits_.resize(logits_.size() / all * names);
    return logits_;
  }

  attention_table<float> attention([[maybe_unused]] attention_place const& at) override {
    if constexpr (shows_attention<Model, Ex>) {
      return trainer_.attention_of_last(loader_.upload().first, at);
    } else {
      return {0, 0};
    }
  }

 private:
  /// Returns `scores` without its last column, if the last column is that of "no name".
  matrix<float const> of_names(typename Model::output scores) const {
    return make_matrix<float const>(scores.data_handle(), scores.extent(0), names_, scores.extent(1));
  }

  graph_loader<Ex> loader_;
  index_t names_;
  std::vector<float> logits_;
  row_classes<Ex> classes_;
};

template <class Ex>
std::unique_ptr<network> network::make(Ex ex, options const& o, room const& z) {
  auto const with = [&](auto const& m) -> std::unique_ptr<network> {
    return std::make_unique<network_on<std::remove_cvref_t<decltype(m)>, Ex>>(std::move(ex), m, o, z);
  };
  if (o.model == "edge-transformer") {
    edge_transformer_options const sizes{
        .labels = z.labels,
        .targets = o.classes(z.names),
        .layers = o.layers,
        .tied = o.tied,
        .layer = {
            .width = o.width, .heads = o.heads, .hidden = o.hidden(), .dropout = o.dropout, .variant = o.attention}};
    if (o.paper_form) return with(edge_transformer<float, dyn, dyn, dyn, form::paper>(sizes));
    return with(edge_transformer<float>(sizes));
  }
  if (o.model == "gat")
    return with(graph_attention_network<float>({.labels = z.labels,
                                                .targets = o.classes(z.names),
                                                .layers = o.layers,
                                                .tied = o.tied,
                                                .layer = {.width = o.width, .heads = o.heads, .dropout = o.dropout}}));
  relation_transformer_options const sizes{
      .labels = z.labels,
      .targets = o.classes(z.names),
      .layers = o.layers,
      .tied = o.tied,
      .layer = {.width = o.width, .heads = o.heads, .hidden = o.hidden(), .dropout = o.dropout}};
  if (o.model == "rat") return with(relation_aware_transformer<float>(sizes));
  return with(relation_updating_transformer<float>(sizes));
}

}  // namespace triad::programs::graphs
