// Tests that clipping scales the whole gradient to the allowed norm, and that the norm before clipping is stored.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tests/backends.hpp"
#include "tests/catch.hpp"
#include "triad/core/scratch.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/adam.hpp"
#include "triad/reference/reference.hpp"

namespace ops_adam_clip_tests {

using namespace triad;
using triad::test::WithinRel;

template <class Ex>
double clipped(Ex& ex, double max_norm, std::vector<double>& g) {
  double length = 0;
  auto const gradient = make_vec(g.data(), static_cast<index_t>(g.size()));
  auto const work = [&](auto& backend, call const& c) {
    clip_gradient(backend, *c.scratch, max_norm, gradient, make_vec(&length, 1));
  };
  buffer<> memory(planned_scratch(ex, {}, work));
  auto scratch = memory.place();
  call c;
  c.scratch = &scratch;
  work(ex, c);
  return length;
}

TEMPLATE_TEST_CASE("a gradient above the norm is scaled to it, one below is left as it is", "", TRIAD_TEST_BACKENDS) {
  TestType ex;
  std::vector<double> g{3, 0, -4};
  CHECK_THAT(clipped(ex, 1, g), WithinRel(5.0, 1e-15));
  CHECK_THAT(g[0], WithinRel(3 / (5 + 1e-6), 1e-14));
  CHECK_THAT(g[2], WithinRel(-4 / (5 + 1e-6), 1e-14));
  g = {3, 0, -4};
  CHECK_THAT(clipped(ex, 6, g), WithinRel(5.0, 1e-15));
  CHECK(g == std::vector<double>{3, 0, -4});
  CHECK_THAT(clipped(ex, 0, g), WithinRel(5.0, 1e-15));
  CHECK(g == std::vector<double>{3, 0, -4});
  std::vector<double> none;
  CHECK(clipped(ex, 1, none) == 0);
  CHECK_THROWS_AS(clipped(ex, -1, g), contract_violation);
}

}  // namespace ops_adam_clip_tests
