// Published data, which tests read where it is installed: in $TRIAD_DATA, without that in ../shared/data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"

namespace triad::test {

/// Where this file or folder of the data would be.
inline std::filesystem::path published(std::string const& name) {
  char const* const from = std::getenv("TRIAD_DATA");
  return std::filesystem::path(from ? from : "../shared/data") / name;
}

/// Whether `path`, which has `what` in it, is not there: then the test says so, and has nothing to do.
inline bool is_missing(std::filesystem::path const& path, std::string const& what) {
  if (std::filesystem::exists(path)) return false;
  WARN("no published " << what << " in " << path.string() << ": TRIAD_DATA names the folder of data sets");
  return true;
}

}  // namespace triad::test
