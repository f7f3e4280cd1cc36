// Tests chrF as sacreBLEU defines it.  Compares it with values that were computed by hand.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/chrf.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/catch.hpp"

namespace io_chrf_tests {

using namespace triad::text;
using triad::test::contains;
using triad::test::WithinRel;
using counts = std::array<long long, 6>;
using list = std::vector<std::string>;

constexpr double rounding = 1e-13;  // allows for two dozen operations in double

chrf_score of(char const* hypothesis, char const* reference) {
  chrf c;
  c.add(hypothesis, reference);
  return c.score();
}

TEST_CASE("chrF by hand") {
  SECTION("the same text, without regard to white space") {
    auto const s = of("a b c d e f g", "abc\u3000defg");
    CHECK(s.score == 100);
    CHECK(s.matched == counts{7, 6, 5, 4, 3, 2});
    CHECK(of("abcd", "abcd").score == 100);  // no n-gram of 5 or 6
  }
  SECTION("the last character is another: the mean of 3/4, 2/3, 1/2 and 0") {
    auto const s = of("abcd", "abce");
    CHECK(s.matched == counts{3, 2, 1, 0, 0, 0});
    CHECK(s.proposed == counts{4, 3, 2, 1, 0, 0});
    CHECK(s.reference == counts{4, 3, 2, 1, 0, 0});
    CHECK_THAT(s.score, WithinRel(100 * (3.0 / 4 + 2.0 / 3 + 1.0 / 2) / 4, rounding));
  }
  SECTION("recall counts four times as much: P = 1, R = (2/8 + 1/7) / 2") {
    double const recall = (2.0 / 8 + 1.0 / 7) / 2;
    CHECK_THAT(of("ab", "abcdefgh").score, WithinRel(100 * 5 * recall / (4 + recall), rounding));
  }
  SECTION("a hypothesis has only n-grams of lengths that its reference has: P = (2/8 + 1/7) / 2, R = 1") {
    double const precision = (2.0 / 8 + 1.0 / 7) / 2;
    auto const s = of("abcdefgh", "ab");
    CHECK(s.proposed == counts{8, 7, 0, 0, 0, 0});
    CHECK_THAT(s.score, WithinRel(100 * 5 * precision / (4 * precision + 1), rounding));
  }
  SECTION("an n-gram counts as often as the reference has it: 2/4, 0, 0, 0") {
    CHECK_THAT(of("aaaa", "abac").score, WithinRel(100 * 0.5 / 4, rounding));
  }
  SECTION("a corpus is counted, not averaged: 5/6, 3/4, 2/3, 1/2, 0") {
    list const hypotheses{"abcde", "x"}, references{"abcdf", "x"};
    auto const s = corpus_chrf(hypotheses, references);
    CHECK(s.matched == counts{5, 3, 2, 1, 0, 0});
    CHECK_THAT(s.score, WithinRel(100 * (5.0 / 6 + 3.0 / 4 + 2.0 / 3 + 1.0 / 2) / 5, rounding));
  }
  SECTION("characters, not bytes: 4/6, 2/5 and four zeros") {
    CHECK_THAT(of("他有一只白狗", "他有两只白猫").score, WithinRel(100 * (4.0 / 6 + 2.0 / 5) / 6, rounding));
  }
  SECTION("nothing is there, or nothing matches: 0") {
    CHECK(of("", "ab").score == 0);
    CHECK(of("ab", "").score == 0);
    CHECK(of(" ", "\t").score == 0);
    CHECK(of("ab", "cd").score == 0);
    CHECK(chrf().score().score == 0);
  }
}

TEST_CASE("of several references of a line, the best counts, and the first of equal ones") {
  chrf c;
  std::string_view const references[] = {"xyz", "abce", "abcf"};
  c.add("abcd", references);
  CHECK(c.score().reference == counts{4, 3, 2, 1, 0, 0});
  CHECK_THAT(c.score().score, WithinRel(of("abcd", "abce").score, rounding));
  chrf none;
  std::string_view const both[] = {"xyz", "x"};
  none.add("abcd", both);
  CHECK(none.score().reference == counts{3, 2, 1, 0, 0, 0});
}

TEST_CASE("lines without a reference are refused") {
  chrf c;
  CHECK_THROWS_WITH(c.add("a", std::span<std::string_view const>()), contains("a line without a reference"));
  list const two{"a", "b"}, one{"a"};
  CHECK_THROWS_WITH(corpus_chrf(two, one), contains("2 hypotheses but 1 references; give one line each"));
}

}  // namespace io_chrf_tests
