// Golden files of kind lrf_fuse: fuse-attention with its projections.
// SPDX-License-Identifier: Apache-2.0
//
// The file has keys and values, which are projected from the states of all layers below. Our layer does not project
// these states. The states are stored as (batch, l, tokens, d) in the file, and as (l, batch tokens, d) in our layer.
#pragma once

#include <cmath>

#include "family.hpp"
#include "triad/layers/fuse_attention.hpp"

namespace triad::golden {

/// Converts an array (a, b, n) to (b, a, n). States are stored as (batch, l, tokens, d) in a file, and as (l, batch
/// tokens, d) in our layer.
inline std::vector<double> turned(std::vector<double> const& x, index_t a, index_t b, index_t n) {
  std::vector<double> y;
  for (index_t j = 0; j < b; ++j)
    for (index_t i = 0; i < a; ++i) y.insert(y.end(), x.begin() + (i * b + j) * n, x.begin() + (i * b + j + 1) * n);
  return y;
}

struct lrf_fuse {
  static constexpr std::string_view kind = "lrf_fuse";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    index_t const batch = file.size("B"), tokens = file.size("T"), layers = file.size("prev_layers"),
                  d = file.size("d"), heads = file.size("heads");
    index_t const rows = batch * tokens;
    fuse_attention_layer<T> const layer{d, heads};
    renaming const names{
        {{"query", "attn.q_proj"}, {"key", "attn.k_proj"}, {"value", "attn.v_proj"}, {"output", "attn.out_proj"}}};
    auto params = load_parameters(bench, layer, file, names);
    using rows_of = tensor<T, dyn, dyn>;
    auto const x = bench.template make_from<tensor<T const, dyn, dyn>>(file.values("in/query"), rows, d);
    auto const states = bench.template make_from<layer_states<T const>>(
        turned(file.values("in/stack"), batch, layers, tokens * d), layers, rows, d);
    auto const dy = bench.template make_from<tensor<T const, dyn, dyn>>(file.values("cotangent/y"), rows, d);
    auto const y = bench.template make<rows_of>(rows, d), dx = bench.template make<rows_of>(rows, d);
    auto const d_states = bench.template make<layer_states<T>>(layers, rows, d);
    auto const saved = bench.place([&](arena& a) { return layer.plan_saved(a, {row_dims(rows), layers}); });
    fuse_input<T> const in{x, states, layers};
    bench.run([&](auto& backend, call const& c) {
      layer.forward(backend, c, params.values(), in, saved, y);
      layer.backward(backend, c, params.values(), in, saved, dy, dx, params.gradients(), {}, d_states);
    });
    auto const found = bench.read(y);
    double loss = 0;
    for (std::size_t i = 0; i < found.size(); ++i) loss += found[i] * file.values("cotangent/y")[i];
    r.output("y", found);
    r.output("prob", bench.read(saved.weights));
    r.output("loss", {loss});
    r.gradient("in/query", bench.read(dx));
    r.gradient("in/stack", turned(bench.read(d_states), layers, batch, tokens * d));
    compare_gradients(bench, params, r, names);
  }
};

}  // namespace triad::golden
