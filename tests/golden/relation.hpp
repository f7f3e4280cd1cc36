// Golden files of kinds rat and rrat: the whole relation-aware Transformers for labelled graphs.
// SPDX-License-Identifier: Apache-2.0
//
// The file has the states of every node (and edge) after every layer, so the model first runs like the released
// program. In a second run, the last layer computes only the states that are read, and only the input of each layer is
// stored. Logits, loss and gradients must be the same in all runs.
#pragma once

#include "clutrr_batch.hpp"
#include "triad/models/relation_transformer.hpp"

namespace triad::golden {

inline renaming relation_names(bool updating) {
  std::string const at = updating ? "rel_attention" : "encoder";
  return {{{"relation_key", at + ".relation_key_map"},
           {"relation_value", at + ".relation_value_map"},
           {"attention.query", "rel_attention.linears.0"},
           {"attention.key", "rel_attention.linears.1"},
           {"attention.value", "rel_attention.linears.2"},
           {"attention.output", "rel_attention.linears.3"},
           {"left", "rel_attention.left_linear"},
           {"right", "rel_attention.right_linear"},
           {"edges.norm1", "norm_graph1"},
           {"edges.norm2", "norm_graph2"},
           {"edges.feed_forward.inner", "linear_graph1"},
           {"edges.feed_forward.outer", "linear_graph2"},
           {"feed_forward.inner", "linear1"},
           {"feed_forward.outer", "linear2"},
           {"gain", "weight"},
           {"embedding.table", "encoder.embedding.weight"},
           {"layers", "encoder.layers"},
           {"readout.inner", "decoder2vocab.0"},
           {"readout.outer", "decoder2vocab.3"}}};
}

inline relation_transformer_options relation_sizes(golden_file const& file) {
  auto const first = file.shape("param/encoder.layers.0.linear1.weight", 2);  // (hidden, d)
  relation_transformer_options z;
  z.labels = file.shape("param/encoder.embedding.weight", 2)[0];
  z.targets = file.shape("param/decoder2vocab.3.weight", 2)[0];
  z.layers = file.size("layers");
  z.tied = file.flag("tied");
  z.layer = {first[1], file.size("heads"), first[0], 0};
  return z;
}

namespace detail {

/// Compares the stored out/nodes_k and edges_k for k = 1 .. L.
template <class Bench, class T, index_t D, index_t H, index_t F>
void compare_states(Bench& bench, relation_aware_transformer<T, D, H, F> const& model,
                    typename relation_aware_transformer<T, D, H, F>::saved const& s, report& r,
                    std::string const& label) {
  for (index_t k = 1; k <= model.layers.count(); ++k)
    r.output("nodes_" + std::to_string(k), bench.read(s.layers.state(k)), label);
}
template <class Bench, class T, index_t D, index_t H, index_t F>
void compare_states(Bench& bench, relation_updating_transformer<T, D, H, F> const& model,
                    typename relation_updating_transformer<T, D, H, F>::saved const& s, report& r,
                    std::string const& label) {
  for (index_t k = 1; k <= model.layers.count(); ++k) {
    auto const state = s.layers.state(k);
    r.output("nodes_" + std::to_string(k), bench.read(state.nodes), label);
    r.output("edges_" + std::to_string(k), bench.read(state.edges), label);
  }
}

template <class Model, backend Ex>
void check_relations(Ex& ex, golden_file const& file, report& r, renaming const& name, std::string const& label,
                     bool prune, keep kept) {
  using T = typename Model::value_type;
  using states = typename Model::states;
  workbench<Ex> bench(ex);
  auto sizes = relation_sizes(file);
  sizes.prune = prune;
  Model const model(sizes);
  auto params = load_parameters(bench, model, file, name);
  auto const batch = load_batch(bench, file);
  auto const& dims = batch.queries.graphs.dims;
  typename Model::input in(batch.queries);
  states dx0(nullptr, 0, model.width());
  if (file.has("in/x0")) {
    in.x0 = bench.template make_from<const_view<states>>(file.values("in/x0"), dims.nodes, model.width());
    dx0 = bench.template make<states>(dims.nodes, model.width());
  }
  auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, dims, kept); });
  answers<T> const found(bench, dims.graphs, model.targets());

  bench.run([&](auto& backend, call const& c) {
    model.forward(backend, c, params.values(), in, saved, found.logits);
    found.score(backend, batch.target);
    model.backward(backend, c, params.values(), in, saved, found.dlogits, params.gradients(), dx0);
  });
  found.compare(bench, r, label);
  compare_gradients(bench, params, r, name, label);
  if (dx0.extent(0) != 0) r.gradient("in/x0", bench.read(dx0), label);
  if (!prune) compare_states(bench, model, saved, r, label);
  walk(params.gradients(), [&](std::string const& path, auto) {
    if (!model.has_gradient(path) && !file.may_be_absent(name(path)))
      r.fail(path + " has a gradient in the file; the model says it has none");
  });
}

template <class Model, backend Ex>
void check_relations(Ex& ex, golden_file const& file, report& r, bool updating) {
  if (file.flag("update_relations") != updating)
    throw data_error(file.path().string() + ": `update_relations` in the configuration does not go with kind " +
                     file.kind);
  auto const name = relation_names(updating);
  check_relations<Model>(ex, file, r, name, "", false, keep::everything);
  check_relations<Model>(ex, file, r, name, "pruned", true, keep::everything);
  check_relations<Model>(ex, file, r, name, "recomputed", false, keep::inputs);
  check_relations<Model>(ex, file, r, name, "pruned, recomputed", true, keep::inputs);
}

}  // namespace detail

struct rat {
  static constexpr std::string_view kind = "rat";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    detail::check_relations<relation_aware_transformer<T>>(ex, file, r, false);
  }
};

struct rrat {
  static constexpr std::string_view kind = "rrat";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    detail::check_relations<relation_updating_transformer<T>>(ex, file, r, true);
  }
};

}  // namespace triad::golden
