// Tests a model of a wide encoder with learned positions and a narrow decoder: the gradient, the names of parameters,
// and decoding.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/roberta.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/models/model_use.hpp"
#include "triad/batches/batch_upload.hpp"
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

TEMPLATE_TEST_CASE("a frozen encoder has no gradient and no dropout, and its states may be given", "",
                   TRIAD_TEST_BACKENDS) {
  using trainer_type = trainer<model, TestType>;
  TestType ex;
  auto z = sizes(0.2, false);
  z.dropout = 0;  // of the first states of both sides
  auto options = typename trainer_type::options_type();
  options.capacity = capacity;
  z.encoder.layer.dropout = 0;
  trainer_type whole(ex, roberta_under_decoder<double>(published{}, z), options);
  z.encoder.layer.dropout = 0.2;
  z.dropout = 0;
  z.frozen_encoder = true;
  trainer_type frozen(ex, roberta_under_decoder<double>(published{}, z), options);
  for (auto* net : {&whole, &frozen}) initialize(net->parameters(), 5);
  pair_loader<TestType, double> pairs(capacity, width, end_token, end_token, memory_of(ex));
  for (std::size_t i = 0; i < sources.size(); ++i) pairs.add(sources[i], targets[i]);
  auto const [in, answers] = pairs.upload();

  // The gradients of the decoder are those of a model that is not frozen.
  whole.compute_gradient(in, answers);
  frozen.compute_gradient(in, answers);
  auto const of = [](trainer_type& net) {
    return host_copy(net.parameters().where(), net.parameters().flat_gradients());
  };
  auto const expected = of(whole), found = of(frozen);
  CHECK(frozen.loss() == whole.loss());
  auto const* const begin = frozen.parameters().flat_gradients().data_handle();
  bool encoder_learns = false;
  walk(frozen.parameters().gradients(), [&](std::string const& path, auto view) {
    CAPTURE(path);
    bool const constant = path.starts_with("source.") || path.starts_with("encoder.");
    CHECK(frozen.model().has_gradient(path) == !constant);
    CHECK(whole.model().has_gradient(path));
    auto const first = static_cast<std::size_t>(view.data_handle() - begin);
    for (auto i = first; i < first + view.size(); ++i) {
      encoder_learns = encoder_learns || (constant && expected[i] != 0);
      CHECK(found[i] == (constant ? 0 : expected[i]));
    }
  });
  CHECK(encoder_learns);

  // Given states take the place of the encoder.
  (void)frozen.infer(in);
  auto const states = host_copy(frozen.parameters().where(), frozen.saved(in.dims()).encoder.y());
  index_t const rows = in.dims().source_rows;
  REQUIRE(states.size() == static_cast<std::size_t>(9 * rows));
  auto const bytes = planned_bytes([&](arena& a) { (void)a.make<vec<double>>(9 * rows); });
  batch_upload<TestType> upload(bytes, memory_of(ex));
  auto given = in;
  auto const view = upload([&](auto const& put) { return put(states, 9 * rows); });
  given.source_states = tensor<double const, dyn, dyn>(view.data_handle(), rows, 9);
  auto const logits = [&](pair_batch<double> const& batch) {
    return host_copy(frozen.parameters().where(), frozen.infer(batch));
  };
  CHECK(logits(given) == logits(in));
  frozen.compute_gradient(given, answers);
  CHECK(frozen.loss() == whole.loss());
  CHECK(of(frozen) == found);
  auto doubled = states;
  for (auto& v : doubled) v *= 2;
  (void)upload([&](auto const& put) { return put(doubled, 9 * rows); });
  CHECK(logits(given) != logits(in));

  // Updates do not change the encoder.
  auto const before = host_copy(frozen.parameters().where(), frozen.parameters().flat_values());
  frozen.update(given, answers, 0.1);
  auto const after = host_copy(frozen.parameters().where(), frozen.parameters().flat_values());
  walk(frozen.parameters().gradients(), [&](std::string const& path, auto part) {
    CAPTURE(path);
    auto const first = part.data_handle() - begin;
    bool const same = std::equal(before.begin() + first, before.begin() + first + static_cast<index_t>(part.size()),
                                 after.begin() + first);
    CHECK(same == !frozen.model().has_gradient(path));
  });

  CHECK_THROWS_WITH(whole.infer(given), test::contains("of a model with frozen_encoder"));
  given.source_states = tensor<double const, dyn, dyn>(view.data_handle(), rows - 1, 9);
  CHECK_THROWS_WITH(frozen.infer(given), test::contains("source_states of 11 x 9, expected 12 x 9"));
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
