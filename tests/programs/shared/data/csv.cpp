// Tests CSV: quoted fields, and the position of a character of a field in the file.
// SPDX-License-Identifier: Apache-2.0
#include "shared/data/csv.hpp"

#include "tests/catch.hpp"
#include "tests/programs/shared/scratch_file.hpp"
#include "triad/core/errors.hpp"

namespace programs_csv_tests {

using triad::test::scratch_file;

TEST_CASE("quoted fields hold commas, quotes and line ends, and know where each of their characters is") {
  scratch_file const file(
      "\xef\xbb\xbf"
      "a,b,c\r\n1,\"x,\"\"y\"\"\nzw\",\n\n,,\"\"\n\"1\r\n2\n\r\n\",\"\r\",3\r\n");
  triad::programs::csv_file csv(file.path);
  auto const b = csv.column("b");
  CHECK(csv.column("a") == 0);
  CHECK_FALSE(csv.find_column("d").has_value());
  CHECK_THROWS_AS(csv.column("d"), triad::data_error);
  REQUIRE(csv.next());
  CHECK(csv[0] == "1");
  CHECK(csv[b] == "x,\"y\"\nzw");
  CHECK(csv[2].empty());
  CHECK(csv.position(b, 0).line == 2);
  CHECK(csv.position(b, 0).column == 4);
  CHECK(csv.position(b, 3).column == 8);  // the y, which follows a doubled quote
  CHECK(csv.position(b, 7).line == 3);
  CHECK(csv.position(b, 7).column == 2);
  REQUIRE(csv.next());
  CHECK((csv[0].empty() && csv[1].empty() && csv[2].empty()));
  CHECK(csv.position(0, 0).line == 5);
  REQUIRE(csv.next());
  CHECK(csv[0] == "1\r\n2\n\r\n");  // quoted text keeps its line ends
  CHECK(csv[1] == "\r");
  CHECK(csv[2] == "3");
  CHECK(csv.position(0, 3).line == 7);
  CHECK_FALSE(csv.next());
}

}  // namespace programs_csv_tests
