// Tests the readers of pairs of texts: a few lines of each format, and the published files if they are next to the
// checkout.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/text_pairs.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "tests/published.hpp"

namespace programs_text_pairs_tests {

using namespace triad::programs;
using triad::test::contains;
using triad::test::saved;

TEST_CASE("pairs are read from lines of SCAN, from columns and from two files") {
  triad::test::scratch_folder const folder;
  CHECK(read_pairs(saved(folder, "IN: jump twice OUT: I_JUMP I_JUMP\n\nIN: walk OUT: I_WALK\n", "scan")) ==
        std::vector<text_pair>{{"jump twice", "I_JUMP I_JUMP", ""}, {"walk", "I_WALK", ""}});
  CHECK(read_pairs(saved(folder, "Was M0  M1\tSELECT count ( * )\n", "cfq")) ==
        std::vector<text_pair>{{"Was M0 M1", "SELECT count ( * )", ""}});
  CHECK(read_pairs(saved(folder, "Ada slept .\tsleep . agent ( x _ 1 , Ada )\tin_distribution\n", "cogs")) ==
        std::vector<text_pair>{{"Ada slept .", "sleep . agent ( x _ 1 , Ada )", "in_distribution"}});
  CHECK(read_parallel(saved(folder, "the dog .\nhe ran .\n", "en"), saved(folder, "狗 。\n他 跑 。", "zh")) ==
        std::vector<text_pair>{{"the dog .", "狗 。", ""}, {"he ran .", "他 跑 。", ""}});
}

TEST_CASE("what is no pair is refused with file and line") {
  triad::test::scratch_folder const folder;
  auto const refused = [&](char const* content, char const* reason) {
    CAPTURE(content);
    CHECK_THROWS_WITH(read_pairs(saved(folder, content, "file")), contains(reason));
  };
  refused("", "there is no pair");
  refused("a b\n", "file:1: source and target");
  refused("a\tb\tc\td\n", "file:1: source and target");
  refused("a\tb\n \tb\n", "file:2: the source has no words");
  refused("a\tb\n\na\t\tc\n", "file:3: the target has no words");
  refused("IN: a OUT: b\na\tb\n", "file:2: a line of SCAN");
  refused("IN: a\n", "file:1: a line of SCAN");
  refused("IN: a OUT: b OUT: c\n", "file:1: a line of SCAN");
  refused("IN: OUT: b\n", "file:1: the source has no words");
  refused("IN: a OUT:\n", "file:1: the target has no words");
  CHECK_THROWS_WITH(read_pairs(folder / "none"), contains("cannot be opened"));
  refused("source\ttarget\na\tb\n", "file:1: found a header, the names of the columns");
  refused("\nQuestion\tQuery\n", "file:2: found a header");
  refused("Sentence\tLogical  Form\tDistribution\na\tb\tc\n", "file:1: found a header");

  auto const two = saved(folder, "a\nb\n", "two"), three = saved(folder, "a\nb\nc\n", "three"),
             gap = saved(folder, "a\n\n", "gap");
  CHECK_THROWS_WITH(read_parallel(two, three), contains("three:3: ") && contains("two ends before this line"));
  CHECK_THROWS_WITH(read_parallel(three, two), contains("three:3: ") && contains("two ends before this line"));
  CHECK_THROWS_WITH(read_parallel(two, gap), contains("gap:2: the line has no words"));
  CHECK_THROWS_WITH(read_parallel(gap, two), contains("gap:2: the line has no words"));
  CHECK_THROWS_WITH(read_parallel(saved(folder, "", "empty"), saved(folder, "", "empty2")),
                    contains("there is no line"));
}

TEST_CASE("names of columns are a header in the first row alone, and nowhere else") {
  triad::test::scratch_folder const folder;
  CHECK(read_pairs(saved(folder, "a\tb\nsource\ttarget\n", "later")).size() == 2);
  CHECK(read_pairs(saved(folder, "source\tof it\n", "words")).size() == 1);
  CHECK(is_header("input\toutput"));
  CHECK(is_header("SRC,tgt", ','));
  CHECK_FALSE(is_header("source"));
  CHECK_FALSE(is_header("source\t"));
  CHECK_FALSE(is_header("a source\ta target"));
}

TEST_CASE("the published files have the pairs they are known to have") {
  struct known {
    char const* path;
    std::size_t rows, kinds;  // kinds: 0 if the file has no kinds
  };
  for (auto const& file :
       {known{"scan/tasks_train_addprim_jump.txt.gz", 14670, 0}, known{"scan/tasks_test_length.txt.gz", 3920, 0},
        known{"scan/tasks_test_mcd1.txt.gz", 1045, 0}, known{"cfq/mcd1/dev.tsv.gz", 11968, 0},
        known{"cogs/gen.tsv.gz", 21000, 21}}) {
    auto const path = triad::test::published(file.path);
    if (triad::test::is_missing(path, "pairs")) continue;
    CAPTURE(file.path);
    auto const pairs = read_pairs(path.string());
    CHECK(pairs.size() == file.rows);
    std::set<std::string> kinds;
    for (auto const& p : pairs)
      if (!p.kind.empty()) kinds.insert(p.kind);
    CHECK(kinds.size() == file.kinds);
  }
  auto const folder = triad::test::published("cognition");
  if (!triad::test::is_missing(folder, "CoGnition"))
    CHECK(read_parallel((folder / "valid.en.gz").string(), (folder / "valid.zh.gz").string()).size() == 10000);
}

}  // namespace programs_text_pairs_tests
