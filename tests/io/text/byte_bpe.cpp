// Tests byte-level byte-pair encoding: pieces, merges and numbers that were found by hand, the encoding and decoding of
// every byte, and invalid files.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/byte_bpe.hpp"

#include <fstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace io_byte_bpe_tests {

using namespace triad::text;
using triad::index_t;
using triad::test::contains;
using triad::test::scratch_folder;
using list = std::vector<std::string>;
using numbers = std::vector<index_t>;

list pieces(std::string_view text) {
  list all;
  for (auto const p : byte_bpe_pieces(text)) all.emplace_back(p);
  return all;
}

void save(scratch_folder const& folder, std::string const& vocabulary, std::string const& merges) {
  std::ofstream(folder / "vocab.json", std::ios::binary) << vocabulary;
  std::ofstream(folder / "merges.txt", std::ios::binary) << merges;
}

std::string const specials = R"("<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3)";

TEST_CASE("a text is cut into words with the space before them, numbers, other characters, endings and white space") {
  CHECK(pieces("").empty());
  CHECK(pieces("Did M0 direct M1") == list{"Did", " M", "0", " direct", " M", "1"});
  CHECK(pieces("I'm Bob's, they'LL 12a") == list{"I", "'m", " Bob", "'s", ",", " they", "'", "LL", " 12", "a"});
  CHECK(pieces("we've you're he'd she'll can't 'tis") ==
        list{"we", "'ve", " you", "'re", " he", "'d", " she", "'ll", " can", "'t", " '", "tis"});
  CHECK(pieces("'sure !'s") == list{"'s", "ure", " !'", "s"});
  CHECK(pieces("a  b\n\n c\td \t") == list{"a", " ", " b", "\n\n", " c", "\t", "d", " \t"});
  CHECK(pieces("  ") == list{"  "});
  CHECK(pieces(" ") == list{" "});
  CHECK(pieces("(x + y) ...?") == list{"(", "x", " +", " y", ")", " ...?"});
}

TEST_CASE("letters, numbers and white space are Unicode's") {
  CHECK(pieces("na\u00efve \u041c\u0438\u0440 \u65e5\u672c\u8a9e") ==
        list{"na\u00efve", " \u041c\u0438\u0440", " \u65e5\u672c\u8a9e"});
  CHECK(pieces("3\u00bd \u0664\u2167") == list{"3\u00bd", " \u0664\u2167"});  // a half, an Arabic four, a Roman eight
  CHECK(pieces("e\u0301\u2014\u20ac") == list{"e", "\u0301\u2014\u20ac"});    // a separate accent is not a letter
  CHECK(pieces("a\u00a0b\u3000 c") == list{"a", "\u00a0", "b", "\u3000", " c"});  // no-break and ideographic space
  CHECK(pieces("a\x1c\x1d b") == list{"a", "\x1c\x1d", " b"});  // ASCII separators are not white space here
  CHECK(pieces("\U0001d400\U00020000\U0001f600") == list{"\U0001d400\U00020000", "\U0001f600"});
  CHECK(pieces("a\xff\xc3(") == list{"a", "\xff\xc3("});  // not UTF-8
}

TEST_CASE("parts are joined by rank and numbered by the vocabulary") {
  scratch_folder const folder;
  save(
      folder,
      "{" + specials +
          R"(, "l": 4, "o": 5, "w": 6, "e": 7, "r": 8, "\u0120": 9, "lo": 10, "low": 11, "er": 12, "\u0120low": 13, "\u00c3": 14,
         "\u00a9": 15, "\u00c3\u00a9": 16, "'": 17, "s": 18, "'s": 19, "\u010a": 20, "#version": 30})",
      "#version: 0.2\nl o\nlo w\ne r\n\u0120 low\n\u00c3 \u00a9\n' s\n");
  auto code = byte_bpe::read(folder / "");
  CHECK(code.size() == 31);
  CHECK((code.begin() == 0 && code.end() == 2 && code.padding() == 1 && code.unknown() == 3));
  CHECK(code.parts("low lower") == list{"low", "\u0120low", "er"});
  CHECK(code.encode("low lower") == numbers{0, 11, 13, 12, 2});
  CHECK(code.encode("") == numbers{0, 2});
  CHECK(code.numbers(" low") == numbers{13});
  CHECK(code.numbers("low's\u00e9") == numbers{11, 19, 16});
  CHECK(code.numbers("  wolow\n") == numbers{9, 9, 6, 5, 11, 20});  // the second space does not merge with the w
  CHECK(code.numbers("rere") == numbers{8, 12, 7});
  CHECK(code.numbers("ax") == numbers{3, 3});
  CHECK(code.numbers("low lower") == numbers{11, 13, 12});  // both words are now cached
  CHECK(code.decode(numbers{0, 11, 13, 12, 2, 1, 1}) == "low lower");
  CHECK(code.decode(numbers{16, 9, 20, 19}) == "\u00e9 \n's");
  CHECK(code.decode(numbers{3}) == "<unk>");
  CHECK_THROWS_WITH(code.decode(numbers{31}), contains("no token 31"));
  CHECK_THROWS_WITH(code.decode(numbers{-1}), contains("no token -1"));
  CHECK_THROWS_WITH(code.decode(numbers{21}), contains("no token 21"));  // an unused number

  auto same = byte_bpe::of(code.tokens(), code.merges(), "file");
  CHECK(same.encode("low lower's\u00e9") == code.encode("low lower's\u00e9"));
  CHECK((same.contains("lo") && !same.contains("wo") && same.size() == 31));
  auto twice = code.tokens();
  twice[22] = "lo";
  CHECK_THROWS_WITH(byte_bpe::of(twice, code.merges(), "file"), contains("file: the token 'lo' has two numbers"));
  CHECK_THROWS_WITH(byte_bpe::of({"a"}, {}, "file"), contains("file: the token <s> is expected"));
}

TEST_CASE("the earliest line of the merges comes first, wherever its pair stands") {
  scratch_folder const folder;
  std::string const vocabulary = "{" + specials + R"(, "a": 4, "b": 5, "c": 6, "ab": 7, "bc": 8, "#": 9, "##": 10})";
  save(folder, vocabulary, "#version: 0.2\na b\nb c\n");
  CHECK(byte_bpe::read(folder / "").numbers("abc") == numbers{7, 6});
  save(folder, vocabulary,
       "b c\r\na b\r\n# #");  // no first line, other line ends, and a merge that looks like a comment
  auto code = byte_bpe::read(folder / "");
  CHECK(code.numbers("abcab") == numbers{4, 8, 7});
  CHECK(code.numbers("###") == numbers{10, 9});
  save(folder, vocabulary, "");
  CHECK(byte_bpe::read(folder / "").numbers("abc") == numbers{4, 5, 6});
}

TEST_CASE("every byte has a printable character of its own, and every text comes back") {
  auto const letters = triad::text::detail::characters_of_bytes();
  CHECK(letters['!'] == "!");
  CHECK(letters['~'] == "~");
  CHECK(letters[0x00] == "\u0100");
  CHECK(letters['\n'] == "\u010a");
  CHECK(letters[' '] == "\u0120");
  CHECK(letters[0x7f] == "\u0121");
  CHECK(letters[0x80] == "\u0122");
  CHECK(letters[0xa0] == "\u0142");
  CHECK(letters[0xa1] == "\u00a1");
  CHECK(letters[0xad] == "\u0143");
  CHECK(letters[0xff] == "\u00ff");
  scratch_folder const folder;
  nlohmann::json vocabulary{{"<s>", 0}, {"<pad>", 1}, {"</s>", 2}, {"<unk>", 3}, {"<mask>", 260}};
  for (std::size_t b = 0; b < 256; ++b) {
    REQUIRE_FALSE(vocabulary.contains(letters[b]));
    vocabulary[letters[b]] = 4 + b;
  }
  save(folder, vocabulary.dump(), "#version: 0.2\n");
  auto code = byte_bpe::read(folder / "vocab.json", folder / "merges.txt");
  std::string all;
  for (int round = 0; round < 3; ++round)
    for (int b = 0; b < 256; ++b) all += static_cast<char>((b * (2 * round + 1) + round) & 255);
  all += "  <s> \u00e9t\u00e9 \U0001f600'll  \n";
  auto const there = code.encode(all);
  CHECK(there.size() == all.size() + 2);
  CHECK(code.decode(there) == all);
  CHECK(code.numbers(std::string(1, '\0')) == numbers{4});
  CHECK(code.numbers("\xad\xff") == numbers{4 + 0xad, 4 + 0xff});
}

TEST_CASE("files that are no vocabulary or no merges are refused with file and line, or token") {
  scratch_folder const folder;
  auto const refused = [&](std::string const& vocabulary, std::string const& merges, std::string const& message) {
    save(folder, vocabulary, merges);
    CAPTURE(message);
    CHECK_THROWS_WITH(byte_bpe::read(folder / ""), contains(message));
  };
  auto const good = "{" + specials + "}";
  refused("{\n\"<s>\": 0,\n\"<pad>\" 1}", "", "vocab.json:3: expected JSON");
  refused("[]", "", "vocab.json: an object {token: number ...} is expected");
  refused("{" + specials + R"(, "a": "b"})", "", "vocab.json: token 'a': a token with a number from 0 up");
  refused("{" + specials + R"(, "a": -4})", "", "token 'a': a token with a number");
  refused("{" + specials + R"(, "a": 1e3})", "", "token 'a': a token with a number");
  refused("{" + specials + R"(, "a": 99999999999})", "", "token 'a': a token with a number");
  refused("{" + specials + R"(, "a": 3})", "", "its number 3 is that of '");
  refused("{\"a\": 0}", "", "vocab.json: the token <s> is expected");
  refused(good, "#version: 0.2\na b\nab\n", "merges.txt:3: two parts with a space");
  refused(good, "a b c\n", "merges.txt:1: two parts");
  refused(good, "a \n", "merges.txt:1: two parts");
  refused(good, " a\n", "merges.txt:1: two parts");
  scratch_folder const none;
  CHECK_THROWS_WITH(byte_bpe::read(none / ""), contains("vocab.json: expected a file of JSON"));
  std::ofstream(none / "tokenizer.json") << "{}";
  CHECK_THROWS_WITH(byte_bpe::read(none / ""), contains("vocab.json: found only a tokenizer.json next to it"));
  std::ofstream(none / "vocab.json") << good;
  CHECK_THROWS_WITH(byte_bpe::read(none / ""), contains("merges.txt: cannot be opened"));
}

}  // namespace io_byte_bpe_tests
