// Tests dictionaries: numbers and counts of words, encoding and decoding of texts, and invalid files.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/dictionary.hpp"

#include <string>
#include <utility>
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

TEST_CASE("a dictionary numbers its tokens from the most frequent, after the four special ones") {
  auto const d = dictionary::build(counted("b c a b <unk> c b d"));
  CHECK(d.size() == 8);
  CHECK(written(d) == "b 3\nc 2\na 1\nd 1\n");  // <unk> in a text is taken as the special token
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
  CHECK_THROWS_WITH(dictionary::read(saved(folder, "a 1\n<unk> 3\n")),
                    contains("file:2: '<unk>' is a special token") && contains("#fairseq:overwrite"));
  CHECK_THROWS_WITH(dictionary::read(saved(folder, "a 1\nb -3\n")),
                    contains("file:2: 'b' has the count -3, expected 0 or more"));
  CHECK(written(dictionary::read(saved(folder, "a 1 \t\nb c 2\n"))) == "a 1\nb c 2\n");
}

TEST_CASE("a line that overwrites gives its token another number, as in fairseq") {
  triad::test::scratch_folder const folder;
  auto const text =
      std::string("<s> 0 #fairseq:overwrite\na 5\n<unk> 3 #fairseq:overwrite\na 2 #fairseq:overwrite\nb 1\n");
  auto const d = dictionary::read(saved(folder, text));
  CHECK(d.size() == 9);
  CHECK(d.numbers("<s> a b <unk> c") == std::vector<index_t>{4, 7, 8, 6, dictionary::unknown});
  CHECK((d.token(5) == "a" && d.token(7) == "a" && d.count(7) == 2));
  CHECK(d.decode(std::vector<index_t>{dictionary::begin, 4, 5, dictionary::end}) == "<s> a");
  CHECK(d.overwriting() == std::vector<index_t>{4, 6, 7});
  CHECK(written(d) == text);
  // If a line with #fairseq:overwrite overwrites no earlier line, it is read like any other line.
  CHECK(written(dictionary::read(saved(folder, "a 5 #fairseq:overwrite\n"))) == "a 5\n");
  for (char const* line :
       {"#fairseq:overwrite\n", " #fairseq:overwrite\n", "a #fairseq:overwrite\n", "a 1 #fairseq:other\n"})
    CHECK_THROWS_WITH(dictionary::read(saved(folder, line)), contains("file:1: a token, a space and a count"));

  std::vector<std::pair<std::string, long long>> entries;
  for (index_t n = dictionary::specials; n < d.size(); ++n) entries.emplace_back(d.token(n), d.count(n));
  CHECK(written(dictionary::of(entries, d.overwriting())) == text);
  CHECK_THROWS_WITH(dictionary::of(entries), contains("'<s>' is twice in a dictionary"));
}

}  // namespace io_dictionary_tests
