// Checks before any computation that a command does not overwrite the user's files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// An output file, and the option that names it, such as --json, or --out for a file in that folder.
struct output_file {
  std::string option, path;
};

/// An input file, and its description for messages: an option, or a part of the run.
struct input_file {
  std::string what, path;
};

/// Checks that each output file can be written.  Throws data_error if two output files are the same file, or if an
/// output file is an input file or in an input folder.  Inputs are the data, the run's checkpoint and config.toml,
/// every file that an option names, and `more`.  Also throws if a path exists but is not a file, or if the file exists
/// and --force is not given.  Skips empty paths.  Resolves links before it compares paths.
void expect_free(run_options const& o, std::vector<output_file> const& files, std::vector<input_file> const& more = {});

/// Calls expect_free() for the page of --html.  If --out is given, also calls it for files with these names in the
/// folder of --out.
void expect_free_in_folder(run_options const& o, std::vector<std::string> const& names);

/// Checks the folder --out of `train`.  Throws data_error if the folder has a config.toml or metrics.csv that no run
/// wrote, or if it is the folder of published weights.  An earlier run in the folder is no error, because it is renamed
/// later and not replaced.
void expect_own_folder(run_options const& o);

}  // namespace triad::programs
