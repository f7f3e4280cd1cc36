// Checks, before any computation, that a command overwrites none of the user's files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// An output file, and the option that names it: --json, or --out for the file's folder.
struct output_file {
  std::string option, path;
};

/// An input file, and its description for messages: an option, or a part of the run.
struct input_file {
  std::string what, path;
};

/// Checks that each output file can be written.  Throws data_error if an output file is also another output file, an
/// input file, or a file in an input folder.  Inputs are the data, the run's checkpoint and config.toml, every file
/// that an option names, and `more`.  Also throws if the path exists but is not a file, or if the file exists and
/// --force is not given.  Empty paths are skipped.  Links are resolved before paths are compared.
void expect_free(run_options const& o, std::vector<output_file> const& files, std::vector<input_file> const& more = {});

/// Calls expect_free() for the page --html and, if --out is given, for files with these names in that folder.
void expect_free_in_folder(run_options const& o, std::vector<std::string> const& names);

/// Checks the folder --out of train.  Throws data_error if it has a config.toml or metrics.csv that no run wrote, or if
/// it is the folder of published weights.  An earlier run in this folder is renamed later, and not replaced.
void expect_own_folder(run_options const& o);

}  // namespace triad::programs
