// Tests that the members of a question are copied byte for byte.
// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "shared/data/json_lines.hpp"
#include "tests/catch.hpp"
#include "triad/core/errors.hpp"

namespace programs_json_members_tests {

using triad::programs::members_of, triad::programs::with_members;

std::string answered(std::string const& question) { return with_members(question, {{"target", "b"}}); }

TEST_CASE("numbers, texts, names and their order come back as they are written") {
  for (std::string const member :
       {R"("id":123456789012345678901234567890)", R"("id":-0)", R"("id":1.0)", R"("id":1e5)", R"("id":1E+05)",
        R"("id":0.1000)", R"("id":2.50)", R"("id":1,"id":2)", R"("i\u0064":"\u00e9\/\ud83d\ude00")", R"("":"")",
        R"("z":{"b":[1.0,{"a":-0.0}],"a":{}},"a":[])", R"("a":"}],:{[\"\\")", R"("a":"  b  ")", R"("a":null,"b":true)"})
    CHECK(answered("{" + member + "}") == "{" + member + R"(,"target":"b"})");
}

TEST_CASE("of a question the space between tokens goes") {
  CHECK(answered(" { \"a b\" : [ 1 , {\"c\" : 1.0 } ] ,\t\"d\":\"e f\"\r} ") ==
        R"({"a b":[1,{"c":1.0}],"d":"e f","target":"b"})");
  CHECK(answered("\xef\xbb\xbf{}") == R"({"target":"b"})");
  CHECK(answered("{ }") == R"({"target":"b"})");
}

TEST_CASE("an answer takes the place of the member of its name") {
  CHECK(answered(R"({"a":1,"target":null,"b":1.0})") == R"({"a":1,"target":"b","b":1.0})");
  CHECK(answered(R"({"target":{"target":1},"a":1,"target":2})") == R"({"target":"b","a":1})");
  CHECK(answered(R"({"t\u0061rget":1})") == R"({"t\u0061rget":"b"})");
  CHECK(with_members(R"({"labels":1,"a":-0})", {{"heads", std::vector<int>{1, 2}}, {"labels", {"x", "\n"}}}) ==
        R"({"labels":["x","\n"],"a":-0,"heads":[1,2]})");
  CHECK(with_members("{}", {{"score", 0.9}}) == R"({"score":0.9})");
  nlohmann::ordered_json const none(nlohmann::ordered_json::value_t::discarded);
  CHECK(with_members(R"({"label":"x","a":1,"label":2})", {{"label", none}, {"b", none}}) == R"({"a":1})");
}

TEST_CASE("members have their names as they are read and as they are written") {
  auto const all = members_of(R"({"\u0061": [1, 2], "b": ""})");
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "a");
  CHECK(all[0].written_name == R"("\u0061")");
  CHECK(all[0].value == "[1,2]");
  CHECK(all[1].name == "b");
  CHECK(all[1].value == R"("")");
}

TEST_CASE("what is no object is refused") {
  for (std::string const text : {"", "[1]", "{", "{\"a\"", "{\"a\":[", "{\"a\":\"", "{\"a\":\"\\"})
    CHECK_THROWS_AS(members_of(text), triad::data_error);
}

}  // namespace programs_json_members_tests
