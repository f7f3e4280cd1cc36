// Tests that the end of a line, and the byte order mark of a text's first line, are removed.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/line.hpp"

#include <string>

#include "tests/catch.hpp"

namespace io_line_tests {

std::string trimmed(std::string line, bool first) {
  triad::text::trim_line(line, first);
  return line;
}

TEST_CASE("what is left of a line's end goes, and of the first line the byte order mark") {
  CHECK(trimmed("a b\r", false) == "a b");
  CHECK(trimmed("a b\r\r", false) == "a b\r");
  CHECK(trimmed("\xef\xbb\xbf"
                "a\r",
                true) == "a");
  CHECK(trimmed("\xef\xbb\xbf"
                "a",
                false) ==
        "\xef\xbb\xbf"
        "a");
  CHECK(trimmed("\xef\xbb\xbf\xef\xbb\xbf", true) == "\xef\xbb\xbf");
  CHECK(trimmed("", true).empty());
}

}  // namespace io_line_tests
