// Decodes with an encoder-decoder, one token at a time.  The decoder keeps the keys and values of earlier tokens.
// SPDX-License-Identifier: Apache-2.0
//
//   begin   runs the encoder on all sources, and computes the keys and values of its output for every decoder layer
//   step    computes the state of the newest token of every hypothesis, and stores the token's keys and values after
//           the keys and values of earlier tokens.  Fuse-attention reads only states of the same token, so it needs no
//           kept values.
//
// Decoding a hypothesis of n tokens takes n steps.  Except for attention, the cost of a step is 1 / n of the cost of
// one forward pass over the hypothesis.
#pragma once

#include <span>
#include <vector>

#include "triad/batches/batch_upload.hpp"
#include "triad/core/backend.hpp"
#include "triad/core/batch_sizes.hpp"
#include "triad/core/scratch.hpp"
#include "triad/core/views.hpp"
#include "triad/decoding/steps.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/ops/gather.hpp"

namespace triad {

/// Allocates memory only in the constructor.  Every function that computes takes the parameters, so the parameters may
/// change between calls.
template <class Model, backend Ex>
class fused_decoder {
 public:
  using T = typename Model::value_type;
  using memory = typename Ex::memory;
  using values = fields_of<Model, T const>;

  fused_decoder(Ex& ex, Model const& m, decoder_room const& room)
      : ex_(ex),
        model_(m),
        room_(room),
        sizes_(room.sources),
        host_(slots(), m.vocabulary(), room.beam, room.longest),
        constants_(bytes_of_constants(), memory_of(ex)),
        step_(bytes_of_step(), memory_of(ex)),
        memory_(needed_memory(), memory_of(ex)),
        scratch_(needed_scratch(), memory_of(ex)),
        position_(host_.token),
        length_(host_.token) {}
  fused_decoder(fused_decoder const&) = delete;
  fused_decoder& operator=(fused_decoder const&) = delete;

  /// The number of rows of logits: `beam` for each source.
  index_t slots() const { return sizes_.pairs * room_.beam; }
  /// The number of bytes of the decoder's memory, not counting arrays of indices.
  std::size_t bytes() const { return memory_.bytes() + scratch_.bytes(); }
  /// Returns what bytes() would return, without constructing a decoder.
  static std::size_t planned(Ex& ex, Model const& m, decoder_room const& room) {
    fused_decoder dry(measuring_tag{}, ex, m, room);
    return dry.needed_memory() + dry.needed_scratch();
  }

  /// Reads the sources of a batch.  `in` must remain valid until the last step.
  void begin(values const& w, pair_batch<T> const& in) {
    TRIAD_EXPECTS(in.sizes.pairs <= room_.sources.pairs && in.sizes.source_rows <= room_.sources.source_rows &&
                      in.sizes.longest_source <= room_.sources.longest_source,
                  "fused_decoder: a batch of " + detail::dims_text(in.sizes) + ", expected at most " +
                      detail::dims_text(room_.sources) + ", the room");
    TRIAD_EXPECTS(in.waves.extent(0) >= room_.longest || !model_.positions,
                  "fused_decoder: waves for " + std::to_string(in.waves.extent(0)) + " positions, expected " +
                      std::to_string(room_.longest) + " or more, the longest hypothesis");
    in_ = in;
    sizes_ = in.sizes;
    host_.begin(slots());
    fixed_ = constants_([&](auto const& put) { return put_constants(put); });
    auto scratch = scratch_.place();
    encode(ex_, make_call(scratch), w, batch_buffers());
  }

  /// Adds a token to every hypothesis.  Returns the logits (slots, v) of the next token, which are valid until the next
  /// step.  Hypothesis h continues hypothesis parents[h] of the previous step.  `parents` may be empty in the first
  /// step.
  matrix<T const> step(values const& w, std::span<index_t const> tokens, std::span<index_t const> parents) {
    bool const moved = host_.take(tokens, parents);
    for (std::size_t h = 0; h < tokens.size(); ++h) {
      position_[h] = host_.tokens;
      length_[h] = host_.tokens + 1;
    }
    newest const now = step_([&](auto const& put) { return put_newest(put); });
    auto const at = batch_buffers();
    if (moved) {
      for (index_t k = 0; k < model_.decoder.count; ++k)
        gather_rows(ex_, grown(at, current_, k), now.parent, grown(at, 1 - current_, k));
      current_ = 1 - current_;
    }
    ++host_.tokens;
    auto scratch = scratch_.place();
    extend(ex_, make_call(scratch), w, at, now);
    return as_matrix(read_only(at.logits));
  }

  /// Searches for the best hypotheses of a batch.  The search must have the decoder's beam, and at most the number of
  /// sentences for which the decoder was constructed.
  void find(values const& w, pair_batch<T> const& in, beam_search& search) {
    begin(w, in);
    host_.find(search, memory_.memory(),
               [&](auto newest_tokens, auto before) { return step(w, newest_tokens, before); });
  }

 private:
  struct measuring_tag {};
  fused_decoder(measuring_tag, Ex& ex, Model const& m, decoder_room const& room)
      : ex_(ex),
        model_(m),
        room_(room),
        sizes_(room.sources),
        host_(0, m.vocabulary(), room.beam, room.longest),
        constants_(0, memory_of(ex)),
        step_(0, memory_of(ex)) {}

  using states = tensor<T, dyn, dyn>;
  /// The inputs that do not change from step to step.
  struct constants {
    vec<index_t const> one, each, first;  // (slots) for each hypothesis: 1 query; its index; its first row of keys
    vec<index_t const> beam, of_beam;     // (pairs) the number of hypotheses of a source; the index of the first one
  };
  struct newest {
    vec<index_t const> token, parent, position, length;  // (slots)
  };
  struct buffers {
    typename Model::encoder_saved encoder;
    typename Model::decoder_type::saved decoder;
    layer_states<T> source;                     // (layers, source rows, 2 d) keys and values of the encoder's output
    tensor<T, dyn, dyn, dyn, dyn, dyn> caches;  // (2, layers, slots, longest, 2 d)
    states logits;                              // (slots, v)
  };

  index_t layers() const { return model_.decoder.count; }
  buffers plan(arena& place, pair_dims const& z) const {
    index_t const d = model_.width(), hypotheses = z.pairs * room_.beam;
    auto const e = model_.plan_encoder(place, z, keep::nothing);
    auto const t = model_.decoder.plan_saved(place, hypotheses, 0, keep::nothing);
    auto const s = place.make<layer_states<T>>(layers(), z.source_rows, 2 * d);
    auto const caches = place.make<tensor<T, dyn, dyn, dyn, dyn, dyn>>(2, layers(), hypotheses, room_.longest, 2 * d);
    return {e, t, s, caches, place.make<states>(hypotheses, model_.vocabulary())};
  }
  buffers batch_buffers() const {
    auto place = memory_.place();
    return plan(place, sizes_);
  }
  static call make_call(arena& scratch) {
    call c;
    c.scratch = &scratch;
    return c;
  }

  attention_cache<T> cache(buffers const& at, newest const& now, index_t k) const {
    sequence_batch const queries{slots(), slots(), 1, fixed_.one, fixed_.each};
    sequence_batch const keys{slots(), slots() * room_.longest, host_.tokens, now.length, fixed_.first};
    return {slice(slice(at.caches, current_), k), host_.tokens, {queries, keys}};
  }
  /// Returns those rows of the caches of layer k + 1 that are already written, with one row for each hypothesis:
  /// (slots, tokens 2 d).
  matrix<T> grown(buffers const& at, int which, index_t k) const {
    auto const c = slice(slice(at.caches, which), k);
    index_t const width = c.extent(2);
    return make_matrix(c.data_handle(), slots(), host_.tokens * width, room_.longest * width);
  }

  template <class Any>
  void encode(Any& ex, call const& c, values const& w, buffers const& at) const {
    model_.encode(ex, c, w, in_, at.encoder);
    for (index_t k = 0; k < layers(); ++k)
      model_.decoder.layer(k).cross.branch.project(ex, c, w.decoder.at(k).cross.branch,
                                                   tensor<T const, dyn, dyn>(at.encoder.y()), slice(at.source, k));
  }
  template <class Any>
  void extend(Any& ex, call const& c, values const& w, buffers const& at, newest const& now) const {
    typename Model::input beams = in_;
    beams.target = {sizes_.pairs, slots(), room_.beam, fixed_.beam, fixed_.of_beam};
    beams.target_token = now.token;
    beams.target_position = now.position;
    model_.extend(
        ex, c, w, beams, tensor<T const, dyn, dyn>(at.encoder.y()), at.decoder,
        [&](index_t k) { return cache(at, now, k); },
        [&](index_t k) { return tensor<T const, dyn, dyn>(slice(at.source, k)); }, at.logits);
  }

  template <class Put>
  constants put_constants(Put const& put) const {
    auto const n = static_cast<std::size_t>(slots()), pairs = static_cast<std::size_t>(sizes_.pairs);
    std::vector<index_t> one(n, 1), each(n), first(n), beam(pairs, room_.beam), of_beam(pairs);
    for (std::size_t h = 0; h < n; ++h) {
      each[h] = static_cast<index_t>(h);
      first[h] = static_cast<index_t>(h) * room_.longest;
    }
    for (std::size_t p = 0; p < pairs; ++p) of_beam[p] = static_cast<index_t>(p) * room_.beam;
    auto const a = put(one, slots()), b = put(each, slots()), c = put(first, slots());
    auto const d = put(beam, sizes_.pairs);
    return {a, b, c, d, put(of_beam, sizes_.pairs)};
  }
  template <class Put>
  newest put_newest(Put const& put) const {
    auto const a = put(host_.token, slots()), b = put(host_.parent, slots()), c = put(position_, slots());
    return {a, b, c, put(length_, slots())};
  }
  std::size_t bytes_of_constants() const {
    return planned_bytes([&](arena& a) {
      for (int i = 0; i < 3; ++i) (void)a.make<vec<index_t>>(slots());
      for (int i = 0; i < 2; ++i) (void)a.make<vec<index_t>>(sizes_.pairs);
    });
  }
  std::size_t bytes_of_step() const {
    return planned_bytes([&](arena& a) {
      for (int i = 0; i < 4; ++i) (void)a.make<vec<index_t>>(slots());
    });
  }
  std::size_t needed_memory() const {
    return planned_bytes([&](arena& a) { (void)plan(a, room_.sources); });
  }
  /// Returns the bytes of scratch memory that the last step of the largest batch needs.
  std::size_t needed_scratch() {
    arena parameters, kept;
    auto const w = triad::plan<T const>(model_, parameters);
    auto const at = plan(kept, room_.sources);
    vec<index_t const> const slot(nullptr, slots()), pair(nullptr, sizes_.pairs);
    in_ = model_.measured_input(room_.sources);
    fixed_ = {slot, slot, slot, pair, pair};
    host_.tokens = room_.longest;
    auto const bytes = planned_scratch(ex_, call{}, [&](auto& dry, call const& c) {
      encode(dry, c, w, at);
      extend(dry, c, w, at, {slot, slot, slot, slot});
    });
    host_.tokens = -1;
    return bytes;
  }

  Ex& ex_;
  Model model_;
  decoder_room room_;
  pair_dims sizes_;  // sizes of the batch
  decoding_steps<T> host_;
  int current_ = 0;  // the half of the caches that is in use
  pair_batch<T> in_;
  constants fixed_;
  batch_upload<Ex> constants_, step_;
  buffer<memory> memory_, scratch_;
  std::vector<index_t> position_, length_;  // (slots)
};

}  // namespace triad
