// Tests that printed data from users or files can neither control a terminal nor break a line.
// SPDX-License-Identifier: Apache-2.0
#include "shared/report/printed.hpp"

#include <string>

#include "shared/cli/say.hpp"
#include "shared/report/table.hpp"
#include "tests/catch.hpp"

namespace programs_printed_tests {

using triad::programs::printable, triad::programs::printable_name;
using namespace std::string_literals;

TEST_CASE("control characters, separators of lines and what turns the direction of a text are shown as '?'") {
  CHECK(printable("a\x1b[31mb\x7f\r\b\0c"s) == "a?[31mb????c");
  CHECK(printable("a\xc2\x9b"
                  "31mb\xc2\x80\xc2\x9f") == "a?31mb??");  // C1: CSI and others
  CHECK(printable("a\xe2\x80\xa8"
                  "b\xe2\x80\xa9") == "a?b?");                                     // U+2028, U+2029
  CHECK(printable("\xe2\x80\xaa\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9") == "????");  // embeddings, overrides, isolates
}

TEST_CASE("all other characters stay, line ends and tabs only where a text may have several lines") {
  std::string const text =
      "a\xc2\xa0\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa\xf4\x8f\xbf\xbf";
  CHECK(printable(text) == text);
  CHECK(printable_name(text) == text);
  CHECK(printable("a\tb\n") == "a\tb\n");
  CHECK(printable_name("a\tb\n") == "a?b?");
  CHECK(printable("").empty());
}

TEST_CASE("a byte that is not UTF-8 is shown as '?', since other terminals command by it") {
  CHECK(printable("a\x9b"
                  "31m") == "a?31m");
  CHECK(printable("\xe2\x80") == "??");
  CHECK(printable("\xe2\x28\xa1") == "?(?");
  CHECK(printable("d\xe9j\xe0") == "d?j?");
  CHECK(printable("\xc0\x9b\xff\xf5") == "????");
}

TEST_CASE("a cell of a table is one line, as wide as it is shown") {
  triad::programs::text_table table({"a\nb", "c"});
  table.row({"x\x1b[2J\n\xe2\x80\xae", "1"});
  CHECK(table.text() == "a?b      c\n----------\nx?[2J??  1\n");
}

TEST_CASE("what others wrote is printed without control characters") {
  CHECK(triad::programs::printable("a\x1b[31m\tb\n\x7f\r\xc3\xa9") == "a?[31m\tb\n??\xc3\xa9");
}

}  // namespace programs_printed_tests
