// Tests dropout of a matrix on every backend. The mask is computed from a counter.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/dropout.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/rows.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/attention.hpp"
#include "triad/ops/fuse_attention.hpp"
#include "triad/ops/graph_attention.hpp"
#include "triad/ops/matmul.hpp"
#include "triad/ops/pair_sum.hpp"
#include "triad/ops/relation_attention.hpp"
#include "triad/ops/triangle.hpp"

namespace ops_dropout_tests {

using namespace triad;
using test::contains;
using test::random_values;
using test::rows_of;
using test::sizes;

/// Calls f(size, mask) for every size of a matrix, and for rates that keep all, some and no elements.
template <class F>
void each_mask(F&& f) {
  std::uint64_t const step = 2;
  for (auto const s : sizes)
    for (double rate : {0.0, 0.25, 1.0}) {
      CAPTURE(s.rows, s.columns, rate);
      f(s, dropout_mask{rate, 3, 4, &step});
    }
}

TEMPLATE_TEST_CASE("dropout multiplies what it keeps by one over the share kept, and its gradient is the same map", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  each_mask([&](auto const s, dropout_mask const& mask) {
    auto const x = random_values<T>(s.rows * s.columns, 1);
    auto y = x, dx = x;
    dropout(ex, mask, rows_of(x, s), rows_of(y, s));
    dropout_grad(ex, mask, rows_of(std::as_const(dx), s), rows_of(dx, s));
    CHECK(y == dx);
    for (index_t r = 0; r < s.rows; ++r)
      for (index_t c = 0; c < s.columns; ++c)
        REQUIRE(rows_of(y, s)(r, c) ==
                (mask.keeps(dropout_element(r, c, s.columns)) ? rows_of(x, s)(r, c) * T(mask.scale()) : T(0)));
  });
}

TEMPLATE_TEST_CASE("dropout of a function is the function and then dropout, and so are their gradients", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  each_mask([&](auto const s, dropout_mask const& mask) {
    auto const x = random_values<T>(s.rows * s.columns, 1), dy = random_values<T>(s.rows * s.columns, 2);
    auto y = x, expected = x, dx = x, d_expected = x;
    transform(ex, gelu{}, rows_of(x, s), rows_of(expected, s));
    dropout(ex, mask, rows_of(std::as_const(expected), s), rows_of(expected, s));
    dropout(ex, mask, gelu{}, rows_of(std::as_const(y), s), rows_of(y, s));
    CHECK(y == expected);
    auto z = std::vector<T>(x.size(), T(7)), of_relu = x;
    transform(ex, relu{}, rows_of(x, s), rows_of(of_relu, s));
    dropout(ex, mask, rows_of(std::as_const(of_relu), s), rows_of(of_relu, s));
    dropout(ex, mask, relu{}, rows_of(x, s), rows_of(z, s));
    CHECK(z == of_relu);
    dropout_grad(ex, mask, rows_of(dy, s), rows_of(d_expected, s));
    transform(ex, gelu_grad{}, rows_of(x, s), rows_of(std::as_const(d_expected), s), rows_of(d_expected, s));
    auto in_place = dy;
    dropout_grad(ex, mask, gelu_grad{}, rows_of(x, s), rows_of(std::as_const(in_place), s), rows_of(in_place, s));
    CHECK(in_place == d_expected);
    dropout_grad(ex, mask, gelu_grad{}, rows_of(x, s), rows_of(dy, s), rows_of(dx, s));
    CHECK(dx == d_expected);
  });
}

/// A backend with functions and dropout of its own, which count their calls.
struct counting : cpu::backend {
  using cpu::backend::backend;
  int functions = 0, dropouts = 0;
};
template <class F, class T>
void do_transform(counting& ex, F f, vec<T const> x, vec<T> y) {
  ++ex.functions;
  cpu::do_transform(ex, f, x, y);
}
template <class F, class T>
void do_transform(counting& ex, F f, vec<T const> a, vec<T const> b, vec<T> y) {
  ++ex.functions;
  cpu::do_transform(ex, f, a, b, y);
}
template <class T>
void do_dropout(counting& ex, dropout_mask mask, matrix<T const> x, matrix<T> y) {
  ++ex.dropouts;
  cpu::do_dropout(ex, mask, x, y);
}

TEST_CASE("dropout of a function calls the functions and the dropout of a derived backend") {
  counting ex(1);
  std::vector<float> const x(12, 1);
  std::vector<float> y(12);
  test::size const s{3, 4};
  dropout(ex, {0.5, 1, 2, nullptr}, gelu{}, rows_of(x, s), rows_of(y, s));
  CHECK(ex.functions == 1);
  CHECK(ex.dropouts == 1);
  dropout_grad(ex, {0.5, 1, 2, nullptr}, gelu_grad{}, rows_of(x, s), rows_of(std::as_const(y), s), rows_of(y, s));
  CHECK(ex.functions == 2);
  CHECK(ex.dropouts == 2);
}

TEST_CASE("before a branch of which nothing is dropped a gradient stays where it is") {
  reference::backend ex;
  std::vector<double> const dy(64, 3);
  std::vector<double> memory(64, 7);
  tensor<double const, dyn, dyn> const in(dy.data(), 1, 64);
  tensor<double, dyn, dyn> const room(memory.data(), 1, 64);
  CHECK(undropped(ex, dropout_mask{0, 1, 2, nullptr}, in, room).data_handle() == dy.data());
  CHECK(memory == std::vector<double>(64, 7));
  CHECK(undropped(ex, dropout_mask{0.5, 1, 2, nullptr}, in, room).data_handle() == memory.data());
  for (std::uint64_t c = 0; c < 64; ++c) CHECK(memory[c] == (dropout_mask{0.5, 1, 2, nullptr}.keeps(c) ? 6 : 0));
}

TEST_CASE("dropout of what does not fit is refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  auto const m = [&](index_t r, index_t c) { return rows_of(v, {r, c}); };
  CHECK_THROWS_WITH(dropout(ex, {}, m(2, 3), m(3, 2)), contains("dropout: y is (3, 2), expected (2, 3)"));
  CHECK_THROWS_WITH(dropout(ex, {}, gelu{}, m(2, 3), m(3, 2)), contains("dropout: y is (3, 2), expected (2, 3)"));
  std::vector<double> other(6);
  auto const dx = rows_of(other, {2, 3});
  CHECK_THROWS_WITH(dropout_grad(ex, {}, gelu_grad{}, m(2, 3), m(3, 2), dx),
                    contains("dropout_grad: dy is (3, 2), expected (2, 3)"));
  CHECK_THROWS_WITH(dropout_grad(ex, {}, gelu_grad{}, dx, m(2, 3), dx), contains("dx in the memory of x"));
}

TEST_CASE("operations with dropout refuse a number that is no rate") {
  reference::backend ex;
  std::vector<double> v(1);
  arena nothing(nullptr, 0);
  using read = matrix<double const>;
  read const x = make_matrix<double const>(v.data(), 0, 1, 1);  // no rows
  auto const y = make_matrix(v.data(), 0, 1, 1);
  auto const list = make_vec(v.data(), 0);
  auto const fused = [&](auto* data) { return tensor<std::remove_pointer_t<decltype(data)>, dyn, dyn>(data, 0, 1); };
  double const* const reading = v.data();
  for (double const bad : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    dropout_mask const mask{bad};
    auto const expect_refusal = [&](char const* operation, auto&& call) {
      CHECK_THROWS_WITH(call(), contains(std::string(operation) + ": the rate of dropout is " + std::to_string(bad)));
    };
    expect_refusal("dropout", [&] { dropout(ex, mask, x, y); });
    expect_refusal("matmul", [&] {
      epilogue<double> e;
      e.dropout = mask;
      matmul(ex, x, make_matrix<double const>(v.data(), 1, 1, 1), y, e);
    });
    expect_refusal("triangle", [&] {
      triangle_options how;
      how.dropout = mask;
      triangle(ex, nothing, how, triangle_projections<double const>{x, x, x, x}, {}, triangle_statistics<double>{y, y},
               y);
    });
    expect_refusal("attention", [&] {
      attention_options how;
      how.dropout = mask;
      attention(ex, nothing, how, {}, attention_operands<double const>{x, x, x}, list, y);
    });
    expect_refusal("fuse_attention", [&] {
      fuse_attention(ex, {1, mask}, 1, fused(reading), layer_states<double const>(reading, 1, 0, 1), fused(v.data()),
                     fused(v.data()), fused(v.data()));
    });
    expect_refusal("graph_attention", [&] {
      graph_attention(ex, {1, 0.2, mask}, graph_attention_operands<double const>{x, x, x, x, x}, {},
                      vec<index_t const>{nullptr, 0}, list, y);
    });
    expect_refusal("relation_attention", [&] {
      relation_attention(ex, {1, {}, mask}, relation_operands<double const>{x, x, x, x, x}, {}, list, y);
    });
    expect_refusal("pair_sum", [&] { pair_sum(ex, {}, x, x, mask, x, y); });
  }
}

}  // namespace ops_dropout_tests
