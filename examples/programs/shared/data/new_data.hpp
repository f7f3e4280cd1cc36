// Writes a new data set without overwriting another one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace triad::programs {

/// A file of a new data set.
struct new_file {
  std::string name, content;
  std::string holds;  // "40 sentences", which is said where it is written; or nothing
};

/// Writes the files of a new data set, and prints their names.  Nothing is written over: where one is there with other
/// content, or gzipped, data_error is thrown before the first is written.  The same again may be written again.
void write_data(std::string const& folder, std::vector<new_file> const& files);

}  // namespace triad::programs
