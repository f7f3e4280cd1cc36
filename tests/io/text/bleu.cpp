// Tests BLEU as sacreBLEU defines it. Compares it with values that were computed by hand.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/bleu.hpp"

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/catch.hpp"

namespace io_bleu_tests {

using namespace triad::text;
using triad::test::contains;
using triad::test::WithinRel;
using list = std::vector<std::string>;

constexpr double rounding = 1e-13;  // allows for a dozen operations in double

bleu_score of(char const* hypothesis, char const* reference, bleu_tokens tokens = bleu_tokens::none) {
  bleu b(tokens);
  b.add(hypothesis, reference);
  return b.score();
}

TEST_CASE("BLEU by hand") {
  SECTION("the same text") {
    auto const s = of("a b c d e", "a b c d e");
    CHECK_THAT(s.score, WithinRel(100.0, rounding));
    CHECK(s.matched == std::array<long long, 4>{5, 4, 3, 2});
  }
  SECTION("the last word is another: 4/5, 3/4, 2/3, 1/2, whose product is 1/5") {
    auto const s = of("a b c d e", "a b c d f");
    CHECK(s.matched == std::array<long long, 4>{4, 3, 2, 1});
    CHECK(s.possible == std::array<long long, 4>{5, 4, 3, 2});
    CHECK_THAT(s.score, WithinRel(100 * std::pow(0.2, 0.25), rounding));
  }
  SECTION("a word short: all match, exp(1 - 5/4)") {
    CHECK_THAT(of("a b c d", "a b c d e").score, WithinRel(100 * std::exp(-0.25), rounding));
  }
  SECTION("a word too many has no penalty but its precisions: 4/5, 3/4, 2/3, 1/2") {
    auto const s = of("a b c d e", "a b c d");
    CHECK(s.brevity == 1);
    CHECK_THAT(s.score, WithinRel(100 * std::pow(0.2, 0.25), rounding));
  }
  SECTION("smoothing: no three words match, nor four: 4/5, 2/4, 1/(2 3), 1/(4 2)") {
    auto const s = of("a b x c d", "a b y c d");
    CHECK_THAT(s.score, WithinRel(100 * std::pow(0.8 * 0.5 / 6 / 8, 0.25), rounding));
    CHECK_THAT(s.precision[2], WithinRel(100.0 / 6, rounding));
    CHECK_THAT(s.precision[3], WithinRel(100.0 / 8, rounding));
  }
  SECTION("a word counts as often as the reference has it: 2/4, then 1/(2 3), 1/(4 2), 1/(8 1)") {
    auto const s = of("the the the the", "the cat the mat");
    CHECK(s.matched == std::array<long long, 4>{2, 0, 0, 0});
    CHECK_THAT(s.score, WithinRel(100 * std::pow(0.5 / 6 / 8 / 8, 0.25), rounding));
  }
  SECTION("nothing matches, nothing is there, or nothing has four words: 0") {
    CHECK(of("a b c d", "e f g h").score == 0);
    CHECK(of("", "e f g h").score == 0);
    CHECK(of("", "").score == 0);
    CHECK(of("a b c", "a b c").score == 0);
    CHECK(bleu(bleu_tokens::chinese).score().score == 0);
  }
  SECTION(
      "a corpus is counted, not averaged: 9/10, 7/8, 5/6, 3/4 of lines with BLEU 100 and 66.9; a line too short for "
      "n-grams adds words") {
    list const hypotheses{"a b c d e", "a b c d e"}, references{"a b c d e", "a b c d f"};
    CHECK_THAT(corpus_bleu(hypotheses, references, bleu_tokens::none).score,
               WithinRel(100 * std::pow(0.9 * 0.875 * 5 / 6 * 0.75, 0.25), rounding));
    list const longer{"a b c d e", "a"}, both{"a b c d e", "b"};
    CHECK_THAT(corpus_bleu(longer, both, bleu_tokens::none).score, WithinRel(100 * std::pow(5.0 / 6, 0.25), rounding));
  }
  SECTION("of several references each n-gram has its best, and the length nearest, the shorter of two, counts") {
    std::string_view const references[] = {"a b c d e f", "x b c d", "a b q"};
    bleu b(bleu_tokens::none);
    b.add("a b c d x", references);  // the lengths 6 and 4 are equally near to 5
    auto const s = b.score();
    CHECK(s.reference_length == 4);
    CHECK(s.matched == std::array<long long, 4>{5, 3, 2, 1});
    CHECK_THAT(s.score, WithinRel(100 * std::pow(1.0 * 0.75 * 2 / 3 * 0.5, 0.25), rounding));
  }
  SECTION(
      "Chinese: 11 characters, the third wrong: 10/11, 8/10, 6/9, 5/8; as none, both are one word and none matches") {
    auto const s = of("他有一只很小的白狗啊。", "他有两只很小的白狗啊。", bleu_tokens::chinese);
    CHECK(s.matched == std::array<long long, 4>{10, 8, 6, 5});
    CHECK_THAT(s.score, WithinRel(100 * std::pow(10.0 / 11 * 8 / 10 * 6 / 9 * 5 / 8, 0.25), rounding));
    CHECK(of("他有一只很小的白狗啊。", "他有两只很小的白狗啊。").score == 0);
  }
}

TEST_CASE("the order of the lines is nothing to BLEU, and no line can push it out of 0 to 100") {
  list hypotheses{"a b c d", "e f", "b b c d e a", ""}, references{"a b d c d", "e f g", "b c d e a", "x"};
  auto const first = corpus_bleu(hypotheses, references, bleu_tokens::none);
  CHECK(first.score > 0);
  CHECK(first.score < 100);
  std::swap(hypotheses[0], hypotheses[2]);
  std::swap(references[0], references[2]);
  CHECK(corpus_bleu(hypotheses, references, bleu_tokens::none).score == first.score);
}

TEST_CASE("BLEU wants a reference for each hypothesis") {
  list const two{"a", "b"}, one{"a"};
  CHECK_THROWS_WITH(corpus_bleu(two, one, bleu_tokens::none), contains("2 hypotheses but 1 references"));
  bleu b(bleu_tokens::none);
  CHECK_THROWS_WITH(b.add("a", std::span<std::string_view const>()), contains("without a reference"));
}

}  // namespace io_bleu_tests
