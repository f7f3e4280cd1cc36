// Tests the reading of config.toml, and how texts are stored in it.
// SPDX-License-Identifier: Apache-2.0
#include "shared/cli/config.hpp"

#include <fstream>
#include <string>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_config_tests {

using namespace triad::programs;
using triad::test::contains;

TEST_CASE("a number of 64 bits in a config file is read, with a comment after it too, and a line of any length") {
  triad::test::scratch_folder const folder;
  auto const file = folder / "config.toml";
  std::ofstream(file) << "seed = 18446744073709551615  # the largest\nout = \"" << std::string(300'000, 'a')
                      << "\"\nwidth = 64\n";
  auto const found = read_config(file);
  REQUIRE(found.size() == 3);
  CHECK(found[0].text() == "18446744073709551615");
  CHECK(found[2].text() == "64");
}

TEST_CASE("a config file that toml++ does not expect is refused with its name") {
  triad::test::scratch_folder const folder;
  for (auto const* text : {"[!]\n", "[[[a]]]\n", "width = [\n", "= 1\n"}) {
    auto const file = triad::test::saved(folder, text);
    CHECK_THROWS_WITH(read_config(file), contains(file) && contains("expected lines as width = 64"));
  }
}

TEST_CASE("characters beyond ASCII are in texts and comments, and elsewhere are refused with their place") {
  triad::test::scratch_folder const folder;
  auto const read = [&](std::string const& text) { return read_config(triad::test::saved(folder, text)); };
  std::string const mark = "\xef\xbb\xbf";  // the byte order mark
  for (auto const& text :
       {mark + R"(a = "é"  # é)", std::string(R"(a = """"é"""""  # é)"), std::string(R"(a = 'é\' # 'é)"),
        std::string("a = '''\né'\n'''  # é"), std::string(R"(a = "\"é" # ")")})
    CHECK_THAT(read(text).at(0).text(), contains("é"));
  for (auto const* text : {"b = 1\na = é\n", "# é\na = é\n", "b = ''\na = é\n"})
    CHECK_THROWS_WITH(read(text), contains("file:2:5: ") && contains("expected lines as width = 64"));
  CHECK_THROWS_WITH(read(R"(a = "\é")"), contains("file:1:7: "));
  CHECK(read("a = \"\"\"x\\\n  y\"\"\"\n").at(0).text() == "xy");
}

TEST_CASE("what config.toml cannot keep is refused when it is written, not lost") {
  CHECK(toml_text("d\xc3\xa9\t\"") == R"("d\u00E9\t\"")");
  CHECK_THROWS_WITH(toml_text("d\xe9"), contains("is not UTF-8 at byte 2; convert it, or give another name"));
}

}  // namespace programs_config_tests
