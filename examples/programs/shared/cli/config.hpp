// Reads config.toml, the options of a run, with toml++, and quotes strings for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace triad::programs {

/// A line of a config file: an option, under the name that it has now, and its value, or values of a list, as a command
/// line has them.
struct config_item {
  std::string name;
  std::vector<std::string> values;

  /// The values with commas between them.
  std::string text() const;
};

/// Reads all lines of a file, in order. Throws data_error with file, line and column.
std::vector<config_item> read_config(std::string const& file);

/// Reads one value of a file; nothing if there is no such option or no such file.
std::string config_value(std::string const& file, std::string const& name);

/// A text in quotes, escaped as TOML requires. Throws data_error if it is not UTF-8.
std::string toml_text(std::string const& text);

/// The program whose run a config.toml of these is of, by `program`, or by an option that no other program has;
/// nothing where neither is there.
std::string owner_of(std::vector<config_item> const& items);

}  // namespace triad::programs
