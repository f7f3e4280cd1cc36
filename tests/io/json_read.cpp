// Tests the reading of JSON that other programs wrote: its maximum depth, which numbers are integers, and how messages
// quote a value.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/json_read.hpp"

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace io_json_read_tests {

using namespace triad;
using triad::test::contains;

std::string nested(int levels) {
  return std::string(static_cast<std::size_t>(levels), '[') + std::string(static_cast<std::size_t>(levels), ']');
}

TEST_CASE("JSON is read up to the levels that are asked for, from a text or a stream") {
  CHECK(parse_json("{\"a\": [1, {\"b\": null}]}").at("a").at(0) == 1);
  CHECK(quoted(parse_json(nested(deepest_json))) == nested(deepest_json).substr(0, 60) + "...");
  CHECK_THROWS_WITH(parse_json(nested(deepest_json + 1)), contains("expected JSON of at most 64 levels, found more"));
  CHECK_THROWS_WITH(parse_json(std::string(1'000'000, '[')), contains("at most 64 levels"));
  CHECK(parse_json(nested(3), 3).is_array());
  CHECK_THROWS_WITH(parse_json("{\"a\": {\"b\": {}}}", 2, "a table"), contains("expected a table of at most 2 levels"));
  std::istringstream stream("[1, 2] ");
  CHECK(parse_json(stream).size() == 2);
  CHECK(parse_json<nlohmann::ordered_json>("{\"b\": 1, \"a\": 2}").dump() == "{\"b\":1,\"a\":2}");
  CHECK_THROWS_WITH(parse_json(std::string("{}\0{}", 5)), contains("expected JSON, found a zero byte at byte 3"));
  CHECK_THROWS_AS(parse_json("[1"), nlohmann::json::parse_error);
  CHECK_THROWS_AS(parse_json("1e999"), nlohmann::json::out_of_range);
}

TEST_CASE("an integer is one without a fraction that its type holds") {
  auto const read = [](char const* text) { return json_integer<std::int32_t>(parse_json(text), "x"); };
  CHECK(read("0") == 0);
  CHECK(read("-2147483648") == std::numeric_limits<std::int32_t>::min());
  CHECK(read("2147483647") == std::numeric_limits<std::int32_t>::max());
  for (char const* text : {"2147483648", "-2147483649", "4294967296", "18446744073709551615", "-9223372036854775808",
                           "1e1", "1.0", "0.5", "true", "null", "\"1\"", "[]"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(read(text), contains("x: expected an integer from -2147483648 to 2147483647, found "));
  }
  CHECK(json_integer<std::uint64_t>(parse_json("18446744073709551615"), "x") ==
        std::numeric_limits<std::uint64_t>::max());
  CHECK_THROWS_WITH(json_integer<std::uint64_t>(parse_json("-1"), "x"), contains("found -1"));
  CHECK(json_integers<int>(parse_json("[3, -1]"), "x") == std::vector<int>{3, -1});
  CHECK_THROWS_WITH(json_integers<int>(parse_json("[3, 0.5]"), "x"), contains("found 0.5"));
  CHECK_THROWS_WITH(json_integers<int>(parse_json("{\"a\": 1}"), "x"),
                    contains("x: expected a list of integers, found {\"a\":1}"));
}

TEST_CASE("what nlohmann says is repeated without its number") {
  auto const reason = [](char const* text, auto const& use) {
    try {
      use(nlohmann::json::parse(text));
    } catch (nlohmann::json::exception const& e) {
      return reason_of(e);
    }
    return std::string();
  };
  CHECK(reason("{}", [](nlohmann::json const& value) { (void)value.at("distribution"); }) ==
        "key 'distribution' not found");
  CHECK(reason("[]", [](nlohmann::json const& value) { (void)value.get<int>(); }) ==
        "type must be number, but is array");
}

TEST_CASE("a message quotes no control characters and no more than its limit") {
  CHECK(quoted(parse_json("\"\\u001b[31m\"")) == "\"\\u001b[31m\"");
  CHECK(quoted(nlohmann::json("\xff")) == "\"\xef\xbf\xbd\"");
  CHECK(quoted(nlohmann::json("a\x7f")) == "\"a?\"");
  CHECK(quoted(nlohmann::json("abc"), 2) == "\"a...");
  CHECK(quoted(nlohmann::json("\u00e9\u00e9"), 4) == "\"\u00e9...");  // a character is not cut in two
}

}  // namespace io_json_read_tests
