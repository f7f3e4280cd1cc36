// Writes a new data set without overwriting another one.
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

/// Writes the files of a new data set, and prints their paths.  Before it writes anything, throws data_error if a file
/// already exists with other content, or gzipped.  If its content is the same, the file may be written again.
void write_data(std::string const& folder, std::vector<new_file> const& files);

}  // namespace triad::programs
