// Checks before any computation that the output of a command overwrites no file of the user.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace triad::programs {

/// A file that is to be written, and what names it on the command line: --json, or --out for its folder.
struct output_file {
  std::string option, path;
};

/// A file that is read, and what it is to the user: an option, or a part of the run.
struct input_file {
  std::string what, path;
};

/// Throws data_error where one of the files is also another of them, where the command reads it or its folder (the
/// data, the run's checkpoint and config.toml, any file that an option names, and those of `more`), where it is no
/// file, or where it is there already, unless --force replaces it.  A path that is empty is no file.  Paths are
/// compared by what they lead to: links are no way round.
void expect_free(run_options const& o, std::vector<output_file> const& files, std::vector<input_file> const& more = {});

/// The same of files of these names in the folder --out, where there is one, and of the page --html.
void expect_free_in_folder(run_options const& o, std::vector<std::string> const& names);

/// Of train: throws data_error where --out has a config.toml or metrics.csv that no run wrote, or is the folder of
/// published weights.  An earlier run in it is set aside, not replaced.
void expect_own_folder(run_options const& o);

}  // namespace triad::programs
