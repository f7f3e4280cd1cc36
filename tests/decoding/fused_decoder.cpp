// Tests decoding token by token. For any hypotheses, its results must equal those of passes over all tokens.
// SPDX-License-Identifier: Apache-2.0
#include "triad/decoding/fused_decoder.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/decoding/by_passes.hpp"
#include "tests/ragged.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace decoding_fused_decoder_tests {

using namespace triad;

constexpr index_t width = 12, heads = 3, end_token = 2, vocabulary = 9, beam = 3, longest = 6;
constexpr pair_dims capacity{3, 20, 90, 9, 9};

using test::tokens;
using model = fused_transformer<double>;

model model_of(int which) {
  transformer_layer_options const layer{width, heads, 16, 0.3,
                                        which == 1 ? norm_position::before : norm_position::after};
  fused_transformer_options z;
  z.source_tokens = z.target_tokens = vocabulary;
  z.encoder = {.layer = layer, .layers = 2, .fused = 0b11};
  z.decoder = {.layer = layer, .layers = 2, .fused = which == 2 ? 0u : 0b11u};
  if (which == 3) z.decoder.link = layer_link::sum;
  if (which == 4) z.decoder.link = z.encoder.link = layer_link::weighted;
  if (which == 5) z.decoder.tied = true, z.tied_output = false;
  if (which == 6)
    // Hypotheses become longer than the relative positions reach.
    z.encoder.layer.reach = 1, z.decoder.layer.reach = 2, z.positions = false;
  z.fixed_token = 1;
  return model(z);
}
constexpr int models = 7;

std::vector<tokens> const sources{{3, 4, 5, 8}, {6}, {7, 7, 3}};

template <class Ex>
struct decoding {
  Ex ex;
  trainer<model, Ex> net;
  pair_loader<Ex, double> loader;
  fused_decoder<model, Ex> decoder;

  explicit decoding(int which)
      : net(ex, model_of(which), settings()),
        loader(capacity, width, end_token, end_token),
        decoder(ex, model_of(which), {capacity, beam, longest}) {
    initialize(net.parameters(), 5);
  }
  static typename trainer<model, Ex>::options_type settings() {
    typename trainer<model, Ex>::options_type o;
    o.capacity = {3 * beam, 60, 90, 9, 9};
    o.memory = keep::nothing;
    return o;
  }
  pair_batch<double> load(std::size_t count) {
    loader.clear();
    for (std::size_t i = 0; i < count; ++i) loader.add_source(sources[i]);
    return loader.upload().first;
  }

  /// Returns the logits after the last token of `target`, from a pass over all of its tokens.
  std::vector<double> whole(tokens const& source, tokens const& target) {
    pair_loader<Ex, double> l(capacity, width, end_token, end_token);
    l.add(source, target);
    auto const found = net.infer(l.upload().first);
    auto const* const last = found.data_handle() + static_cast<index_t>(target.size()) * vocabulary;
    return {last, last + vocabulary};
  }
};

TEMPLATE_TEST_CASE("decoding by steps says what passes over all tokens say, whatever hypotheses go on", "",
                   TRIAD_TEST_BACKENDS) {
  for (int which = 0; which < models; ++which) {
    CAPTURE(which);
    decoding<TestType> d(which);
    auto const w = d.net.parameters().values();
    for (std::size_t count : {std::size_t{3}, std::size_t{2}}) {  // the second batch reuses the memory of the first
      auto const in = d.load(count);
      d.decoder.begin(w, in);
      auto const slots = static_cast<index_t>(count) * beam;
      REQUIRE(d.decoder.slots() == slots);
      test::hypotheses all(slots, beam, static_cast<std::uint64_t>(which));
      for (index_t t = 0; t < longest; ++t) {
        all.step(t, end_token, t % 2 == 1);
        auto const found = d.decoder.step(w, all.next, all.parents);
        for (index_t h = 0; h < slots; h += t % 2 == 0 ? 4 : 1) {
          auto const expected =
              d.whole(sources[static_cast<std::size_t>(h / beam)], all.generated[static_cast<std::size_t>(h)]);
          for (index_t c = 0; c < vocabulary; ++c)
            CHECK_THAT(found(h, c), test::WithinAbs(expected[static_cast<std::size_t>(c)], 1e-12));
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("a beam search with caches finds what one without finds", "", TRIAD_TEST_BACKENDS) {
  beam_search_options o;
  o.beam = beam, o.n_best = beam, o.longest = longest - 1, o.begin = o.end = end_token, o.length_penalty = 0.6;
  o.forbidden = {0, 1};
  for (int which : {0, 4, 6}) {
    decoding<TestType> d(which);
    auto const w = d.net.parameters().values();
    beam_search with(3, vocabulary, o), without(3, vocabulary, o);
    d.decoder.find(w, d.load(3), with);
    test::find_by_passes([&](std::size_t s, tokens const& generated) { return d.whole(sources[s], generated); },
                         vocabulary, beam, without);
    test::expect_same_found(with, without, 3);
  }
}

TEST_CASE("a decoder refuses what it has no room for") {
  using Ex = reference::backend;
  decoding<Ex> d(0);
  auto const w = d.net.parameters().values();
  fused_decoder<model, Ex> small(d.ex, model_of(0), {{2, 20, 0, 9, 0}, beam, 1});
  CHECK_THROWS_WITH(small.begin(w, d.load(3)), test::contains("fused_decoder: a batch of 3 pairs"));
  small.begin(w, d.load(2));
  CHECK_THROWS_WITH(small.step(w, tokens(5, end_token), {}),
                    test::contains("decoder: "));  // steps.cpp tests the other messages
}

}  // namespace decoding_fused_decoder_tests
