// Tests the characters, words and white space of texts in UTF-8. A text may also have bytes that are not UTF-8.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/characters.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace io_characters_tests {

using namespace triad::text;
using list = std::vector<std::string>;

TEST_CASE("characters and words are those of the text, whatever its bytes") {
  CHECK(characters("a\xc3\xa9\xe7\x8b\x97\xf0\xa0\x80\x80") ==
        list{"a", "\xc3\xa9", "\xe7\x8b\x97", "\xf0\xa0\x80\x80"});
  CHECK(character_at("\xf0\xa0\x80\x80", 0).code == 0x20000);
  for (char const* broken :
       {"\xe7\x8b", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\x80", "\xe0\x80\x80", "\xf4\x90\x80\x80"}) {
    CAPTURE(broken);
    CHECK(character_at(broken, 0).code == 0xfffd);
    CHECK(characters(broken).size() == std::string(broken).size());
  }
  CHECK(words("  a\tb\xe3\x80\x80"
              "c \n") == list{"a", "b", "c"});  // U+3000 is a space
  CHECK(words("").empty());
  CHECK(words_between_spaces("  a\tb\xe3\x80\x80"
                             "c  d \r\n") == list{"a\tb\xe3\x80\x80"
                                                  "c",
                                                  "d"});
  for (char const* none : {"", " ", "\n", " \r\n"}) CHECK(words_between_spaces(none).empty());
  CHECK(joined(words("  a  b ")) == "a b");
  CHECK(trimmed(" \xe3\x80\x80 a b\xc2\xa0") == "a b");
  CHECK(trimmed(" \t").empty());
}

}  // namespace io_characters_tests
