// Tests the removal of labels that edges imply, against a computation from the definition in double precision, and the
// gradient against finite differences.  Also tests probabilities of 0 and 1, and labels that are certain.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/implied_labels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/check_gradient.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "tests/ragged_grids.hpp"
#include "triad/core/finite.hpp"
#include "triad/train/gradient_check.hpp"

namespace ops_implied_labels_tests {

using namespace triad;
using test::WithinAbs;
using test::WithinRel;
using shapes = std::vector<std::pair<index_t, index_t>>;

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// Returns random numbers from `least` to `most` that a float stores exactly.
template <class T>
std::vector<T> between(double least, double most, index_t count, std::uint64_t stream) {
  auto v = test::random_values<T>(count, stream);
  for (T& x : v) x = static_cast<T>(static_cast<float>(least + (most - least) * (static_cast<double>(x) + 1) / 2));
  return v;
}

template <class T>
struct problem {
  test::ragged_grids grids;
  index_t relations, labels, columns = grids.dims.columns;
  std::vector<T> s, x, implied, dresult;           // given
  std::vector<T> edge, of_x, of_y, result;         // by forward()
  std::vector<T> dx = result, dimplied = implied;  // by backward()
  problem(shapes const& sizes, index_t relation_count, index_t label_count)
      : grids(sizes),
        relations(relation_count),
        labels(label_count),
        s(between<T>(-1, -0.001, grids.dims.pairs * relations, 1)),
        x(between<T>(-4, -0.01, columns * labels, 2)),
        implied(between<T>(0.01, 0.6, relations * labels, 3)),
        dresult(test::random_values<T>(columns * labels, 4)),
        edge(at(columns * relations), T(7)),
        of_x(x.size(), T(7)),
        of_y(x.size(), T(7)),
        result(x.size(), T(7)),
        dx(x.size(), T(7)),
        dimplied(implied.size(), T(7)) {}

  template <class S>
  static matrix<T const> in(std::vector<S> const& v, index_t rows, index_t width) {
    return make_matrix<T const>(v.data(), rows, width, width);
  }
  static matrix<T> out(std::vector<T>& v, index_t rows, index_t width) {
    return make_matrix(v.data(), rows, width, width);
  }
  template <class Ex>
  void forward(Ex& ex) {
    implied_labels(ex, grids.batch(), in(s, grids.dims.pairs, relations), in(x, columns, labels),
                   in(implied, relations, labels), out(edge, columns, relations), out(of_x, columns, labels),
                   out(of_y, columns, labels), out(result, columns, labels));
  }
  template <class Ex>
  void backward(Ex& ex) {
    implied_labels_grad(ex, grids.batch(), in(implied, relations, labels), in(edge, columns, relations),
                        in(of_x, columns, labels), in(of_y, columns, labels), in(dresult, columns, labels),
                        out(dx, columns, labels), out(dimplied, relations, labels));
  }

  /// Returns the probability that an edge of this relation leaves column `a` of a grid, from s.
  double edge_of(index_t graph, index_t a, index_t relation) const {
    double none = 1;
    index_t const m = grids.columns[at(graph)];
    for (index_t b = 0; b < m; ++b)
      none *= std::exp(static_cast<double>(s[at((grids.pair_begin[at(graph)] + a * m + b) * relations + relation)]));
    return 1 - none;
  }
  /// Returns log(1 - P') of each label.
  std::vector<double> direct() const {
    std::vector<double> all(x.size());
    for (index_t graph = 0; graph < grids.dims.graphs; ++graph)
      for (index_t a = 0; a < grids.columns[at(graph)]; ++a) {
        index_t const column = grids.column_begin[at(graph)] + a;
        for (index_t u = 0; u < labels; ++u) {
          double p = -std::expm1(static_cast<double>(x[at(column * labels + u)]));
          for (index_t r = 0; r < relations; ++r)
            p *= 1 - noisy_or_kappa * static_cast<double>(implied[at(r * labels + u)]) * edge_of(graph, a, r);
          all[at(column * labels + u)] = std::log1p(-p);
        }
      }
    return all;
  }
};

shapes const uneven{{3, 2}, {1, 1}, {4, 0}, {2, 8}, {1, 5}, {1, 0}, {9, 3}};
constexpr std::pair<index_t, index_t> tables[] = {{1, 1}, {5, 16}, {38, 41}, {3, 147}, {0, 4}, {4, 0}};

TEMPLATE_TEST_CASE("implied labels have the probability of the definition on every backend", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  double const close = std::is_same_v<T, float> ? 1e-6 : 1e-14;
  for (auto const& [relations, labels] : tables) {
    CAPTURE(relations, labels);
    problem<T> found(uneven, relations, labels);
    found.forward(ex), found.backward(ex);
    auto const expected = found.direct();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      CAPTURE(i);
      double const score = -expected[i], power = std::abs(std::log(score));  // P' has the factor exp(y)
      REQUIRE_THAT(static_cast<double>(found.result[i]), WithinAbs(-score, close * score * (1 + power)));
    }
    problem<double> exact(uneven, relations, labels);
    reference::backend specification;
    exact.forward(specification), exact.backward(specification);
    CHECK(test::distance(found.edge, exact.edge) < close);
    CHECK(test::distance(found.dx, exact.dx) < 10 * close);
    CHECK(test::distance(found.dimplied, exact.dimplied) < 10 * close);
  }
}

TEMPLATE_TEST_CASE("the gradient of implied labels is that of finite differences, with constant edges", "",
                   TRIAD_TEST_BACKENDS) {
  TestType ex;
  problem<double> p({{3, 2}, {1, 0}, {9, 4}}, 3, 5);
  auto const put = [&](variables const& v) { p.x = v[0].values, p.implied = v[1].values; };
  auto const report = gradient_check(
      variables{{"x", p.x}, {"implied", p.implied}},
      [&](variables const& v) {
        put(v);
        p.forward(ex);
        double sum = 0;
        for (std::size_t i = 0; i < p.result.size(); ++i) sum += p.result[i] * p.dresult[i];
        return sum;
      },
      [&](variables const& v, variables& g) {
        put(v);
        p.forward(ex), p.backward(ex);
        g[0].values = p.dx;
        g[1].values = p.dimplied;
      },
      {.directions = 4, .elements = 40});
  CHECK_GRADIENT(report);
}

TEMPLATE_TEST_CASE("without edges, or if no edge implies a label, scores stay as they are", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (bool const edges : {false, true}) {
    CAPTURE(edges);
    problem<T> p(uneven, 7, 19);
    std::fill(edges ? p.implied.begin() : p.s.begin(), edges ? p.implied.end() : p.s.end(), T(0));
    p.x[0] = 0, p.x[1] = -300, p.x[2] = T(-1e-8);
    p.forward(ex), p.backward(ex);
    CHECK(p.result == p.x);
    CHECK(p.dx == p.dresult);
    if (!edges) CHECK(p.dimplied == std::vector<T>(p.implied.size()));
    for (T const d : p.dimplied) REQUIRE(std::abs(d) < std::numeric_limits<T>::max());
  }
}

TEMPLATE_TEST_CASE("a certain label and certain edges give finite scores and slopes", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  double const kappa = static_cast<double>(static_cast<T>(noisy_or_kappa)), close = sizeof(T) == 4 ? 3e-6 : 1e-13;
  // One relation, one label, and one column: every number is known in closed form.
  auto const expect = [&](double s, double x, double g, double score, double of_x, double dimplied) {
    CAPTURE(s, x, g);
    problem<T> p({{1, 1}}, 1, 1);
    p.s[0] = static_cast<T>(s), p.x[0] = static_cast<T>(x), p.implied[0] = static_cast<T>(g), p.dresult[0] = 1;
    p.forward(ex), p.backward(ex);
    CHECK_THAT(static_cast<double>(p.result[0]), WithinRel(score, close));
    CHECK_THAT(static_cast<double>(p.dx[0]), WithinAbs(of_x, close));
    CHECK_THAT(static_cast<double>(p.dimplied[0]), WithinRel(dimplied, 10 * close));
  };
  double const kept = 1 - kappa;
  // With P = E = p = 1, the label keeps the probability 1 - kappa, and P' = 1 - kappa p has the slope -kappa.
  expect(-300, -300, 1, std::log1p(-kept), 0, kappa / (1 - kept));
  // With P = 1, 1 - P' = kappa p E, so the score falls with log p.
  for (double const g : {0.5, 1e-3, 1e-10})
    expect(-300, -300, g, std::log(kappa * static_cast<double>(static_cast<T>(g))), 0,
           1 / static_cast<double>(static_cast<T>(g)));
  // 1 - P' is the sum of two small numbers: exp(-20) of x, and 1e-8 of the edge.
  double const small = static_cast<double>(static_cast<T>(1e-8)), m = std::exp(-20.0);
  double const missed = m + kappa * small * (1 - m);
  expect(-300, -20, small, std::log(missed), m * (1 - kappa * small) / missed, kappa * (1 - m) / missed);
  // A small probability keeps its digits.
  double const x = static_cast<double>(static_cast<T>(-1e-9)), p = -std::expm1(x), left = p * (1 - kappa / 4);
  expect(-300, x, 0.25, std::log1p(-left), (1 - p) * (1 - kappa / 4) / (1 - left), kappa * p / (1 - left));
}

TEMPLATE_TEST_CASE("implied labels are finite for all combinations of extreme numbers", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::vector<T> const scores{0, T(-1e-30), T(-1e-8), T(-0.5), T(-1), T(-16), T(-80), T(-300)},
      chances{0, std::numeric_limits<T>::min() / 2, T(1e-30), T(1e-12), T(1e-6), T(0.5), 1};
  problem<T> p({{1, 1}}, 38, static_cast<index_t>(scores.size()));
  p.x = scores;
  for (T const s : scores)
    for (T const g : chances) {
      CAPTURE(s, g);
      std::fill(p.s.begin(), p.s.end(), s);
      std::fill(p.implied.begin(), p.implied.end(), g);
      std::fill(p.dresult.begin(), p.dresult.end(), T(1));
      p.forward(ex), p.backward(ex);
      T const last = p.result.back();
      for (std::size_t i = 0; i < scores.size(); ++i) {
        CAPTURE(p.x[i]);
        REQUIRE(p.result[i] <= 0);
        REQUIRE(p.result[i] >= p.x[i] * T(1.000001));
        REQUIRE(p.result[i] >= last);  // a more probable label stays more probable
        REQUIRE((p.dx[i] >= 0 && p.dx[i] <= T(1.0001)));
      }
      for (T const d : p.dimplied) {
        REQUIRE((d >= 0 && d <= std::numeric_limits<T>::max()));
        if (g >= T(1e-12)) REQUIRE(g * d <= T(1.0001));
      }
    }
}

TEMPLATE_TEST_CASE("a NaN reaches the results that depend on it, and no others", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  T const nan = std::numeric_limits<T>::quiet_NaN();
  auto const count = [](std::vector<T> const& v) {
    return std::count_if(v.begin(), v.end(), [](T x) { return is_nan(x); });
  };
  {
    problem<T> p({{1, 3}, {1, 2}}, 4, 21);
    p.x[5] = nan;
    p.forward(ex), p.backward(ex);
    CHECK((count(p.result) == 1 && is_nan(p.result[5])));
    CHECK(count(p.dimplied) == 4);  // its label, for each relation
  }
  {
    problem<T> p({{1, 3}, {1, 2}}, 4, 21);
    p.implied[2 * 21 + 5] = nan;
    p.forward(ex);
    CHECK((count(p.result) == 5 && is_nan(p.result[5])));  // its label, in each column
  }
  {
    problem<T> p({{1, 3}, {1, 2}}, 4, 21);
    p.s[0] = nan;
    p.forward(ex);
    CHECK((count(p.result) == 21 && is_nan(p.result[20])));  // all labels of the first column
  }
}

TEMPLATE_TEST_CASE("the result of implied labels may take the place of x", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  problem<T> apart(uneven, 6, 21), in_place(uneven, 6, 21);
  apart.forward(ex);
  auto& p = in_place;
  implied_labels(ex, p.grids.batch(), p.in(p.s, p.grids.dims.pairs, 6), p.in(p.x, p.columns, 21),
                 p.in(p.implied, 6, 21), p.out(p.edge, p.columns, 6), p.out(p.of_x, p.columns, 21),
                 p.out(p.of_y, p.columns, 21), p.out(p.x, p.columns, 21));
  CHECK(p.x == apart.result);
  CHECK(p.of_x == apart.of_x);
  CHECK(p.of_y == apart.of_y);
}

TEST_CASE("implied labels have the same bits for every number of threads, and for columns of a transposed matrix") {
  problem<float> one(uneven, 38, 41), three(uneven, 38, 41), turned(uneven, 38, 41);
  cpu::backend alone(1), together(3);
  one.forward(alone), one.backward(alone);
  three.forward(together), three.backward(together);
  CHECK(one.result == three.result);
  CHECK(one.dx == three.dx);
  CHECK(one.dimplied == three.dimplied);
  // Matrices of labels transposed: no row is contiguous.
  index_t const columns = one.columns;
  auto const stand = [](auto* data, index_t rows, index_t width) {
    return make_matrix(data, rows, width, index_t{1}, rows);
  };
  auto const turn = [&](std::vector<float> const& from, std::vector<float>& to, index_t rows) {
    for (index_t r = 0; r < rows; ++r)
      for (index_t c = 0; c < 41; ++c) stand(to.data(), rows, 41)(r, c) = from[at(r * 41 + c)];
  };
  turn(one.x, turned.x, columns), turn(one.implied, turned.implied, 38), turn(one.dresult, turned.dresult, columns);
  auto const from = [&](std::vector<float> const& v, index_t rows) { return stand(v.data(), rows, 41); };
  auto const to = [&](std::vector<float>& v, index_t rows) { return stand(v.data(), rows, 41); };
  implied_labels(alone, one.grids.batch(), one.in(one.s, one.grids.dims.pairs, 38), from(turned.x, columns),
                 from(turned.implied, 38), one.out(turned.edge, columns, 38), to(turned.of_x, columns),
                 to(turned.of_y, columns), to(turned.result, columns));
  implied_labels_grad(alone, one.grids.batch(), from(turned.implied, 38), one.in(turned.edge, columns, 38),
                      from(turned.of_x, columns), from(turned.of_y, columns), from(turned.dresult, columns),
                      to(turned.dx, columns), to(turned.dimplied, 38));
  auto const same = [&](std::vector<float> const& straight, std::vector<float> const& across, index_t rows) {
    std::vector<float> expected(straight.size());
    turn(straight, expected, rows);
    CHECK(test::distance(across, {expected.begin(), expected.end()}) < 1e-5);
  };
  same(one.result, turned.result, columns), same(one.dx, turned.dx, columns), same(one.dimplied, turned.dimplied, 38);
}

TEST_CASE("implied labels refuse shapes that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p({{3, 2}, {2, 2}}, 3, 5);
  auto const run = [&](index_t pairs, index_t columns, index_t edges, index_t slopes, index_t results) {
    implied_labels(ex, p.grids.batch(), p.in(p.s, pairs, 3), p.in(p.x, columns, 5), p.in(p.implied, 3, 5),
                   p.out(p.edge, edges, 3), p.out(p.of_x, 4, 5), p.out(p.of_y, slopes, 5), p.out(p.result, results, 5));
  };
  CHECK_THROWS_WITH(run(7, 4, 4, 4, 4), test::contains("implied_labels: s is (7, 3), expected (8, 3)"));
  CHECK_THROWS_WITH(run(8, 3, 4, 4, 4), test::contains("implied_labels: x is (3, 5), expected (4, 5)"));
  CHECK_THROWS_WITH(run(8, 4, 3, 4, 4), test::contains("implied_labels: edge is (3, 3), expected (4, 3)"));
  CHECK_THROWS_WITH(run(8, 4, 4, 3, 4), test::contains("implied_labels: of_y is (3, 5), expected (4, 5)"));
  CHECK_THROWS_WITH(run(8, 4, 4, 4, 3), test::contains("implied_labels: result is (3, 5), expected (4, 5)"));
  CHECK_THROWS_WITH(
      implied_labels_grad(ex, p.grids.batch(), p.in(p.implied, 3, 5), p.in(p.edge, 4, 3), p.in(p.of_x, 4, 5),
                          p.in(p.of_y, 4, 5), p.in(p.dresult, 4, 5), p.out(p.dx, 4, 5), p.out(p.dimplied, 2, 5)),
      test::contains("implied_labels_grad: dimplied is (2, 5), expected (3, 5)"));
}

}  // namespace ops_implied_labels_tests
