// Tests that errors in JSON lines are reported with file, line and column.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/json_lines.hpp"

#include <fstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/core/errors.hpp"

namespace programs_json_lines_tests {

using namespace triad::programs;
using triad::test::contains;

TEST_CASE("a message that quotes a zero byte is whole") {
  CHECK(std::string(triad::data_error(std::string("a\0b", 3)).what()) == "a?b");
}

TEST_CASE("a member that is no whole number in range is refused, not cut") {
  for (auto const* line :
       {R"({"n": 2.7})", R"({"n": 4294967296})", R"({"n": true})", R"({"n": 1e300})", R"({"n": "2"})"})
    CHECK_THROWS_WITH(member<int>(read_json_line(line), "n", "a count"), contains("expected \"n\" to be a count"));
  CHECK(member<int>(read_json_line(R"({"n": -2})"), "n", "a count") == -2);
}

TEST_CASE("a line that is not an object is reported with file, line and column") {
  triad::test::scratch_folder const folder;
  auto const path = folder / "a.jsonl";
  auto const read = [&](std::string const& text) {
    std::ofstream(path) << text;
    read_json_lines(path, [](nlohmann::json const& line) { (void)member<int>(line, "n", "a number"); });
  };
  CHECK_NOTHROW(read("{\"n\": 1}\n\n{\"n\": 2}"));
  CHECK_THROWS_WITH(read("{\"n\": 1}\n{\"n\": "), contains(path + ":2:7: this is not JSON: unexpected end of input"));
  CHECK_THROWS_WITH(
      read("{\"n\": 1} {}"),
      contains(path + ":1:10: this is not JSON: unexpected '{'; expected end of input; a line is one object"));
  CHECK_THROWS_WITH(read("{\"n\": 1}\n{\"\xff\": 1}"), contains(path + ":2:3: the byte 0xFF is not UTF-8"));
  CHECK_THROWS_WITH(read("{\"" + std::string(1000, 'a')),
                    contains("this is not JSON: invalid string: missing closing quote; a line is one object"));
  CHECK_THROWS_WITH(read("[]"), contains(path + ":1: expected an object in braces, found []"));
  CHECK_THROWS_WITH(read("{\"m\": 1}"), contains(path + ":1: expected \"n\", a number, found none"));
  CHECK_THROWS_WITH(read("{\"n\": \"x\"}"), contains("expected \"n\" to be a number, found \"x\""));
  CHECK_THROWS_WITH(read(""), contains("expected a line or more, found none"));
}

}  // namespace programs_json_lines_tests
