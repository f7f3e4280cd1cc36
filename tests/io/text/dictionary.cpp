// Dictionaries: numbers, counts, texts there and back, and files that are none.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/dictionary.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace io_dictionary_tests {

using namespace triad::text;
using triad::index_t;
using triad::test::contains;
using triad::test::saved;
using triad::test::written;

token_counts counted(char const* text) {
  token_counts result;
  result.add_line(text);
  return result;
}

TEST_CASE("a dictionary numbers its tokens from the most frequent, behind the four special ones") {
  auto const d = dictionary::build(counted("b c a b <unk> c b d"));
  CHECK(d.size() == 8);
  CHECK(written(d) == "b 3\nc 2\na 1\nd 1\n");  // <unk> in a text is the special one
  CHECK(d.token(0) == "<s>");
  CHECK(d.token(1) == "<pad>");
  CHECK(d.token(2) == "</s>");
  CHECK(d.token(3) == "<unk>");
  CHECK(d.number("b") == 4);
  CHECK(d.number("dog") == dictionary::unknown);
  CHECK(d.count(5) == 2);
  CHECK(written(dictionary::build(counted("b c a b c b d"), 2)) == "b 3\nc 2\n");
  CHECK(dictionary::build({}).size() == dictionary::specials);

  CHECK(d.encode(" a  dog b ") == std::vector<index_t>{6, 3, 4, 2});
  CHECK(d.encode("") == std::vector<index_t>{2});
  CHECK(d.numbers(" a  dog b ") == std::vector<index_t>{6, 3, 4});
  CHECK(d.numbers("").empty());
  CHECK(d.decode(std::vector<index_t>{0, 6, 3, 4, 2, 5, 1}) == "a <unk> b");
  CHECK(d.decode(d.encode("d c b a")) == "d c b a");
  CHECK_THROWS_WITH(d.decode(std::vector<index_t>{8}), contains("no token 8 in a dictionary of 8"));
  CHECK_THROWS_WITH(d.token(-1), contains("no token -1"));
}

TEST_CASE("a dictionary that is written is read again, and a line that is none is refused with its place") {
  triad::test::scratch_folder const folder;
  auto const text = std::string("。 189413\n了 84857\nmadeupword 0\n");
  auto const d = dictionary::read(saved(folder, text));
  CHECK(written(d) == text);
  CHECK(d.number("了") == 5);
  CHECK_THROWS_WITH(dictionary::read(saved(folder, "a 1\nb\n")), contains("file:2: a token, a space and a count"));
  for (char const* line : {"a x\n", "a -1\n", "a 1x\n", " 1\n", "a \n", "a 99999999999999999999\n"}) {
    CAPTURE(line);
    CHECK_THROWS_WITH(dictionary::read(saved(folder, line)), contains("file:1: "));
  }
  CHECK_THROWS_WITH(dictionary::read(saved(folder, "a 1\nb 1\na 1\n")),
                    contains("file:3: 'a' is in the dictionary already"));
  CHECK_THROWS_WITH(dictionary::read(saved(folder, "</s> 1\n")), contains("'</s>' is in the dictionary already"));
}

}  // namespace io_dictionary_tests
