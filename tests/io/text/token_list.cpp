// Tests the tokens of a published vocabulary and their numbers.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/text/token_list.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace io_token_list_tests {

using namespace triad::text;
using triad::test::contains;
using list = std::vector<std::string>;

TEST_CASE("a token has the number of its place, and an unused number has no token") {
  token_list const tokens({"a", "", "b"}, "file");
  CHECK(tokens.size() == 3);
  CHECK(tokens.number("a") == 0);
  CHECK(tokens.number("b") == 2);
  CHECK(tokens.number("c") == -1);
  CHECK(tokens.number("c", 7) == 7);
  CHECK((tokens.contains("b") && !tokens.contains("c") && !tokens.contains("")));
  CHECK(tokens.token(2) == "b");
  for (triad::index_t const n : {-1, 1, 3})
    CHECK_THROWS_WITH(tokens.token(n),
                      contains("there is no token " + std::to_string(n) + " in a vocabulary of 3; is it"));
  CHECK(tokens.need("b", "file", "BERT") == 2);
  CHECK_THROWS_WITH(tokens.need("c", "file", "BERT"),
                    "file: the token c is expected, found none; give the vocabulary of a BERT");
  CHECK_THROWS_WITH(token_list({"a", "b", "a"}, "file"),
                    "file: the token 'a' has two numbers, expected one; remove one of them");
}

TEST_CASE("tokens of a JSON object are put in the order of their numbers, or are refused by name") {
  auto const read = [](char const* text) { return tokens_by_number(nlohmann::json::parse(text), "file"); };
  CHECK(read(R"({"b": 3, "a": 1})") == list{"", "a", "", "b"});
  CHECK(read("{}").empty());
  CHECK_THROWS_WITH(read(R"({"a": 1, "b": 1})"), "file: token 'b': its number 1 is that of 'a' already");
  for (auto const* number : {"-1", "1.0", "\"1\"", "16777216", "null"})
    CHECK_THROWS_WITH(read(("{\"a\": " + std::string(number) + "}").c_str()),
                      "file: token 'a': a token with a number from 0 up to 16777216 is expected");
  CHECK_THROWS_WITH(read(R"({"": 1})"), contains("file: token '': a token with a number"));
}

}  // namespace io_token_list_tests
