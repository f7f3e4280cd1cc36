// Tests sums over pairs of nodes. The cpu backend must equal the reference, and the gradient must be the adjoint.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/pair_sum.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/distance.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/pair_sum.hpp"

namespace ops_pair_sum_tests {

using namespace triad;

template <class T>
struct problem {
  test::ragged graphs{{3, 1, 5, 2}};
  index_t d, nodes = graphs.dims.nodes, rows = graphs.dims.rows;
  dropout_mask mask;
  std::vector<T> ends, residual, dy, y, d_ends;  // ends: a and b side by side, as one matrix product writes them

  problem(index_t width, double rate)
      : d(width),
        mask{rate, 5, 2, nullptr},
        ends(test::random_values<T>(nodes * 2 * d, 1)),
        residual(test::random_values<T>(rows * d, 2)),
        dy(test::random_values<T>(rows * d, 3)),
        y(static_cast<std::size_t>(rows * d)),
        d_ends(static_cast<std::size_t>(nodes * 2 * d)) {}

  template <class S>
  matrix<S> end(S* data, index_t k) const {
    return make_matrix(data + k * d, nodes, d, 2 * d);
  }

  template <class Ex>
  void run(Ex&& ex, bool with_residual) {
    T const* const from = ends.data();
    auto const added =
        with_residual ? make_matrix<T const>(residual.data(), rows, d, d) : make_matrix<T const>(nullptr, 0, 0, 0);
    pair_sum(ex, graphs.batch(), end(from, 0), end(from, 1), mask, added, make_matrix(y.data(), rows, d, d));
    pair_sum_grad(ex, graphs.batch(), mask, make_matrix<T const>(dy.data(), rows, d, d), end(d_ends.data(), 0),
                  end(d_ends.data(), 1));
  }
};

double product(std::vector<double> const& a, std::vector<double> const& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
  return s;
}

TEMPLATE_TEST_CASE("an edge's pair sum is the sum of its two ends", "", TRIAD_TEST_BACKENDS) {
  problem<double> p(3, 0);
  p.run(TestType(), true);
  auto const at = [&](index_t node, index_t k, index_t f) {
    return p.ends[static_cast<std::size_t>((node * 2 + k) * 3 + f)];
  };
  for (index_t f = 0; f < 3; ++f) {  // edge (2, 4) of the third graph: nodes 4 + 2 and 4 + 4, row 10 + 2 * 5 + 4
    auto const e = static_cast<std::size_t>((10 + 14) * 3 + f);
    CHECK_THAT(p.y[e], test::WithinAbs(p.residual[e] + at(6, 0, f) + at(8, 1, f), 1e-15));
  }
}

TEMPLATE_TEST_CASE("the gradient of a pair sum is its adjoint, dropout included", "", TRIAD_TEST_BACKENDS) {
  for (double rate : {0.0, 0.3, 1.0}) {
    problem<double> p(70, rate);
    p.run(TestType(), false);
    CHECK_THAT(product(p.y, p.dy), test::WithinAbs(product(p.ends, p.d_ends), 1e-10));
  }
}

TEMPLATE_TEST_CASE("pair sums on the cpu equal the reference, whatever the threads", "", float, double) {
  double const tolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;  // allows for sums of at most five numbers
  for (index_t d : {1, 7, 64, 65, 130})
    for (double rate : {0.0, 0.4})
      for (bool residual : {false, true}) {
        CAPTURE(d, rate, residual);
        problem<TestType> exact(d, rate), one(d, rate), two(d, rate);
        exact.run(reference::backend(), residual);
        one.run(cpu::backend(1), residual);
        two.run(cpu::backend(2), residual);
        double worst = 0;
        for (std::size_t i = 0; i < exact.y.size(); ++i)
          worst = test::worse(worst, std::abs(static_cast<double>(exact.y[i] - one.y[i])));
        for (std::size_t i = 0; i < exact.d_ends.size(); ++i)
          worst = test::worse(worst, std::abs(static_cast<double>(exact.d_ends[i] - one.d_ends[i])));
        CHECK(worst < tolerance);
        CHECK(one.y == two.y);
        CHECK(one.d_ends == two.d_ends);
      }
}

TEST_CASE("a pair sum of another shape is refused with a sentence") {
  problem<double> p(4, 0);
  reference::backend ex;
  double const* const from = p.ends.data();
  CHECK_THROWS_WITH(
      pair_sum(ex, p.graphs.batch(), p.end(from, 0), p.end(from, 1), p.mask,
               make_matrix<double const>(nullptr, 0, 0, 0), make_matrix(p.y.data(), p.rows - 1, 4, 4)),
      test::contains("y is (" + std::to_string(p.rows - 1) + ", 4), expected (" + std::to_string(p.rows) + ", 4)"));
}

}  // namespace ops_pair_sum_tests
