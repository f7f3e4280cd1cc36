// Reads config.toml, which has the options of a run, with toml++. Also quotes strings for such files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace triad::programs {

/// One option in a config file: its current name, and its value as on a command line. If the value is a list, there are
/// several values.
struct config_item {
  std::string name;
  std::vector<std::string> values;

  /// Returns all values as one text, separated by commas.
  std::string text() const;
};

/// Reads all lines of a file, in order. Throws data_error with file, line and column.
std::vector<config_item> read_config(std::string const& file);

/// Returns the value of one option in a file. Returns an empty text if the file or the option does not exist.
std::string config_value(std::string const& file, std::string const& name);

/// Returns the text in quotes, escaped as TOML requires. Throws data_error if the text is not UTF-8.
std::string toml_text(std::string const& text);

/// Returns the name of the program that wrote a config.toml with these lines.  The name is the value of `program`. If
/// there is no `program`, an option that only one program has gives the name. If there is no such option either,
/// returns an empty text.
std::string owner_of(std::vector<config_item> const& items);

}  // namespace triad::programs
