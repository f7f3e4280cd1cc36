// Tests the whole LRF model: its gradient for all combinations of options, which inputs its results depend on, and that
// it learns.
// SPDX-License-Identifier: Apache-2.0
#include "triad/models/fused_transformer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/models/model_use.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/batches/position_waves.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/train/trainer.hpp"

namespace models_fused_transformer_tests {

using namespace triad;

constexpr index_t width = 6, heads = 2, hidden = 10, end_token = 2, source_tokens = 7, target_tokens = 8;

using loader = pair_loader<reference::backend, double>;
using tokens = std::vector<index_t>;
struct pair {
  tokens source, target;
};

std::vector<pair> const three{{{3, 4, 5}, {6, 3}}, {{6}, {7, 5, 4, 3}}, {{4, 4, 3, 5}, {}}};

loader loaded(std::vector<pair> const& pairs) {
  loader l({3, 16, 16, 8, 8}, width, end_token, end_token);
  for (auto const& p : pairs) l.add(p.source, p.target);
  return l;
}

fused_transformer_options sizes(double dropout = 0, norm_position norms = norm_position::after) {
  transformer_layer_options const layer{width, heads, hidden, dropout, norms};
  fused_transformer_options z;
  z.source_tokens = source_tokens;
  z.target_tokens = target_tokens;
  z.encoder = {.layer = layer, .layers = 2};
  z.decoder = {.layer = layer, .layers = 3};
  z.dropout = dropout;
  return z;
}
fused_transformer_options fused(fused_transformer_options z) {
  z.encoder.fused = all_fused(z.encoder.layers);
  z.decoder.fused = all_fused(z.decoder.layers);
  return z;
}

fused_transformer_options one_layer(norm_position norms = norm_position::after) {
  auto z = sizes(0.1, norms);
  z.encoder.layers = z.decoder.layers = 1;
  return fused(z);
}

struct arrangement {
  char const* name;
  fused_transformer_options sizes;
  keep kept = keep::everything;
};

std::vector<arrangement> arrangements(norm_position norms) {
  std::vector<arrangement> all{{"plain", sizes(0, norms)},
                               {"fused", fused(sizes(0.3, norms))},
                               {"fused, recomputed", fused(sizes(0.3, norms)), keep::inputs}};
  auto top = sizes(0.2, norms);
  top.encoder.fused = only_top_fused(2);
  top.tied_output = false;
  top.smoothing = {0.1};
  all.push_back({"top of the encoder, smoothed", top});
  auto tied = fused(sizes(0, norms));
  tied.encoder.tied = tied.decoder.tied = true;
  tied.positions = false;
  all.push_back({"tied, without positions", tied});
  auto sum = fused(sizes(0.1, norms));
  sum.encoder.link = sum.decoder.link = layer_link::sum;
  all.push_back({"sums", sum, keep::inputs});
  auto weighted = sizes(0.1, norms);
  weighted.encoder.link = weighted.decoder.link = layer_link::weighted;
  weighted.decoder.fused = 0b101;
  all.push_back({"weighted", weighted});
  all.push_back({"weighted, recomputed", weighted, keep::inputs});
  auto relative = fused(sizes(0.1, norms));
  relative.encoder.layer.reach = 2;  // shorter than most sequences
  relative.decoder.layer.reach = 5;
  relative.decoder.fused = 0b100;
  relative.positions = false;
  all.push_back({"relative", relative});
  relative.encoder.tied = true;
  all.push_back({"relative, tied and recomputed", relative, keep::inputs});
  all.push_back({"one layer, recomputed", one_layer(norms), keep::inputs});
  auto shared = fused(sizes(0.1, norms));
  shared.source_tokens = shared.target_tokens = std::max(source_tokens, target_tokens);
  shared.shared_table = true;
  shared.scaled = embedding_scale::positions_down;
  all.push_back({"one table for both sides and the output, positions scaled down", shared});
  shared.tied_output = false;
  shared.scaled = embedding_scale::unscaled;
  all.push_back({"one table for both sides, not scaled", shared, keep::inputs});
  return all;
}

TEMPLATE_TEST_CASE("an encoder-decoder has the gradient of its loss, whatever its layers look back on", "",
                   TRIAD_TEST_BACKENDS) {
  for (auto norms : {norm_position::after, norm_position::before})
    for (auto const& a : arrangements(norms)) {
      CAPTURE(a.name, norms == norm_position::before);
      using model = fused_transformer<double>;
      test::check_gradient_of(test::model_use<model, TestType, loader>(model(a.sizes), a.kept, loaded(three)), true);
    }
  using fixed = fused_transformer<double, width, heads, hidden>;
  test::check_gradient_of(
      test::model_use<fixed, TestType, loader>(fixed(fused(sizes(0.3))), keep::everything, loaded(three)));
}

TEST_CASE("the last layer of a stack is as forward left it, and is not run again: one layer has no memory for that") {
  cpu::backend ex(1);
  using learner = trainer<fused_transformer<double>, cpu::backend>;
  auto const scratch = [&](fused_transformer_options const& z, keep kept) {
    learner::options_type o;
    o.capacity = {3, 16, 16, 8, 8};
    o.memory = kept;
    return learner::plan(ex, fused_transformer<double>(z), o).scratch;
  };
  CHECK(scratch(one_layer(), keep::inputs) == scratch(one_layer(), keep::everything));
  CHECK(scratch(fused(sizes()), keep::inputs) > scratch(fused(sizes()), keep::everything));
}

// The same pairs, with five rows for each sequence. The unused rows are before or after the tokens, and are masked.
struct padded_pairs {
  static constexpr index_t places = 5;
  std::vector<index_t> source_token, source_position, target_token, target_position, next,
      size = std::vector<index_t>(three.size(), places), first;
  std::vector<std::uint8_t> source_masked, target_masked;
  std::vector<double> waves = half_waves(places, width);

  explicit padded_pairs(bool before) {
    auto const lay = [&](tokens row, tokens& token, tokens& position, std::vector<std::uint8_t>& masked,
                         index_t filler) {
      auto const n = static_cast<index_t>(row.size());
      for (index_t i = 0; i < places; ++i) {
        index_t const at = before ? i - (places - n) : i;
        bool const used = at >= 0 && at < n;
        token.push_back(used ? row[static_cast<std::size_t>(at)] : filler);
        position.push_back(used ? at : 0);
        masked.push_back(used ? 0 : 1);
      }
    };
    for (auto const& p : three) {
      first.push_back(static_cast<index_t>(first.size()) * places);
      tokens from = p.source, given{end_token}, right = p.target;
      from.push_back(end_token);
      right.push_back(end_token);
      given.insert(given.end(), p.target.begin(), p.target.end());
      lay(from, source_token, source_position, source_masked, 1);
      lay(given, target_token, target_position, target_masked, 1);
      tokens none;
      std::vector<std::uint8_t> masked;
      lay(right, next, none, masked, -1);
    }
  }
  std::pair<pair_batch<double>, pair_answers> upload() const {
    auto const rows = static_cast<index_t>(three.size()) * places;
    auto const view = [](auto const& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); };
    pair_batch<double> in;
    in.sizes = {static_cast<index_t>(three.size()), rows, rows, places, places};
    in.source = in.target = {in.sizes.pairs, rows, places, view(size), view(first)};
    in.source_token = view(source_token), in.source_position = view(source_position);
    in.target_token = view(target_token), in.target_position = view(target_position);
    in.source_masked = view(source_masked), in.target_masked = view(target_masked);
    in.waves = tensor<double const, dyn, dyn>(waves.data(), places, width);
    return {in, {view(next)}};
  }
};

TEMPLATE_TEST_CASE("padding that is masked changes neither the loss nor its gradient", "", TRIAD_TEST_BACKENDS) {
  for (bool before : {false, true})
    for (auto a : arrangements(norm_position::after)) {
      CAPTURE(a.name, before);
      a.sizes.dropout = a.sizes.encoder.layer.dropout = a.sizes.decoder.layer.dropout =
          0;  // with dropout, padding would change which elements are dropped
      using model = fused_transformer<double>;
      test::model_use<model, TestType, loader> ragged(model(a.sizes), a.kept, loaded(three));
      test::model_use<model, TestType, padded_pairs> padded(model(a.sizes), a.kept, padded_pairs(before));
      auto const at = ragged.values();
      std::vector<double> g(at.size()), h(at.size());
      CHECK_THAT(padded.run(at, &h), test::WithinAbs(ragged.run(at, &g), 1e-13));
      double most = 0;
      for (std::size_t i = 0; i < g.size(); ++i) most = test::worse(most, std::abs(g[i] - h[i]));
      CHECK(most < 1e-13);
    }
}

TEST_CASE("an encoder is never causal, and has no source, whatever its options say") {
  auto z = sizes();
  z.encoder.layer.causal = true;
  z.encoder.source_width = 3;
  fused_transformer<double> const m(z);
  CHECK_FALSE(m.encoder.layer_options.causal);
  CHECK(m.encoder.source_width == 0);
  CHECK(m.decoder.layer_options.causal);
}

TEST_CASE("a fixed token that one of the tables does not have is refused") {
  auto z = sizes();
  z.fixed_token = std::min(z.source_tokens, z.target_tokens) - 1;
  CHECK_NOTHROW(fused_transformer<double>(z));
  z.source_tokens = 7, z.target_tokens = 8, z.fixed_token = 7;
  CHECK_THROWS_WITH(fused_transformer<double>(z),
                    test::contains("the fixed token is 7, expected below 7, the source tokens"));
  z.source_tokens = 9;
  z.fixed_token = 8;
  CHECK_THROWS_WITH(fused_transformer<double>(z),
                    test::contains("the fixed token is 8, expected below 8, the target tokens"));
}

TEST_CASE("widths known at compile time change nothing") {
  using open = fused_transformer<double>;
  using fixed = fused_transformer<double, width, heads, hidden>;
  for (auto const& a : arrangements(norm_position::before)) {
    CAPTURE(a.name);
    test::model_use<open, reference::backend, loader> one(open(a.sizes), a.kept, loaded(three));
    test::model_use<fixed, reference::backend, loader> other(fixed(a.sizes), a.kept, loaded(three));
    auto const at = one.values();
    std::vector<double> g(at.size()), h(at.size());
    CHECK(one.run(at, &g) == other.run(at, &h));
    CHECK(g == h);
    auto left_out = a.sizes;
    for (auto* const side : {&left_out.encoder.layer, &left_out.decoder.layer})
      side->width = side->heads = side->hidden = not_given;
    test::model_use<fixed, reference::backend, loader> short_one(fixed(left_out), a.kept, loaded(three));
    CHECK(short_one.run(at, &h) == one.run(at, &g));
  }
}

TEST_CASE("an encoder-decoder lists its parameters by name, those of its variants among them") {
  auto z = sizes(0, norm_position::before);
  z.encoder.fused = only_top_fused(2);
  z.decoder.link = layer_link::weighted;
  z.tied_output = false;
  std::vector<std::string> paths;
  arena measure;
  walk(fused_transformer<double>(z).plan_params(measure),
       [&](std::string const& path, auto) { paths.push_back(path); });
  auto const has = [&](char const* path) { return std::count(paths.begin(), paths.end(), path) == 1; };
  for (auto const* path :
       {"source.table", "target.table", "output", "encoder.0.attention.query.weight", "encoder.1.fuse.key.bias",
        "encoder.1.fuse.norm.gain", "encoder.norm.bias", "decoder.2.cross.value.weight",
        "decoder.2.feed_forward.inner.bias", "decoder.norms.3.gain", "decoder.links.4.combination"}) {
    CAPTURE(path);
    CHECK(has(path));
  }
  for (auto const* path : {"encoder.0.fuse.key.bias", "encoder.0.cross.query.weight", "decoder.0.fuse.key.bias",
                           "decoder.norm.gain", "decoder.links.5.combination"}) {
    CAPTURE(path);
    CHECK_FALSE(has(path));
  }
  z.source_tokens = z.target_tokens;
  z.shared_table = true;
  paths.clear();
  walk(fused_transformer<double>(z).plan_params(measure),
       [&](std::string const& path, auto) { paths.push_back(path); });
  CHECK((has("source.table") && has("output") && !has("target.table")));
}

TEST_CASE("both sides share a table only if they have as many tokens, and only if the encoder is trained") {
  auto z = sizes();
  z.shared_table = true;
  z.source_tokens = z.target_tokens + 1;
  CHECK_THROWS_WITH(fused_transformer<double>(z), test::contains("expected as many"));
  z.source_tokens = z.target_tokens;
  z.frozen_encoder = true;
  CHECK_THROWS_WITH(fused_transformer<double>(z), test::contains("no frozen encoder"));
  z.frozen_encoder = false;
  CHECK(fused_transformer<double>(z).shared_table);
}

// Returns the logits of one pair in a batch.
std::vector<double> logits_of(fused_transformer_options const& z, std::vector<pair> const& batch, std::size_t which) {
  using model = fused_transformer<double>;
  reference::backend ex;
  typename trainer<model, reference::backend>::options_type o;
  o.capacity = {3, 16, 16, 8, 8};
  o.memory = keep::nothing;
  trainer<model, reference::backend> work(ex, model(z), o);
  initialize(work.parameters(), 3);
  auto l = loaded(batch);
  auto const in = l.upload().first;
  auto const found = work.infer(in);
  index_t const first = in.target.begin(static_cast<index_t>(which)), n = in.target.size(static_cast<index_t>(which));
  return {found.data_handle() + first * target_tokens, found.data_handle() + (first + n) * target_tokens};
}

TEST_CASE("what is said of a pair depends on its source and on the tokens so far, and on nothing else") {
  for (auto const& a : arrangements(norm_position::after)) {
    CAPTURE(a.name);
    auto const alone = logits_of(a.sizes, {three[1]}, 0);
    CHECK(logits_of(a.sizes, three, 1) == alone);
    auto later = three[1];
    later.target[2] = 6;  // the fourth position reads it
    auto const changed = logits_of(a.sizes, {later}, 0);
    for (std::size_t i = 0; i < 5; ++i) {
      auto const row = [&](std::vector<double> const& v) {
        return std::vector<double>(v.begin() + static_cast<std::ptrdiff_t>(i * target_tokens),
                                   v.begin() + static_cast<std::ptrdiff_t>((i + 1) * target_tokens));
      };
      CAPTURE(i);
      CHECK((row(changed) == row(alone)) == (i < 3));
    }
    auto other = three[1];
    other.source = {5};
    CHECK(logits_of(a.sizes, {other}, 0) != alone);
  }
}

TEST_CASE("without positions the order of a source says nothing; relative positions tell it") {
  auto z = sizes();
  z.positions = false;
  pair const one{{3, 4, 5, 6, 4}, {7, 3}}, other{{4, 6, 3, 4, 5}, {7, 3}};
  auto const difference = [&] {
    auto const a = logits_of(z, {one}, 0), b = logits_of(z, {other}, 0);
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = test::worse(largest, std::abs(a[i] - b[i]));
    return largest;
  };
  CHECK(difference() < 1e-13);
  z.decoder.layer.reach = 3;  // positions only among the target's tokens
  CHECK(difference() < 1e-13);
  z.encoder.layer.reach = 1;
  CHECK(difference() > 1e-3);
}

TEST_CASE("relative positions are parameters of self-attention in either stack, and of no other attention") {
  auto z = fused(sizes());
  z.encoder.layer.reach = 2;
  z.decoder.layer.reach = 3;
  std::vector<std::string> paths;
  arena measure;
  walk(fused_transformer<double>(z).plan_params(measure), [&](std::string const& path, auto view) {
    if (path.find("relative") == std::string::npos) return;
    paths.push_back(path);
    CHECK(view.extent(0) == (path.rfind("encoder.", 0) == 0 ? 5 : 7));
  });
  std::vector<std::string> expected;
  for (auto const* layer : {"encoder.0", "encoder.1", "decoder.0", "decoder.1", "decoder.2"})
    for (auto const* table : {".attention.relative_key", ".attention.relative_value"})
      expected.push_back(std::string(layer) + table);
  CHECK(paths == expected);
}

TEMPLATE_TEST_CASE("an encoder-decoder learns three pairs by heart", "", TRIAD_TEST_ONE_BACKEND) {
  using model = fused_transformer<float>;
  TestType ex;
  auto z = fused(sizes());
  typename trainer<model, TestType>::options_type o;
  o.capacity = {3, 16, 16, 8, 8};
  trainer<model, TestType> work(ex, model(z), o);
  initialize(work.parameters(), 3);
  pair_loader<TestType, float> l(o.capacity, width, end_token, end_token);
  for (auto const& p : three) l.add(p.source, p.target);
  auto const batch = l.upload();
  int const updates = test::is_device<TestType> ? 20 : 300;
  work.update(batch.first, batch.second, 0.01);
  float const first = work.loss();
  for (int i = 1; i < updates; ++i) work.update(batch.first, batch.second, 0.01);
  CHECK(work.loss() < (test::is_device<TestType> ? first : 0.01f));
}

}  // namespace models_fused_transformer_tests
