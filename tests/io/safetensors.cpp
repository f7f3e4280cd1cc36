// Tests safetensors files: the reader returns what was written, and an error in a file is reported with its position.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/safetensors.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"
#include "triad/core/random.hpp"

namespace io_safetensors_tests {

using namespace triad;
using triad::test::contains;
using triad::test::scratch_folder;

std::vector<std::byte> file_of(std::string const& header, std::size_t data_bytes,
                               std::uint64_t length = std::numeric_limits<std::uint64_t>::max()) {
  if (length == std::numeric_limits<std::uint64_t>::max()) length = header.size();
  std::vector<std::byte> all(8 + header.size() + data_bytes, std::byte{1});
  std::memcpy(all.data(), &length, 8);
  std::memcpy(all.data() + 8, header.data(), header.size());
  return all;
}

safetensors read(std::vector<std::byte> const& bytes) { return safetensors(bytes, "t.safetensors"); }

void expect_refusal(std::string const& header, std::size_t data_bytes, std::string const& part) {
  INFO(header);
  auto const bytes = file_of(header, data_bytes);
  CHECK_THROWS_AS(read(bytes), data_error);
  CHECK_THROWS_WITH(read(bytes), contains(part) && contains("t.safetensors, byte "));
}

std::string one(std::string const& body) { return "{\"a\":{" + body + "}}"; }

safetensors_writer example() {
  safetensors_writer w;
  w.add<double>("numbers/f64", {2, 2}, std::vector<double>{1.5, -2, 1e300, 0});
  w.add<float>("numbers/f32", {3}, std::vector<float>{1, 2.5f, -3});
  w.add<std::int64_t>("numbers/i64", {2}, std::vector<std::int64_t>{-5, std::int64_t{1} << 40});
  w.add<std::int32_t>("i32", {1, 1, 2}, std::vector<std::int32_t>{7, -7});
  w.add<std::uint8_t>("u8", {3}, std::vector<std::uint8_t>{0, 1, 255});
  std::vector<std::byte> const truth{std::byte{0}, std::byte{1}, std::byte{1}};
  w.add_bytes("truth", "BOOL", {3}, truth);
  w.add_bytes("half", "F16", {1}, std::span(truth).first(2));
  w.add_bytes("eight", "F8_E5M2", {1}, std::span(truth).first(1));
  w.add<double>("scalar", {}, std::vector<double>{42});
  w.add<float>("empty", {0, 5}, std::vector<float>{});
  w.text("kind", "an example \"with\" quotes, \xc3\xa9 and\nlines");
  return w;
}

TEST_CASE("what the writer writes the reader reads") {
  scratch_folder const folder;
  auto const path = folder / "all.safetensors";
  example().write(path);
  CHECK(folder.entries() == 1);
  safetensors const file(path);
  CHECK(file.text("kind") == "an example \"with\" quotes, \xc3\xa9 and\nlines");
  CHECK(file.tensors().size() == 10);
  CHECK(file.shape("numbers/f64") == std::vector<index_t>{2, 2});
  CHECK(file.read_as<double>("numbers/f64") == std::vector<double>{1.5, -2, 1e300, 0});
  CHECK(file.read_as<double>("numbers/f32") == std::vector<double>{1, 2.5, -3});
  CHECK(file.read_as<index_t>("numbers/i64") == std::vector<index_t>{-5, index_t{1} << 40});
  CHECK(file.read_as<index_t>("i32") == std::vector<index_t>{7, -7});
  CHECK(file.read_as<int>("u8") == std::vector<int>{0, 1, 255});
  CHECK(file.read_as<int>("truth") == std::vector<int>{0, 1, 1});
  CHECK(file.shape("scalar").empty());
  CHECK(file.number<double>("scalar") == 42);
  CHECK(file.read_as<float>("empty").empty());
  CHECK(file.bytes("half").size() == 2);
  auto const view = file.view<float>("numbers/f32");
  CHECK((view.extent(0) == 3 && view(1) == 2.5f));
  CHECK(file.view<std::uint8_t>("truth")(2) == 1);
}

TEST_CASE("the same content gives the same bytes, the largest elements first, the header padded to eight") {
  auto const bytes = example().bytes();
  CHECK(bytes == example().bytes());
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  CHECK(length % 8 == 0);
  auto const file = read(bytes);
  for (auto const& [name, record] : file.tensors()) CHECK(record.begin % find_element_type(record.type)->bytes() == 0);
  CHECK(file.record("numbers/f64").begin < file.record("numbers/f32").begin);
  CHECK(file.record("numbers/i64").begin < file.record("scalar").begin);
}

TEST_CASE("a tensor that does not lie at a multiple of its size is read all the same") {
  auto const bytes = file_of(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
      9);
  auto const file = read(bytes);
  auto const value = file.view<double>("b");
  CHECK(reinterpret_cast<std::uintptr_t>(value.data_handle()) % alignof(double) == 0);
  CHECK(value(0) == file.read_as<double>("b")[0]);
}

TEST_CASE("asking for what is not there says what is") {
  auto const file = read(example().bytes());
  CHECK_THROWS_WITH(file.record("nothing"), contains("\"nothing\"") && contains("\"empty\""));
  CHECK_THROWS_WITH(file.text("nothing"), contains("\"nothing\" in __metadata__"));
  CHECK_THROWS_WITH(file.view<float>("numbers/f64"), contains("expected F32") && contains("found F64"));
  CHECK_THROWS_WITH(file.read_as<index_t>("numbers/f64"), contains("expected integers") && contains("F64"));
  CHECK_THROWS_WITH(file.read_as<std::int32_t>("numbers/i64"), contains("fits I32") && contains("1099511627776"));
  CHECK_THROWS_WITH(file.read_as<std::uint8_t>("i32"), contains("-7"));
  CHECK(file.read_as<float>("half") == std::vector<float>{0x1p-16f});  // bits 0x0100
  CHECK_THROWS_WITH(file.read_as<float>("eight"), contains("F8_E5M2"));
  CHECK_THROWS_WITH(file.number<double>("numbers/f64"), contains("single number") && contains("(2, 2)"));
}

TEST_CASE("a file that ends early or claims too long a header is refused") {
  CHECK_THROWS_WITH(read({}), contains("byte 0") && contains("found 0 bytes"));
  CHECK_THROWS_WITH(read(std::vector<std::byte>(7)), contains("found 7 bytes"));
  CHECK_THROWS_WITH(read(file_of("{}", 0, 3)), contains("at most 2 bytes") && contains("one of 3"));
  CHECK_THROWS_WITH(read(file_of("{}", 0, std::uint64_t{1} << 63)), contains("byte 0"));
  CHECK_THROWS_WITH(read(file_of("", 0)), contains("begins with {"));
  CHECK_THROWS_WITH(read(file_of(" {}", 0)), contains("begins with {"));
  CHECK(read(file_of("{}", 0)).tensors().empty());
  CHECK(read(file_of("{}   ", 0)).tensors().empty());
  CHECK_THROWS_WITH(read(file_of("{}", 4)), contains("byte 10") && contains("4 bytes of no tensor"));
  auto whole = example().bytes();
  for (std::size_t cut = 0; cut < whole.size(); cut += 7)
    CHECK_THROWS_AS(read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)}), data_error);
}

TEST_CASE("tensors that overlap, leave gaps or claim bytes that are not there are refused") {
  expect_refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,0])"), 4, "in order");
  expect_refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])"), 4, "[0, 8]");
  expect_refusal(one(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])"), 4, "8 bytes for tensor \"a\", F32 (2)");
  expect_refusal(one(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])"), 8, "a gap up to 4");
  expect_refusal(one(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4])"), 4, "2^64");
  expect_refusal(one(R"("dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0])"), 0, "2^64");
  auto const two = [](std::string const& first, std::string const& second) {
    return R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + first +
           R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + second + "}}";
  };
  expect_refusal(two("[0,4]", "[2,6]"), 6, "an overlap from 2");
  expect_refusal(two("[0,4]", "[0,4]"), 4, "an overlap");
  expect_refusal(two("[0,4]", "[5,9]"), 9, "a gap");
  expect_refusal(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})", 2,
      "\"a\" again");
  expect_refusal(
      R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}})", 4,
      "an overlap");
  CHECK_NOTHROW(read(file_of(two("[4,8]", "[0,4]"), 8)));
  CHECK_NOTHROW(read(
      file_of(one(R"("dtype":"F32","shape":[0,9223372036854775807,9223372036854775807],"data_offsets":[0,0])"), 0)));
}

TEST_CASE("a type that is no number of C++, or not known, hinders only who reads that tensor") {
  struct {
    char const* type;
    char const* shape;
    std::size_t bytes;
  } const cases[] = {{"C64", "[3]", 24},  {"F8_E4M3FNUZ", "[3]", 3},  {"F8_E5M2FNUZ", "[3]", 3}, {"F8_E8M0", "[3]", 3},
                     {"F4", "[2,3]", 3},  {"F6_E2M3", "[4]", 3},      {"F6_E3M2", "[2,4]", 6},   {"F4", "[0]", 0},
                     {"U128", "[3]", 48}, {"F2 \x7f later", "[3]", 1}};
  for (auto const& c : cases) {
    CAPTURE(c.type, c.shape);
    auto const end = std::to_string(c.bytes), last = std::to_string(c.bytes + 4);
    auto const file = read(file_of(R"({"freqs":{"dtype":")" + std::string(c.type) + R"(","shape":)" + c.shape +
                                       R"(,"data_offsets":[0,)" + end + R"(]},"w":{"dtype":"F32","shape":[1],)" +
                                       R"("data_offsets":[)" + end + "," + last + "]}}",
                                   c.bytes + 4));
    CHECK(file.bytes("freqs").size() == c.bytes);
    CHECK(file.record("freqs").type == c.type);
    CHECK(file.read_as<float>("w").size() == 1);
    CHECK(file.view<float>("w").extent(0) == 1);
    CHECK_THROWS_AS(file.read_as<float>("freqs"), data_error);
    CHECK_THROWS_WITH(file.read_as<float>("freqs"),
                      contains("\"freqs\": type ") && contains(", expected one of F64, F32, I64") && contains("BF16;"));
    CHECK_THROWS_WITH(file.view<float>("freqs"), contains("expected F32 for tensor \"freqs\""));
  }
  CHECK_THROWS_WITH(read(file_of(one(R"("dtype":"F2\u007f","shape":[1],"data_offsets":[0,1])"), 1)).read_as<int>("a"),
                    contains("\"a\": type \"F2?\", expected one of"));
}

TEST_CASE("known types have the bytes that their bits make, and those of unknown types follow the others") {
  expect_refusal(one(R"("dtype":"C64","shape":[1],"data_offsets":[0,4])"), 4, "8 bytes for tensor \"a\", C64 (1)");
  expect_refusal(one(R"("dtype":"F4","shape":[3],"data_offsets":[0,2])"), 2,
                 "whole bytes for tensor \"a\", found 12 bits");
  expect_refusal(one(R"("dtype":"F6_E2M3","shape":[4],"data_offsets":[0,4])"), 4, "3 bytes for tensor \"a\"");
  expect_refusal(one(R"("dtype":"X","shape":[1],"data_offsets":[0,4])"), 5, "1 bytes of no tensor");
  expect_refusal(one(R"("dtype":"X","shape":[4294967296,4294967296,4294967296],"data_offsets":[0,0])"), 0, "2^64");
  safetensors_writer w;
  w.add_bytes("a", "F4", {4}, std::vector<std::byte>(2));
  CHECK_THROWS_AS(w.add_bytes("b", "F4", {3}, std::vector<std::byte>(1)), contract_violation);
  CHECK(read(w.bytes()).bytes("a").size() == 2);
}

TEST_CASE("a tensor that metadata call another's alias is stored under that one's name") {
  auto const file = read(file_of(R"({"__metadata__":{"b":"a","c":"b","d":"none","a":"b"},)"
                                 R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                 1));
  REQUIRE(file.stored_name("b"));
  CHECK(*file.stored_name("b") == "a");
  CHECK(*file.stored_name("a") == "a");  // a tensor's name has precedence over an alias
  for (auto const* name : {"c", "d", "e"}) CHECK_FALSE(file.stored_name(name));
  CHECK_FALSE(file.has("b"));
}

TEST_CASE("PyTorch's own archive and an index of several files are named") {
  auto const refused = [](std::string const& content, char const* message) {
    CHECK_THROWS_WITH(safetensors(std::as_bytes(std::span(content)), "m.bin"),
                      contains(message) && contains("m.bin, byte 0: "));
  };
  refused(std::string("PK\3\4\0\0\10\10", 8) + "archive/data.pkl", "a zip archive, as torch.save writes");
  refused(R"({"metadata": {}, "weight_map": {"w": "model-00001-of-00002.safetensors"}})",
          "JSON, as an index of several files is");
}

TEST_CASE("a Git LFS pointer in place of the file is named") {
  std::string const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n";
  CHECK_THROWS_WITH(safetensors(std::as_bytes(std::span(pointer)), "m.safetensors"),
                    contains("m.safetensors: a Git LFS pointer, expected the file") && contains("git lfs pull"));
  for (auto const& other : {pointer.substr(0, 8), pointer.substr(0, 20), "version 2: " + pointer})
    CHECK_THROWS_WITH(safetensors(std::as_bytes(std::span(other)), "m.safetensors"),
                      contains("byte 0: expected a header"));
}

TEST_CASE("bytes changed at random are read or refused, never worse") {
  auto const whole = example().bytes();
  random_stream random(2026, 7);
  int refused = 0;
  for (int round = 0; round < 4000; ++round) {
    auto bytes = whole;
    for (auto changes = 1 + random.below(4); changes > 0; --changes) {
      auto const at = random.below(static_cast<std::uint32_t>(bytes.size()));
      switch (random.below(5)) {
        case 0:
          bytes[at] = static_cast<std::byte>(random.below(256));
          break;
        case 1:
          bytes[at] = static_cast<std::byte>("0123456789{}[]\",:-."[random.below(19)]);
          break;
        case 2:
          bytes.erase(bytes.begin() + at);
          break;
        case 3:
          bytes.insert(bytes.begin() + at, bytes[random.below(static_cast<std::uint32_t>(bytes.size()))]);
          break;
        default:
          bytes.resize(at + 1);
          break;
      }
    }
    try {
      auto const file = read(bytes);
      double sum = 0;
      std::size_t held = 0;
      for (auto const& [name, record] : file.tensors()) {
        held += file.bytes(name).size();
        for (auto b : file.bytes(name)) sum += static_cast<double>(b);
        if (auto const* const type = find_element_type(record.type); type && type->readable)
          for (double v : file.read_as<double>(name)) sum += v;
        if (record.type == "F32")
          sum += file.view<float>(name).extent(0) > 0 ? static_cast<double>(file.view<float>(name)(0)) : 0;
      }
      (void)sum;  // all bytes can be read
      std::uint64_t header = 0;
      std::memcpy(&header, bytes.data(), sizeof header);
      CHECK(8 + header + held == bytes.size());  // every byte belongs to exactly one tensor
    } catch (data_error const& e) {
      ++refused;
      CHECK(std::string(e.what()).find("byte ") != std::string::npos);
      CHECK(std::string(e.what()).size() < 1000);
    }
  }
  CHECK(refused > 1000);
}

TEST_CASE("a path that cannot be read or written is one clear message") {
  scratch_folder const folder;
  CHECK_THROWS_WITH(safetensors(folder / "absent"), contains("absent") && contains("found none"));
  CHECK_THROWS_WITH(safetensors(folder / "."), contains("expected a safetensors file"));
  CHECK_THROWS_AS(example().write(folder / "no/such/folder/x"), data_error);
  CHECK_THROWS_WITH(example().write(folder / "no/such/folder/x"),
                    contains("no/such/folder/x: cannot be written: No such file or directory"));
  std::filesystem::create_directory(folder / "taken");
  CHECK_THROWS_AS(example().write(folder / "taken"), data_error);
  CHECK(folder.entries() == 1);
}

TEST_CASE("misuse of the writer is a contract violation") {
  safetensors_writer w;
  w.add<float>("a", {2}, std::vector<float>{1, 2});
  CHECK_THROWS_AS(w.add<float>("a", {1}, std::vector<float>{1}), contract_violation);
  CHECK_THROWS_AS(w.add<float>("b", {3}, std::vector<float>{1, 2}), contract_violation);
  CHECK_THROWS_AS(w.add_bytes("c", "F7", {0}, {}), contract_violation);
  w.text("x", "\xff");
  CHECK_THROWS_AS(w.bytes(), contract_violation);
}

}  // namespace io_safetensors_tests
