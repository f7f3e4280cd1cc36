// The base class of decoders that work token by token.  The class has the capacity of a decoder, the input of a step,
// and a beam search.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "triad/batches/pair_batch.hpp"
#include "triad/core/views.hpp"
#include "triad/decoding/beam_search.hpp"

namespace triad {

/// The capacity of a decoder.  `Dims` is the type of the sizes of a batch of sources.
template <class Dims>
struct basic_decoder_room {
  Dims sources;         // the sizes of the largest batch; the sizes of targets are not read
  index_t beam = 1;     // the number of hypotheses of each source
  index_t longest = 1;  // the most tokens of a hypothesis, including the begin token: beam_search_options::longest + 1
};
using decoder_room = basic_decoder_room<pair_dims>;

/// The state of a decoder on the host.  Allocates memory only in the constructor.
template <class T>
struct decoding_steps {
  index_t vocabulary, longest;
  index_t slots = 0;                   // the number of slots of the current batch
  index_t tokens = -1;                 // the number of tokens of every hypothesis; negative before begin()
  std::vector<index_t> token, parent;  // (slots) the inputs of the last step

  decoding_steps(index_t most_slots, index_t v, index_t beam, index_t most_tokens)
      : vocabulary(v),
        longest(most_tokens),
        slots(most_slots),
        token(static_cast<std::size_t>(most_slots)),
        parent(token),
        logits_(static_cast<std::size_t>(most_slots * v)) {
    TRIAD_EXPECTS(beam > 0 && longest > 0, "decoder: room for " + std::to_string(beam) + " hypotheses of " +
                                               std::to_string(longest) + " tokens, expected 1 or more of each");
  }

  void begin(index_t slots_of_batch) { slots = slots_of_batch, tokens = 0; }

  /// Adds a token to every hypothesis.  Returns true if a hypothesis moves to another slot.  `parents` may be empty in
  /// the first step.
  bool take(std::span<index_t const> newest, std::span<index_t const> parents) {
    auto const count = static_cast<std::size_t>(slots);
    TRIAD_EXPECTS(tokens >= 0, "decoder: a step before any source, expected begin() first");
    expect_extent("decoder", "tokens", static_cast<index_t>(newest.size()), slots);
    if (tokens > 0) expect_extent("decoder", "parents", static_cast<index_t>(parents.size()), slots);
    TRIAD_EXPECTS(tokens < longest, "decoder: token " + std::to_string(tokens + 1) +
                                        " of a hypothesis, expected at most " + std::to_string(longest) +
                                        "; make the room's longest larger");
    bool moved = false, known = true;
    for (std::size_t h = 0; h < count; ++h) {
      token[h] = newest[h];
      parent[h] = tokens == 0 ? static_cast<index_t>(h) : parents[h];
      known = known && token[h] >= 0 && token[h] < vocabulary && parent[h] >= 0 && parent[h] < slots;
      moved = moved || parent[h] != static_cast<index_t>(h);
    }
    TRIAD_EXPECTS(
        known, "decoder: a token or a parent out of range, expected tokens, and begin of beam_search_options, below " +
                   std::to_string(vocabulary) + ", parents below " +
                   std::to_string(slots));  // a device cannot check this
    return moved;
  }

  /// Searches for the best hypotheses of the current batch.  step(tokens, parents) must run a step of the decoder and
  /// return logits in `memory`.
  template <class Memory, class Step>
  void find(beam_search& search, Memory const& memory, Step&& step) {
    TRIAD_EXPECTS(search.rows() == slots,
                  "decoder: a search of " + std::to_string(search.rows()) + " hypotheses, expected " +
                      std::to_string(slots) +
                      ", the room's beam times the sentences of the batch; restart(sentences) the search");
    TRIAD_EXPECTS(search.step() == tokens, "decoder: a search after " + std::to_string(search.step()) +
                                               " steps, expected " + std::to_string(tokens) +
                                               ", those of this batch; restart() the search for another batch");
    TRIAD_EXPECTS(tokens + search.most_steps() - search.step() <= longest,
                  "decoder: a search of up to " + std::to_string(search.most_steps()) +
                      " tokens a hypothesis, the begin among them, expected at most " + std::to_string(longest) +
                      ", the room's longest; make it one more than that of beam_search_options, or limit() the search");
    while (!search.done()) {
      auto const found = step(search.last_tokens(), search.parents());
      memory.to_host(logits_.data(), found.data_handle(), static_cast<std::size_t>(slots * vocabulary) * sizeof(T));
      search.advance(make_matrix<T const>(logits_.data(), slots, vocabulary, vocabulary));
    }
  }

 private:
  std::vector<T> logits_;  // (slots, v)
};

}  // namespace triad
