// Tests the sequence of norm, feed-forward block and norm: that it equals its parts, its gradient, and static and
// dynamic sizes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/layers/post_norm_block.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/layers/outcome.hpp"

namespace layers_post_norm_block_tests {

using namespace triad;

constexpr index_t rows = 5, d = 4, hidden = 6;

TEST_CASE("the block is its parts one after the other, the first norm's result added to what is fed forward") {
  reference::backend ex;
  using block_type = post_norm_block<double>;
  block_type const block(d, hidden);
  parameter_set<block_type, reference::backend> p(block, holding::values);
  auto const values = test::random_values(p.flat_values().extent(0), 4);
  std::copy(values.begin(), values.end(), p.flat_values().data_handle());
  test::some_rows const x(rows, d, 2);
  test::spoiled_memory const memory([&](arena& a) { return block.plan_saved(a, row_dims(rows)); });
  auto place = memory.place();
  auto const saved = block.plan_saved(place, row_dims(rows));
  std::vector<double> y(rows * d), u(y), v(y), expected(y), statistics(2 * rows), inner(rows * hidden);
  auto const view = [](std::vector<double>& all, index_t columns) {
    return tensor<double, dyn, dyn>(all.data(), rows, columns);
  };
  auto const w = p.values();
  test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
    block.forward(backend, c, w, x.view(), saved, view(y, d));
    auto const mean = make_vec(statistics.data(), rows), rstd = make_vec(statistics.data() + rows, rows);
    layer_norm(backend, x.view(), w.norm1.gain, w.norm1.bias, 1e-5, view(u, d), mean, rstd);
    auto const& ff = w.block.branch;
    linear<double>{extents<dyn, dyn>(d, hidden)}.forward(backend, c, ff.inner, read_only(view(u, d)), {},
                                                         view(inner, hidden));
    transform(backend, relu{}, view(inner, hidden), view(inner, hidden));
    linear<double>{extents<dyn, dyn>(hidden, d)}.forward(backend, c, ff.outer, read_only(view(inner, hidden)), {},
                                                         view(v, d));
    transform(backend, plus{}, view(u, d), view(v, d), view(v, d));
    layer_norm(backend, view(v, d), w.block.norm.gain, w.block.norm.bias, 1e-5, view(expected, d), mean, rstd);
  });
  for (std::size_t i = 0; i < y.size(); ++i) CHECK_THAT(y[i], test::WithinAbs(expected[i], 1e-13));
}

TEST_CASE("the block of static and of dynamic shape computes the same bits, and has the gradient of its value") {
  reference::backend ex;
  test::some_rows const x(rows, d), none(0, d);
  for (double rate : {0.0, 0.3}) {
    post_norm_block<double> const free(d, hidden, rate, activation::gelu);
    test::expect_same(test::outcome_of(post_norm_block<double, d, hidden>(d, hidden, rate, activation::gelu), x.dims(),
                                       x.view<d>(), {rows, d}),
                      test::outcome_of(free, x.dims(), x.view(), {rows, d}));
    CHECK_GRADIENT(gradient_check(ex, free, x.dims(), x.view(), {rows, d}));
  }
  post_norm_block<double> const block(d, hidden);
  CHECK(test::outcome_of(block, none.dims(), none.view(), {0, d}).value == 0);
  CHECK(test::paths_of(block) == std::vector<std::string>{"norm1.gain", "norm1.bias", "feed_forward.inner.weight",
                                                          "feed_forward.inner.bias", "feed_forward.outer.weight",
                                                          "feed_forward.outer.bias", "norm2.gain", "norm2.bias"});
  CHECK_THROWS_WITH(post_norm_block<double>(0, hidden), test::contains("post_norm_block: width is 0"));
}

}  // namespace layers_post_norm_block_tests
