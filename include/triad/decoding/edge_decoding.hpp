// The computations of an encoder-decoder Edge Transformer that decodes token by token.  The caller provides the memory.
// SPDX-License-Identifier: Apache-2.0
//
//   begin    runs the encoder, then the decoder's layers on the edges between source nodes, because these edges do not
//            depend on a target.  The last layer is not run, and the layer before it computes only projections.
//   extend   computes the 2 a + 1 edges of the newest node a of every hypothesis.  The last layer computes only the
//            edge whose state the readout reads.
//
// Each layer keeps the projections of all edges that it has computed, in the order of ops/triangle_step.hpp.  The last
// layer keeps fewer projections, because it computes only the edge that the readout reads.  In the last layer, this
// edge does not depend on edges between source nodes.  If this edge is (a, a), it does not depend on edges of earlier
// nodes either.
#pragma once

#include <algorithm>

#include "triad/core/scratch.hpp"
#include "triad/core/views.hpp"
#include "triad/models/edge_transformer_seq2seq.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

/// The number of triangles that the decoder's layers compute for one hypothesis, for three ways of decoding.  The
/// number depends on the numbers of source and target tokens.
struct decoding_triples {
  index_t incremental;  // edge_decoder computes only new edges
  index_t masked;       // every step computes all tokens, but not the triangles that the causal mask excludes
  index_t published;    // every step computes all tokens and all n^3 triangles, as in the released program

  static constexpr decoding_triples of(index_t sources, index_t targets, index_t layers) {
    index_t const block = sources * sources * sources;
    decoding_triples all{(layers > 1 ? layers - 2 : 0) * block, 0, 0};
    index_t open = block;
    for (index_t t = 0; t < targets; ++t) {
      index_t const n = sources + t + 1, shell = (2 * n - 1) * n;
      open += shell;
      all.incremental += (layers - 1) * shell + n;
      all.masked += layers * open;
      all.published += layers * n * n * n;
    }
    return all;
  }
};

template <class Model>
struct edge_decoding {
  using T = typename Model::value_type;
  using values = fields_of<Model, T const>;
  using states = typename Model::states;  // (rows, d)
  using cache = tensor<T, dyn, dyn>;      // (rows, projections of an edge)

  Model model;
  index_t beam, longest;  // the number of hypotheses of each source; the largest number of tokens of a hypothesis

  /// The inputs that change from step to step.
  struct newest {
    index_t step = 0;
    vec<index_t const> token, position;     // (slots)
    tensor<index_t const, dyn, dyn> owner;  // (slots, step + 1) edge_shells::owner
    vec<index_t const> self, wanted;        // (slots) the step's rows of edge (a, a) and of the wanted edge
    /// (rows) With relational encoding, `left` has the table row of each edge, and `right` is empty.  With positional
    /// encoding, `left` and `right` have the rows of the edge's two nodes in buffers::left and buffers::right.
    vec<index_t const> left, right;
  };
  struct buffers {
    typename Model::encoder_saved encoder;
    tensor<T, dyn, dyn, dyn> caches;  // (layers - 1, rows, projections of an edge)
    cache last;                       // (fewer rows, projections of an edge): the cache of the last layer
    states x[2];                      // (rows, d) the states of edges before and after a layer
    states table;                     // (table rows, d) the initial states of relational edges, or (0, d)
    states left, right;               // (source nodes + slots longest, d) wl u + bl, wr u + br of the nodes, or (0, d)
    states final;                     // (slots, d)
    typename Model::output logits;    // (slots, v)
  };

  index_t layers() const { return model.decoder.layers.count(); }
  bool relational() const { return model.decoder.edges.relational(); }
  shell_edges readout() const {
    return model.layout.readout == edge_readout::diagonal ? shell_edges::diagonal : shell_edges::first;
  }

  edge_shells shells(graph_batch const& sources, index_t step, tensor<index_t const, dyn, dyn> owner = empty()) const {
    return {sources, beam, step, owner};
  }
  /// Returns the number of rows of a step.
  index_t rows(edge_pair_dims const& z, index_t step) const { return of_dims(z).rows(step); }

  buffers plan(arena& place, edge_pair_dims const& z) const {
    index_t const d = model.width(), kept = model.decoder.layers.layer.kept_of_edge(), slots = z.pairs * beam;
    auto const all = of_dims(z);
    index_t const shells_alone = all.first_row(longest) - all.first_row(0),
                  most = std::max(z.source.rows, all.rows(longest - 1));
    auto const state = [&](index_t n) { return place.make<states>(n, d); };
    auto const encoder = model.plan_encoder(place, z, keep::nothing);
    auto const caches = place.make<tensor<T, dyn, dyn, dyn>>(layers() - 1, all.first_row(longest), kept);
    auto const last =
        place.make<cache>(readout() == shell_edges::diagonal ? all.rows(longest - 1) : shells_alone, kept);
    auto const x = state(most), y = state(most), table = state(relational() ? model.decoder.edges.relative.count() : 0);
    index_t const ends = relational() ? 0 : z.source.nodes + slots * longest;
    auto const left = state(ends), right = state(ends), final = state(slots);
    return {.encoder = encoder,
            .caches = caches,
            .last = last,
            .x = {x, y},
            .table = table,
            .left = left,
            .right = right,
            .final = final,
            .logits = place.make<typename Model::output>(slots, model.vocabulary())};
  }

  template <backend Ex>
  void begin(Ex& ex, call const& c, values const& w, edge_pair_batch<T> const& in, buffers const& at) const {
    auto const& edges = model.decoder.edges;
    index_t const rows = in.sizes.source.rows, nodes = in.sizes.source.nodes;
    model.encode(ex, c, w, in, at.encoder);
    if (relational())
      edges.place_vectors(ex, w.decoder.edges, at.table);
    else
      ends(ex, c, w, in.source, at, 0, nodes);
    tensor<T const, dyn, D> x = at.encoder.y;
    for (index_t k = 0; k + 1 < layers(); ++k) {
      bool const done = k + 2 == layers();  // the last layer reads no edge between source nodes
      auto const y = rows_of(at.x[k % 2], 0, done ? 0 : rows);
      model.decoder.layers.layer.begin(ex, c, w.decoder.layers.at(k), x, in.source.graphs, slice(at.caches, k), y);
      x = y;
    }
  }

  /// Computes the logits of the next token of each hypothesis.
  template <backend Ex>
  void extend(Ex& ex, call const& c, values const& w, edge_pair_batch<T> const& in, newest const& now,
              buffers const& at) const {
    auto const& layer = model.decoder.layers.layer;
    auto of = shells(in.source.graphs, now.step, now.owner);
    index_t const rows = of.rows(now.step), last = layers() - 1;
    first_states(ex, c, w, in, now, at, rows_of(at.x[0], 0, rows));
    for (index_t k = 0; k < last; ++k)
      layer.extend(ex, c, w.decoder.layers.at(k), rows_of(at.x[k % 2], 0, rows), of, shell_edges::all, now.wanted,
                   slice(at.caches, k), rows_of(at.x[(k + 1) % 2], 0, rows));
    of.skipped = of.unread(readout());
    layer.extend(ex, c, w.decoder.layers.at(last), rows_of(at.x[last % 2], 0, rows), of, readout(), now.wanted, at.last,
                 at.final);
    model.readout().forward(ex, c, w.output, at.final, {}, at.logits);
  }

  /// Returns the bytes of scratch memory that the last step of a batch of sizes `z` needs.  `z` has the largest sizes.
  template <backend Ex>
  std::size_t scratch(Ex& ex, edge_pair_dims const& z) const {
    arena parameters, kept;
    auto const w = triad::plan<T const>(model, parameters);
    auto const at = plan(kept, z);
    auto const in = model.measured_input(z);
    index_t const slots = z.pairs * beam, rows = of_dims(z).rows(longest - 1);
    vec<index_t const> const slot(nullptr, slots), row(nullptr, rows), none(nullptr, 0);
    newest const now{.step = longest - 1,
                     .token = slot,
                     .position = slot,
                     .owner = tensor<index_t const, dyn, dyn>(nullptr, slots, longest),
                     .self = slot,
                     .wanted = slot,
                     .left = row,
                     .right = relational() ? none : row};
    return planned_scratch(ex, call{}, [&](auto& dry, call const& c) {
      begin(dry, c, w, in, at);
      extend(dry, c, w, in, now, at);
    });
  }

 private:
  static constexpr index_t D = static_cast<index_t>(states::static_extent(1));

  static tensor<index_t const, dyn, dyn> empty() { return tensor<index_t const, dyn, dyn>(nullptr, 0, 0); }
  edge_shells of_dims(edge_pair_dims const& z) const {
    vec<index_t const> const none(nullptr, 0);
    return shells({z.source, none, none, none, none}, 0);
  }

  /// Computes wl u + bl and wr u + br for `count` nodes.  Writes the results to the rows from `first` on.
  template <backend Ex>
  void ends(Ex& ex, call const& c, values const& w, token_sequences<T> const& nodes, buffers const& at, index_t first,
            index_t count) const {
    auto const& edges = model.decoder.edges;
    auto const frame = c.scratch->open();
    auto const u = c.scratch->template make<states>(count, model.width());
    edges.words(model.vocabulary()).forward(ex, c, {w.tokens}, nodes, {}, u);
    edges.map().forward(ex, c, w.decoder.edges.left, u, {}, rows_of(at.left, first, count));
    edges.map().forward(ex, c, w.decoder.edges.right, u, {}, rows_of(at.right, first, count));
  }
  /// Computes the initial states x (rows of the step, d) of the edges, as pair_edges does.
  template <backend Ex>
  void first_states(Ex& ex, call const& c, values const& w, edge_pair_batch<T> const& in, newest const& now,
                    buffers const& at, states x) const {
    auto const frame = c.scratch->open();
    index_t const slots = now.token.extent(0), d = model.width();
    if (relational()) {
      auto const e = c.scratch->template make<states>(slots, d);
      gather_rows(ex, at.table, now.left, x);
      gather_rows(ex, w.tokens, now.token, e);
      scatter_add_rows(ex, c.scratch, e, now.self, x);
      return;
    }
    auto nodes = in.source;
    nodes.token = now.token;
    nodes.position = now.position;
    ends(ex, c, w, nodes, at, in.sizes.source.nodes + now.step * slots, slots);
    auto const other = c.scratch->template make<states>(x.extent(0), d);
    gather_rows(ex, at.left, now.left, x);
    gather_rows(ex, at.right, now.right, other);
    transform(ex, plus{}, x, other, x);
  }
};

}  // namespace triad
