// References for decoders that compute step by step: random hypotheses, and a search with a pass over all tokens in
// every step.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tests/catch.hpp"
#include "triad/core/random.hpp"
#include "triad/decoding/beam_search.hpp"

namespace triad::test {

using tokens = std::vector<index_t>;

/// The tokens of the hypothesis in each slot, without the begin token. In every step, some slots continue the
/// hypothesis of another slot with the same source.
struct hypotheses {
  index_t beam;
  std::vector<tokens> generated;
  tokens next, parents;  // of the newest step
  random_stream random;

  hypotheses(index_t slots, index_t b, std::uint64_t stream)
      : beam(b), generated(static_cast<std::size_t>(slots)), random(9, stream) {}

  /// If `moves`, slots may continue hypotheses of other slots.
  void step(index_t t, index_t begin, bool moves) {
    next.clear();
    parents.clear();
    std::vector<tokens> now;
    for (index_t h = 0; h < static_cast<index_t>(generated.size()); ++h) {
      auto const parent = h / beam * beam + static_cast<index_t>(random.below(static_cast<std::uint32_t>(beam)));
      parents.push_back(t > 0 && moves ? parent : h);
      next.push_back(t == 0 ? begin : static_cast<index_t>(3 + random.below(6)));
      now.push_back(generated[static_cast<std::size_t>(parents.back())]);
      if (t > 0) now.back().push_back(next.back());
    }
    generated = now;
  }
};

/// whole(source, tokens so far) must return the logits of the next token.
template <class Whole>
void find_by_passes(Whole&& whole, index_t vocabulary, index_t beam, beam_search& search) {
  std::vector<tokens> generated(static_cast<std::size_t>(search.rows()));
  while (!search.done()) {
    std::vector<double> logits;
    std::vector<tokens> now;
    for (std::size_t h = 0; h < generated.size(); ++h) {
      now.push_back(generated[static_cast<std::size_t>(search.parents()[h])]);
      if (search.step() > 0) now.back().push_back(search.last_tokens()[h]);
      auto const row = search.live()[h] ? whole(h / static_cast<std::size_t>(beam), now.back())
                                        : std::vector<double>(static_cast<std::size_t>(vocabulary));
      logits.insert(logits.end(), row.begin(), row.end());
    }
    generated = now;
    search.advance(
        make_matrix<double const>(logits.data(), static_cast<index_t>(generated.size()), vocabulary, vocabulary));
  }
}

/// Checks that both searches found the same hypotheses for each source, and at least one.
inline void expect_same_found(beam_search const& with, beam_search const& without, index_t sources) {
  for (index_t s = 0; s < sources; ++s) {
    auto const a = with.best(s), b = without.best(s);
    REQUIRE(a.size() == b.size());
    CHECK_FALSE(a.empty());
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(a[i].tokens == b[i].tokens);
      CHECK_THAT(a[i].score, WithinAbs(b[i].score, 1e-12));
    }
  }
}

}  // namespace triad::test
