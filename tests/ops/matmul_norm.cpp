// Tests products with a norm: they have the bits of the product and of the norm one after the other, also with a
// backend that has a product or a norm of its own, and errors.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/matmul_norm.hpp"

#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ops/rows.hpp"
#include "tests/ragged.hpp"

namespace ops_matmul_norm_tests {

using namespace triad;
using test::contains;
using test::random_values;
using test::rows_of;
using test::size;

/// The results of a product (rows, 5) with dropout and a residual, and of its norm.
template <class T>
struct results {
  std::vector<T> c, y, mean, rstd;
  bool operator==(results const&) const = default;
};

/// Computes the product and the norm in one operation, or in two.
template <class T, class Ex>
results<T> product_and_norm(Ex& ex, size s, double rate, bool together) {
  index_t const k = 5;
  auto const a = random_values<T>(s.rows * k, 1), b = random_values<T>(k * s.columns, 2),
             residual = random_values<T>(s.rows * s.columns, 3), bias = random_values<T>(s.columns, 4),
             gain = random_values<T>(s.columns, 5);
  results<T> r;
  for (auto* v : {&r.c, &r.y}) v->resize(residual.size(), T(7));
  for (auto* v : {&r.mean, &r.rstd}) v->resize(static_cast<std::size_t>(s.rows), T(7));
  auto const vector_of = [](auto& v) { return make_vec(v.data(), static_cast<index_t>(v.size())); };
  epilogue<T> e{.bias = vector_of(bias), .dropout = {rate, 5, 7, nullptr}, .residual = as_matrix(rows_of(residual, s))};
  following_norm<T> const n{vector_of(gain),   vector_of(bias),  T(1e-5), as_matrix(rows_of(r.y, s)),
                            vector_of(r.mean), vector_of(r.rstd)};
  auto const left = rows_of(a, {s.rows, k}), right = rows_of(b, {k, s.columns});
  if (together) {
    e.norm = n;
    matmul_norm(ex, kept_factor<T const>(left), right, kept_factor<T>(rows_of(r.c, s)), e);
  } else {
    matmul(ex, left, right, rows_of(r.c, s), e);
    layer_norm(ex, rows_of(r.c, s), n.gain, n.bias, 1e-5, n.y, n.mean, n.rstd);
  }
  return r;
}

TEMPLATE_TEST_CASE("a product with a norm has the bits of the product and of the norm", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto const s : {size{0, 3}, {1, 1}, {2, 7}, {65, 17}, {400, 64}, {9, 300}})
    for (double const rate : {0.0, 0.3, 1.0}) {
      CAPTURE(s.rows, s.columns, rate);
      CHECK(product_and_norm<T>(ex, s, rate, true) == product_and_norm<T>(ex, s, rate, false));
    }
}

/// A backend with products and norms of its own, which count their calls.
struct counting : cpu::backend {
  int products = 0, norms = 0;
};
template <class T>
void do_matmul(counting& ex, matrix<T const> a, matrix<T const> b, matrix<T> c, bool add, epilogue<T> const& e) {
  ++ex.products;
  cpu::do_matmul(ex, a, b, c, add, e);
}
template <class T>
void do_layer_norm(counting& ex, matrix<T const> x, vec<T const> gain, vec<T const> bias, T epsilon, matrix<T> y,
                   vec<T> mean, vec<T> rstd) {
  ++ex.norms;
  cpu::do_layer_norm(ex, x, gain, bias, epsilon, y, mean, rstd);
}

TEST_CASE("a product with a norm calls the product and the norm of a derived backend") {
  counting ex;
  cpu::backend plain;
  CHECK(product_and_norm<float>(ex, {65, 17}, 0.3, true) == product_and_norm<float>(plain, {65, 17}, 0.3, true));
  CHECK(ex.products == 1);
  CHECK(ex.norms == 1);
}

TEST_CASE("a product with a norm of what does not fit is refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  auto const m = [&](index_t r, index_t c) { return rows_of(v, {r, c}); };
  auto const n = [&](index_t count) { return make_vec(v.data(), count); };
  epilogue<double> e;
  e.norm = {n(4), n(4), 1e-5, as_matrix(m(2, 4)), n(2), n(2)};
  auto const compute = [&] {
    matmul_norm(ex, kept_factor<double const>(read_only(m(2, 3))), read_only(m(3, 4)), kept_factor<double>(m(2, 4)), e);
  };
  CHECK_NOTHROW(compute());
  CHECK_THROWS_WITH(matmul(ex, read_only(m(2, 3)), read_only(m(3, 4)), m(2, 4), e),
                    contains("matmul: a norm follows, expected none"));
  e.norm.y = as_matrix(m(2, 3));
  CHECK_THROWS_WITH(compute(), contains("matmul_norm: y is (2, 3), expected (2, 4)"));
  e.norm.y = as_matrix(m(2, 4));
  e.norm.gain = n(3);
  CHECK_THROWS_WITH(compute(), contains("matmul_norm: gain is (3), expected (4)"));
}

}  // namespace ops_matmul_norm_tests
