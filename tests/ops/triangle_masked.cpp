// Tests edges whose triangles are all masked. The result is the mean of the products, or NaN if the fill value is
// -infinity.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/triangle.hpp"
#include "triad/reference/reference.hpp"

namespace ops_triangle_masked_tests {

using namespace triad;

TEMPLATE_TEST_CASE("where every middle is masked, an edge has the mean of the products of its values", "",
                   TRIAD_TEST_BACKENDS_BY_PRECISION) {
  using T = typename TestType::scalar;
  typename TestType::backend ex;
  constexpr index_t n = 5, rows = n * n, d = 3;
  test::ragged const graph({n});
  auto operand = [&](std::uint64_t stream) { return test::random_values<T>(rows * d + 64, stream); };
  auto const query = operand(1), key = operand(2), left = operand(3), right = operand(4);
  std::vector<std::uint8_t> const masked(static_cast<std::size_t>(n * n * n), 1);
  for (double const fill : {-1e9, -1e3, -std::numeric_limits<double>::infinity()}) {
    triangle_options t;
    t.mask = {make_vec<std::uint8_t const>(masked.data(), n * n * n), fill};
    std::vector<T> o(static_cast<std::size_t>(rows * d)), maximum(static_cast<std::size_t>(rows)), sum(maximum);
    auto const read = [&](std::vector<T> const& v) { return make_matrix<T const>(v.data(), rows, d, d); };
    auto const write = [&](std::vector<T>& v, index_t width) { return make_matrix(v.data(), rows, width, width); };
    test::with_scratch(ex, {}, [&](auto& on, call const& c) {
      triangle<std::remove_reference_t<decltype(on)>, T>(
          on, *c.scratch, t, {read(query), read(key), read(left), read(right)}, graph.batch(),
          {write(maximum, 1), write(sum, 1)}, write(o, d));
    });
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        for (index_t f = 0; f < d; ++f) {
          double mean = 0;
          for (index_t l = 0; l < n; ++l)
            mean += static_cast<double>(read(left)(i * n + l, f)) * static_cast<double>(read(right)(l * n + j, f)) / n;
          auto const found = static_cast<double>(o[static_cast<std::size_t>((i * n + j) * d + f)]);
          CAPTURE(fill, i, j, f);
          if (std::isinf(fill))
            CHECK(std::isnan(found));
          else
            CHECK_THAT(found, test::WithinAbs(mean, 1e-6));
        }
  }
}

}  // namespace ops_triangle_masked_tests
