// Golden files of kind lrf_model: the whole encoder-decoder, its losses, and greedy decoding by passes over all tokens.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "fused_layer.hpp"
#include "greedy.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/models/fused_transformer.hpp"

namespace triad::golden {

struct lrf_model {
  static constexpr std::string_view kind = "lrf_model";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    check_way<T>(ex, file, r, "", keep::everything);
    check_way<T>(ex, file, r, "recomputed", keep::inputs);
  }

 private:
  static renaming names() {
    return fused_layer_names() + renaming{{{"output", "decoder.output_projection.weight"},
                                           {"encoder", "encoder.layers"},
                                           {"decoder", "decoder.layers"},
                                           {"decoder.layers.output_projection", "decoder.output_projection"},
                                           {"encoder.layers.norm.gain", "encoder.layer_norm.weight"},
                                           {"encoder.layers.norm.bias", "encoder.layer_norm.bias"},
                                           {"decoder.layers.norm.gain", "decoder.layer_norm.weight"},
                                           {"decoder.layers.norm.bias", "decoder.layer_norm.bias"},
                                           {"encoder.layers.norms", "encoder.state_norms"},
                                           {"decoder.layers.norms", "decoder.state_norms"},
                                           {"encoder.layers.links", "encoder.combinations"},
                                           {"decoder.layers.links", "decoder.combinations"},
                                           {"combination", ""},
                                           {"gain", "weight"},
                                           {"attention.relative_key", "self_attn.relative_key.weight"},
                                           {"attention.relative_value", "self_attn.relative_value.weight"},
                                           {"source.table", "encoder.embed_tokens.weight"},
                                           {"target.table", "decoder.embed_tokens.weight"}}};
  }

  static std::uint64_t layers_of(golden_file const& file, char const* name) {
    std::uint64_t bits = 0;
    for (index_t const l : file.config.at(name)) bits |= std::uint64_t{1} << (l - 1);
    return bits;
  }
  static fused_transformer_options sizes(golden_file const& file) {
    index_t const reach = file.config.value("reach", index_t{0});
    transformer_layer_options const layer{
        .width = file.size("d"),
        .heads = file.size("heads"),
        .hidden = file.size("ffn"),
        .norms = file.flag("norm_before") ? norm_position::before : norm_position::after,
        .reach = reach};
    fused_transformer_options z;
    z.source_tokens = file.size("src_vocab");
    z.target_tokens = file.size("tgt_vocab");
    z.encoder = {.layer = layer, .layers = file.size("enc_layers"), .fused = layers_of(file, "enc_fuse_layers")};
    z.decoder = {.layer = layer, .layers = file.size("dec_layers"), .fused = layers_of(file, "dec_fuse_layers")};
    if (auto const link = file.config.value("link", std::string()); link == "weighted")
      z.encoder.link = z.decoder.link = layer_link::weighted;
    else if (link == "sum")
      z.encoder.link = z.decoder.link = layer_link::sum;
    else if (!link.empty())
      throw data_error(file.path().string() + ": the link of the layers is \"" + link + "\", expected weighted or sum");
    z.tied_output = file.flag("tied_output");
    z.positions = reach == 0;
    z.fixed_token = file.size("pad");
    z.shared_table = file.flag("shared_embedding");
    auto const scale = file.config.value("embedding_scale", std::string("tokens_up"));
    z.scaled = scale == "unscaled"         ? embedding_scale::unscaled
               : scale == "positions_down" ? embedding_scale::positions_down
                                           : embedding_scale::tokens_up;
    return z;
  }

  /// The padded tokens of one side. The k-th real token of a sentence has position k; padding has no position.
  struct side {
    std::vector<index_t> token, position;
    std::vector<std::uint8_t> masked;
    side(std::vector<index_t> const& tokens, index_t n, index_t padding) : token(tokens) {
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (i % static_cast<std::size_t>(n) == 0) next = 0;
        bool const none = tokens[i] == padding;
        position.push_back(none ? n : next++);
        masked.push_back(none);
      }
    }

   private:
    index_t next = 0;
  };

  /// Loads the batch. The batch's table has the sines and cosines of `longest` positions, and a last row of zeros for
  /// padding.
  template <class T, backend Ex>
  static pair_batch<T> load(workbench<Ex>& bench, golden_file const& file, std::vector<index_t> const& target,
                            index_t tokens) {
    index_t const batch = file.size("B"), sources = file.size("S"), d = file.size("d"), padding = file.size("pad");
    side const from(file.integers("in/src_tokens"), sources, padding), to(target, tokens, padding);
    index_t const longest = std::max(sources, tokens);
    auto waves = half_waves(longest, d);
    waves.resize(waves.size() + static_cast<std::size_t>(d));
    auto const rows_from = [&](std::vector<index_t> positions, index_t n) {
      for (auto& p : positions) p = p == n ? longest : p;
      return bench.make_vec(positions);
    };
    pair_batch<T> in;
    in.sizes = {batch, batch * sources, batch * tokens, sources, tokens};
    in.source = padded_sequences(bench, batch, sources);
    in.target = padded_sequences(bench, batch, tokens);
    in.source_token = bench.make_vec(from.token);
    in.source_position = rows_from(from.position, sources);
    in.target_token = bench.make_vec(to.token);
    in.target_position = rows_from(to.position, tokens);
    in.waves = bench.template make_from<tensor<T const, dyn, dyn>>(waves, longest + 1, d);
    in.source_masked = bench.make_vec(from.masked);
    in.target_masked = bench.make_vec(to.masked);
    return in;
  }

  template <class T, backend Ex>
  static void check_way(Ex& ex, golden_file const& file, report& r, std::string const& label, keep kept) {
    workbench<Ex> bench(ex);
    auto const z = sizes(file);
    fused_transformer<T> const model(z);
    auto params = load_parameters(bench, model, file, names());
    index_t const batch = file.size("B"), tokens = file.size("T");
    auto const in = load<T>(bench, file, file.integers("in/prev_output_tokens"), tokens);
    auto next = file.integers("in/target");
    index_t asked = 0;
    for (auto& t : next) {
      if (t == z.fixed_token) t = -1;
      asked += t >= 0;
    }
    auto const targets = bench.make_vec(next);
    auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, in.sizes, kept); });
    auto const logits = bench.place([&](arena& a) { return model.plan_output(a, in.sizes); });
    auto const d_logits = bench.place([&](arena& a) { return model.plan_output(a, in.sizes); });
    auto const plain = bench.template make<vec<T>>(1), smoothed = bench.template make<vec<T>>(1);
    bool const smooth = file.config.at("loss") == "label_smoothed";
    double const epsilon = 0.1;
    bench.run([&](auto& backend, call const& c) {
      model.forward(backend, c, params.values(), in, saved, logits);
      // The loss whose gradient is in the file is computed last, so its gradient remains.
      for (int last = 0; last < 2; ++last) {
        bool const with = (last == 1) == smooth;
        cross_entropy(backend, logits, targets, with ? smoothed : plain, d_logits, label_smoothing{with ? epsilon : 0});
      }
      model.backward(backend, c, params.values(), in, saved, d_logits, params.gradients());
    });

    for (index_t l = 0; l <= z.encoder.layers; ++l)
      r.output("enc_" + std::to_string(l), bench.read(saved.encoder.x(l)), label);
    for (index_t l = 0; l <= z.decoder.layers; ++l)
      r.output("dec_" + std::to_string(l), bench.read(saved.decoder.x(l)), label);
    auto const found = bench.read(logits);
    r.output("logits", found, label);
    double const ce = bench.read(plain)[0], ls = bench.read(smoothed)[0], n = static_cast<double>(asked),
                 v = static_cast<double>(z.target_tokens);
    r.output("loss", {smooth ? ls : ce}, label);
    r.output("loss_ce", {ce}, label);
    r.output("loss_ls", {ls}, label);
    // ls = (1 - eps - e) ce + e s, where e = eps / (v - 1). The file has s, and a different mixture of ce and s.
    double const e = epsilon / (v - 1), s = (ls - (1 - epsilon - e) * ce) / e;
    r.output("nll_sum", {ce * n}, label);
    r.output("smooth_sum", {s * n}, label);
    r.output("loss_ls_over_V", {(1 - epsilon) * ce + epsilon / v * s}, label);
    r.integers("ntokens", {asked}, label);
    decode<T>(bench, file, r, label, model, params, batch);
    compare_gradients(bench, params, r, names(), label);
  }

  /// Decodes greedily: begins with `eos`, and appends the best token in each step, up to 8 tokens. A sentence that has
  /// ended is padded.
  template <class T, backend Ex, class Params>
  static void decode(workbench<Ex>& bench, golden_file const& file, report& r, std::string const& label,
                     fused_transformer<T> const& model, Params const& params, index_t batch) {
    index_t const longest = file.shape("out/greedy_ids", 2)[1], end = file.size("eos"), padding = file.size("pad"),
                  v = model.vocabulary();
    std::vector<std::vector<index_t>> generated(static_cast<std::size_t>(batch), {end});
    greedy_choices choices;
    for (index_t n = 1; n < longest; ++n) {
      std::vector<index_t> all;
      for (auto const& s : generated) all.insert(all.end(), s.begin(), s.end());
      auto const in = load<T>(bench, file, all, n);
      auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, in.sizes, keep::nothing); });
      auto const logits = bench.place([&](arena& a) { return model.plan_output(a, in.sizes); });
      bench.run([&](auto& backend, call const& c) { model.forward(backend, c, params.values(), in, saved, logits); });
      auto const found = bench.read(logits);
      for (index_t b = 0; b < batch; ++b) {
        auto& s = generated[static_cast<std::size_t>(b)];
        if (n > 1 && (s.back() == end || s.back() == padding)) {
          s.push_back(padding);
          continue;
        }
        s.push_back(choices.choose(found, static_cast<std::size_t>((b * n + n - 1) * v), v, padding));
      }
    }
    std::vector<index_t> ids;
    for (auto const& s : generated) ids.insert(ids.end(), s.begin(), s.end());
    r.integers("greedy_ids", ids, label);
    choices.compare_margin(r, label);
  }
};

}  // namespace triad::golden
