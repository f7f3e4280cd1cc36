// Tests that writing a new data set never overwrites other data.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/new_data.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/io/scratch_folder.hpp"

namespace programs_new_data_tests {

using namespace triad::programs;
using triad::test::contains;

TEST_CASE("new data are written over nothing but themselves, and none of them where one is there") {
  triad::test::scratch_folder const folder;
  auto const made = folder / "made";
  auto const text_of = [](std::string const& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  write_data(made, {{"train.tsv", "a\tb\n", "1 pair"}, {"dev.tsv", "", {}}});
  CHECK(text_of(made + "/train.tsv") == "a\tb\n");
  write_data(made, {{"train.tsv", "a\tb\n", "1 pair"}, {"dev.tsv", "", {}}});  // the same data again
  auto const refused = [&](std::vector<new_file> const& files, char const* name) {
    CAPTURE(name);
    CHECK_THROWS_WITH(write_data(made, files),
                      contains(std::string(name) + " is there, with other data: give another"));
  };
  refused({{"new.tsv", "a\n", {}}, {"train.tsv", "a\tc\n", {}}}, "train.tsv");
  refused({{"new.tsv", "a\n", {}}, {"train.tsv", "a\tb\nc\td\n", {}}}, "train.tsv");
  refused({{"new.tsv", "a\n", {}}, {"train.tsv", "a\tb", {}}}, "train.tsv");
  refused({{"new.tsv", "a\n", {}}, {"dev.tsv", "a\tb\n", {}}}, "dev.tsv");
  std::ofstream(made + "/train.log") << "no data";
  write_data(made, {{"train.tsv", "a\tb\n", "1 pair"}});
  CHECK_THROWS_WITH(write_data(made, {{"new.tsv", "a\n", {}}, {"train.en", "a\n", {}}, {"train.zh", "b\n", {}}}),
                    contains("train.tsv is there, of another data set: give another"));
  std::ofstream(made + "/test.tsv.gz") << "of another";
  refused({{"new.tsv", "a\n", {}}, {"test.tsv", "a\tb\n", {}}}, "test.tsv.gz");
  CHECK_FALSE(std::filesystem::exists(made + "/new.tsv"));
  CHECK(text_of(made + "/train.tsv") == "a\tb\n");
}

}  // namespace programs_new_data_tests
