// Tests that Git LFS pointers are recognised by their first bytes.
// SPDX-License-Identifier: Apache-2.0
#include "triad/io/lfs_pointer.hpp"

#include <string>

#include "tests/catch.hpp"

namespace io_lfs_pointer_tests {

using namespace triad;

TEST_CASE("only a text that begins as a pointer does is one") {
  std::string const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab\nsize 12345\n";
  CHECK_THROWS_AS(refuse_lfs_pointer("f", pointer), data_error);
  CHECK_THROWS_WITH(
      refuse_lfs_pointer("f", pointer),
      "f: a Git LFS pointer, expected the file that it stands for; run `git lfs pull` where it was cloned");
  for (auto const& other : {std::string(), std::string("version"), " " + pointer, pointer.substr(0, 30)})
    CHECK_NOTHROW(refuse_lfs_pointer("f", other));
}

}  // namespace io_lfs_pointer_tests
