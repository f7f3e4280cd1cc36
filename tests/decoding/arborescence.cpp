// Tests maximum spanning arborescences: they have no cycles, the required number of roots, and the largest possible
// score.
// SPDX-License-Identifier: Apache-2.0
#include "triad/decoding/arborescence.hpp"

#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/ragged.hpp"
#include "triad/core/views.hpp"

namespace decoding_arborescence_tests {

using namespace triad;

using parents = std::vector<index_t>;

std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// Returns the number of roots; -1 if there is a cycle.
int count_roots(parents const& parent) {
  auto const n = static_cast<index_t>(parent.size());
  int count = 0;
  for (index_t i = 0; i < n; ++i) {
    index_t v = i;
    for (index_t steps = 0; parent[at(v)] != v; v = parent[at(v)])
      if (++steps > n) return -1;
    count += parent[at(i)] == i ? 1 : 0;
  }
  return count;
}

double sum_of(matrix<double const> score, parents const& parent) {
  double sum = 0;
  for (index_t i = 0; i < score.extent(0); ++i) sum += score(i, parent[at(i)]);
  return sum;
}

/// Returns the largest sum of scores. Tries all n^n choices of parents.
double best_sum(matrix<double const> score, roots how_many) {
  auto const n = score.extent(0);
  parents parent(at(n), 0);
  double best = -INFINITY;
  for (;;) {
    int const found = count_roots(parent);
    if (found == 1 || (found > 1 && how_many == roots::any)) best = std::max(best, sum_of(score, parent));
    index_t i = 0;
    while (i < n && ++parent[at(i)] == n) parent[at(i++)] = 0;
    if (i == n) return best;
  }
}

TEST_CASE("a maximum arborescence is as good as the best of all") {
  for (index_t n = 1; n <= 5; ++n)
    for (std::uint64_t seed = 0; seed < (n < 5 ? 60u : 20u); ++seed)
      for (auto how_many : {roots::any, roots::one}) {
        auto values = test::random_values(n * n, seed * 8 + static_cast<std::uint64_t>(n), 4);
        if (seed % 3 == 1)
          for (auto& v : values) v = std::round(v);  // makes equal scores likely
        if (seed % 3 == 2)
          // Roots have low scores, so that the best parents form cycles.
          for (index_t i = 0; i < n; ++i) values[at(i * n + i)] -= 20;
        CAPTURE(n, seed, values);
        auto const score = make_matrix<double const>(values.data(), n, n, n);
        auto const parent = maximum_arborescence(score, how_many);
        int const found = count_roots(parent);
        CHECK((how_many == roots::one ? found == 1 : found >= 1));
        CHECK_THAT(sum_of(score, parent), test::WithinAbs(best_sum(score, how_many), 1e-9));
      }
}

TEST_CASE("a cycle inside of a cycle is opened where it costs least") {
  // 0 -> 1 -> 0 is a cycle. If the cycle is contracted to one node, this node is in another cycle with 2 and 3.
  std::vector<double> const values{-9, 10, 1, 1, 10, -9, 1, 2, 8, 8, -9, 9, 1, 7, 9, -3};
  auto const score = make_matrix<double const>(values.data(), 4, 4, 4);
  CHECK_THAT(sum_of(score, maximum_arborescence(score, roots::one)),
             test::WithinAbs(best_sum(score, roots::one), 1e-12));
}

TEST_CASE("where the best parents make no cycle they are the arborescence, whatever is added to a row") {
  index_t const n = 40;
  std::vector<double> values(at(n * n));
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j)
      values[at(i * n + j)] = (j == i / 2 ? 5.0 : 1.0 / static_cast<double>(1 + j)) + 100.0 * static_cast<double>(i);
  auto const parent = maximum_arborescence(make_matrix<double const>(values.data(), n, n, n));
  for (index_t i = 0; i < n; ++i) CHECK(parent[at(i)] == i / 2);
}

TEST_CASE("nothing has an arborescence of nothing, and a score that is no number is refused") {
  CHECK(maximum_arborescence(make_matrix<float const>(nullptr, 0, 0, 1)).empty());
  std::vector<float> const values{0, NAN, 1, 2};
  CHECK_THROWS_WITH(maximum_arborescence(make_matrix<float const>(values.data(), 2, 2, 2)),
                    test::contains("expected a finite number"));
}

}  // namespace decoding_arborescence_tests
