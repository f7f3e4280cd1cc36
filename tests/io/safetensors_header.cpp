// Tests the header of a safetensors file: which tensors it describes, and that headers of any other form are refused.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/safetensors_header.hpp"

#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace io_safetensors_header_tests {

using namespace triad;
using triad::test::contains;

detail::safetensors_header read(std::string const& text) {
  static std::string const file = "t.safetensors";
  return {file, text.data(), text.data() + text.size()};
}
void expect_refusal(std::string const& header, std::string const& part) {
  INFO(header.substr(0, 200));
  CHECK_THROWS_AS(read(header), data_error);
  CHECK_THROWS_WITH(read(header), contains(part) && contains("t.safetensors, byte "));
}
std::string one(std::string const& body) { return "{\"a\":{" + body + "}}"; }

TEST_CASE("a header's tensors and texts are recorded by name") {
  auto const header = read(R"({"__metadata__":{"kind":"x"},"b":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]},)"
                           R"("a":{"data_offsets":[0,8],"shape":[],"dtype":"F64"}})");
  CHECK(header.metadata == std::map<std::string, std::string>{{"kind", "x"}});
  REQUIRE(header.tensors.size() == 2);
  auto const& b = header.tensors.at("b");
  CHECK((b.type == "F32" && b.begin == 8 && b.end == 32 && b.count() == 6));
  CHECK(b.shape == std::vector<index_t>{2, 3});
  CHECK(b.where == 8 + 34);  // after the opening brace; the header begins at byte 8
  CHECK(header.tensors.at("a").count() == 1);
  CHECK(shape_text({2, 3}) == "(2, 3)");
  CHECK(shape_text({}) == "()");
  CHECK(read("{}").tensors.empty());
}

TEST_CASE("metadata of null are none, and any text is a type") {
  auto const header = read(R"({"__metadata__":null,"a":{"dtype":"F33 \n","shape":[3],"data_offsets":[0,5]}})");
  CHECK(header.metadata.empty());
  CHECK(header.tensors.at("a").type == "F33 \n");
  CHECK(detail::type_text(header.tensors.at("a").type) == "\"F33 ?\"");
  CHECK(detail::type_text("F8_E8M0") == "F8_E8M0");
}

TEST_CASE("members of a tensor's entry that the format does not have are read over, whatever they hold") {
  for (std::string const extra :
       {"1", "-1", "1.5", "true", "null", "\"text\"", "{}", "[]",
        R"({"dtype":"F64","x":[1,{"shape":[null,-2]}],"y":{}})", R"([[],[[{"data_offsets":[0]}]],"shape"])"}) {
    CAPTURE(extra);
    for (auto const& body : {R"("extra":)" + extra + R"(,"dtype":"F32","shape":[2],"data_offsets":[0,8])",
                             R"("dtype":"F32","extra":)" + extra + R"(,"shape":[2],"data_offsets":[0,8])",
                             R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"extra":)" + extra}) {
      auto const header = read("{\"a\":{" + body + R"(},"b":{"dtype":"U8","shape":[],"data_offsets":[8,9]}})");
      auto const& a = header.tensors.at("a");
      CHECK((a.type == "F32" && a.begin == 0 && a.end == 8 && a.shape == std::vector<index_t>{2}));
      CHECK(header.tensors.at("b").end == 9);
    }
  }
  auto const deep = std::string(100000, '[') + std::string(100000, ']');
  CHECK(read(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4],"extra":)" + deep)).tensors.size() == 1);
}

TEST_CASE("names from a file are printed short and without control characters") {
  CHECK(detail::printable("a\n\x7f\x1b[31m") == "\"a???[31m\"");
  CHECK(detail::printable("abcdef", 3) == "\"abc...\"");
}

TEST_CASE("a header that is not the format's is refused with its byte") {
  expect_refusal("{", "JSON");
  expect_refusal("{}{}", "JSON");
  expect_refusal(std::string("{}\0{}", 5), "byte 10: expected a header in JSON, found a zero byte");
  expect_refusal("{\"a\":}", "byte 14");
  expect_refusal("{\"\xff\":1}", "JSON");
  expect_refusal("{\"a\":1}", "no number");
  expect_refusal("{\"a\":null}", "null");
  expect_refusal("{\"a\":\"text\"}", "\"text\"");
  expect_refusal("{\"a\":[]}", "no list");
  expect_refusal("{\"__metadata__\":{\"x\":1}}", "found 1");
  expect_refusal("{\"__metadata__\":{\"x\":{}}}", "no object");
  expect_refusal("{\"__metadata__\":{\"x\":\"1\",\"x\":\"2\"}}", "\"x\" again");
  expect_refusal("{\"__metadata__\":{},\"__metadata__\":{}}", "another");
  expect_refusal("{\"__metadata__\":null,\"__metadata__\":{}}", "another");
  expect_refusal("{\"__metadata__\":{\"x\":null}}", "null");
  expect_refusal(one(""), "a dtype for tensor \"a\"");
  expect_refusal(one(R"("dtype":"F32","shape":[1])"), "a data_offsets");
  expect_refusal(one(R"("extra":{"dtype":"F32"},"shape":[1],"data_offsets":[0,4])"), "a dtype for tensor \"a\"");
  expect_refusal(one(R"("extra":[[1,{"b":)"), "JSON");
  expect_refusal(one(R"("dtype":"F32","dtype":"F32","shape":[1],"data_offsets":[0,4])"), "one dtype");
  expect_refusal(one(R"("dtype":"F32","shape":[-1],"data_offsets":[0,4])"), "-1");
  expect_refusal(one(R"("dtype":"F32","shape":[1.0],"data_offsets":[0,4])"), "integer");
  expect_refusal(one(R"("dtype":"F32","shape":[[1]],"data_offsets":[0,4])"), "no list");
  expect_refusal(one(R"("dtype":"F32","shape":1,"data_offsets":[0,4])"), "no number");
  expect_refusal(one(R"("dtype":["F32"],"shape":[1],"data_offsets":[0,4])"), "no list");
  expect_refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[0])"), "two data_offsets");
  expect_refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,4,8])"), "two data_offsets");
  expect_refusal(one(R"("dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,4])"), "2^63");
  expect_refusal("{\"a\":" + std::string(100000, '[') + "}", "no list");
  expect_refusal("{\"a\":" + std::string(100000, '{') + "}", "byte");
}

TEST_CASE("a shape of too many extents, or a name twice, is refused where it stands") {
  std::string extents = "1";
  for (int i = 1; i < 65; ++i) extents += ",1";
  expect_refusal(one("\"shape\":[" + extents + "]"), "at most 64 extents");
  expect_refusal(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{}})", "\"a\" again");
  CHECK_THROWS_WITH(read("[]"), contains("byte 9: expected no list here"));
}

}  // namespace io_safetensors_header_tests
