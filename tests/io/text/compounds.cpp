// Tests the weights of compounds. They must equal values that were computed by hand, and must not depend on the limit
// on memory.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/compounds.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/text/derived.hpp"

namespace io_compounds_tests {

using namespace triad::text;
using triad::test::contains, triad::test::derived;

using lists = std::vector<std::vector<int>>;

TEST_CASE("a compound weighs what is left of it outside of its commonest larger one") {
  // S(a, b) occurs twice, S(a, c) once. S-a occurs 3 times, and 2 of these are in S(a, b), so its weight is 1/3 in S(a,
  // b), and 2/3 in S(a, c). S-b and S-c occur only in these compounds, so their weight is 0. No compound contains S(a,
  // b) or S(a, c), so their weight is 1.
  derived const one({R"(["S","a","b"])", R"(["S","a","b"])", R"(["S","a","c"])"});
  CHECK(one.weights(3) == lists{{1365, 4096}, {1365, 4096}, {2731, 4096}});
  // Compounds above the size limit also reduce the weights of compounds inside them. With a limit of two rules, S-a
  // still has the same weight, and S-b and S-c still have weight 0.
  CHECK(one.weights(2) == lists{{1365}, {1365}, {2731}});
}

TEST_CASE("the occurrence that counts most is a example's weight") {
  // S-a occurs four times: twice in S(a, b) and twice in S(a, c). So its weight is 1/2, although it occurs twice in the
  // first question. S(a, b) occurs twice, and one occurrence is below T. So its weight is 1/2 below T, and 1 where no
  // compound contains it. The weights of S(a, c) are the same. All other compounds are always inside a larger compound.
  derived const d({R"(["T",["S","a","b"],["S","a","c"]])", R"(["S","a","b"])", R"(["S","a","c"])"});
  auto const w = d.weights(3);
  CHECK(w[1] == std::vector<int>{2048, 4096});
  CHECK(w[2] == w[1]);
  CHECK(w[0] == std::vector<int>{2048, 2048, 2048});
  // In a chain a-a-a, a-a occurs twice. One occurrence is the upper part of a-a-a, and the other is the lower part.
  CHECK(derived({R"(["a",["a",["a"]]])"}).weights(3) == lists{{4096}});
  CHECK(derived({R"(["a",["a",["a"]]])"}).weights(2) == lists{{}});
}

TEST_CASE("a compound knows which child an edge leads to") {
  CHECK(compounds_of(derived({R"(["S","a","x"])", R"(["S","x","a"])"}).trees, 3).kinds == 2);
  derived const d({R"(["S","a","x"])", R"(["S","a","y"])", R"(["S","x","a"])", R"(["S","y","a"])"});
  auto const table = compounds_of(d.trees, 2);
  CHECK(table.kinds == 2);  // S-a with a as the first or the second child; half in x, half in y
  CHECK(table.of[0][0].what == table.of[1][0].what);
  CHECK(table.of[2][0].what == table.of[3][0].what);
  CHECK(table.of[0][0].what != table.of[2][0].what);
}

TEST_CASE("compounds are the same however many occurrences are held at once") {
  std::vector<std::string> texts;
  for (int i = 0; i < 40; ++i) {
    auto const a = std::to_string(i % 3), b = std::to_string(i % 4), c = std::to_string(i % 5);
    texts.push_back(R"(["S",["np",")" + a + R"("],["vp",["v",")" + b + R"("],["np",")" + c + R"("]]])");
  }
  derived const many(texts);
  CHECK(many.weights(4, 50) == many.weights(4));
  CHECK(compounds_of(many.trees, 4, 50).kinds == compounds_of(many.trees, 4).kinds);
  CHECK_THROWS_WITH(compounds_of(many.trees, 7), contains("rules, expected 2 to 6"));
  CHECK_THROWS_WITH(compounds_of(many.trees, 1), contains("rules, expected 2 to 6"));
  CHECK_THROWS_WITH(compounds_of(many.trees, 4, 0), contains("at_once is 0"));
}

TEST_CASE("atoms are rules, counted") {
  derived const d({R"(["S",["S","a"],"a","b"])"});
  auto const table = atoms_of(d.trees, d.rules());
  CHECK(table.kinds == 3);
  CHECK(table.of[0] == std::vector<item>{{0, 2}, {1, 2}, {2, 1}});
}

}  // namespace io_compounds_tests
