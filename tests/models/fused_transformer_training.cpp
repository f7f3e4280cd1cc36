// Tests training of an encoder-decoder: the number of threads does not change a bit, a step does not allocate memory,
// and training uses exactly the planned memory.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string>
#include <vector>

#include "tests/allocation_count.hpp"
#include "tests/catch.hpp"
#include "tests/models/pair_training.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace models_fused_transformer_training_tests {

using namespace triad;
using test::allocations;

using model = fused_transformer<float>;
using pair_trainer = trainer<model, cpu::backend>;

// The models: with fuse-attention, with weighted sums of earlier layers, and with relative positions.
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
  static pair_trainer::options_type options(keep kept) {
    pair_trainer::options_type o;
    o.max_norm = 1;
    o.key = 5;
    o.memory = kept;
    o.capacity = {9, 90, 90, 12, 12};
    return o;
  }
  run(int threads, kind which, keep kept = keep::everything)
      : ex(threads), train(ex, made(which), options(kept)), loader(options(kept).capacity, 16, end_token, end_token) {
    initialize(train.parameters(), 3);
  }
  run(run const&) = delete;
  run& operator=(run const&) = delete;

  /// Makes an update on batch `number`. Batches with odd numbers have fewer pairs.
  float update(std::uint64_t number) { return test::update_on_pairs(train, loader, number, number % 2 == 0 ? 9 : 4); }
};

TEST_CASE(
    "an encoder-decoder trains to the same bits on one, two and three threads, whatever it keeps, with dropout and "
    "batches of two sizes") {
  for (auto which : {kind::fused, kind::weighted, kind::relative}) {
    CAPTURE(static_cast<int>(which));
    auto const one = test::trace_of(run(1, which));
    for (float v : one) REQUIRE(std::isfinite(v));
    CHECK(one == test::trace_of(run(2, which)));
    CHECK(one == test::trace_of(run(3, which)));
    CHECK(one == test::trace_of(run(2, which, keep::inputs)));
  }
  CHECK(test::trace_of(run(1, kind::fused)) != test::trace_of(run(1, kind::relative)));
}

TEST_CASE("a training step of an encoder-decoder allocates nothing, nor does its loader") {
  REQUIRE(allocations.load() > 0);  // shows that allocations are counted
  for (auto which : {kind::fused, kind::weighted, kind::relative}) {
    test::expect_no_allocations(run(2, which));
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

}  // namespace models_fused_transformer_training_tests
