// Published data, which tests read if they are available. They are in $TRIAD_DATA, or in ../shared/data if TRIAD_DATA
// is not set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/catch.hpp"

namespace triad::test {

/// Returns the path of a file or folder of the published data, even if it does not exist.
inline std::filesystem::path published(std::string const& name) {
  char const* const from = std::getenv("TRIAD_DATA");
  return std::filesystem::path(from ? from : "../shared/data") / name;
}

/// Returns whether `path`, which should contain `what`, is missing. If so, prints a message. The test then has nothing
/// to do.
inline bool is_missing(std::filesystem::path const& path, std::string const& what) {
  if (std::filesystem::exists(path)) return false;
  WARN("no published " << what << " in " << path.string() << ": TRIAD_DATA names the folder of data sets");
  return true;
}

}  // namespace triad::test
