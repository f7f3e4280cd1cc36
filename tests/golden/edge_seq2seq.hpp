// Golden files of kind et_cfq: the whole Edge Transformer as encoder and decoder, and greedy decoding by passes over
// all tokens.
// SPDX-License-Identifier: Apache-2.0
//
// The model first runs like the released program: with padding, and with one mask for padding and for the future. There
// are three more runs. In one of them, only the input of each layer is stored. In another, the last layer computes only
// the edges that are read. In the last run, there is no padding, and the number of sources masks the future. Logits and
// gradients must be the same in all runs.
#pragma once

#include <algorithm>

#include "edge_layer.hpp"
#include "greedy.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"

namespace triad::golden {

struct et_cfq {
  static constexpr std::string_view kind = "et_cfq";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    check_way<T>(ex, file, r, {"", keep::everything, false, true});
    check_way<T>(ex, file, r, {"recomputed", keep::inputs, false, true});
    check_way<T>(ex, file, r, {"pruned", keep::everything, true, true});
    check_way<T>(ex, file, r, {"ragged", keep::inputs, true, false});
  }

 private:
  struct way {
    char const* label;
    keep kept;
    bool prune, padded;
  };

  static renaming names(golden_file const& file) {
    return renaming{{{"attention.output", "edge_attention.linears.4"}}} + layer_names(file) +
           renaming{{{"tokens", "emb.weight"},
                     {"output", "lm_head"},
                     {"edges.relations", "spatial_relations_builder.rel_embeddings.weight"},
                     {"edges.begin", "bos_vector"},
                     {"edges.left", "left_linear"},
                     {"edges.right", "right_linear"}}};
  }

  static edge_transformer_seq2seq_options sizes(golden_file const& file, bool prune) {
    edge_transformer_seq2seq_options z;
    z.tokens = file.size("vocab");
    z.reach = (file.shape("param/encoder.spatial_relations_builder.rel_embeddings.weight", 2)[0] - 3) / 2;
    z.layers = file.size("layers");
    z.tied = file.flag("tied");
    z.layer = layer_options(file, "encoder.layers.0.");
    z.encoding = file.config.at("input_encoding") == "relational" ? sequence_encoding::relational
                                                                  : sequence_encoding::positional;
    z.readout = file.config.at("decode_from") == "start_to_i" ? edge_readout::from_begin : edge_readout::diagonal;
    z.prune = prune;
    return z;
  }

  /// All index lists of one batch, in host memory. If the batch is padded, every graph has as many nodes as the longest
  /// source, and some of its nodes are padding.
  struct lists {
    edge_pair_dims dims;
    // [0]: lists of the graphs of sources. [1]: lists of the whole graphs.
    std::vector<index_t> sizes[2], node[2], edge[2], triangle[2];
    std::vector<index_t> token[2], position[2], relation[2], self;  // self: only for graphs of sources
    std::vector<index_t> sources, target_token, target_self, read, origin, source_row;
    std::vector<std::uint8_t> masked[2];

    lists(golden_file const& file, edge_pair_layout const& layout, std::vector<index_t> const& target, index_t t,
          bool padded) {
      auto const ids = file.integers("in/input_ids"), real = file.integers("in/attention_mask");
      index_t const longest = file.size("src_len"), b = file.size("B");
      auto const at = [](index_t i) { return static_cast<std::size_t>(i); };
      auto const is_real = [&](index_t g, index_t i) { return i >= longest || real[at(g * longest + i)] != 0; };
      for (index_t g = 0; g < b; ++g) {
        index_t s = longest;
        while (!padded && !is_real(g, s - 1)) --s;  // padding comes last
        index_t const n = s + t, first = dims.source.rows, whole = dims.whole.rows;
        sources.push_back(s);
        add_graph(0, dims.source, s);
        add_graph(1, dims.whole, n);
        for (index_t i = 0; i < n; ++i) {
          index_t const word = i < s ? ids[at(g * longest + i)] : target[at(g * t + i - s)], place = i < s ? i : i - s;
          for (int side = i < s ? 0 : 1; side < 2; ++side) token[side].push_back(word), position[side].push_back(place);
          if (i >= s) {
            target_token.push_back(word);
            target_self.push_back(whole + i * n + i);
            read.push_back(whole + (layout.readout == edge_readout::diagonal ? i : s) * n + i);
          } else {
            self.push_back(first + i * s + i);
          }
          for (index_t j = 0; j < n; ++j) add_edge(layout, i, j, s, n, first, whole);
        }
        if (!padded) continue;
        for (int side = 0; side < 2; ++side) {
          index_t const nodes = side == 0 ? s : n;
          auto const is_padding = [&](index_t i) { return i < s && !is_real(g, i); };
          for (index_t i = 0; i < nodes; ++i)
            for (index_t l = 0; l < nodes; ++l)
              for (index_t j = 0; j < nodes; ++j)
                masked[side].push_back((l >= s && i < l && j < l) || is_padding(i) || is_padding(l) || is_padding(j));
        }
      }
      dims.pairs = b;
      dims.targets = b * t;
      if (layout.encoding == sequence_encoding::relational) return;
      // If edges are positional, each row has its own origin.
      for (index_t r = 0; r < dims.whole.rows; ++r) {
        auto& o = origin[at(r)];
        bool const known = o >= layout.relative.count();
        relation[1][at(r)] = known ? dims.whole.rows : r;
        o = known ? dims.whole.rows + o - layout.relative.count() : r;
      }
    }

    void add_graph(int side, graph_dims& d, index_t n) {
      sizes[side].push_back(n);
      node[side].push_back(d.nodes);
      edge[side].push_back(d.rows);
      triangle[side].push_back(d.triangles);
      d = d + dims_of(n);
    }
    void add_edge(edge_pair_layout const& layout, index_t i, index_t j, index_t s, index_t n, index_t first,
                  index_t whole) {
      auto const& p = layout.relative;
      if (i < s && j < s) {
        relation[0].push_back(i + j == 0 ? p.begin() : p.within(i, j));
        source_row.push_back(whole + i * n + j);
        relation[1].push_back(p.count());
        origin.push_back(p.count() + first + i * s + j);
        return;
      }
      index_t const place = i < s              ? p.to_target()
                            : j < s            ? p.to_source()
                            : i == s && j == s ? p.begin()
                                               : p.within(i, j);
      relation[1].push_back(place);
      origin.push_back(place);
    }
  };

  template <class T, backend Ex>
  static edge_pair_batch<T> load(workbench<Ex>& bench, golden_file const& file, edge_pair_layout const& layout,
                                 std::vector<index_t> const& target, index_t t, bool padded) {
    lists const l(file, layout, target, t, padded);
    index_t const d = file.size("d"), positions = std::max(file.size("src_len"), t);
    auto const own = position_waves(positions, d);
    std::vector<double> waves(own.begin(), own.end());
    if (file.has("buffer/pe.pe")) {  // takes the rounded values of the released program from the file
      auto const stored = file.values("buffer/pe.pe");
      std::copy_n(stored.begin(), std::min(stored.size(), waves.size()), waves.begin());
    }
    auto const table = bench.template make_from<tensor<T const, dyn, dyn>>(waves, positions, d);
    auto const side = [&](int k, graph_dims const& dims) {
      graph_batch const graphs{dims, bench.make_vec(l.sizes[k]), bench.make_vec(l.node[k]), bench.make_vec(l.edge[k]),
                               bench.make_vec(l.triangle[k])};
      return token_sequences<T>{graphs,
                                bench.make_vec(l.token[k]),
                                bench.make_vec(l.relation[k]),
                                bench.make_vec(l.position[k]),
                                vec<index_t const>(nullptr, 0),
                                table};
    };
    edge_pair_batch<T> in;
    in.sizes = l.dims;
    in.source = side(0, l.dims.source);
    in.source.self = bench.make_vec(l.self);
    in.whole = side(1, l.dims.whole);
    in.target_token = bench.make_vec(l.target_token);
    in.target_self = bench.make_vec(l.target_self);
    in.wanted = bench.make_vec(l.read);
    in.origin = bench.make_vec(l.origin);
    in.source_row = bench.make_vec(l.source_row);
    if (padded) {
      in.source_mask = {bench.make_vec(l.masked[0]), fill_of(file)};
      in.mask = {bench.make_vec(l.masked[1]), fill_of(file)};
    } else {
      in.sources = bench.make_vec(l.sources);
    }
    return in;
  }

  template <class T, backend Ex>
  static void check_way(Ex& ex, golden_file const& file, report& r, way const& how) {
    workbench<Ex> bench(ex);
    edge_transformer_seq2seq<T> const model(sizes(file, how.prune));
    std::string const label = how.label;
    auto params = load_parameters(bench, model, file, names(file));
    index_t const b = file.size("B"), t = file.size("tgt_len"), start = file.size("decoder_start_token_id");
    auto next = file.integers("in/labels");
    std::vector<index_t> given;
    for (std::size_t i = 0; i < next.size(); ++i) {
      bool const first = i % static_cast<std::size_t>(t) == 0;
      given.push_back(first ? start : std::max(next[i - 1], index_t{0}));
    }
    for (auto& n : next) n = std::max(n, index_t{-1});
    auto const in = load<T>(bench, file, model.layout, given, t, how.padded);
    auto const targets = pair_answers{bench.make_vec(next)};
    auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, in.sizes, how.kept); });
    auto const logits = bench.place([&](arena& a) { return model.plan_output(a, in.sizes); });
    auto const d_logits = bench.place([&](arena& a) { return model.plan_output(a, in.sizes); });
    auto const loss = bench.template make<vec<T>>(1);
    bench.run([&](auto& backend, call const& c) {
      model.forward(backend, c, params.values(), in, saved, logits);
      model.loss(backend, *c.scratch, in, logits, targets, loss, d_logits);
      model.backward(backend, c, params.values(), in, saved, d_logits, params.gradients());
    });

    if (how.padded) r.output("encoder_out", bench.read(saved.encoder.y), label);
    if (how.padded) r.output("decoder_init", bench.read(saved.decoder.layers.state(0)), label);
    if (how.padded && !how.prune)
      r.output("decoder_out", bench.read(saved.decoder.layers.state(model.decoder.layers.count())), label);
    r.integers("decoder_input_ids", given, label);
    r.output("logits", bench.read(logits), label);
    r.output("loss", bench.read(loss), label);
    if (how.prune) decode<T>(bench, file, r, how, model, params, b);
    compare_gradients(bench, params, r, names(file), label);
  }

  /// Decodes greedily: begins with the start token, and appends the best token in each step, until every sentence has
  /// ended or has the maximum length. A sentence that has ended is padded.
  template <class T, backend Ex, class Params>
  static void decode(workbench<Ex>& bench, golden_file const& file, report& r, way const& how,
                     edge_transformer_seq2seq<T> const& model, Params const& params, index_t b) {
    index_t const longest = file.size("max_length"), end = file.size("eos_token_id"),
                  padding = file.size("pad_token_id"), v = model.vocabulary();
    std::vector<std::vector<index_t>> generated(static_cast<std::size_t>(b), {file.size("decoder_start_token_id")});
    std::vector<bool> ended(generated.size(), false);
    greedy_choices choices;
    for (index_t n = 1; n < longest && std::count(ended.begin(), ended.end(), false) > 0; ++n) {
      std::vector<index_t> all;
      for (auto const& s : generated) all.insert(all.end(), s.begin(), s.end());
      auto const in = load<T>(bench, file, model.layout, all, n, how.padded);
      auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, in.sizes, keep::nothing); });
      auto const logits = bench.place([&](arena& a) { return model.plan_output(a, in.sizes); });
      bench.run([&](auto& backend, call const& c) { model.forward(backend, c, params.values(), in, saved, logits); });
      auto const found = bench.read(logits);
      for (std::size_t g = 0; g < generated.size(); ++g) {
        if (ended[g]) {
          generated[g].push_back(padding);
          continue;
        }
        generated[g].push_back(
            choices.choose(found, (g + 1) * static_cast<std::size_t>(n * v) - static_cast<std::size_t>(v), v));
        ended[g] = generated[g].back() == end;
      }
    }
    std::vector<index_t> ids;
    for (auto const& s : generated) ids.insert(ids.end(), s.begin(), s.end());
    r.integers("greedy_ids", ids, how.label);
    choices.compare_margin(r, how.label);
  }
};

}  // namespace triad::golden
