// Tests how plain text is cut into tokens. The expected tokens were found by hand.
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "shared/data/tokeniser.hpp"
#include "tests/catch.hpp"

namespace programs_text_tokeniser_tests {

using triad::programs::tokens_of;
using triad::text::joined;

std::string cut(std::string_view text) { return joined(tokens_of(text)); }

TEST_CASE("marks stand alone, letters, numbers and hyphens stay together") {
  CHECK(cut("").empty());
  CHECK(cut(" \t ").empty());
  CHECK(cut("Did M0 direct M1, M2 and M3?") == "Did M0 direct M1 , M2 and M3 ?");
  CHECK(cut("(well-known) \"words\"; more: [3/4] 50% $5") == "( well-known ) \" words \" ; more : [ 3 / 4 ] 50 % $ 5");
  CHECK(cut("na\u00efve \u041c\u0438\u0440!\u3000\u65e5\u672c") == "na\u00efve \u041c\u0438\u0440 ! \u65e5\u672c");
  CHECK(cut("\u201cso\u201d\u2014he said") == "\u201c so \u201d \u2014 he said");
  CHECK(cut("a\xff"
            "b") == "a \xff b");
}

TEST_CASE("commas between digits, apostrophes of English, and several full stops") {
  CHECK(cut("1,000,000 or 1, 2,a b,3") == "1,000,000 or 1 , 2 , a b , 3");
  CHECK(cut("it's Bob's, they'll can't") == "it 's Bob 's , they 'll can 't");
  CHECK(cut("the 1990's and '90 and 5'6") == "the 1990 's and ' 90 and 5 ' 6");
  CHECK(cut("'quoted' dogs'") == "' quoted ' dogs '");
  CHECK(cut("wait... what.. now") == "wait ... what .. now");
}

TEST_CASE("a full stop ends a sentence, or belongs to its word") {
  CHECK(cut("The cat slept.") == "The cat slept .");
  CHECK(cut("It slept. Then it ate.") == "It slept . Then it ate .");
  CHECK(cut("It is 3.14 in the U.S. Today v2.0.") == "It is 3.14 in the U.S. Today v2.0.");
  CHECK(cut("The year was 3.14.") == "The year was 3.14 .");
  CHECK(cut("Mr. Smith, J. Doe vs. Prof. X e.g. here") == "Mr. Smith , J. Doe vs. Prof. X e.g. here");
  CHECK(cut("No. 5 is it. No. It is") == "No. 5 is it . No . It is");
  CHECK(cut("he said it. and left") == "he said it. and left");
  CHECK(cut("\"The end.\"") == "\" The end . \"");
  CHECK(cut(". .") == ". .");
}

}  // namespace programs_text_tokeniser_tests
