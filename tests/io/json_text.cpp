// Tests the conversion of JSON to text, and the error for a value that JSON text cannot represent.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/json_text.hpp"

#include <limits>
#include <string>

#include "tests/catch.hpp"

namespace io_json_text_tests {

using namespace triad;

TEST_CASE("a value is one line of text, its keys in order") {
  CHECK(json_text({{"b", 1}, {"a", {2.5, nullptr, true}}}, "x") == "{\"a\":[2.5,null,true],\"b\":1}");
  CHECK(json_text("caf\xc3\xa9\n", "x") == "\"caf\xc3\xa9\\n\"");
}

TEST_CASE("text that is not UTF-8 is refused by what it is, also as a key or deep inside") {
  nlohmann::json deep;
  deep["a"][1]["b"] = "\xe9";
  nlohmann::json key;
  key["\xff"] = 1;
  for (nlohmann::json const& value : {nlohmann::json("caf\xe9"), deep, key}) {
    CHECK_THROWS_AS(json_text(value, "the vocabulary"), data_error);
    CHECK_THROWS_WITH(json_text(value, "the vocabulary"), test::contains("the vocabulary cannot be written: ") &&
                                                              test::contains("; convert the data to UTF-8"));
  }
}

TEST_CASE("a number that JSON does not have is refused by its place") {
  for (double const wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    CHECK_THROWS_WITH(json_text({{"a", {{"rates", {0.5, wrong}}}}}, "the configuration"),
                      test::contains("the configuration cannot be written: the number at /a/rates/1 is not finite"));
    CHECK_THROWS_AS(json_text(wrong, "x"), data_error);
  }
}

}  // namespace io_json_text_tests
