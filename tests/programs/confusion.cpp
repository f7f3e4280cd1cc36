// Tests the counts of mistakes, in which a label is predicted instead of another label: the counts, their table, and
// their file.
// SPDX-License-Identifier: Apache-2.0
#include "shared/report/confusion.hpp"

#include <string>

#include "shared/data/csv.hpp"
#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_confusion_tests {

using triad::programs::confusion;
using triad::test::contains;

confusion counted() {
  confusion c;
  auto const add = [&](std::string const& part, std::string const& target, std::string const& predicted, int times) {
    for (int i = 0; i < times; ++i) c.add(part, target, predicted);
  };
  add("k=2", "aunt", "aunt", 5);
  add("k=2", "aunt", "uncle", 2);
  add("k=2", "uncle", "aunt", 1);
  add("k=3", "uncle", "aunt", 3);
  add("k=3", "niece", "a, \"b\"", 2);
  return c;
}

TEST_CASE("the most frequent mistakes of all parts come first, with how often and of how many") {
  CHECK(counted().table() ==
        "target  predicted  count  of\n"
        "----------------------------\n"
        "uncle        aunt      4   4\n"
        "aunt        uncle      2   7\n"
        "niece      a, \"b\"      2   2\n");
  CHECK(counted().table(1) ==
        "target  predicted  count  of\n"
        "----------------------------\n"
        "uncle        aunt      4   4\n"
        "and 2 other pairs, 4 times in all\n");
}

TEST_CASE("where nothing is wrong, that is said; and no label commands a terminal") {
  confusion c;
  c.add("test", "aunt", "aunt");
  CHECK(c.table() == "no label was taken for another\n");
  c.add("test", "a\x1b[31m", "b");
  CHECK_THAT(c.table(), triad::test::contains("a?[31m"));
}

TEST_CASE("confusion.csv has every pair of every part, right answers too, and reads back") {
  auto const text = counted().csv();
  CHECK(text ==
        "part,target,predicted,count\nk=2,aunt,aunt,5\nk=2,aunt,uncle,2\nk=2,uncle,aunt,1\nk=3,niece,\"a, "
        "\"\"b\"\"\",2\nk=3,uncle,aunt,3\n");
  triad::test::scratch_folder const folder;
  triad::programs::csv_file file(triad::test::saved(folder, text));
  int rows = 0;
  for (; file.next(); ++rows)
    if (rows == 3) CHECK(file[file.column("predicted")] == "a, \"b\"");
  CHECK(rows == 5);
}

TEST_CASE("a label of several lines is one line of the table, and stays as it is in the file") {
  triad::programs::confusion found;
  found.add("test", "a\nb\x1b[2J", "c");
  CHECK_THAT(found.table(), contains("\n") && contains("a?b?[2J") && !contains("a\nb") && !contains("\x1b"));
  CHECK(found.csv() == "part,target,predicted,count\ntest,\"a\nb\x1b[2J\",c,1\n");
}

}  // namespace programs_confusion_tests
