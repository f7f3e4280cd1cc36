// Published data, which tests read if it is installed: in $TRIAD_DATA, or, if that is not set, in ../shared/data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"

namespace triad::test {

/// The path of this file or folder of the data, whether it exists or not.
inline std::filesystem::path published(std::string const& name) {
  char const* const from = std::getenv("TRIAD_DATA");
  return std::filesystem::path(from ? from : "../shared/data") / name;
}

/// Whether `path`, which contains `what`, is missing. If so, it prints that, and the test has nothing to do.
inline bool is_missing(std::filesystem::path const& path, std::string const& what) {
  if (std::filesystem::exists(path)) return false;
  WARN("no published " << what << " in " << path.string() << ": TRIAD_DATA names the folder of data sets");
  return true;
}

}  // namespace triad::test
