// Operations on rows and on flat memory: laws, both backends against the formulas, gradients by finite differences.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/softmax.hpp"
#include "triad/train/gradient_check.hpp"

namespace {

using namespace triad;
using triad::test::contains;
using triad::test::is_device;
using triad::test::random_values;
using triad::test::with_scratch;
using triad::test::WithinAbs;
using triad::test::WithinRel;

// Sums of up to a thousand terms of size one in the type's own precision.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-12;

// Sizes around what kernels do at once: nothing, one, a vector, a chunk of rows.
struct size {
  index_t rows, columns;
};
constexpr size sizes[] = {{0, 3}, {1, 1}, {3, 1}, {2, 7}, {5, 16}, {65, 17}, {130, 3}, {300, 50}};

template <class T>
tensor<T, dyn, dyn> rows_of(std::vector<T>& v, size s) {
  return tensor<T, dyn, dyn>(v.data(), s.rows, s.columns);
}
template <class T>
tensor<T const, dyn, dyn> rows_of(std::vector<T> const& v, size s) {
  return tensor<T const, dyn, dyn>(v.data(), s.rows, s.columns);
}

double dot(std::vector<double> const& a, std::vector<double> const& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEMPLATE_TEST_CASE("rows of a softmax sum to one, do not see a shift, and have a gradient that sums to zero", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto const s : sizes) {
    CAPTURE(s.rows, s.columns);
    auto x = random_values<T>(s.rows * s.columns, 1, 5), dy = random_values<T>(s.rows * s.columns, 2), y = x,
         shifted = x, dx = dy;
    softmax(ex, rows_of(std::as_const(x), s), rows_of(y, s));
    for (auto& v : shifted) v += T(80);
    softmax(ex, rows_of(std::as_const(shifted), s), rows_of(shifted, s));  // in place
    softmax_grad(ex, rows_of(std::as_const(y), s), rows_of(std::as_const(dx), s), rows_of(dx, s));
    for (index_t r = 0; r < s.rows; ++r) {
      double sum = 0, gradient = 0;
      for (index_t c = 0; c < s.columns; ++c) {
        sum += static_cast<double>(rows_of(y, s)(r, c));
        gradient += static_cast<double>(rows_of(dx, s)(r, c));
        REQUIRE_THAT(rows_of(shifted, s)(r, c), WithinAbs(static_cast<double>(rows_of(y, s)(r, c)),
                                                          sizeof(T) == 4 ? 1e-5 : 1e-13));  // rounding of x + 80
        REQUIRE_THAT(std::log(rows_of(y, s)(r, c) / rows_of(y, s)(r, 0)),
                     WithinAbs(static_cast<double>(rows_of(x, s)(r, c) - rows_of(x, s)(r, 0)), tolerance<T>));
      }
      REQUIRE_THAT(sum, WithinAbs(1, tolerance<T>));
      REQUIRE_THAT(gradient, WithinAbs(0, tolerance<T>));
    }
  }
}

TEMPLATE_TEST_CASE("a softmax of huge and of masked scores stays finite", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::vector<T> x{T(-1e9), T(1e4), T(-1e9), T(-1e9)}, y(4);
  softmax(ex, rows_of(std::as_const(x), {2, 2}), rows_of(y, {2, 2}));
  CHECK(y == std::vector<T>{T(0), T(1), T(0.5), T(0.5)});
}

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
  for (int addend : {0, 1, 2}) {  // none, another, the result itself
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
            auto const from = addend == 2 ? rows_of(dy, s) : read_only(dx);  // dx is dy, or dx is add
            layer_norm_grad(backend, *c.scratch, rows_of(at[0].values, s), make_vec(at[1].values.data(), 5),
                            make_vec(k.mean.data(), 70), make_vec(k.rstd.data(), 70), from, extra, dx,
                            make_vec(d[1].values.data(), 5), make_vec(d[2].values.data(), 5));
          });
          for (auto& v : d[1].values) v -= 7;
          for (auto& v : d[2].values) v -= 7;
        }));
  }
}

TEMPLATE_TEST_CASE("gathered rows are the table's, and scattering adds back what was gathered", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  using backend = typename TestType::backend;
  backend ex;
  for (index_t d : {1, 31, 33, 200})
    for (index_t rows : {0, 1, 300}) {
      CAPTURE(d, rows);
      auto const table = random_values<T>(7 * d, 1), dy = random_values<T>(rows * d, 2);
      std::vector<index_t> index(static_cast<std::size_t>(rows));
      random_stream random(1, 2);
      for (auto& i : index) i = random.below(7);
      std::vector<T> y(static_cast<std::size_t>(rows * d)), dtable(table.size(), T(1)), expected = dtable;
      gather_rows(ex, rows_of(table, {7, d}), make_vec<index_t const>(index.data(), rows), rows_of(y, {rows, d}));
      scatter_add_rows(ex, rows_of(dy, {rows, d}), make_vec<index_t const>(index.data(), rows),
                       rows_of(dtable, {7, d}));
      for (index_t r = 0; r < rows; ++r)
        for (index_t c = 0; c < d; ++c) {
          auto const from = index[static_cast<std::size_t>(r)];
          REQUIRE(rows_of(y, {rows, d})(r, c) == rows_of(table, {7, d})(from, c));
          expected[static_cast<std::size_t>(from * d + c)] += dy[static_cast<std::size_t>(r * d + c)];
        }
      if constexpr (is_device<backend>)
        for (std::size_t i = 0; i < expected.size(); ++i)
          REQUIRE_THAT(dtable[i], WithinAbs(static_cast<double>(expected[i]), 10 * tolerance<T>));
      else
        CHECK(dtable == expected);  // in ascending order of rows: the same bits
    }
  std::vector<index_t> const wrong{3, 7}, negative{-1, 0};
  std::vector<T> table(14), y(4);
  for (auto const& index : {wrong, negative}) {
    if constexpr (is_device<backend>) continue;
    CHECK_THROWS_AS(
        gather_rows(ex, rows_of(std::as_const(table), {7, 2}), make_vec(index.data(), 2), rows_of(y, {2, 2})),
        contract_violation);
    CHECK_THROWS_AS(
        scatter_add_rows(ex, rows_of(std::as_const(y), {2, 2}), make_vec(index.data(), 2), rows_of(table, {7, 2})),
        contract_violation);
  }
}

TEMPLATE_TEST_CASE("dropout multiplies what it keeps by one over the share kept, and its gradient is the same map", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::uint64_t const step = 2;
  for (auto const s : sizes)
    for (double rate : {0.0, 0.25, 1.0}) {
      CAPTURE(s.rows, s.columns, rate);
      dropout_mask const mask{rate, 3, 4, &step};
      auto const x = random_values<T>(s.rows * s.columns, 1);
      auto y = x, dx = x;
      dropout(ex, mask, rows_of(x, s), rows_of(y, s));
      dropout_grad(ex, mask, rows_of(std::as_const(dx), s), rows_of(dx, s));
      CHECK(y == dx);
      for (index_t r = 0; r < s.rows; ++r)
        for (index_t c = 0; c < s.columns; ++c)
          REQUIRE(rows_of(y, s)(r, c) ==
                  (mask.keeps(dropout_element(r, c, s.columns)) ? rows_of(x, s)(r, c) * T(mask.scale()) : T(0)));
    }
}

TEMPLATE_TEST_CASE("sums, norms, column sums, functions of elements and fill are what they say at every size", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (index_t n : {0, 1, 17, 16384, 16385, 50000}) {
    CAPTURE(n);
    auto const x = random_values<T>(n, 1), b = random_values<T>(n, 2);
    auto const xs = make_vec(x.data(), n);
    long double sum_of = 0, squares = 0;
    for (T v : x)
      sum_of += static_cast<long double>(v), squares += static_cast<long double>(v) * static_cast<long double>(v);
    T total = 9, length = 9;
    with_scratch(ex, {}, [&](auto& backend, call const& c) {
      sum(backend, *c.scratch, xs, make_vec(&total, 1));
      norm(backend, *c.scratch, xs, make_vec(&length, 1));
    });
    CHECK_THAT(total, WithinAbs(static_cast<double>(sum_of), 10 * tolerance<T>));
    CHECK_THAT(length, WithinRel(static_cast<double>(std::sqrt(squares)), tolerance<T>));
    std::vector<T> y(x.size());
    auto const ys = make_vec(y.data(), n);
    transform(ex, relu(), xs, ys);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == (x[i] > T(0) ? x[i] : T(0)));
    transform(ex, relu_grad(), ys, make_vec(b.data(), n), ys);
    for (std::size_t i = 0; i < y.size(); ++i) REQUIRE(y[i] == (x[i] > T(0) ? b[i] : T(0)));
    transform(ex, plus(), xs, make_vec(b.data(), n), ys);
    transform(ex, times(), ys, xs, ys);
    transform(ex, scale_by<double>{2}, ys, ys);
    for (std::size_t i = 0; i < y.size(); ++i)
      REQUIRE_THAT(y[i], WithinAbs(static_cast<double>((x[i] + b[i]) * x[i] * T(2)), tolerance<T>));
    fill(ex, T(3), ys);
    CHECK(y == std::vector<T>(y.size(), T(3)));
  }
  for (auto const s : sizes) {
    auto const x = random_values<T>(s.rows * s.columns, 1);
    std::vector<T> sums(static_cast<std::size_t>(s.columns), T(5));
    for (bool turned : {false, true}) {  // the columns of a transpose do not lie one behind the other
      auto const m = turned ? make_matrix(x.data(), s.rows, s.columns, index_t{1}, std::max<index_t>(s.rows, 1))
                            : as_matrix(rows_of(x, s));
      sums.assign(sums.size(), T(5));
      with_scratch(ex, {}, [&](auto& backend, call const& c) {
        column_sums_add(backend, *c.scratch, m, make_vec(sums.data(), s.columns));
      });
      for (index_t c = 0; c < s.columns; ++c) {
        double expected = 5;
        for (index_t r = 0; r < s.rows; ++r) expected += static_cast<double>(m(r, c));
        REQUIRE_THAT(sums[static_cast<std::size_t>(c)], WithinAbs(expected, 5 * tolerance<T>));
      }
    }
  }
}

TEMPLATE_TEST_CASE("Adam over a long row makes the formula's steps, and clipping leaves a short gradient alone", "",
                   TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  index_t const n = 40001;  // three chunks
  adam_options const s{0.9, 0.98, 1e-8, 0.1, true};
  std::uint64_t const step = 4;
  double const rate = 0.01;
  auto p = random_values<T>(n, 1), m = random_values<T>(n, 3), v = random_values<T>(n, 4);
  for (auto& e : v) e = std::abs(e);
  auto const g = random_values<T>(n, 2), p0 = p, m0 = m, v0 = v;
  adam(ex, s, make_vec(&rate, 1), &step, make_vec(p.data(), n), make_vec(g.data(), n), make_vec(m.data(), n),
       make_vec(v.data(), n));
  for (std::size_t i : {0u, 1u, 16383u, 16384u, 40000u}) {
    double const m1 = 0.9 * static_cast<double>(m0[i]) + 0.1 * static_cast<double>(g[i]),
                 v1 = 0.98 * static_cast<double>(v0[i]) + 0.02 * static_cast<double>(g[i] * g[i]);
    double const after = static_cast<double>(p0[i]) * (1 - 0.01 * 0.1) -
                         0.01 / (1 - std::pow(0.9, 5)) * m1 / (std::sqrt(v1) / std::sqrt(1 - std::pow(0.98, 5)) + 1e-8);
    CHECK_THAT(p[i], WithinAbs(after, tolerance<T>));
    CHECK_THAT(m[i], WithinAbs(m1, tolerance<T>));
    CHECK_THAT(v[i], WithinAbs(v1, tolerance<T>));
  }
  T const length = T(2);
  auto clipped = g;
  clip(ex, 3, make_vec(&length, 1), make_vec(clipped.data(), n));
  CHECK(clipped == g);
  clip(ex, 1, make_vec(&length, 1), make_vec(clipped.data(), n));
  CHECK_THAT(clipped[40000], WithinRel(static_cast<double>(g[40000]) / (2 + 1e-6), tolerance<T>));
}

TEST_CASE("rows have the same bits for one, two and three threads") {
  auto const run = [](int threads) {
    cpu::backend ex(threads);
    size const s{1000, 60};
    auto const x = random_values<float>(60000, 1), gain = random_values<float>(60, 2);
    std::vector<float> y(60000), mean(1000), rstd(1000), dx(60000), sums(4 * 60), scalars(2);
    with_scratch(ex, {}, [&](auto& backend, call const& c) {
      auto const g = make_vec(gain.data(), 60);
      layer_norm(backend, rows_of(x, s), g, g, 1e-5, rows_of(y, s), make_vec(mean.data(), 1000),
                 make_vec(rstd.data(), 1000));
      layer_norm_grad(backend, *c.scratch, rows_of(x, s), g, make_vec(mean.data(), 1000), make_vec(rstd.data(), 1000),
                      rows_of(x, s), make_matrix<float const>(nullptr, 0, 0, 0), rows_of(dx, s),
                      make_vec(sums.data(), 60), make_vec(sums.data() + 60, 60));
      column_sums_add(backend, *c.scratch, rows_of(x, s), make_vec(sums.data() + 120, 60));
      sum(backend, *c.scratch, make_vec(x.data(), 60000), make_vec(scalars.data(), 1));
      norm(backend, *c.scratch, make_vec(x.data(), 60000), make_vec(scalars.data() + 1, 1));
    });
    for (auto const* v : {&dx, &sums, &scalars}) y.insert(y.end(), v->begin(), v->end());
    return y;
  };
  auto const one = run(1);
  CHECK(one == run(2));
  CHECK(one == run(3));
}

TEST_CASE("operations on rows that do not fit are refused with a sentence") {
  reference::backend ex;
  std::vector<double> v(100);
  std::vector<index_t> index(10);
  auto const m = [&](index_t r, index_t c) { return rows_of(v, {r, c}); };
  auto const n = [&](index_t size_of) { return make_vec(v.data(), size_of); };
  auto const i = [&](index_t size_of) { return make_vec<index_t const>(index.data(), size_of); };
  arena scratch;
  CHECK_THROWS_WITH(softmax(ex, m(2, 3), m(3, 2)), contains("softmax: x and y have different shapes"));
  CHECK_THROWS_WITH(softmax_grad(ex, m(2, 3), m(2, 3), m(3, 2)), contains("softmax_grad: y, dy and dx"));
  CHECK_THROWS_WITH(layer_norm(ex, m(2, 3), n(2), n(3), 1e-5, m(2, 3), n(2), n(2)),
                    contains("gain and bias need one value a column"));
  CHECK_THROWS_WITH(layer_norm(ex, m(2, 3), n(3), n(3), 1e-5, m(2, 3), n(3), n(2)),
                    contains("mean and rstd need one value a row"));
  CHECK_THROWS_WITH(layer_norm_grad(ex, scratch, m(2, 3), n(3), n(2), n(2), m(2, 3), as_matrix(read_only(m(1, 3))),
                                    m(2, 3), n(3), n(3)),
                    contains("add has another shape"));
  CHECK_THROWS_WITH(gather_rows(ex, m(5, 2), i(4), m(3, 2)), contains("gather_rows: one row of y for each index"));
  CHECK_THROWS_WITH(gather_rows(ex, m(5, 2), i(3), m(3, 3)), contains("different widths"));
  CHECK_THROWS_WITH(scatter_add_rows(ex, m(3, 2), i(4), m(5, 2)), contains("one index for each row"));
  CHECK_THROWS_WITH(dropout(ex, {}, m(2, 3), m(3, 2)), contains("dropout: x and y"));
  CHECK_THROWS_WITH(transform(ex, plus(), m(2, 3), m(3, 2), m(2, 3)), contains("transform: a, b and y"));
  CHECK_THROWS_WITH(column_sums_add(ex, scratch, m(2, 3), n(2)), contains("one sum a column"));
  double const rate = 1;
  CHECK_THROWS_WITH(adam(ex, {}, make_vec(&rate, 1), nullptr, n(3), n(3), n(4), n(3)),
                    contains("adam: parameters, gradient and moments differ in size"));
  CHECK_THROWS_WITH(adam(ex, {}, make_vec(&rate, 0), nullptr, n(3), n(3), n(3), n(3)),
                    contains("the rate is one number"));
  CHECK_THROWS_WITH(clip(ex, 1, n(0), n(3)), contains("the norm is one number"));
  CHECK_THROWS_WITH(sum(ex, scratch, n(3), n(0)), contains("the total is one number"));
  CHECK_THROWS_WITH(norm(ex, scratch, n(3), n(2)), contains("the length is one number"));
}

}  // namespace
