// Decodes with an encoder-decoder Edge Transformer, one token at a time.  The decoder keeps all edges that it has
// computed, so no edge is computed twice.
// SPDX-License-Identifier: Apache-2.0
//
// For a hypothesis of n nodes, a step computes 2 n - 1 edges and (2 n - 1) n triangles in each layer.  Without kept
// edges, a step would compute n^2 edges and n^3 triangles (decoding_triples).  Hypotheses are never copied.  Instead, a
// table has the slot in which each node of a hypothesis was computed, and only the rows of this table are moved.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/views.hpp"
#include "triad/decoding/edge_decoding.hpp"
#include "triad/decoding/steps.hpp"

namespace triad {

/// The capacity of an edge_decoder.  Of room.sources, only the members `pairs` and `source` are read.
using edge_decoder_room = basic_decoder_room<edge_pair_dims>;

/// Has the same functions as fused_decoder.  Allocates memory only in the constructor.  Every function that computes
/// takes the parameters, so the parameters may change between batches.
template <class Model, backend Ex>
class edge_decoder {
 public:
  using T = typename Model::value_type;
  using memory = typename Ex::memory;
  using values = fields_of<Model, T const>;

  edge_decoder(Ex& ex, Model const& m, edge_decoder_room const& room)
      : ex_(ex),
        pass_{m, room.beam, room.longest},
        room_(checked(room)),
        sizes_(room.sources),
        host_(slots(), m.vocabulary(), room.beam, room.longest),
        owner_(size(slots() * room.longest)),
        before_(owner_),
        source_(size(room.sources.pairs)),
        node_(source_),
        position_(host_.token),
        self_(host_.token),
        wanted_(host_.token),
        left_(size(pass_.rows(room.sources, room.longest - 1))),
        right_(pass_.relational() ? 0 : left_.size()),
        step_(bytes_of_step(), memory_of(ex)),
        memory_(bytes_kept(pass_, room), memory_of(ex)),
        scratch_(pass_.scratch(ex, room.sources), memory_of(ex)) {}
  edge_decoder(edge_decoder const&) = delete;
  edge_decoder& operator=(edge_decoder const&) = delete;

  /// The number of rows of logits: `beam` for each source.
  index_t slots() const { return sizes_.pairs * room_.beam; }
  /// The number of bytes of the decoder's memory, not counting arrays of indices.
  std::size_t bytes() const { return memory_.bytes() + scratch_.bytes(); }
  /// Returns what bytes() would return, without constructing a decoder.
  static std::size_t planned(Ex& ex, Model const& m, edge_decoder_room const& room) {
    edge_decoding<Model> const pass{m, room.beam, room.longest};
    return bytes_kept(pass, checked(room)) + pass.scratch(ex, room.sources);
  }
  /// The number of triangles computed since begin().  For a single hypothesis, this number is
  /// decoding_triples::incremental.
  index_t triples() const { return triples_; }

  /// Reads the sources of a batch.  `in` must remain valid until the last step.
  void begin(values const& w, edge_pair_batch<T> const& in) {
    TRIAD_EXPECTS(in.sizes.pairs <= room_.sources.pairs && fits(in.sizes.source, room_.sources.source),
                  "edge_decoder: a batch of " + detail::dims_text(in.sizes) + ", expected at most " +
                      detail::dims_text(room_.sources) + ", the room");
    TRIAD_EXPECTS(
        in.source_mask.empty(),
        "edge_decoder: a batch with padding, expected sources next to each other; upload() instead of upload_padded()");
    TRIAD_EXPECTS(pass_.relational() || in.source.waves.extent(0) >= room_.longest,
                  "edge_decoder: waves for " + std::to_string(in.source.waves.extent(0)) + " positions, expected " +
                      std::to_string(room_.longest) + " or more, the longest hypothesis");
    in_ = in;
    sizes_ = in.sizes;
    memory_.memory().to_host(source_.data(), in.source.graphs.size.data_handle(), size(sizes_.pairs) * sizeof(index_t));
    triples_ = 0;
    index_t const whole = std::max<index_t>(pass_.layers() - 2, 0);  // layers that compute edges between source nodes
    for (index_t g = 0, node = 0; g < sizes_.pairs; ++g) {
      index_t const s = source_[size(g)];
      node_[size(g)] = node;
      node += s;
      triples_ += whole * s * s * s;
    }
    host_.begin(slots());
    auto scratch = scratch_.place();
    pass_.begin(ex_, make_call(scratch), w, in_, batch_buffers());
  }

  /// Adds a token to every hypothesis.  Returns the logits (slots, v) of the next token, which are valid until the next
  /// step.  Hypothesis h continues hypothesis parents[h] of the previous step.  Both hypotheses must have the same
  /// source.  `parents` may be empty in the first step.
  matrix<T const> step(values const& w, std::span<index_t const> tokens, std::span<index_t const> parents) {
    host_.take(tokens, parents);
    place_newest();
    index_t const t = host_.tokens++;
    auto const now = step_([&](auto const& put) { return put_newest(put, t); });
    auto const at = batch_buffers();
    auto scratch = scratch_.place();
    pass_.extend(ex_, make_call(scratch), w, in_, now, at);
    return as_matrix(read_only(at.logits));
  }

  /// Searches for the best hypotheses of a batch.  The search must have the decoder's beam, and at most the number of
  /// sentences for which the decoder was constructed.
  void find(values const& w, edge_pair_batch<T> const& in, beam_search& search) {
    begin(w, in);
    host_.find(search, memory_.memory(),
               [&](auto newest_tokens, auto before) { return step(w, newest_tokens, before); });
  }

 private:
  using pass = edge_decoding<Model>;

  static std::size_t size(index_t n) { return static_cast<std::size_t>(n); }
  static edge_decoder_room const& checked(edge_decoder_room const& room) {
    TRIAD_EXPECTS(room.beam > 0 && room.longest > 0, "edge_decoder: room for " + std::to_string(room.beam) +
                                                         " hypotheses of " + std::to_string(room.longest) +
                                                         " tokens, expected 1 or more of each");
    return room;
  }
  static std::size_t bytes_kept(pass const& p, edge_decoder_room const& room) {
    return planned_bytes([&](arena& a) { (void)p.plan(a, room.sources); });
  }
  typename pass::buffers batch_buffers() const {
    auto place = memory_.place();
    return pass_.plan(place, sizes_);
  }
  static call make_call(arena& scratch) {
    call c;
    c.scratch = &scratch;
    return c;
  }

  /// Computes the position of the newest node of every hypothesis, and the rows of this node's edges.
  void place_newest() {
    index_t const t = host_.tokens, count = slots();
    bool same = true;
    for (index_t h = 0; h < count; ++h) same = same && host_.parent[size(h)] / room_.beam == h / room_.beam;
    TRIAD_EXPECTS(same, "edge_decoder: the parent of a hypothesis is of another source, expected one of its own");
    std::copy_n(owner_.begin(), count * t, before_.begin());
    auto place = left_.begin();
    index_t row = 0;
    for (index_t h = 0; h < count; ++h) {
      index_t const g = h / room_.beam, s = source_[size(g)], a = s + t, parent = host_.parent[size(h)];
      auto const owners = owner_.begin() + h * (t + 1);
      std::copy_n(before_.begin() + parent * t, t, owners);
      owners[t] = h;
      position_[size(h)] = t;
      self_[size(h)] = row + a;
      wanted_[size(h)] = row + (pass_.readout() == shell_edges::diagonal ? a : s);
      if (pass_.relational()) {
        for (index_t i = 0; i <= a; ++i) *place++ = place_of(i, a, s);
        for (index_t j = 0; j < a; ++j) *place++ = place_of(a, j, s);
      } else {
        auto const node = [&](index_t i) {
          return i < s ? node_[size(g)] + i : sizes_.source.nodes + (i - s) * count + owners[i - s];
        };
        for (index_t i = 0; i <= a; ++i) {
          left_[size(row + i)] = node(i);
          right_[size(row + i)] = node(a);
        }
        for (index_t j = 0; j < a; ++j) {
          left_[size(row + a + 1 + j)] = node(a);
          right_[size(row + a + 1 + j)] = node(j);
        }
      }
      row += 2 * a + 1;
      triples_ += (pass_.layers() - 1) * (2 * a + 1) * (a + 1) + a + 1;
    }
  }
  /// Returns the table row for edge (i, j).  At least one of the nodes i and j is in the target.
  index_t place_of(index_t i, index_t j, index_t s) const {
    auto const& p = pass_.model.layout.relative;
    if (i < s) return p.to_target();
    if (j < s) return p.to_source();
    return i == s && j == s ? p.begin() : p.within(i, j);
  }
  template <class Put>
  typename pass::newest put_newest(Put const& put, index_t t) const {
    index_t const count = slots(), rows = pass_.rows(sizes_, t);
    auto const token = put(host_.token, count), position = put(position_, count), owner = put(owner_, count * (t + 1)),
               self = put(self_, count);
    auto const wanted = put(wanted_, count), left = put(left_, rows),
               right = put(right_, pass_.relational() ? 0 : rows);
    return {.step = t,
            .token = token,
            .position = position,
            .owner = tensor<index_t const, dyn, dyn>(owner.data_handle(), count, t + 1),
            .self = self,
            .wanted = wanted,
            .left = left,
            .right = right};
  }
  std::size_t bytes_of_step() const {
    return planned_bytes([&](arena& a) {
      for (int i = 0; i < 4; ++i) (void)a.make<vec<index_t>>(slots());
      for (auto const* v : {&owner_, &left_, &right_}) (void)a.make<vec<index_t>>(static_cast<index_t>(v->size()));
    });
  }

  Ex& ex_;
  edge_decoding<Model> pass_;
  edge_decoder_room room_;
  edge_pair_dims sizes_;  // sizes of the batch
  decoding_steps<T> host_;
  edge_pair_batch<T> in_;
  index_t triples_ = 0;
  std::vector<index_t> owner_, before_;  // (slots, tokens) edge_shells::owner; before_: the owners before the step
  std::vector<index_t> source_, node_;   // (pairs) the nodes of a source; the nodes of all sources before it
  std::vector<index_t> position_, self_, wanted_, left_, right_;  // as in edge_decoding::newest
  batch_upload<Ex> step_;
  buffer<memory> memory_, scratch_;
};

}  // namespace triad
