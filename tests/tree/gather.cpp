// Tests the gather form: rows are moved to the right positions, and static sizes give the same results as dynamic
// sizes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/tree/gather.hpp"

#include "tests/catch.hpp"
#include "tests/tree/forms.hpp"

namespace tree_gather_tests {

using namespace triad;
using namespace triad::test;

TEST_CASE("rows come from where positions say, for child and for cons") {
  for (index_t b : {2, 3}) {
    tree_positions<> const p(b, 4);
    gather_algebra<double> const a(p, 3);
    random_stream stream(1, 1);
    auto const x = random_tree(a, stream);
    std::vector<tensor_tree<gather_algebra<double>>> parts;
    for (index_t c = 0; c < b; ++c) {
      parts.push_back(child(x, c));
      for (index_t r = 0; r < p.count(); ++r)
        for (index_t f = 0; f < 3; ++f) {
          auto const from = p.child_source(c, r);
          REQUIRE(parts.back().view()(r, f) == (from == no_position ? 0 : x.view()(from, f)));
        }
    }
    tensor_tree<gather_algebra<double>> whole(a);
    std::vector<double> const s{1, 2, 3};
    plant(a, vec<double const>(s.data(), 3), whole.view());
    for (index_t c = 0; c < b; ++c) graft_onto(a, c, parts[static_cast<std::size_t>(c)].view(), whole.view());
    for (index_t r = 0; r < p.count(); ++r)
      for (index_t f = 0; f < 3; ++f) {
        auto const from = p.cons_source(r);
        REQUIRE(whole.view()(r, f) == (r == 0
                                           ? s[static_cast<std::size_t>(f)]
                                           : parts[static_cast<std::size_t>(from.argument)].view()(from.position, f)));
      }
  }
}

TEST_CASE("fillers without a width are refused") {
  for (index_t width : {0, -2})
    CHECK_THROWS_WITH(gather_algebra<double>({2, 3}, width),
                      test::contains("gather_algebra: fillers is " + std::to_string(width)));
}

TEST_CASE("a static shape gives the same numbers as a dynamic one") {
  gather_algebra<float> const a({2, 5}, 4);
  gather_algebra<float, 2, 5> const fixed({}, 4);
  random_stream stream(2, 1), again(2, 1);
  auto const x = random_tree(a, stream), y = random_tree(a, stream);
  auto const u = random_tree(fixed, again), v = random_tree(fixed, again);
  CHECK(fillings_of(cons(car(x), cdr(y), x)) == fillings_of(cons(car(u), cdr(v), u)));
  CHECK(inner_product(x, y) == inner_product(u, v));
  STATIC_REQUIRE(tree_algebra<gather_algebra<float, 2, 5>>);
}

}  // namespace tree_gather_tests
