// Tests properties of triangular attention on both backends and for every form. Every correct implementation has these
// properties, in whatever order it computes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/triangle.hpp"

#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ops/triangle_call.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/triangle.hpp"
#include "triad/reference/triangle.hpp"

namespace ops_triangle_tests {

using namespace triad;
using test::contains;
using test::ragged;
using test::random_values;
using test::WithinAbs;

constexpr triangle_form all_forms[] = {triangle_form::full, triangle_form::value_ablation,
                                       triangle_form::attention_ablation, triangle_form::both_ablations,
                                       triangle_form::flat};

// The tolerance allows for rounding in sums of some hundred products of single-precision numbers below 2, and for the
// error of exponentials, 2e-7.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 2e-5 : 1e-13;

template <class T>
using use = test::triangle_call<T>;

// Returns the largest difference between the rows a of one call and the rows b of another call, over all parts of dx
// that the form has.
template <class T>
double difference(use<T> const& p, index_t a, use<T> const& q, index_t b) {
  double worst = 0;
  auto const compare = [&](T u, T v) {
    double const e = std::abs(static_cast<double>(u) - static_cast<double>(v));
    worst = test::worse(worst, e);
  };
  index_t const parts = uses_right_value(p.form) ? 4 : 3, d = p.d;
  for (index_t f = 0; f < d; ++f) compare(p.edges(p.o)(a, f), q.edges(q.o)(b, f));
  for (index_t f = 0; f < parts * d; ++f)
    compare(p.dx[static_cast<std::size_t>(a * 4 * d + f)], q.dx[static_cast<std::size_t>(b * 4 * d + f)]);
  return worst;
}

TEMPLATE_TEST_CASE("weights of a triangle sum to one and, with the values, make the output", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto form : all_forms)
    for (double masked : {0.0, 0.4}) {
      use<T> u({3, 1, 14, 2}, 2, 5, form);
      random_stream random(4, 4);
      if (masked > 0)
        for (index_t t = 0; t < u.shape.dims.triangles; ++t) u.masked.push_back(random.uniform() < masked);
      u.run(ex);
      auto const in = u.inputs();
      auto const g = u.shape.batch();
      for (index_t graph = 0; graph < 4; ++graph) {
        auto const n = g.size(graph), first = g.edge_begin(graph), terms = form == triangle_form::flat ? 2 * n : n;
        for (index_t i = 0; i < n; i += 3)
          for (index_t j = 0; j < n; j += 2) {
            CAPTURE(static_cast<int>(form), masked, n, i, j);
            std::vector<T> memory(static_cast<std::size_t>(2 * terms));
            auto const w = make_matrix(memory.data(), 2, terms, terms);
            triangle_weights<typename TestType::backend, T>(ex, u.options(), in, g, graph, i, j, w);
            for (index_t c = 0; c < 2; ++c) {
              double sum = 0;
              std::vector<double> o(5);
              for (index_t l = 0; l < terms; ++l) {
                double const p = static_cast<double>(w(c, l));
                REQUIRE(p >= 0);
                sum += p;
                auto const left = l < n ? first + i * n + l : first + (l - n) * n + j;
                for (index_t e = 0; e < 5; ++e) {
                  double value = static_cast<double>(in.left_value(left, c * 5 + e));
                  if (uses_right_value(form))
                    value *= static_cast<double>(in.right_value(first + l * n + j, c * 5 + e));
                  o[static_cast<std::size_t>(e)] += p * value;
                }
              }
              REQUIRE_THAT(sum, WithinAbs(1, tolerance<T>));
              for (index_t e = 0; e < 5; ++e)
                REQUIRE_THAT(u.edges(u.o)(first + i * n + j, c * 5 + e),
                             WithinAbs(o[static_cast<std::size_t>(e)], tolerance<T>));
            }
          }
      }
    }
}

TEMPLATE_TEST_CASE("giving the nodes other names gives the edges other names and changes nothing else", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  for (auto form : all_forms)
    for (index_t n : {1, 2, 5, 13, 19}) {
      CAPTURE(static_cast<int>(form), n);
      std::vector<index_t> name(static_cast<std::size_t>(n));
      std::iota(name.begin(), name.end(), index_t{0});
      random_stream random(5, 6);
      random.shuffle(name);
      use<T> u({n}, 2, 4, form), other({n}, 2, 4, form);
      auto const named = [&](index_t row) {
        return name[static_cast<std::size_t>(row / n)] * n + name[static_cast<std::size_t>(row % n)];
      };
      for (index_t r = 0; r < n * n; ++r) {
        std::copy_n(u.x.begin() + r * 32, 32, other.x.begin() + named(r) * 32);
        std::copy_n(u.d_o.begin() + r * 8, 8, other.d_o.begin() + named(r) * 8);
      }
      u.run(ex);
      other.run(ex);
      for (index_t r = 0; r < n * n; ++r) REQUIRE(difference(u, r, other, named(r)) <= 10 * tolerance<T>);
    }
}

TEMPLATE_TEST_CASE("padding with a mask changes neither output nor gradient of real edges", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  std::vector<index_t> const sizes{3, 1, 13, 6};
  for (auto form : all_forms)
    for (index_t most : {13, 17}) {
      CAPTURE(static_cast<int>(form), most);
      use<T> u(sizes, 2, 4, form), padded(std::vector<index_t>(4, most), 2, 4, form);
      std::fill(padded.d_o.begin(), padded.d_o.end(), T(0));  // padding is not read
      for (std::size_t g = 0; g < 4; ++g) {
        auto const n = sizes[g];
        for (index_t i = 0; i < most; ++i)
          for (index_t l = 0; l < most; ++l)
            for (index_t j = 0; j < most; ++j) padded.masked.push_back(i >= n || l >= n || j >= n);
      }
      auto const each_real = [&](auto&& f) {
        for (std::size_t g = 0; g < 4; ++g)
          for (index_t i = 0; i < sizes[g]; ++i)
            for (index_t j = 0; j < sizes[g]; ++j)
              f(u.shape.edge_begin[g] + i * sizes[g] + j, padded.shape.edge_begin[g] + i * most + j);
      };
      each_real([&](index_t from, index_t to) {
        std::copy_n(u.x.begin() + from * 32, 32, padded.x.begin() + to * 32);
        std::copy_n(u.d_o.begin() + from * 8, 8, padded.d_o.begin() + to * 8);
      });
      u.run(ex);
      padded.run(ex);
      each_real([&](index_t from, index_t to) { REQUIRE(difference(u, from, padded, to) <= 10 * tolerance<T>); });
    }
}

TEST_CASE("scratch memory for a batch serves every batch of smaller graphs, whatever the width") {
  cpu::backend ex(2);
  for (index_t width : {1, 8, 16, 50, 64, 100, 200})
    for (auto form : all_forms)
      for (double rate : {0.0, 0.5}) {
        std::size_t forward = 0, backward = 0;
        for (index_t n = 1; n <= 200; ++n) {
          CAPTURE(width, static_cast<int>(form), n);
          triangle_options t{form, 2};
          t.dropout.rate = rate;
          graph_dims const dims{1, n * n, n, n * n * n, n};
          auto const m = make_matrix<float const>(nullptr, n * n, 2 * width, 8 * width);
          triangle_projections<float const> const x{m, m, m, m};
          auto const d = make_matrix<float>(nullptr, n * n, 2 * width, 8 * width);
          triangle_projections<float> const dx{d, d, d, d};
          auto const f = do_triangle_workspace(ex, t, x, dims), b = do_triangle_grad_workspace(ex, t, x, dx, dims);
          REQUIRE(f >= forward);
          REQUIRE(b >= backward);
          forward = f;
          backward = b;
        }
      }
}

TEST_CASE("graphs that are cut into larger and into smaller blocks share a batch") {
  // For width 50, graphs of up to 64 nodes have blocks of 16 middle nodes, and larger graphs have blocks of 8. So the
  // smaller graph needs more memory.
  use<float> u({80, 64}, 1, 50, triangle_form::full);
  use<double> exact({80, 64}, 1, 50, triangle_form::full);
  cpu::backend ex(2);
  reference::backend plain;
  u.run(ex);
  exact.run(plain);
  double worst = 0;
  for (std::size_t i = 0; i < exact.dx.size(); ++i)
    worst = test::worse(worst, std::abs(static_cast<double>(u.dx[i]) - exact.dx[i]));
  CHECK(worst <= 10 * tolerance<float>);
  use<float> alone({64}, 1, 50, triangle_form::full);
  std::copy_n(u.x.end() - 16 - 64 * 64 * 200, 64 * 64 * 200, alone.x.begin());
  std::copy_n(u.d_o.end() - 16 - 64 * 64 * 50, 64 * 64 * 50, alone.d_o.begin());
  alone.run(ex);
  bool same = true;
  for (index_t r = 0; r < 64 * 64; ++r) same = same && difference(u, 6400 + r, alone, r) == 0;
  CHECK(same);  // the results of a graph do not depend on its batch
}

TEST_CASE("the cpu takes its own kernels for what layers hand it, and the reference for what they cannot read") {
  cpu::backend ex(1);
  reference::backend plain;
  for (auto form : all_forms)
    for (index_t n : {5, 20}) {
      CAPTURE(static_cast<int>(form), n);
      use<float> fast({n}, 2, 24, form), slow({n}, 2, 24, form);
      fast.run(ex);
      slow.run(plain);
      // Another order of summation changes bits of some of the five hundred numbers.
      CHECK((fast.o == slow.o) == (form == triangle_form::flat));
      CHECK((fast.dx == slow.dx) == (form == triangle_form::flat));
    }
}

TEST_CASE("the cpu refuses graphs that are larger than was said when memory was measured") {
  cpu::backend ex(1);
  use<float> u({3, 2}, 2, 4, triangle_form::full);
  triangle_statistics<float> const statistics{make_matrix(u.maximum.data(), 13, 2, 2),
                                              make_matrix(u.inverse_sum.data(), 13, 2, 2)};
  auto const forward = [&](index_t max_nodes, index_t triangles) {
    auto g = u.shape.batch();
    g.dims.max_nodes = max_nodes, g.dims.triangles = triangles;
    test::with_scratch(ex, {}, [&](auto& backend, call const& c) {
      triangle(backend, *c.scratch, u.options(), u.inputs(), g, statistics, u.edges(u.o));
    });
  };
  CHECK_NOTHROW(forward(3, 35));
  CHECK_THROWS_WITH(forward(2, 35), contains("graph 0 has 3 nodes, expected at most 2"));
  CHECK_THROWS_WITH(forward(3, 34), contains("35 triangles, expected at most 34"));
}

TEST_CASE("a triangle that does not fit is refused with a sentence") {
  reference::backend ex;
  use<double> u({3, 2}, 2, 4, triangle_form::full);
  arena scratch;
  auto const g = u.shape.batch();
  auto in = u.inputs();
  triangle_statistics<double> const statistics{make_matrix(u.maximum.data(), 13, 2, 2),
                                               make_matrix(u.inverse_sum.data(), 13, 2, 2)};
  auto const forward = [&](triangle_options const& t, index_t rows) {
    triangle<reference::backend, double>(ex, scratch, t, in, g, statistics, row_block(u.edges(u.o), 0, rows));
  };
  CHECK_THROWS_WITH(forward({triangle_form::full, 3}, 13),
                    contains("triangle: heads are 3 and width is 8, expected 1 or more heads that divide the width"));
  CHECK_THROWS_WITH(forward({triangle_form::full, 2}, 12), contains("triangle: o is (12, 8), expected (13, 8)"));
  u.masked.assign(34, 0);
  CHECK_THROWS_WITH(forward({triangle_form::full, 2, {make_vec<std::uint8_t const>(u.masked.data(), 34)}}, 13),
                    contains("mask is (34), expected (35)"));
  in.right_value = make_matrix<double const>(nullptr, 0, 0, 0);
  CHECK_THROWS_WITH(forward({triangle_form::full, 2}, 13), contains("right_value is (0, 0), expected (13, 8)"));
  in = u.inputs();
  in.key = row_block(in.key, 0, 12);
  CHECK_THROWS_WITH(forward({triangle_form::full, 2}, 13), contains("key is (12, 8), expected (13, 8)"));
  in = u.inputs();
  CHECK_NOTHROW(forward({triangle_form::full, 2}, 13));
  auto const wants_statistics = contains("expected (13, 2)");
  for (auto const& [rows, heads] : {std::pair<index_t, index_t>(12, 2), {13, 1}}) {
    auto const some = row_block(column_block(statistics.inverse_sum, 0, heads), 0, rows);
    for (triangle_statistics<double> const& bad :
         {triangle_statistics<double>{statistics.maximum, some}, {some, some}}) {
      CHECK_THROWS_WITH((triangle<reference::backend, double>(ex, scratch, u.options(), in, g, bad, u.edges(u.o))),
                        wants_statistics);
      CHECK_THROWS_WITH((triangle_grad<reference::backend, double>(
                            ex, scratch, u.options(), in, g, {bad.maximum, bad.inverse_sum},
                            u.edges(std::as_const(u.o)), u.edges(std::as_const(u.d_o)), u.split(u.dx.data()))),
                        wants_statistics);
    }
  }
  auto const half = [](matrix<double> v) { return column_block(v, 0, 2); };
  auto const dx = u.split(u.dx.data());
  CHECK_THROWS_WITH(
      (triangle_grad<reference::backend, double>(
          ex, scratch, u.options(), in, g, {statistics.maximum, statistics.inverse_sum}, u.edges(std::as_const(u.o)),
          u.edges(std::as_const(u.d_o)), {half(dx.query), half(dx.key), half(dx.left_value), half(dx.right_value)})),
      contains("query is (13, 2), expected (13, 8)"));
  auto const none = [](matrix<double const> v) { return column_block(v, 0, 0); };
  in = {none(in.query), none(in.key), none(in.left_value), none(in.right_value)};
  CHECK_THROWS_WITH(forward({triangle_form::full, 2}, 13), contains("width is 0, expected"));
  std::vector<double> w(20);
  auto const weights = [&](index_t graph, index_t i, index_t columns) {
    triangle_weights<reference::backend, double>(ex, u.options(), u.inputs(), g, graph, i, 0,
                                                 make_matrix(w.data(), 2, columns, columns));
  };
  u.masked.clear();
  CHECK_NOTHROW(weights(1, 1, 2));
  CHECK_THROWS_WITH(weights(2, 0, 3), contains("graph 2, expected 0 to 1"));
  CHECK_THROWS_WITH(weights(1, 2, 3), contains("edge (2, 0), expected nodes 0 to 1"));
  CHECK_THROWS_WITH(weights(0, 0, 2), contains("2 columns of weights, expected 3 or more"));
}

}  // namespace ops_triangle_tests
