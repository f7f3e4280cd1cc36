// Tests a model of a wide encoder with learned positions and a narrow decoder: the gradient, the names of parameters,
// and decoding.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/roberta.hpp"

#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/model_use.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/decoding/fused_decoder.hpp"
#include "triad/io/encoder.hpp"

namespace models_roberta_tests {

using namespace triad;

constexpr index_t width = 4, end_token = 2, target_tokens = 7;  // width is the decoder's

struct published {
  index_t width = 9, layers = 2, heads = 3, hidden = 11, tokens = 8, positions = 9, padding = 1;
  double epsilon = 1e-3;
};

using tokens = std::vector<index_t>;
using model = roberta_transformer<double>;
using loader = pair_loader<reference::backend, double>;
constexpr pair_dims capacity{3, 16, 60, 6, 8};

std::vector<tokens> const sources{{0, 4, 5, 4}, {0, 7}, {0, 6, 3}}, targets{{6, 3}, {5, 4, 3}, {}};

fused_transformer_options sizes(double dropout, bool fused) {
  fused_transformer_options z;
  z.target_tokens = target_tokens;
  z.decoder = {.layer = {width, 2, 10, dropout}, .layers = 2, .fused = fused ? 0b11u : 0u};
  z.encoder.layer.dropout = dropout;
  z.encoder.fused = fused ? 0b11u : 0u;
  z.dropout = dropout;
  return z;
}
loader loaded() {
  loader l(capacity, width, end_token, end_token);
  for (std::size_t i = 0; i < sources.size(); ++i) l.add(sources[i], targets[i]);
  return l;
}

TEMPLATE_TEST_CASE("a narrow decoder over a wide encoder has the gradient of its loss", "", TRIAD_TEST_BACKENDS) {
  for (bool fused : {false, true})
    for (auto kept : {keep::everything, keep::inputs}) {
      CAPTURE(fused, kept == keep::inputs);
      auto const m = roberta_under_decoder<double>(published{}, sizes(fused ? 0.2 : 0, fused));
      test::check_gradient_of(test::model_use<model, TestType, loader>(m, kept, loaded()));
    }
}

TEMPLATE_TEST_CASE("an encoder with a bias by distance has the gradient of its loss, that of the shared table too", "",
                   TRIAD_TEST_BACKENDS) {
  encoder_config config{.width = 9, .layers = 2, .heads = 3, .hidden = 11, .tokens = 8, .positions = 9};
  config.epsilon = 1e-3;
  config.kind = encoder_kind::mpnet;
  for (double const dropout : {0.0, 0.2})
    for (auto kept : {keep::everything, keep::inputs}) {
      CAPTURE(dropout, kept == keep::inputs);
      auto const m = encoder_under_decoder<double>(config, sizes(dropout, false));
      bool types = false, distances = false;
      arena measure;
      walk(m.plan_params(measure), [&](std::string const& path, auto view) {
        types = types || path == "source.type";
        if (path == "encoder.distances") distances = view.size() == 32 * 3;
      });
      CHECK((distances && !types));
      test::check_gradient_of(test::model_use<model, TestType, loader>(m, kept, loaded()));
    }
}

TEST_CASE("encoders of another shape may be known at compile time, which changes nothing") {
  using fixed = fused_transformer<double, width, 2, 10, learned_tokens<double, 9>, fused_stack<double, 9, 3, 11>>;
  auto const open = roberta_under_decoder<double>(published{}, sizes(0.2, true));
  auto z = sizes(0.2, true);
  z.encoder = {.layer = open.encoder.layer_options, .layers = 2, .fused = 0b11};
  auto const& s = open.source;
  fixed const same(z, {s.tokens, s.positions, {}, s.dropout, s.epsilon, s.first});
  test::model_use<model, reference::backend, loader> one(open, keep::everything, loaded());
  test::model_use<fixed, reference::backend, loader> other(same, keep::everything, loaded());
  auto const at = one.values();
  std::vector<double> g(at.size()), h(at.size());
  CHECK(one.run(at, &g) == other.run(at, &h));
  CHECK(g == h);
}

TEST_CASE("a published encoder's shape, norms and activation are the config's; the decoder projects its states") {
  auto const m = roberta_under_decoder<double>(published{}, sizes(0.1, true));
  CHECK(m.width() == width);
  CHECK(m.source.longest() == 7);
  CHECK(m.source.epsilon == 1e-3);
  CHECK(m.encoder.layer_options.epsilon == 1e-3);
  CHECK(m.encoder.layer(0).block.norm.epsilon == 1e-3);
  CHECK(m.decoder.layer_options.epsilon == 1e-5);
  CHECK(m.encoder.layer_options.between == activation::gelu);
  CHECK(m.encoder.layer_options.norms == norm_position::after);
  CHECK(m.encoder.layer_options.dropout == 0.1);
  bool found = false;
  arena measure;
  walk(m.plan_params(measure), [&](std::string const& path, auto view) {
    if (path != "decoder.1.cross.value.weight") return;
    found = true;
    CHECK(view.extent(0) == width);
    CHECK(view.extent(view.rank() - 1) == 9);
  });
  CHECK(found);
}

TEST_CASE(
    "an encoder without waves of its own must be as wide as the decoder, and no source longer than its positions") {
  auto z = sizes(0, false);
  z.source_tokens = 8;
  z.encoder.layer = {9, 3, 11};
  CHECK_THROWS_WITH(fused_transformer<double>(z), test::contains("the encoder's width is 9, expected 4"));
  z.positions = false;
  CHECK(fused_transformer<double>(z).encoder.width() == 9);
  using Ex = reference::backend;
  Ex ex;
  published few;
  few.positions = 7;
  typename trainer<model, Ex>::options_type o;
  o.capacity = capacity;  // enough for six tokens and five positions
  auto const m = roberta_under_decoder<double>(few, sizes(0, false));
  CHECK_THROWS_WITH((trainer<model, Ex>(ex, m, o)), test::contains("the encoder's positions"));
  z.encoder.tied = true;
  CHECK_THROWS_WITH(roberta_under_decoder<double>(published{}, z), test::contains("tied or linked to earlier ones"));
}

TEMPLATE_TEST_CASE("a decoder under a wide encoder says by steps what passes over all tokens say", "",
                   TRIAD_TEST_BACKENDS) {
  constexpr index_t beam = 2, longest = 4;
  TestType ex;
  auto const m = roberta_under_decoder<double>(published{}, sizes(0.3, true));
  typename trainer<model, TestType>::options_type o;
  o.capacity = capacity;
  o.memory = keep::nothing;
  trainer<model, TestType> net(ex, m, o);
  initialize(net.parameters(), 5);
  auto const w = net.parameters().values();
  pair_loader<TestType, double> given(capacity, width, end_token, end_token),
      whole(capacity, width, end_token, end_token);
  for (auto const& s : sources) given.add_source(s);
  fused_decoder<model, TestType> decoder(ex, m, {capacity, beam, longest});
  decoder.begin(w, given.upload().first);
  auto const slots = decoder.slots();
  std::vector<tokens> generated(static_cast<std::size_t>(slots));
  random_stream random(9, 1);
  for (index_t t = 0; t < longest; ++t) {
    tokens next, parents;
    std::vector<tokens> now;
    for (index_t h = 0; h < slots; ++h) {
      parents.push_back(t == 0 ? h : h / beam * beam + static_cast<index_t>(random.below(beam)));
      next.push_back(t == 0 ? end_token : static_cast<index_t>(3 + random.below(4)));
      now.push_back(generated[static_cast<std::size_t>(parents.back())]);
      if (t > 0) now.back().push_back(next.back());
    }
    generated = now;
    auto const found = decoder.step(w, next, parents);
    for (index_t h = 0; h < slots; ++h) {
      whole.clear();
      whole.add(sources[static_cast<std::size_t>(h / beam)], generated[static_cast<std::size_t>(h)]);
      auto const all = net.infer(whole.upload().first);
      auto const* const last = all.data_handle() + t * target_tokens;
      for (index_t c = 0; c < target_tokens; ++c) CHECK_THAT(found(h, c), test::WithinAbs(last[c], 1e-12));
    }
  }
}

}  // namespace models_roberta_tests
