// Reads config.toml, the options of a run, with toml++. Also quotes strings for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace triad::programs {

/// One setting of a config file: the current name of an option, and its value as on a command line.  A list has several
/// values.
struct config_item {
  std::string name;
  std::vector<std::string> values;

  /// Returns all values as one text, separated by commas.
  std::string text() const;
};

/// Reads all lines of a file, in order. Throws data_error with file, line and column.
std::vector<config_item> read_config(std::string const& file);

/// Returns the value of one option in a file; empty if the file or the option does not exist.
std::string config_value(std::string const& file, std::string const& name);

/// Returns the text in quotes, escaped as TOML requires. Throws data_error if it is not UTF-8.
std::string toml_text(std::string const& text);

/// Returns the name of the program that wrote a config.toml with these lines.  The name is the value of `program`, or
/// it follows from an option that only one program has; otherwise it is empty.
std::string owner_of(std::vector<config_item> const& items);

}  // namespace triad::programs
