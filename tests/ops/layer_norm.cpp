// Tests layer normalisation of rows: its properties and gradients on every backend, that the number of threads does not
// change a bit, and errors for operands of different sizes.
//
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/layer_norm.hpp"

#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ops/rows.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/dropout.hpp"
#include "triad/train/finite_differences.hpp"

namespace ops_layer_norm_tests {

using namespace triad;
using test::contains;
using test::dot;
using test::random_values;
using test::rows_of;
using test::size;
using test::sizes;
using test::tolerance;
using test::with_scratch;
using test::WithinAbs;
using test::WithinRel;

TEMPLATE_TEST_CASE("layer norm gives rows of mean zero and variance one, moved by gain and bias", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto const s : sizes) {
    CAPTURE(s.rows, s.columns);
    auto const x = random_values<T>(s.rows * s.columns, 1, 3), gain = random_values<T>(s.columns, 2),
               bias = random_values<T>(s.columns, 3);
    std::vector<T> y(x.size()), mean(static_cast<std::size_t>(s.rows)), rstd = mean;
    auto const m = make_vec(mean.data(), s.rows), i = make_vec(rstd.data(), s.rows);
    layer_norm(ex, rows_of(x, s), make_vec(gain.data(), s.columns), make_vec(bias.data(), s.columns), 1e-5,
               rows_of(y, s), m, i);
    for (index_t r = 0; r < s.rows; ++r) {
      long double sum = 0, squares = 0;
      auto const d = static_cast<long double>(s.columns);
      for (index_t c = 0; c < s.columns; ++c) sum += static_cast<long double>(rows_of(x, s)(r, c)) / d;
      for (index_t c = 0; c < s.columns; ++c)
        squares += std::pow(static_cast<long double>(rows_of(x, s)(r, c)) - sum, 2.0L) / d;
      REQUIRE_THAT(m(r), WithinAbs(static_cast<double>(sum), tolerance<T>));
      REQUIRE_THAT(i(r), WithinRel(static_cast<double>(1 / std::sqrt(squares + 1e-5L)),
                                   s.columns == 1 ? 1e-2 : 100 * tolerance<T>));
      for (index_t c = 0; c < s.columns; ++c) {
        auto const z = (static_cast<long double>(rows_of(x, s)(r, c)) - sum) / std::sqrt(squares + 1e-5L);
        auto const f = static_cast<std::size_t>(c);
        REQUIRE_THAT(rows_of(y, s)(r, c), WithinAbs(static_cast<double>(static_cast<long double>(gain[f]) * z +
                                                                        static_cast<long double>(bias[f])),
                                                    10 * tolerance<T>));
      }
    }
  }
}

TEMPLATE_TEST_CASE("layer norm's gradient is its value's, takes an addend, may lie in place, and adds to gain and bias",
                   "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  size const s{70, 5};  // more rows than a chunk
  variables const point{{"x", random_values(350, 1)}, {"gain", random_values(5, 2)}, {"bias", random_values(5, 3)}};
  auto const dy = random_values(350, 4), add = random_values(350, 5);
  struct kept {
    std::vector<double> y, mean, rstd;
  };
  auto const forward = [&](variables const& at) {
    kept k{std::vector<double>(350), std::vector<double>(70), std::vector<double>(70)};
    layer_norm(ex, rows_of(at[0].values, s), make_vec(at[1].values.data(), 5), make_vec(at[2].values.data(), 5), 1e-5,
               rows_of(k.y, s), make_vec(k.mean.data(), 70), make_vec(k.rstd.data(), 70));
    return k;
  };
  for (int addend : {0, 1, 2}) {  // no addend, another array, or the result itself
    CAPTURE(addend);
    CHECK_GRADIENT(gradient_check(
        point, [&](variables const& at) { return dot(forward(at).y, dy) + (addend ? dot(at[0].values, add) : 0); },
        [&](variables const& at, variables& d) {
          auto const k = forward(at);
          d[0].values = addend == 2 ? add : dy;
          for (auto& v : d[1].values) v = 7;
          for (auto& v : d[2].values) v = 7;
          with_scratch(ex, {}, [&](auto& backend, call const& c) {
            auto const dx = rows_of(d[0].values, s);
            auto const extra = addend == 0 ? make_matrix<double const>(nullptr, 0, 0, 0)
                                           : as_matrix(addend == 1 ? rows_of(add, s) : read_only(dx));
            auto const from = addend == 2 ? rows_of(dy, s) : read_only(dx);  // dx starts as dy or as add
            layer_norm_grad(backend, *c.scratch, rows_of(at[0].values, s), make_vec(at[1].values.data(), 5),
                            make_vec(k.mean.data(), 70), make_vec(k.rstd.data(), 70), from, extra, dx,
                            make_vec(d[1].values.data(), 5), make_vec(d[2].values.data(), 5));
          });
          for (auto& v : d[1].values) v -= 7;
          for (auto& v : d[2].values) v -= 7;
        }));
  }
}

/// Computes the gradients of layer norm with an addend and with dropout, in one operation or in two.  Returns dx, the
/// gradient before dropout, dgain and dbias.  If `in_place` is true, dx is in the memory of dy.
template <class T, class Ex>
std::vector<T> gradients_and_dropout(Ex& ex, size s, dropout_mask mask, bool together, bool in_place = false) {
  auto const x = random_values<T>(s.rows * s.columns, 1, 3), add = random_values<T>(s.rows * s.columns, 2),
             gain = random_values<T>(s.columns, 3), mean = random_values<T>(s.rows, 4),
             rstd = random_values<T>(s.rows, 5);
  auto dx = random_values<T>(s.rows * s.columns, 6), dropped = x, sums = random_values<T>(2 * s.columns, 7);
  auto const dy = dx;
  with_scratch(ex, {}, [&](auto& backend, call const& c) {
    auto const compute = [&](auto const&... more) {
      layer_norm_grad(backend, *c.scratch, rows_of(x, s), make_vec(gain.data(), s.columns),
                      make_vec(mean.data(), s.rows), make_vec(rstd.data(), s.rows),
                      in_place ? read_only(rows_of(dx, s)) : rows_of(dy, s), as_matrix(rows_of(add, s)), rows_of(dx, s),
                      make_vec(sums.data(), s.columns), make_vec(sums.data() + s.columns, s.columns), more...);
    };
    if (together) return compute(mask, as_matrix(rows_of(dropped, s)));
    compute();
    if (mask.active()) dropout_grad(backend, mask, read_only(rows_of(dx, s)), rows_of(dropped, s));
  });
  for (auto const* v : {&dropped, &sums}) dx.insert(dx.end(), v->begin(), v->end());
  return dx;
}

TEMPLATE_TEST_CASE("the gradient of layer norm before dropout has the bits of the two gradients", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto const s : {size{0, 3}, {1, 1}, {3, 300}, {65, 17}, {70, 64}, {130, 130}})
    for (double const rate : {0.0, 0.3, 1.0})
      for (bool const in_place : {false, true}) {
        CAPTURE(s.rows, s.columns, rate, in_place);
        dropout_mask const mask{rate, 5, 7, nullptr};
        CHECK(gradients_and_dropout<T>(ex, s, mask, true, in_place) == gradients_and_dropout<T>(ex, s, mask, false));
      }
}

TEST_CASE("layer norm has the same bits for one, two and three threads") {
  auto const run = [](int threads) {
    cpu::backend ex(threads);
    size const s{1000, 60};
    auto const x = random_values<float>(60000, 1), gain = random_values<float>(60, 2);
    std::vector<float> y(60000), mean(1000), rstd(1000), dx(60000), sums(2 * 60);
    with_scratch(ex, {}, [&](auto& backend, call const& c) {
      auto const g = make_vec(gain.data(), 60);
      layer_norm(backend, rows_of(x, s), g, g, 1e-5, rows_of(y, s), make_vec(mean.data(), 1000),
                 make_vec(rstd.data(), 1000));
      layer_norm_grad(backend, *c.scratch, rows_of(x, s), g, make_vec(mean.data(), 1000), make_vec(rstd.data(), 1000),
                      rows_of(x, s), make_matrix<float const>(nullptr, 0, 0, 0), rows_of(dx, s),
                      make_vec(sums.data(), 60), make_vec(sums.data() + 60, 60));
    });
    auto both = gradients_and_dropout<float>(ex, s, {0.3, 5, 7, nullptr}, true);
    for (auto const* v : {&dx, &sums, &both}) y.insert(y.end(), v->begin(), v->end());
    return y;
  };
  auto const one = run(1);
  CHECK(one == run(2));
  CHECK(one == run(3));
}

TEST_CASE("a layer norm of what does not fit is refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  auto const m = [&](index_t r, index_t c) { return rows_of(v, {r, c}); };
  auto const n = [&](index_t size_of) { return make_vec(v.data(), size_of); };
  arena scratch;
  CHECK_THROWS_WITH(layer_norm(ex, m(2, 3), n(2), n(3), 1e-5, m(2, 3), n(2), n(2)),
                    contains("layer_norm: gain is (2), expected (3)"));
  CHECK_THROWS_WITH(layer_norm(ex, m(2, 3), n(3), n(3), 1e-5, m(2, 3), n(3), n(2)),
                    contains("layer_norm: mean is (3), expected (2)"));
  CHECK_THROWS_WITH(layer_norm_grad(ex, scratch, m(2, 3), n(3), n(2), n(2), m(2, 3), as_matrix(read_only(m(1, 3))),
                                    m(2, 3), n(3), n(3)),
                    contains("add is (1, 3), expected (2, 3)"));
  auto const grad = [&](index_t gain, index_t mean, index_t rstd, index_t dgain, index_t dbias) {
    layer_norm_grad(ex, scratch, m(2, 3), n(gain), n(mean), n(rstd), m(2, 3), as_matrix(read_only(m(0, 3))), m(2, 3),
                    n(dgain), n(dbias));
  };
  for (auto const& short_one : {std::array<index_t, 5>{2, 2, 2, 3, 3}, {3, 2, 2, 2, 3}, {3, 2, 2, 3, 2}})
    CHECK_THROWS_WITH(std::apply(grad, short_one), contains("is (2), expected (3)"));
  for (auto const& short_one : {std::array<index_t, 5>{3, 1, 2, 3, 3}, {3, 2, 1, 3, 3}})
    CHECK_THROWS_WITH(std::apply(grad, short_one), contains("is (1), expected (2)"));
  auto const with_dropout = [&](double rate, index_t rows) {
    layer_norm_grad(ex, scratch, m(2, 3), n(3), n(2), n(2), m(2, 3), no_matrix<double const>(), m(2, 3), n(3), n(3),
                    dropout_mask{rate, 1, 2, nullptr}, as_matrix(m(rows, 3)));
  };
  CHECK_THROWS_WITH(with_dropout(0.5, 1), contains("dropped is (1, 3), expected (2, 3)"));
  CHECK_THROWS_WITH(with_dropout(7, 2), contains("rate of dropout is 7"));
}

/// A backend with dropout and a gradient of norms of its own, which count their calls.
struct counting : cpu::backend {
  int gradients = 0, dropouts = 0;
};
template <class T>
void do_layer_norm_grad(counting& ex, matrix<T const> x, vec<T const> gain, vec<T const> mean, vec<T const> rstd,
                        matrix<T const> dy, matrix<T const> add, matrix<T> dx, vec<T> dgain, vec<T> dbias,
                        workspace ws) {
  ++ex.gradients;
  cpu::do_layer_norm_grad(ex, x, gain, mean, rstd, dy, add, dx, dgain, dbias, ws);
}
template <class T>
void do_dropout(counting& ex, dropout_mask mask, matrix<T const> x, matrix<T> y) {
  ++ex.dropouts;
  cpu::do_dropout(ex, mask, x, y);
}

TEST_CASE("the gradient of layer norm before dropout calls the norm and the dropout of a derived backend") {
  counting ex;
  cpu::backend plain;
  dropout_mask const mask{0.5, 1, 2, nullptr};
  CHECK(gradients_and_dropout<float>(ex, {70, 5}, mask, true) ==
        gradients_and_dropout<float>(plain, {70, 5}, mask, true));
  CHECK(ex.gradients == 1);
  CHECK(ex.dropouts == 1);
}

/// A backend as a user derives it, with a norm of its own.
struct zero_norm : cpu::backend {};
void do_layer_norm(zero_norm&, matrix<float const>, vec<float const>, vec<float const>, float, matrix<float> y,
                   vec<float>, vec<float>) {
  for (index_t r = 0; r < y.extent(0); ++r)
    for (index_t c = 0; c < y.extent(1); ++c) y(r, c) = 0.0f;
}

TEST_CASE("layer norm also writes its result in bfloat16") {
  for (auto const s : sizes) {
    CAPTURE(s.rows, s.columns);
    auto const x = random_values<float>(s.rows * s.columns, 1, 3), gain = random_values<float>(s.columns, 2),
               bias = random_values<float>(s.columns, 3);
    std::vector<float> y(x.size()), with(x.size()), mean(static_cast<std::size_t>(s.rows)), rstd = mean;
    std::vector<triad::bfloat16> rounded(x.size());
    auto const m = make_vec(mean.data(), s.rows), i = make_vec(rstd.data(), s.rows);
    auto const run = [&](auto&& ex, auto& to, auto const&... more) {
      layer_norm(ex, rows_of(x, s), make_vec(gain.data(), s.columns), make_vec(bias.data(), s.columns), 1e-5,
                 rows_of(to, s), m, i, more...);
    };
    auto const also = make_matrix(rounded.data(), s.rows, s.columns, s.columns);
    run(cpu::backend(2), y);
    run(cpu::backend(2), with, also);
    CHECK(with == y);
    for (std::size_t k = 0; k < y.size(); ++k) REQUIRE(rounded[k].bits == to_bfloat16(y[k]).bits);
    run(zero_norm(), with, also);
    for (auto const& r : rounded) REQUIRE(r.bits == 0);
  }
}

}  // namespace ops_layer_norm_tests
