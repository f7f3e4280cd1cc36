// Writes a new data set.  Does not overwrite another data set.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace triad::programs {

/// A file of a new data set.
struct new_file {
  std::string name, content;
  std::string holds;  // a summary such as "40 sentences", which is printed after the path; or empty
};

/// Writes the files of a new data set, and prints their paths.  Throws data_error, before it writes anything, if a file
/// already exists with other content, gzipped, or in another format.  A file with the same content is written again.
void write_data(std::string const& folder, std::vector<new_file> const& files);

}  // namespace triad::programs
