// Golden files of kind et_clutrr: the whole Edge Transformer for labelled graphs.
// SPDX-License-Identifier: Apache-2.0
//
// The file has the states of all edges after every layer, so the model first runs like the released program. In a
// second run, the last layer computes only the edges that are read. In a third run, only the input of each layer is
// stored. Logits, loss and gradients must be the same in all runs.
#pragma once

#include "clutrr_batch.hpp"
#include "edge_layer.hpp"
#include "triad/models/edge_transformer.hpp"

namespace triad::golden {

inline renaming model_names(golden_file const& file) {
  return layer_names(file) + renaming{{{"embedding.table", "encoder.embedding.weight"},
                                       {"layers", "encoder.layers"},
                                       {"readout.inner", "decoder2vocab.0"},
                                       {"readout.outer", "decoder2vocab.3"}}};
}

inline edge_transformer_options model_sizes(golden_file const& file) {
  edge_transformer_options z;
  z.labels = file.shape("param/encoder.embedding.weight", 2)[0];
  z.targets = file.shape("param/decoder2vocab.3.weight", 2)[0];
  z.layers = file.size("layers");
  z.tied = file.flag("tied");
  z.layer = layer_options(file, "encoder.layers.0.");
  return z;
}

struct et_clutrr {
  static constexpr std::string_view kind = "et_clutrr";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    check_way<T>(ex, file, r, "", false, keep::everything);
    check_way<T>(ex, file, r, "pruned", true, keep::everything);
    check_way<T>(ex, file, r, "recomputed", false, keep::inputs);
    check_way<T>(ex, file, r, "pruned, recomputed", true, keep::inputs);
  }

 private:
  template <class T, backend Ex>
  static void check_way(Ex& ex, golden_file const& file, report& r, std::string const& label, bool prune, keep kept) {
    workbench<Ex> bench(ex);
    auto sizes = model_sizes(file);
    sizes.prune = prune;
    using model_type = edge_transformer<T>;
    model_type const model(sizes);
    auto params = load_parameters(bench, model, file, model_names(file));
    auto const batch = load_batch(bench, file);
    auto const& dims = batch.queries.graphs.dims;
    auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, dims, kept); });
    answers<T> const found(bench, dims.graphs, model.targets());

    bench.run([&](auto& backend, call const& c) {
      model.forward(backend, c, params.values(), batch.queries, saved, found.logits);
      found.score(backend, batch.target);
      model.backward(backend, c, params.values(), batch.queries, saved, found.dlogits, params.gradients());
    });
    found.compare(bench, r, label);
    compare_gradients(bench, params, r, model_names(file), label);
    if (prune) return;
    r.output("hidden_0", bench.read(saved.layers.state(0)), label);
    for (index_t k = 1; k <= sizes.layers; ++k)
      r.output("hidden_" + std::to_string(k), bench.read(saved.layers.state(k)), label);
  }
};

}  // namespace triad::golden
