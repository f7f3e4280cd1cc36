// Tests products of the two ends of edges. Every backend must equal the reference, and the gradient must be the adjoint
// with respect to each end.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/pair_product.hpp"

#include <cmath>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/pair_product.hpp"

namespace ops_pair_product_tests {

using namespace triad;

template <class T>
struct problem {
  test::ragged graphs{{3, 1, 0, 37, 2}};
  index_t d, nodes = graphs.dims.nodes, rows = graphs.dims.rows;
  std::vector<T> ends, dy, y, d_ends;  // ends: a and b side by side, as one matrix product writes them

  explicit problem(index_t width)
      : d(width),
        ends(test::random_values<T>(nodes * 2 * d, 1)),
        dy(test::random_values<T>(rows, 3)),
        y(dy.size(), T(7)),
        d_ends(ends.size(), T(7)) {}

  template <class S>
  matrix<S> end(S* data, index_t k) const {
    return make_matrix(data + k * d, nodes, d, 2 * d);
  }

  template <class Ex>
  void run(Ex&& ex) {
    T const* const from = ends.data();
    pair_product(ex, graphs.batch(), end(from, 0), end(from, 1), make_vec(y.data(), rows));
    pair_product_grad(ex, graphs.batch(), end(from, 0), end(from, 1), make_vec<T const>(dy.data(), rows),
                      end(d_ends.data(), 0), end(d_ends.data(), 1));
  }
  /// Returns the sum over k of a(k) b(k) over one half of the columns.
  double along(std::vector<T> const& a, std::vector<T> const& b, index_t half) const {
    double sum = 0;
    for (index_t r = 0; r < nodes; ++r)
      for (index_t f = 0; f < d; ++f) {
        auto const at = static_cast<std::size_t>((2 * r + half) * d + f);
        sum += static_cast<double>(a[at]) * static_cast<double>(b[at]);
      }
    return sum;
  }
};

TEMPLATE_TEST_CASE("products of the ends of edges are the reference's on every backend", "", TRIAD_TEST_TYPES) {
  using T = typename TestType::scalar;
  for (index_t d : {1, 16, 33}) {
    problem<double> exact(d);
    problem<T> found(d);
    exact.run(reference::backend());
    found.run(typename TestType::backend());
    double const close = std::is_same_v<T, float> ? 1e-5 : 1e-13;
    for (std::size_t i = 0; i < exact.y.size(); ++i)
      CHECK_THAT(static_cast<double>(found.y[i]), test::WithinAbs(exact.y[i], close));
    for (std::size_t i = 0; i < exact.d_ends.size(); ++i)
      CHECK_THAT(static_cast<double>(found.d_ends[i]), test::WithinAbs(exact.d_ends[i], 4 * close));
  }
}

TEMPLATE_TEST_CASE("the gradient of a product of ends is its adjoint in either end", "", TRIAD_TEST_BACKENDS) {
  problem<double> p(5);
  p.run(TestType());
  double sum = 0;
  for (std::size_t e = 0; e < p.y.size(); ++e) sum += p.y[e] * p.dy[e];
  for (index_t half : {0, 1}) CHECK_THAT(p.along(p.ends, p.d_ends, half), test::WithinAbs(sum, 1e-11));
}

TEST_CASE("products of ends refuse shapes that do not fit, with a sentence") {
  reference::backend ex;
  problem<double> p(4);
  double const* const from = p.ends.data();
  CHECK_THROWS_WITH(
      pair_product(ex, p.graphs.batch(), p.end(from, 0), p.end(from, 1), make_vec(p.y.data(), p.rows - 1)),
      test::contains("values of y, expected " + std::to_string(p.rows)));
  p.nodes -= 1;
  CHECK_THROWS_WITH(pair_product(ex, p.graphs.batch(), p.end(from, 0), p.end(from, 1), make_vec(p.y.data(), p.rows)),
                    test::contains("rows of a, expected " + std::to_string(p.nodes + 1)));
}

}  // namespace ops_pair_product_tests
