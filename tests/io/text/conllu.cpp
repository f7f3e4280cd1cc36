// Tests reading and writing CoNLL-U, refused files, and scores.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/conllu.hpp"

#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/io/text/gzipped.hpp"

namespace io_conllu_tests {

using namespace triad::text;
using triad::test::contains;
using triad::test::saved;
using triad::test::WithinAbs;

// Returns a row of ten columns.
std::string row(std::string const& id, std::string const& form, std::string const& head, std::string const& relation,
                std::string const& deps = "_") {
  return id + "\t" + form + "\t_\tX\t_\tA=b\t" + head + "\t" + relation + "\t" + deps + "\tSpaceAfter=No\n";
}

std::string const question = "# sent_id = 1\n# text = Don't M0 marry\n" + row("1-2", "Don't", "_", "_") +
                             row("1", "Do", "4", "aux") + row("2", "n't", "4", "advmod") +
                             row("2.1", "ghost", "_", "_", "4:x") + row("3", "M0", "4", "nsubj:own", "4:nsubj") +
                             row("4", "marry", "0", "root");

TEST_CASE("words of CoNLL-U are read without comments, ranges and empty nodes") {
  triad::test::scratch_folder const folder;
  auto const all = read_conllu(saved(folder, "\n" + question + "\n\n" + row("1", "Go", "0", "root"), "a"));
  REQUIRE(all.size() == 2);
  CHECK(all[0].words ==
        std::vector<conllu_word>{{"Do", 4, "aux"}, {"n't", 4, "advmod"}, {"M0", 4, "nsubj:own"}, {"marry", 0, "root"}});
  CHECK(all[0].places == std::vector<std::size_t>{3, 4, 6, 7});
  CHECK(all[1].words == std::vector<conllu_word>{{"Go", 0, "root"}});
  CHECK(all[0].number == 2);
  CHECK(all[1].number == 12);
}

TEST_CASE(
    "a file is written as it was read, gzipped or with line ends of two characters, but for heads and relations") {
  triad::test::scratch_folder const folder;
  triad::test::write_gzipped(folder / "a.conllu.gz", question + "\n");
  auto all = read_conllu(folder / "a.conllu.gz");
  REQUIRE(all.size() == 1);
  CHECK(to_conllu(all[0]) == question + "\n");
  std::string two;
  for (char const c : question) two += c == '\n' ? "\r\n" : std::string(1, c);
  CHECK(to_conllu(read_conllu(saved(folder, two + "\r\n", "two"))[0]) == question + "\n");

  all[0].words[2] = {"M0", 1, "obj"};
  auto const again = to_conllu(all[0]);
  CHECK_THAT(again, contains("3\tM0\t_\tX\t_\tA=b\t1\tobj\t4:nsubj\tSpaceAfter=No\n"));
  CHECK(read_conllu(saved(folder, again, "b"))[0].words[2] == conllu_word{"M0", 1, "obj"});
}

TEST_CASE("what is to be parsed needs no heads, and words alone become rows") {
  triad::test::scratch_folder const folder;
  auto const rows = row("1", "Did", "_", "_") + row("2", "M0", "9", "_");
  CHECK_THROWS_WITH(read_conllu(saved(folder, rows, "a")), contains(":1: HEAD is '_'"));
  auto const s = read_conllu(folder / "a", conllu_heads::ignored).at(0);
  CHECK(s.words == std::vector<conllu_word>{{"Did", -1, ""}, {"M0", -1, ""}});
  CHECK_THAT(to_conllu(s), contains("2\tM0\t_\tX\t_\tA=b\t_\t_\t_\t"));
  auto made = conllu_of({"Did", "M0"});
  made.words[0].head = 0, made.words[0].relation = "root", made.words[1].head = 1, made.words[1].relation = "obj";
  CHECK(to_conllu(made) == "1\tDid\t_\t_\t_\t_\t0\troot\t_\t_\n2\tM0\t_\t_\t_\t_\t1\tobj\t_\t_\n\n");
  CHECK(read_conllu(saved(folder, to_conllu(made), "b")).at(0).words == made.words);
}

TEST_CASE("a text is read as a file is, and its first line tells what it is") {
  std::string const rows =
      "# sent_id = 1\n1\tdogs\t_\t_\t_\t_\t2\tnsubj\t_\t_\n2\tbark\t_\t_\t_\t_\t0\troot\t_\tx=y\n\n";
  std::istringstream text("\xef\xbb\xbf" + rows + rows);
  auto const all = read_conllu(text, "standard input");
  REQUIRE(all.size() == 2);
  CHECK(to_conllu(all[0]) + to_conllu(all[1]) == rows + rows);
  std::istringstream wrong(rows + "dogs bark\n"), broken("1\t\xff\n");
  CHECK_THROWS_WITH(read_conllu(wrong, "standard input"), contains("standard input:5: 1 columns where CoNLL-U has 10"));
  CHECK_THROWS_WITH(read_conllu(broken, "standard input"), contains("standard input:1: not UTF-8"));
  for (auto const* line : {"# text = a", "#", "1\tdogs\t_", "1-2\tdon't", "0.1\t_"}) {
    CAPTURE(line);
    CHECK(begins_conllu(line));
  }
  for (auto const* line : {"", "dogs bark", "1 dog", "1", "\t1", "-\t1", "{\"tokens\": []}", "a\tb", "#joy spreads"}) {
    CAPTURE(line);
    CHECK_FALSE(begins_conllu(line));
  }
}

TEST_CASE("heads become parents and back") {
  auto s = conllu_of({"a", "b", "c", "d"});
  s.words[0].head = 3, s.words[1].head = 1, s.words[2].head = 0;  // and d has no head
  CHECK(parents_of(s) == std::vector<triad::index_t>{2, 0, 2, -1});
  auto again = conllu_of({"a", "b", "c", "d"});
  set_parents(again, std::vector<triad::index_t>{2, 0, 2, -1});
  CHECK(again.words == s.words);
  CHECK_THROWS_WITH(set_parents(again, std::vector<triad::index_t>{0}), contains("1 parents, expected 4"));
  CHECK_THROWS_WITH(set_parents(again, std::vector<triad::index_t>{1, 1, 4, 0}),
                    contains("the parent of word 2 is 4, expected a word, 0 to 3"));
  CHECK(again.words == s.words);  // a failed read leaves the words unchanged
}

TEST_CASE("what is no CoNLL-U is refused with its line") {
  triad::test::scratch_folder const folder;
  auto const refused = [&](std::string const& content, char const* reason) {
    CAPTURE(content);
    CHECK_THROWS_WITH(read_conllu(saved(folder, content)), contains(reason));
  };
  auto const good = row("1", "Go", "0", "root");
  refused(good + "2\tM0\t_\n", "file:2: 3 columns where CoNLL-U has 10");
  refused(good + "# late\n", "file:2: 1 columns");
  refused(row("2", "Go", "0", "root"), "file:1: the ID is '2' where word 1 is expected");
  refused(row("x", "Go", "0", "root"), "the ID is 'x'");
  refused(row("1", "", "0", "root"), "without FORM");
  refused(row("1", "Go", "0", "_"), "without DEPREL");
  refused(row("1", "Go", "-1", "root"), "HEAD is '-1'");
  refused(row("1", "Go", "1", "root"), "its own head");
  refused(good + row("3-4", "x", "_", "_"), "the range 3-4 does not begin with the next word, 2");
  refused(row("1-3", "x", "_", "_") + good, "a range ends with word 3, and the sentence has 1");
  refused(good + row("2.1", "x", "_", "_"), "the empty node 2.1 does not follow word 1");
  refused("# alone\n\n", "a sentence without a word");
}

TEST_CASE("what is no tree with one root is refused with the line of the word at fault") {
  triad::test::scratch_folder const folder;
  auto const refused = [&](std::string const& content, char const* reason) {
    CAPTURE(content);
    CHECK_THROWS_WITH(read_conllu(saved(folder, "# one\n" + content)), contains(reason));
  };
  refused(row("1", "a", "0", "root") + row("2", "b", "3", "x"), "file:3: HEAD is 3 in a sentence of 2 words");
  refused(row("1", "a", "0", "root") + row("2", "b", "0", "x"),
          "file:3: a second root: the head of word 1 is 0 already");
  refused(row("1", "a", "0", "root") + row("2", "b", "3", "x") + row("3", "c", "2", "x"),
          "file:3: the heads from word 2 upward come back to it");
  refused(row("1", "a", "2", "x") + row("2", "b", "1", "x"),
          "file:2: the heads from word 1 upward come back to it");  // there is no root, either
}

TEST_CASE("scores count heads, heads with relations, and whole trees") {
  std::vector<conllu_word> const gold{{"a", 2, "x"}, {"b", 0, "root"}, {"c", 2, "y:z"}, {"d", 3, "x"}},
      short_one{{"a", 0, "root"}};
  attachment_scores s;
  CHECK(s.las() == 0);
  s.add(gold, gold);
  CHECK(s.exact_match() == 1);
  auto found = gold;
  found[0].relation = "q";  // only the head is right
  found[2].relation = "y";  // only the subtype is missing
  found[3].head = 2;        // a right relation to a wrong head does not count
  s.add(gold, found);
  s.add(short_one, short_one);
  CHECK(s.words == 9);
  CHECK_THAT(s.uas(), WithinAbs(8.0 / 9, 1e-12));
  CHECK_THAT(s.las(), WithinAbs(6.0 / 9, 1e-12));
  CHECK_THAT(s.exact_match(), WithinAbs(2.0 / 3, 1e-12));
  CHECK_THROWS_WITH(s.add(gold, short_one), contains("different words"));
}

}  // namespace io_conllu_tests
