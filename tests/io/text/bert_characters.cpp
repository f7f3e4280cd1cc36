// Tests the classes of characters of BERT's tokens: cases by hand, and all code points by a digest.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/bert_characters.hpp"

#include <cstdint>
#include <string>

#include "tests/catch.hpp"

namespace io_bert_characters_tests {

using namespace triad::text;
using namespace triad::text::detail;

TEST_CASE("classes are those of Unicode 8, and ASCII's symbols are punctuation") {
  for (char32_t const c : {U'!', U'$', U'+', U'`', U'~', U'\u2014', U'\u3002', U'\uff01'})
    CHECK(is_in<bert_punctuation>(c));
  for (char32_t const c : {U'a', U'0', U' ', U'\u20ac', U'\u2e43', U'\u1c80', U'\U0001f600'})
    CHECK_FALSE(is_in<bert_punctuation>(c));  // U+2E43 is punctuation since Unicode 9
  CHECK((is_in<bert_marks>(U'\u0301') && !is_in<bert_marks>(U'e') && !is_in<bert_marks>(U'\u0903')));
  CHECK((is_in<bert_ideographs>(U'\u4e00') && is_in<bert_ideographs>(U'\u9fff') && !is_in<bert_ideographs>(U'\u3042')));
  CHECK((is_in<bert_removed>(U'\0') && is_in<bert_removed>(U'\ufffd') && is_in<bert_removed>(U'\U0010fffd')));
  CHECK_FALSE((is_in<bert_removed>(U'\t') || is_in<bert_removed>(U'\r') || is_in<bert_removed>(U' ')));
}

// The expected digest is that of a table computed with the package tokenizers 0.23.3, from one text for each code
// point.
TEST_CASE("every code point has the class that tokenizers gives it") {
  std::uint64_t digest = 14695981039346656037u;  // FNV-1a, over one byte for each code point
  long removed = 0, punctuation = 0, marks = 0, ideographs = 0;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    bool const r = is_in<bert_removed>(c), p = is_in<bert_punctuation>(c), m = is_in<bert_marks>(c),
               i = is_in<bert_ideographs>(c);
    removed += r, punctuation += p, marks += m, ideographs += i;
    digest = (digest ^ ((r ? 1u : 0u) | (p ? 2u : 0u) | (m ? 4u : 0u) | (i ? 8u : 0u))) * 1099511628211u;
  }
  CHECK(removed == 137681);
  CHECK(punctuation == 726);
  CHECK(marks == 1567);
  CHECK(ideographs == 81264);
  CHECK(digest == 0x5046c90d1ee5a69au);
}

TEST_CASE("a decomposition is canonical, and its accents are sorted") {
  CHECK(decomposed(U"\u00e9") == U"e\u0301");
  CHECK(decomposed(U"\u01d5") == U"U\u0308\u0304");
  CHECK(decomposed(U"e\u0301\u0323\u0301") == U"e\u0323\u0301\u0301");
  CHECK(decomposed(U"\ud55c\u2126\ufb01") == U"\u1112\u1161\u11ab\u03a9\ufb01");  // the ligature stays
  CHECK(decomposed(U"\uffff\U0010ffff") == U"\uffff\U0010ffff");
}

TEST_CASE("lower case is one character, but for U+0130") {
  auto const lower = [](char32_t c) {
    std::u32string to;
    append_lower(c, to);
    return to;
  };
  CHECK(lower(U'A') == U"a");
  CHECK(lower(U'\u0130') == U"i\u0307");
  CHECK(lower(U'\u03a3') == U"\u03c3");
  CHECK(lower(U'\U0001e900') == U"\U0001e922");
  CHECK(lower(U'\ua7cb') == U"\ua7cb");  // Unicode 16 added it
}

TEST_CASE("a code point is written as UTF-8") {
  std::string text;
  for (char32_t const c : {U'a', U'\u00e9', U'\u3042', U'\U0001f600'}) text += utf8_of(c);
  CHECK(text == "a\u00e9\u3042\U0001f600");
}

}  // namespace io_bert_characters_tests
