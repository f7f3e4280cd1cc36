// Golden files of kinds lrf_enc_layer and lrf_dec_layer: a layer with fuse-attention. Its input includes the states of
// all layers below.
// SPDX-License-Identifier: Apache-2.0
//
// The batch is padded: every sequence has the same number of rows, and a mask marks the rows of padding.
#pragma once

#include "fuse.hpp"
#include "triad/layers/fused_layer.hpp"

namespace triad::golden {

/// Returns the names of a layer's parts in the files.
inline renaming fused_layer_names() {
  renaming names{{{"feed_forward.inner", "fc1"},
                  {"feed_forward.outer", "fc2"},
                  {"feed_forward.norm.gain", "final_layer_norm.weight"},
                  {"feed_forward.norm.bias", "final_layer_norm.bias"}}};
  auto const branch = [&](std::string const& ours, std::string const& projections, std::string const& norm) {
    names.parts.insert(names.parts.end(), {{ours + ".norm.gain", norm + ".weight"},
                                           {ours + ".norm.bias", norm + ".bias"},
                                           {ours + ".query", projections + ".q_proj"},
                                           {ours + ".key", projections + ".k_proj"},
                                           {ours + ".value", projections + ".v_proj"},
                                           {ours + ".output", projections + ".out_proj"}});
  };
  branch("attention", "self_attn", "self_attn_layer_norm");
  branch("cross", "encoder_attn", "encoder_attn_layer_norm");
  branch("fuse", "fuse_attn.attn", "fuse_attn_layer_norm");
  return names;
}

/// Returns `batch` sequences with n rows each.
template <backend Ex>
sequence_batch padded_sequences(workbench<Ex>& bench, index_t batch, index_t n) {
  std::vector<index_t> size(static_cast<std::size_t>(batch), n), first;
  for (index_t b = 0; b < batch; ++b) first.push_back(b * n);
  return {batch, batch * n, n, bench.make_vec(size), bench.make_vec(first)};
}

template <backend Ex>
vec<std::uint8_t const> mask_bytes(workbench<Ex>& bench, std::vector<index_t> const& mask) {
  return bench.make_vec(std::vector<std::uint8_t>(mask.begin(), mask.end()));
}

template <class T, backend Ex>
void check_fused_layer(Ex& ex, golden_file const& file, report& r, bool decodes) {
  workbench<Ex> bench(ex);
  index_t const batch = file.size("B"), tokens = file.size("T"), layers = file.size("layer_index"), d = file.size("d"),
                rows = batch * tokens;
  index_t const sources = decodes ? file.size("S") : 0, source_rows = batch * sources;
  using rows_of = tensor<T, dyn, dyn>;
  fused_layer<T> const layer({.width = d, .heads = file.size("heads"), .hidden = file.size("ffn"), .causal = decodes},
                             decodes ? d : 0, true);
  auto const names = fused_layer_names();
  auto params = load_parameters(bench, layer, file, names);
  auto const states = bench.template make_from<layer_states<T const>>(
      turned(file.values("in/stack"), batch, layers, tokens * d), layers, rows, d);
  auto const dy = bench.template make_from<tensor<T const, dyn, dyn>>(file.values("cotangent/y"), rows, d);
  auto const y = bench.template make<rows_of>(rows, d), dx = bench.template make<rows_of>(rows, d),
             d_source = bench.template make<rows_of>(source_rows, d);
  auto const d_states = bench.template make<layer_states<T>>(layers, rows, d);
  auto const saved =
      bench.place([&](arena& a) { return layer.plan_saved(a, fused_dims(row_dims(rows), layers, source_rows)); });

  fused_input<T> in{};
  in.x = slice(states, layers - 1);
  in.sequences = padded_sequences(bench, batch, tokens);
  in.masked = mask_bytes(bench, file.integers("in/pad_mask"));
  in.states = states;
  in.layers = layers;
  if (decodes)
    in.source = {bench.template make_from<tensor<T const, dyn, dyn>>(file.values("in/encoder_out"), source_rows, d),
                 padded_sequences(bench, batch, sources), mask_bytes(bench, file.integers("in/encoder_pad_mask"))};
  bench.run([&](auto& backend, call const& c) {
    layer.forward(backend, c, params.values(), in, saved, y);
    layer.backward(backend, c, params.values(), in, saved, dy, dx, params.gradients(), d_states, d_source);
    auto const last = slice(d_states, layers - 1);
    transform(backend, plus{}, last, dx, last);
  });

  auto const before_fuse = bench.read(decodes ? saved.after_cross : saved.after_attention);
  auto fused = bench.read(saved.fuse.s);
  for (std::size_t i = 0; i < fused.size(); ++i) fused[i] -= before_fuse[i];
  r.output("after_self", bench.read(saved.after_attention));
  if (decodes) r.output("after_cross", before_fuse);
  r.output("fuse_out", fused);
  r.output("fuse_prob", bench.read(saved.fuse.branch.weights));
  r.output("after_fuse", bench.read(saved.after_fuse));
  auto const found = bench.read(y);
  r.output("y", found);
  r.output("loss", std::vector<double>{inner_product(found, file.values("cotangent/y"))});
  r.gradient("in/stack", turned(bench.read(d_states), layers, batch, tokens * d));
  if (decodes) r.gradient("in/encoder_out", bench.read(d_source));
  compare_gradients(bench, params, r, names);
}

struct lrf_enc_layer {
  static constexpr std::string_view kind = "lrf_enc_layer";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    check_fused_layer<T>(ex, file, r, false);
  }
};

struct lrf_dec_layer {
  static constexpr std::string_view kind = "lrf_dec_layer";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    check_fused_layer<T>(ex, file, r, true);
  }
};

}  // namespace triad::golden
