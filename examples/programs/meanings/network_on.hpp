// The models from sentences to graphs.  Each combines a triad model with a backend, and sets the initial values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "network.hpp"
#include "shared/run/learner_on.hpp"
#include "triad/models/sentence_to_graph.hpp"

namespace triad::programs::meanings {

/// Returns how a parameter is initialised.  A label or a role is rare, so its bias is negative.  A list member begins
/// with its own roles, so the bias of its own score is large.
inline initializer first_values_of(std::string const& path) {
  if (path.starts_with("encoder.") || path == "pairs.relations") return initializer::normal(0.5);
  if (path.ends_with(".attention.relations")) return initializer::normal(0.1);
  if (path == "head.pointers.words") return initializer::normal(0.5);
  if (path == "head.predicate.bias" || path == "head.label.bias") return initializer::constant(-3);
  if (path == "head.implied") return initializer::constant(-0.25);  // g is 0.02
  if (path == "head.role.bias") return initializer::constant(-1);
  if (path == "head.edge.bias" || path == "head.node.bias") return initializer::constant(-4);
  if (path == "head.pointers.self_score.bias") return initializer::constant(4);
  return path.ends_with("weight") ? initializer::linear_uniform() : initializer::by_name();
}

template <class Model, class Ex>
class network_on final : public learner_on<network_on<Model, Ex>, network, Model, Ex> {
  using base = learner_on<network_on<Model, Ex>, network, Model, Ex>;
  using base::ex_, base::trainer_;
  static constexpr bool by_predicates = Model::has_inner;

 public:
  network_on(Ex ex, Model const& m, options const& o, network_room const& z)
      : base(std::move(ex), m, settings(o, z)), loader_(z.capacity, z.tables, memory_of(ex_)), tables_(z.tables) {
    this->threshold = o.threshold;
  }

  initializer first_values(std::string const& path) const { return first_values_of(path); }

  void clear() override {
    loader_.clear();
    queried_.clear();
  }
  bool add(example const& e) override {
    if (!loader_.has_room(static_cast<index_t>(e.tokens.size()), static_cast<index_t>(e.queried.size()))) return false;
    loader_.add(e.spans());
    queried_.push_back(static_cast<index_t>(e.queried.size()));
    return true;
  }
  void weigh(graph_loss_weights const& weights) override { loader_.weigh(weights); }
  /// Uploads the batch for training.
  auto upload() { return loader_.upload(); }

  std::vector<found_graph> const& infer() override {
    in_ = loader_.upload().first;
    auto const found = trainer_.infer(in_);
    auto const edge = on_host(found.edge), node = on_host(found.node), graph = on_host(found.graph);
    index_t const r = tables_.labels.edge, u = tables_.labels.node, g = tables_.labels.graph;
    graphs_.assign(queried_.size(), {});
    index_t pair = 0, column = 0;
    for (std::size_t s = 0; s < graphs_.size(); ++s) {
      auto& one = graphs_[s];
      index_t const m = queried_[s] + tables_.slots;
      for (index_t a = 0; a < m; ++a)
        for (index_t b = 0; b < m; ++b, ++pair)
          for (index_t k = 0; k < r; ++k)
            if (float const p = probability(edge[at(pair * r + k)]); p >= this->threshold) {
              one.edges.insert(one.edges.end(), {a, k, b});
              one.edge_probabilities.push_back(p);
            }
      for (index_t a = 0; a < m; ++a, ++column)
        for (index_t k = 0; k < u; ++k)
          if (float const p = probability(node[at(column * u + k)]); p >= this->threshold) {
            one.labels.insert(one.labels.end(), {a, k});
            one.label_probabilities.push_back(p);
          }
      if (g == 0) continue;
      auto const* const own = graph.data() + s * at(g);
      auto const* const best = std::max_element(own, own + g);
      float sum = 0;
      for (index_t k = 0; k < g; ++k) sum += std::exp(own[k] - *best);
      one.graph_label = best - own;
      one.graph_probability = 1 / sum;
    }
    return graphs_;
  }

  found_causes causes() override {
    found_causes c;
    if constexpr (by_predicates) {
      auto const s = trainer_.saved(in_.dims()).head;
      auto const& z = in_.grid.dims;
      auto const& head = trainer_.model().head;
      c.tokens = z.rows, c.columns = z.columns, c.relations = tables_.labels.edge, c.labels = tables_.labels.node;
      c.predicate = on_host(s.predicate);
      c.label = on_host(s.label);
      c.role = on_host(s.mixed.extent(0) > 0 ? s.mixed : s.role);
      if (head.points()) c.heads = on_host(head.heads(s));
      if (head.implies()) c.implied = on_host(s.implied), c.leaving = on_host(s.leaving);
      if (head.has_anchors()) c.anchor = on_host(s.anchors.anchor), c.absent = on_host(s.anchors.absent);
    }
    return c;
  }

  // The notes of a checkpoint end with the update at which the penalty of list members begins, and with the threshold
  // that was chosen on dev.
  void save(std::string const& path, run_record const& record) override {
    auto with = record;
    if (this->penalty_from >= 0) with.notes += "; lists from " + std::to_string(this->penalty_from);
    if (this->has_chosen_threshold) with.notes += "; threshold " + std::to_string(this->threshold);
    base::save(path, with);
  }
  std::string load(checkpoint const& file, run_record const& record) override {
    auto const notes = base::load(file, record);
    auto const from = notes.find("; lists from ");
    long long update = -1;
    if (from != std::string::npos) std::sscanf(notes.c_str() + from, "; lists from %lld", &update);
    this->penalty_from = update;
    this->has_chosen_threshold = false;
    if (auto const chosen = notes.find("; threshold "); chosen != std::string::npos) {
      double value = -1;
      std::sscanf(notes.c_str() + chosen, "; threshold %lf", &value);
      if (!(value >= 0 && value <= 1))
        throw data_error(file.tensors().file() + ": its threshold is no number from 0 to 1; the checkpoint is damaged");
      this->threshold = value;
      this->has_chosen_threshold = true;
    }
    return notes.substr(0, notes.find(';'));
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }
  static typename trainer<Model, Ex>::options_type settings(options const& o, network_room const& z) {
    return {.adam = {.beta2 = 0.98, .epsilon = 1e-9, .weight_decay = o.decay, .decoupled = true},
            .max_norm = o.clip,
            .key = o.seed,
            .memory = kept_of_pass(z.learns, o.recompute),
            .capacity = z.capacity,
            .shares = o.shares};
  }
  static float probability(float score) {
    return Model::probabilities == probability_form::logits ? 1 / (1 + std::exp(-score)) : -std::expm1(score);
  }
  template <class View>
  std::vector<float> on_host(View const& view) const {
    return host_copy(trainer_.parameters().where(), as_vec(view));
  }

  sentence_graph_loader<Ex, float> loader_;
  sentence_graph_tables tables_;
  sentence_graph_batch<float> in_{};
  std::vector<index_t> queried_;  // the number of queried tokens of each sentence of the batch
  std::vector<found_graph> graphs_;
};

template <class Ex>
std::unique_ptr<network> network::make(Ex ex, options const& o, room const& z) {
  bool const plain = o.model == "transformer";
  auto const sizes_with = [&](auto const& layer) {
    return graph_trunk_options<std::remove_cvref_t<decltype(layer)>>{.tokens = z.tables.token_rows(),
                                                                     .relations = z.tables.relation_rows(),
                                                                     .layers = o.layers,
                                                                     .tied = o.tied,
                                                                     .layer = layer,
                                                                     .input_dropout = o.dropout};
  };
  auto const of_edges = sizes_with(edge_transformer_layer_options{.width = o.width,
                                                                  .heads = o.heads,
                                                                  .hidden = o.hidden(),
                                                                  .dropout = o.dropout,
                                                                  .variant = o.attention,
                                                                  .attention_bias = true,
                                                                  .inner_dropout = o.inner_dropout});
  auto const of_tokens = sizes_with(transformer_layer_options{.width = o.width,
                                                              .heads = o.heads,
                                                              .hidden = o.hidden(),
                                                              .dropout = o.dropout,
                                                              .norms = norm_position::before,
                                                              .inner_dropout = o.inner_dropout});
  auto const with = [&](auto const& head) -> std::unique_ptr<network> {
    using head_type = std::remove_cvref_t<decltype(head)>;
    auto const network_of = [&](auto const& model) -> std::unique_ptr<network> {
      return std::make_unique<network_on<std::remove_cvref_t<decltype(model)>, Ex>>(std::move(ex), model, o, z);
    };
    if (plain) return network_of(sentence_to_graph<float, head_type, token_graph_trunk<float>>(of_tokens, head));
    return network_of(sentence_to_graph<float, head_type>(of_edges, head));
  };
  extents<dyn> const width(o.width);
  if (o.head == "edges") return with(graph_head<float>{width, z.tables.labels});
  bool const by_words = o.lists && o.lists_after == 0;
  return with(predicate_head<float>{
      width,
      {.labels = z.tables.labels,
       .bag = o.bag > 0,
       .pointer_words = by_words ? z.tables.tokens : 0,
       .pointers_after = o.lists ? o.lists_after : 0,
       .lists = by_words ? list_pointer_options{.distance = distance_to_nearest} : list_pointer_options{},
       .slots = o.slot_form == "anchors" ? slot_form::anchors : slot_form::nodes,
       .implied_labels = o.implied_labels}});
}

}  // namespace triad::programs::meanings
