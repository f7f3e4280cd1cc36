// Golden files of kind et_layer: one layer of the Edge Transformer in its released form.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attention.hpp"
#include "triad/layers/edge_transformer_layer.hpp"

namespace triad::golden {

inline renaming layer_names(golden_file const& file) {
  renaming names = attention_names(file);
  for (auto& part : names.parts) part = {"attention." + part.first, "edge_attention." + part.second};
  return names + renaming{{{"norm1.gain", "norm1.weight"},
                           {"norm2.gain", "norm2.weight"},
                           {"feed_forward.inner", "linear1"},
                           {"feed_forward.outer", "linear2"}}};
}

/// Returns the options of a layer whose parameters are named param/<prefix>....
inline edge_transformer_layer_options layer_options(golden_file const& file, std::string const& prefix) {
  auto const inner = file.shape("param/" + prefix + "linear1.weight", 2);  // (hidden, d)
  edge_transformer_layer_options o;
  o.width = inner[1];
  o.heads = file.size("heads");
  o.hidden = inner[0];
  o.variant = form_of(file);
  o.attention_bias = file.has("param/" + prefix + "edge_attention.linears.0.bias");
  return o;
}

struct et_layer {
  static constexpr std::string_view kind = "et_layer";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    auto const shape = file.shape("in/x", 4);  // (b, n, n, d)
    index_t const graphs = shape[0], n = shape[1], rows = graphs * n * n, d = shape[3];
    using layer_type = edge_transformer_layer<T>;
    layer_type layer(layer_options(file, ""));
    layer.norm.epsilon = file.config.value("ln_eps", layer.norm.epsilon);
    if (file.config.value("activation", std::string("relu")) != "relu")
      throw data_error(file.path().string() + ": expected relu as activation");
    auto params = load_parameters(bench, layer, file, layer_names(file));

    using state = tensor<T, dyn, dyn>;
    auto const batch = bench.complete_graphs(graphs, n);
    edge_input<T, dyn> const in{bench.template make_from<state>(file.values("in/x"), rows, d), batch,
                                mask_of(bench, file, graphs, n)};
    auto const cotangent = cotangent_of_y(file);
    auto const dy = bench.template make_from<state>(cotangent, rows, d);
    auto const attended = bench.template make<state>(rows, d), y = bench.template make<state>(rows, d);
    auto const dx = bench.template make<state>(rows, d);
    auto const saved = bench.place([&](arena& a) { return layer.plan_saved(a, batch.dims); });

    bench.run([&](auto& backend, call const& c) {
      layer.forward(backend, c, params.values(), in, saved, y);
      // The layer computes u1 + A(u1) without storing A(u1), so out/attn is computed separately here.
      layer.attention.mixer().forward(backend, c, params.values().attention.output, saved.attention.mixed, {},
                                      attended);
      layer.backward(backend, c, params.values(), in, saved, dy, dx, params.gradients());
    });
    // In bf16, u1 and u3 are kept in bfloat16.
    auto const found = bench.read(y);
    r.output("ln1", bench.read(saved.u1));
    r.output("attn", bench.read(attended));
    r.output("ln2", bench.read(saved.u3));
    r.output("y", found);
    r.output("loss", std::vector<double>(1, inner_product(found, cotangent)));
    r.gradient("in/x", bench.read(dx));
    compare_gradients(bench, params, r, layer_names(file));
  }
};

}  // namespace triad::golden
