// Golden files of kinds et_cogs and cogs_transformer: the whole Edge Transformer and its baseline, as parsers of
// sentences.
// SPDX-License-Identifier: Apache-2.0
//
// The model first runs like the released program, with padding. In a second run, only the input of each layer is
// stored. Scores, losses and gradients must be the same in both runs.
#pragma once

#include "edge_layer.hpp"
#include "triad/models/edge_transformer_parser.hpp"
#include "triad/models/transformer_parser.hpp"

namespace triad::golden {

/// The padding index of the released program. It is also the index of a real word.
inline constexpr index_t fixed_token = 1;

template <class T>
struct parser_batch {
  sentence_batch<T> sentences;
  parse_answers answers;
};

/// Padded sentences. A label whose target is 0, and a parent whose target is 99999, are not in the loss.
template <class T, backend Ex>
parser_batch<T> load_sentences(workbench<Ex>& bench, golden_file const& file, index_t reach) {
  auto const shape = file.shape("in/tokens", 2);  // (b, n)
  index_t const graphs = shape[0], n = shape[1], d = file.size("d");
  std::vector<index_t> relation, position, padding = file.integers("in/mask");
  std::vector<std::uint8_t> masked;
  bool padded = false;
  for (auto const p : padding) padded = padded || p != 0;
  for (index_t b = 0; b < graphs; ++b)
    for (index_t i = 0; i < n; ++i) {
      position.push_back(i);
      for (index_t j = 0; j < n; ++j) {
        relation.push_back(relative_position(i, j, reach));
        masked.push_back(padding.at(static_cast<std::size_t>(b * n + i)) != 0 ||
                         padding.at(static_cast<std::size_t>(b * n + j)) != 0);
      }
    }
  auto const asked = [&](char const* name) {
    auto values = file.integers(name);
    bool const parents = std::string_view(name) == "in/parent";
    for (auto& v : values)
      if (parents ? v >= n : v == 0) v = -1;
    return bench.make_vec(values);
  };
  auto const waves = bench.template make_from<tensor<T const, dyn, dyn>>(file.values("buffer/encoder.pe.pe"), n, d);
  sentence_batch<T> const sentences{
      {bench.complete_graphs(graphs, n), bench.make_vec(file.integers("in/tokens")), bench.make_vec(relation),
       bench.make_vec(position), bench.self_edges(graphs, n), waves},
      padded ? bench.mask_of_padding(padding, graphs, n, -1e3) : triangle_mask{},
      bench.make_vec(masked)};
  return {sentences,
          {asked("in/parent"), asked("in/role"), asked("in/category"), asked("in/noun_type"), asked("in/verb")}};
}

/// The outputs of all parsers: scores, losses, and the best parent of each token.
template <class T>
struct parse_results {
  parse_scores<T> scores, d;
  vec<T> loss, parts;
  vec<index_t> best;

  template <backend Ex>
  parse_results(workbench<Ex>& bench, graph_dims const& dims, label_counts const& labels)
      : scores(bench.place([&](arena& a) { return parse_scores<T>::plan(a, dims, labels); })),
        d(bench.place([&](arena& a) { return parse_scores<T>::plan(a, dims, labels); })),
        loss(bench.template make<vec<T>>(1)),
        parts(bench.template make<vec<T>>(5)),
        best(bench.template make<vec<index_t>>(dims.nodes)) {}

  template <backend Ex>
  void compare(workbench<Ex>& bench, golden_file const& file, report& r, arc_cross_entropy_options const& arcs,
               std::string const& label) const {
    auto parents = bench.read(scores.parent);
    auto const masked = bench.read_exact(arcs.masked);
    for (std::size_t e = 0; e < parents.size(); ++e)
      if (masked[e]) parents[e] = arcs.fill;
    r.output("parent_scores", parents, label);
    r.output("role_logits", bench.read(scores.labels.role), label);
    r.output("category_logits", bench.read(scores.labels.category), label);
    r.output("noun_type_logits", bench.read(scores.labels.noun_type), label);
    r.output("verb_logits", bench.read(scores.labels.verb), label);
    r.output("loss", bench.read(loss), label);
    auto const each = bench.read(parts);
    for (std::size_t k = 0;
         auto const* name : {"loss_parent", "loss_role", "loss_category", "loss_noun_type", "loss_verb"})
      r.output(name, std::vector{each[k++]}, label);
    auto const parent = bench.read_exact(best);
    r.integers("pred_parent", parent, label);
    r.output("accuracy", std::vector{accuracy(bench, file, parent)}, label);
  }

 private:
  /// Returns the fraction of sentences in which the parents and labels of all tokens are right.
  template <backend Ex>
  double accuracy(workbench<Ex>& bench, golden_file const& file, std::vector<index_t> const& parent) const {
    auto const padding = file.integers("in/mask"), right_parent = file.integers("in/parent");
    std::vector<bool> right(static_cast<std::size_t>(file.size("B")), true);
    std::size_t const n = parent.size() / right.size();
    for (std::size_t i = 0; i < parent.size(); ++i)
      if (padding[i] == 0 && parent[i] != right_parent[i]) right[i / n] = false;
    auto const compare = [&](char const* name, tensor<T, dyn, dyn> logits) {
      auto const values = bench.read(logits);
      auto const wanted = file.integers(name);
      auto const count = static_cast<std::size_t>(logits.extent(1));
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        auto const* const row = values.data() + i * count;
        if (padding[i] == 0 && std::max_element(row, row + count) - row != wanted[i]) right[i / n] = false;
      }
    };
    compare("in/role", scores.labels.role);
    compare("in/category", scores.labels.category);
    compare("in/noun_type", scores.labels.noun_type);
    compare("in/verb", scores.labels.verb);
    return static_cast<double>(std::count(right.begin(), right.end(), true)) / static_cast<double>(right.size());
  }
};

/// Returns the number of labels of each kind, from the shapes of a file's heads.
inline label_counts label_counts_of(golden_file const& file) {
  auto const labels = [&](char const* name) {
    return file.shape(std::string("param/decode_") + name + ".weight", 2)[0];
  };
  return {labels("role"), labels("category"), labels("noun_type"), labels("verb_name")};
}

/// Returns the names that the files of both parsers share.
inline renaming parser_names() {
  return {{{"encoder.tokens", "word_emb.weight"},
           {"labels.role", "decode_role"},
           {"labels.category", "decode_category"},
           {"labels.noun_type", "decode_noun_type"},
           {"labels.verb", "decode_verb_name"}}};
}

/// Runs a parser on the file's sentences. Compares everything except the parser's states. also(bench, saved) compares
/// the states.
template <class T, class Model, backend Ex, class Pass, class Also>
void check_parser(Ex& ex, golden_file const& file, report& r, std::string const& label, keep kept, Model const& model,
                  renaming const& names, Pass const& pass, Also&& also) {
  workbench<Ex> bench(ex);
  auto params = load_parameters(bench, model, file, names, pass);
  auto const batch = load_sentences<T>(bench, file, 16);
  auto const& in = batch.sentences;
  auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, in.graphs.dims, kept); });
  parse_results<T> const found(bench, in.graphs.dims, model.heads.labels);
  auto const arcs = model.arcs_of(in);
  bench.run([&](auto& backend, call const& c) {
    model.forward(backend, c, params.values(), in, saved, found.scores);
    parse_loss(backend, *c.scratch, arcs, in.graphs, found.scores, batch.answers, found.loss, found.parts, found.d);
    best_arcs(backend, arcs, in.graphs, vec<T const>(found.scores.parent), found.best);
    model.backward(backend, c, params.values(), in, saved, found.d, params.gradients());
  });
  found.compare(bench, file, r, arcs, label);
  compare_gradients(bench, params, r, names, label, pass);
  also(bench, saved);
}

struct et_cogs {
  static constexpr std::string_view kind = "et_cogs";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    check_way<T>(ex, file, r, "", keep::everything);
    check_way<T>(ex, file, r, "recomputed", keep::inputs);
  }

 private:
  static renaming names(golden_file const& file) {
    return layer_names(file) + parser_names() +
           renaming{{{"encoder.relations", "encoder.spatial_relations_builder.rel_embeddings.weight"},
                     {"encoder.left", "encoder.left_linear"},
                     {"encoder.right", "encoder.right_linear"},
                     {"layers", "encoder.layers"},
                     {"parent", "decode_parent"}}};
  }

  static edge_transformer_parser_options sizes(golden_file const& file) {
    edge_transformer_parser_options z;
    z.tokens = file.shape("param/word_emb.weight", 2)[0];
    z.relations = file.shape("param/encoder.spatial_relations_builder.rel_embeddings.weight", 2)[0];
    z.labels = label_counts_of(file);
    z.layers = file.size("layers");
    z.tied = file.flag("layers_tied");
    z.layer = layer_options(file, "encoder.layers.0.");
    z.encoding = file.config.value("input_encoding", std::string()) == "positional" ? sequence_encoding::positional
                                                                                    : sequence_encoding::relational;
    z.fixed_token = fixed_token;
    return z;
  }

  template <class T, backend Ex>
  static void check_way(Ex& ex, golden_file const& file, report& r, std::string const& label, keep kept) {
    auto const z = sizes(file);
    check_parser<T>(ex, file, r, label, kept, edge_transformer_parser<T>(z), names(file), as_listed{},
                    [&](auto const& bench, auto const& saved) {
                      r.output("hidden_0", bench.read(saved.trunk.layers.state(0)), label);
                      for (index_t k = 1; k <= z.layers; ++k)
                        r.output("hidden_" + std::to_string(k),
                                 bench.read(k == z.layers ? saved.trunk.y : saved.trunk.layers.state(k)), label);
                    });
  }
};

/// Kind cogs_transformer: the Transformer parser. Its encoder attends to padding as to any other token.
struct cogs_transformer {
  static constexpr std::string_view kind = "cogs_transformer";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    for (auto const& [label, kept] : {std::pair("", keep::everything), {"recomputed", keep::inputs}}) {
      std::string const said = label;
      check_parser<T>(
          ex, file, r, said, kept, transformer_parser<T>(sizes(file)), names(file), packed_attention{},
          [&](auto const& bench, auto const& saved) { r.output("encoder_out", bench.read(saved.trunk.y), said); });
    }
  }

 private:
  static bool tied(golden_file const& file) { return file.flag("share_layers_flag"); }
  static std::string stack() { return "encoder.transformer_encoder."; }

  static renaming names(golden_file const& file) {
    return parser_names() + renaming{{{"attention.in_proj_weight", "self_attn.in_proj_weight"},
                                      {"attention.in_proj_bias", "self_attn.in_proj_bias"},
                                      {"attention.output", "self_attn.out_proj"},
                                      {"norm1.gain", "norm1.weight"},
                                      {"norm2.gain", "norm2.weight"},
                                      {"feed_forward.inner", "linear1"},
                                      {"feed_forward.outer", "linear2"},
                                      {"norm.gain", stack() + "norm.weight"},
                                      {"norm.bias", stack() + "norm.bias"},
                                      {tied(file) ? "layers.0" : "layers", stack() + (tied(file) ? "layer" : "layers")},
                                      {"parent.query", "encoder.decoder_q"},
                                      {"parent.key", "encoder.decoder_k"}}};
  }

  static transformer_parser_options sizes(golden_file const& file) {
    transformer_parser_options z;
    auto const inner =
        file.shape("param/" + stack() + (tied(file) ? "layer" : "layers.0") + ".linear1.weight", 2);  // (hidden, d)
    z.tokens = file.shape("param/word_emb.weight", 2)[0];
    z.labels = label_counts_of(file);
    z.layers = file.size("layers");
    z.tied = tied(file);
    z.layer = {.width = inner[1], .heads = file.size("heads"), .hidden = inner[0]};
    z.fixed_token = fixed_token;
    return z;
  }
};

}  // namespace triad::golden
