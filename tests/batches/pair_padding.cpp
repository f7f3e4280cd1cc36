// Tests padded batches of pairs: they have few shapes, are filled exactly, and train like batches without padding.
// SPDX-License-Identifier: Apache-2.0
#include "triad/batches/pair_padding.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "tests/catch.hpp"
#include "tests/padded_batches.hpp"
#include "tests/ragged_data.hpp"
#include "triad/batches/batches.hpp"
#include "triad/batches/pair_loader.hpp"
#include "triad/core/errors.hpp"
#include "triad/models/fused_transformer.hpp"
#include "triad/reference/reference.hpp"
#include "triad/train/initialize.hpp"
#include "triad/train/trainer.hpp"

namespace batches_pair_padding_tests {

using namespace triad;
using test::largest_difference, test::outcome, test::outcome_of, test::refusing_memory, test::replaying;

constexpr index_t begin_token = 1, end_token = 2;

TEST_CASE("the pairs that are added have exactly the tokens that are missing, and the room for them") {
  random_stream random(3, 0);
  pair_dims const capacity{40, 500, 700, 30, 50}, room = padded_room(capacity);
  for (int k = 0; k < 2000; ++k) {
    pair_dims batch;
    auto const length = [&](index_t most) {
      return 1 + static_cast<index_t>(random.below(static_cast<std::uint32_t>(most)));
    };
    for (auto const many = length(40); batch.pairs < many;) {
      auto const more = batch + dims_of(length(30), length(50));
      if (!fits(more, capacity)) break;
      batch = more;
    }
    auto const padding = pair_padding::of(batch, room);
    auto all = batch;
    for (index_t p = 0; p < padding.pairs; ++p) {
      CHECK((padding.target_tokens(p) == 0 || padding.source_tokens(p) > 0));
      all = all + dims_of(padding.source_tokens(p), padding.target_tokens(p));
    }
    CAPTURE(batch.pairs, batch.source_rows, batch.target_rows);
    REQUIRE(padding.pairs > 0);
    CHECK((all.pairs == padding.dims.pairs && all.source_rows == padding.dims.source_rows));
    CHECK(all.target_rows == padding.dims.target_rows);
    CHECK((all.longest_source <= padding.dims.longest_source && all.longest_target <= padding.dims.longest_target));
    CHECK(bucket_of(padding.dims.source_rows) == padding.dims.source_rows);
    CHECK(bucket_of(padding.dims.target_rows) == padding.dims.target_rows);
    CHECK(fits(padding.dims, room));
  }
}

TEST_CASE("a batch of pairs that has nothing to ask, or for which there is no room, stays as it is") {
  pair_dims const capacity{4, 40, 40, 10, 10};
  auto const expect_plain = [](pair_dims const& batch, pair_dims const& room) {
    auto const padding = pair_padding::of(batch, room);
    CHECK((padding.pairs == 0 && padding.source_tokens(0) == 0 && padding.target_tokens(0) == 0));
    CHECK((padding.dims.pairs == batch.pairs && padding.dims.source_rows == batch.source_rows));
  };
  expect_plain({}, padded_room(capacity));
  expect_plain({2, 8, 0, 5, 0}, padded_room(capacity));  // the batch has only sources
  expect_plain({2, 8, 8, 5, 5}, capacity);               // the capacity has no more pairs
  // With the sizes 8 and 16, padding would have one source token and six target tokens. One padding pair has at most
  // five target tokens, so the sources get the next size.
  auto const next = pair_padding::of({2, 7, 10, 4, 5}, {12, 24, 24, 5, 5});
  CHECK((next.dims.source_rows == 16 && next.dims.target_rows == 16));
  CHECK((next.target_tokens(0) == 1 && next.source_tokens(9) == 0));
  CHECK(padded_room_for<reference::backend>(capacity).pairs == 4);
}

struct pair_of_lengths {
  index_t source, target;
};
std::vector<pair_of_lengths> const lengths{{3, 4}, {1, 6}, {5, 1}, {2, 3}, {4, 2}};
constexpr pair_dims capacity{6, 30, 30, 7, 8};

template <class Loader>
void fill(Loader& loader) {
  random_stream random(11, 0);
  for (auto const& [s, t] : lengths) {
    auto const words = [&](index_t n) {
      std::vector<index_t> all(static_cast<std::size_t>(n));
      for (auto& w : all) w = 3 + random.below(4);
      return all;
    };
    auto const source = words(s), target = words(t);
    loader.add(source, target);
  }
}

outcome trained(fused_transformer<double> const& m, bool padded, bool a_row_counts = false) {
  replaying ex;
  trainer<fused_transformer<double>, replaying> learner(ex, m,
                                                        {.key = 7, .capacity = padded_room_for<replaying>(capacity)});
  initialize(learner.parameters(), 3);
  pair_loader<replaying, double> loader(capacity, m.width(), begin_token, end_token);
  fill(loader);
  auto const [in, targets] = upload_both(loader, padded);
  if (padded) {
    CHECK((in.sizes.pairs == 16 && in.sizes.source_rows == 24 && in.sizes.target_rows == 24));
    // Padding does not count in loader.dims().
    CHECK((loader.dims().pairs == 5 && loader.dims().source_rows == 20));
    REQUIRE(targets.next(21) < 0);
    if (a_row_counts) const_cast<index_t&>(targets.next(21)) = 3;
  }
  return outcome_of(learner, in, targets);
}
TEST_CASE(
    "padded pairs have the loss and the gradients that they have without padding, and a row that counts is seen") {
  transformer_layer_options const layer{8, 2, 12, 0, norm_position::after};
  fused_transformer_options z{.source_tokens = 7, .target_tokens = 7};
  z.encoder = {.layer = layer, .layers = 2};
  z.decoder = {.layer = layer, .layers = 2};
  for (bool const fused : {false, true}) {
    if (fused) z.encoder.fused = z.decoder.fused = all_fused(2);
    // Attention has no dropout, because which elements it drops depends on the sizes of the batch with padding.
    z.dropout = 0.2;
    fused_transformer<double> const m(z);
    auto const plain = trained(m, false);
    CHECK(largest_difference(plain, trained(m, true)) < 1e-12);
    CHECK(largest_difference(plain, trained(m, true, true)) > 1e-4);
  }
}

TEST_CASE("a batch of pairs whose padded upload fails is the batch that it was") {
  pair_loader<replaying, double> loader(capacity, 8, begin_token, end_token);
  fill(loader);
  refusing_memory::refuses = true;
  CHECK_THROWS_WITH(loader.upload_padded(), test::contains("refused"));
  refusing_memory::refuses = false;
  CHECK((loader.dims().pairs == 5 && loader.dims().source_rows == 20 && loader.dims().target_rows == 21));
  CHECK(loader.upload().first.sizes.target_rows == 21);
}

TEST_CASE("shuffled batches of as many pairs have few padded shapes, and less than a tenth is added") {
  auto data = test::like_cogs();
  std::set<std::tuple<index_t, index_t, index_t, index_t, index_t>> shapes;
  pair_dims const full{100, 100 * 24, 100 * 48, 24, 48};
  index_t before = 0, after = 0, updates = 0, known = 0;
  for (std::uint64_t epoch = 1; epoch <= 3; ++epoch)
    test::each_batch(data, epoch, [&](std::vector<index_t> const& batch) {
      pair_dims own;
      for (auto const n : batch) own = own + dims_of(n + 1, 2 * n + 1);
      auto const z = pair_padding::of(own, padded_room(full)).dims;
      bool const fresh =
          shapes.insert({z.pairs, z.source_rows, z.target_rows, z.longest_source, z.longest_target}).second;
      if (epoch == 1) return;
      before += own.source_rows + own.target_rows;
      after += z.source_rows + z.target_rows;
      updates += 1;
      known += !fresh;
    });
  CHECK(100 * known >= 95 * updates);
  CHECK(10 * (after - before) < before);
}

}  // namespace batches_pair_padding_tests
