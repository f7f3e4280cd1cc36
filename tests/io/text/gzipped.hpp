// Writes a gzipped file for tests of readers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <string>

namespace triad::test {

inline std::string write_gzipped(std::string const& path, std::string const& content) {
  auto* const file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return path;
}

}  // namespace triad::test
