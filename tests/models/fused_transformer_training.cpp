// An encoder-decoder in training: threads change no bit, a step allocates nothing, its plan is what it holds.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/catch.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/core/random.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace {

using namespace triad;
using test::allocations;

using model = fused_transformer<float>;
using pair_trainer = trainer<model, cpu::backend>;

// Looking back, over mixtures, and with relative positions.
enum class kind { fused, weighted, relative };

struct run {
  static constexpr index_t words = 11, end_token = 2;
  cpu::backend ex;
  pair_trainer train;
  pair_loader<cpu::backend, float> loader;

  static model made(kind which) {
    transformer_layer_options layer{16, 2, 24, 0.2};
    if (which == kind::relative) layer.reach = 3;
    fused_transformer_options z;
    z.source_tokens = z.target_tokens = words;
    z.encoder = z.decoder = {.layer = layer, .layers = 3, .fused = all_fused(3)};
    if (which == kind::weighted) z.encoder.link = z.decoder.link = layer_link::weighted;
    z.positions = which != kind::relative;
    z.dropout = 0.2;
    z.smoothing = {0.1};
    return model(z);
  }
  static pair_trainer::options options(keep kept) {
    pair_trainer::options o;
    o.max_norm = 1;
    o.key = 5;
    o.memory = kept;
    o.capacity = {9, 90, 90, 12, 12};
    return o;
  }
  run(int threads, kind which, keep kept = keep::everything)
      : ex(threads), train(ex, made(which), options(kept)), loader(options(kept).capacity, 16, end_token, end_token) {
    initialize(train.parameters().mutable_values(), 3);
  }
  run(run const&) = delete;
  run& operator=(run const&) = delete;

  /// Batch `number`: always the same pairs, of which there are fewer where the number is odd.
  float update(std::uint64_t number) {
    random_stream random(7, number);
    index_t tokens[8];
    loader.clear();
    for (int p = 0; p < (number % 2 == 0 ? 9 : 4); ++p) {
      auto const n = random.below(9);
      for (index_t i = 0; i < n; ++i) tokens[i] = 3 + random.below(8);
      std::span<index_t const> const one(tokens, n);
      loader.add(one, one.first(n / 2));
    }
    auto const both = loader.upload();
    train.update(both.first, both.second, 0.003);
    return train.loss();
  }
  /// Loss and norm of each update, and at the end every parameter.
  std::vector<float> trace() {
    std::vector<float> all;
    for (std::uint64_t u = 0; u < 4; ++u) {
      all.push_back(update(u));
      all.push_back(train.norm());
    }
    auto const values = train.parameters().flat_values();
    all.insert(all.end(), values.data_handle(), values.data_handle() + values.size());
    return all;
  }
};

TEST_CASE(
    "an encoder-decoder trains to the same bits on one, two and three threads, whatever it keeps, with dropout and "
    "batches of two sizes") {
  for (auto which : {kind::fused, kind::weighted, kind::relative}) {
    CAPTURE(static_cast<int>(which));
    auto const one = run(1, which).trace();
    for (float v : one) REQUIRE(std::isfinite(v));
    CHECK(one == run(2, which).trace());
    CHECK(one == run(3, which).trace());
    CHECK(one == run(2, which, keep::inputs).trace());
  }
  CHECK(run(1, kind::fused).trace() != run(1, kind::relative).trace());
}

TEST_CASE("a training step of an encoder-decoder allocates nothing, nor does its loader") {
  REQUIRE(allocations.load() > 0);  // they are counted
  for (auto which : {kind::fused, kind::weighted, kind::relative}) {
    run r(2, which);
    for (std::uint64_t u = 0; u < 4; ++u) r.update(u);  // threads start, BLAS takes its buffers
    auto const before = allocations.load();
    float loss = 0;
    for (std::uint64_t u = 0; u < 4; ++u) loss += r.update(u);
    auto const after = allocations.load();
    CHECK(after - before == 0);
    CHECK(loss > 0);
  }
}

TEST_CASE("an encoder-decoder's plan is what it holds, and a larger batch is refused") {
  run r(1, kind::fused);
  auto const bytes = r.train.bytes();
  CHECK(bytes.parameters == r.train.parameters().bytes());
  std::vector<index_t> const long_one(20, 4);
  CHECK_FALSE(r.loader.has_room(20, 3));
  pair_loader<cpu::backend, float> wider({9, 400, 400, 40, 40}, 16, run::end_token, run::end_token);
  for (int p = 0; p < 9; ++p) wider.add(long_one, long_one);
  auto const both = wider.upload();
  CHECK_THROWS_WITH(r.train.update(both.first, both.second, 0.1),
                    test::contains("more was asked for than was measured"));
}

}  // namespace
