// Tests byte-pair encoding: cases computed by hand, and the published encoding of CoGnition.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/bpe.hpp"

#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/published.hpp"
#include "triad/io/text/dictionary.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace io_bpe_tests {

using namespace triad::text;
using triad::test::contains;
using triad::test::saved;
using triad::test::written;
using list = std::vector<std::string>;

TEST_CASE("merges are learned, the most frequent pair first") {
  std::vector<std::pair<std::string, long long>> const words{{"low", 5}, {"lower", 2}, {"newest", 6}, {"widest", 3}};
  std::vector<bpe_merge> const expected{{"s", "t</w>"},   {"e", "st</w>"},    {"l", "o"},      {"w", "est</w>"},
                                        {"n", "e"},       {"ne", "west</w>"}, {"lo", "w</w>"}, {"w", "i"},
                                        {"wi", "d"},      {"wid", "est</w>"}, {"w", "e"},      {"we", "r</w>"},
                                        {"lo", "wer</w>"}};
  auto const all = learn_bpe(words, 100);
  CHECK(std::vector<bpe_merge>(all.merges().begin(), all.merges().end()) == expected);
  CHECK(learn_bpe(words, 100, 3).merges().size() == 10);
  CHECK(learn_bpe({}, 100).merges().empty());

  auto four = learn_bpe(words, 4);
  CHECK(four.apply(" newest lowest  low 狗狗 ") == "n@@ e@@ west lo@@ west lo@@ w 狗@@ 狗");
  CHECK(four.parts("lowest") == list{"lo", "west"});
  CHECK(four.apply("").empty());
  CHECK(bpe::undo(four.apply("newest lowest low 狗狗")) == "newest lowest low 狗狗");
  CHECK(bpe::undo("").empty());
  CHECK(bpe::undo("a@@") == "a");
}

TEST_CASE("words stand between spaces alone: other white space is a character of a word") {
  bpe merges(std::vector<bpe_merge>{{"a", "b</w>"}});
  CHECK(merges.apply("  ab   ab \r\n") == "ab ab");
  CHECK(merges.apply("ab\u3000ab") == "a@@ b@@ \u3000@@ ab");
  CHECK(merges.apply("ab\u00a0ab x\ty") == "a@@ b@@ \u00a0@@ ab x@@ \t@@ y");
  CHECK(merges.apply(" \u2028 ") == "\u2028");
  for (std::string const text : {"ab\u3000ab", "\u00a0 a\tb c\vd", "x \u2028 \u0085y"})
    CHECK(bpe::undo(merges.apply(text)) == text);
}

TEST_CASE("a word is not lost where its last part ends as parts are marked") {
  bpe none((std::vector<bpe_merge>())),
      some(std::vector<bpe_merge>{{"@", "@"}, {"@", "@</w>"}, {"a", "@@</w>"}, {"@@", "@"}});
  CHECK(some.apply("@@ b") == "@@ b");
  CHECK(some.apply("a@@ b") == "a@@ @@ b");
  CHECK(some.parts("a@@") == list{"a", "@@"});
  std::vector<std::string> words{""};  // all words of up to five of these characters
  for (std::size_t i = 0; words[i].size() < 5; ++i)
    for (char const c : {'a', '@', 'b'}) words.push_back(words[i] + c);
  std::string text;
  for (std::size_t i = 1; i < words.size(); ++i) text += (i > 1 ? " " : "") + words[i];
  CHECK(bpe::undo(none.apply(text)) == text);
  CHECK(bpe::undo(some.apply(text)) == text);
  CHECK(bpe::undo("@@ @@") == "@@ @@");
}

TEST_CASE("merges that no file can hold are refused where they are made") {
  using triad::contract_violation;
  for (char const* word : {"a b", " ", "a\n", "a\rb"}) {
    std::vector<std::pair<std::string, long long>> const counted{{"ab", 2}, {word, 2}};
    CHECK_THROWS_AS(learn_bpe(counted, 10), contract_violation);
    CHECK_THROWS_WITH(learn_bpe(counted, 10), contains("expected no space or line end in it"));
    CHECK_THROWS_AS(bpe(std::vector<bpe_merge>{{"a", word}}), contract_violation);
    CHECK_THROWS_AS(bpe(std::vector<bpe_merge>{{word, "a"}}), contract_violation);
  }
  CHECK_THROWS_AS(bpe(std::vector<bpe_merge>{{"a", ""}}), contract_violation);
  triad::test::scratch_folder const folder;
  std::vector<std::pair<std::string, long long>> const counted{{"a\u3000a\u00a0a\ta", 3}, {"\u3000a", 2}};
  auto const text = written(learn_bpe(counted, 10));
  CHECK(written(bpe::read(saved(folder, text))) == text);
  CHECK_THROWS_WITH(bpe::read(saved(folder, "#version: 0.2\na\rb c\n")), contains("file:2: two parts"));
}

TEST_CASE("overlapping pairs are merged from the left") {
  bpe twice(std::vector<bpe_merge>{{"a", "a"}});
  CHECK(twice.apply("aaaab aaab") == "aa@@ aa@@ b aa@@ a@@ b");
  std::vector<std::pair<std::string, long long>> const words{{"aaaa", 2}, {"aaab", 1}};
  auto const learned = learn_bpe(words, 100);  // (a, a) 2 2 + 2 = 6 times, then (aa, a) 2 + 1, then (aaa, a</w>) 2
  std::vector<bpe_merge> const expected{{"a", "a"}, {"aa", "a"}, {"aaa", "a</w>"}};
  CHECK(std::vector<bpe_merge>(learned.merges().begin(), learned.merges().end()) == expected);
}

TEST_CASE("merges that are written are read again, and a line that is none is refused with its place") {
  triad::test::scratch_folder const folder;
  auto const text = std::string("#version: 0.2\n泰 勒</w>\nh e\n");
  CHECK(written(bpe::read(saved(folder, text))) == text);
  CHECK_THROWS_WITH(bpe::read(saved(folder, "h e\n")), contains("file:1: expected the line '#version: 0.2'"));
  for (char const* line : {"h\n", "h e l\n", "h \n", " e\n"}) {
    CAPTURE(line);
    CHECK_THROWS_WITH(bpe::read(saved(folder, std::string("#version: 0.2\n\n") + line)), contains("file:3: two parts"));
  }
}

TEST_CASE("CoGnition's published word parts are its words with its merges, and its dictionary knows them") {
  auto const folder = triad::test::published("cognition");
  if (triad::test::is_missing(folder, "CoGnition")) return;
  auto parts = bpe::read((folder / "bpe/code").string());
  auto const known = dictionary::read((folder / "bpe/dict.zh.txt").string());
  CHECK(parts.merges().size() == 3000);
  CHECK(known.size() == 5504);
  gz_lines plain((folder / "valid.zh.gz").string()), encoded((folder / "bpe/valid.zh.gz").string());
  long lines = 0, other = 0, not_undone = 0, unknown = 0;
  for (std::string line, theirs; plain.next(line) && encoded.next(theirs); ++lines) {
    auto const ours = parts.apply(line);
    if (ours != theirs && other++ == 0) UNSCOPED_INFO("first: " << ours << " | " << theirs);
    not_undone += bpe::undo(theirs) != joined(words(line));
    for (auto const n : known.encode(theirs)) unknown += n == dictionary::unknown;
  }
  CHECK(lines == 10000);
  CHECK(other == 0);
  CHECK(not_undone == 0);
  INFO(unknown);
  CHECK(unknown < 100);
}

}  // namespace io_bpe_tests
