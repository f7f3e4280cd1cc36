// Tests JSON files: if a file is not JSON, the error has the name of the file and the line.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/json_file.hpp"

#include <fstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace io_json_file_tests {

using namespace triad;
using triad::test::contains;

TEST_CASE("a file of JSON that is too deep is refused with its name") {
  test::scratch_folder const folder;
  std::ofstream(folder / "deep.json") << std::string(200'000, '[');
  CHECK_THROWS_WITH(read_json_file(folder / "deep.json"),
                    contains("deep.json: expected JSON of at most 64 levels, found more"));
}

TEST_CASE("a file of JSON is read as the type that is asked for") {
  test::scratch_folder const folder;
  std::ofstream(folder / "a.json") << "{\"b\": 1,\n \"a\": [2]}\n";
  CHECK(read_json_file(folder / "a.json").at("a").at(0) == 2);
  CHECK(read_json_file<nlohmann::ordered_json>(folder / "a.json").dump() == "{\"b\":1,\"a\":[2]}");
}

TEST_CASE("what is no JSON is refused with the line and the byte") {
  test::scratch_folder const folder;
  auto const refused = [&](std::string const& text) {
    std::ofstream(folder / "bad.json", std::ios::binary) << text;
    try {
      (void)read_json_file(folder / "bad.json");
    } catch (data_error const& e) {
      return std::string(e.what()).substr((folder / "bad.json").size());
    }
    return std::string("taken");
  };
  CHECK(refused("{\"a\":\n  1,\n  x}") == ":3: expected JSON, found none from byte 14 on; was the file copied whole?");
  CHECK(refused("") == ":1: expected JSON, found none from byte 1 on; was the file copied whole?");
  CHECK(refused("[1]\n[2]").substr(0, 29) == ":2: expected JSON, found none");
  CHECK(refused("[1e999]") == ": there is a value that cannot be read: number overflow parsing '1e999'");
}

TEST_CASE("a path without a file of JSON is one clear message") {
  test::scratch_folder const folder;
  for (std::string const& path : {folder / "none.json", folder / "."})
    CHECK_THROWS_WITH(read_json_file(path),
                      path + ": expected a file of JSON, found none that can be read; give the path of one");
}

}  // namespace io_json_file_tests
