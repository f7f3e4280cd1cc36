// A run's options as TOML, as CLI11 reads them back.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <iomanip>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>

#include "triad/core/errors.hpp"

namespace triad::examples {

class toml_writer {
 public:
  toml_writer() { text_ << std::boolalpha << std::setprecision(17); }

  template <class V>
  toml_writer& put(char const* name, V const& value) {
    if constexpr (std::is_convertible_v<V const&, std::string>)
      text_ << name << " = \"" << std::string(value) << "\"\n";
    else
      text_ << name << " = " << value << "\n";
    return *this;
  }
  /// The same from every folder.  Throws data_error for a path that CLI11 would read back as another.
  toml_writer& put_path(char const* name, std::string const& path) {
    auto const whole = std::filesystem::absolute(path).string();
    if (whole.find_first_of("#\"'\\\n") != std::string::npos)
      throw data_error(
          whole +
          ": a path with #, a quote, \\ or a line end cannot be kept in config.toml; rename it, or make a link to it");
    return put(name, whole);
  }
  template <class List>
  toml_writer& put_list(char const* name, List const& values) {
    std::string all;
    for (auto const& v : values) all += (all.empty() ? "" : ", ") + std::to_string(v);
    text_ << name << " = [" << all << "]\n";
    return *this;
  }

  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
};

/// What a line `name = value` sets.
inline std::string toml_name(std::string const& line) { return line.substr(0, line.find(' ')); }

/// The lines of a TOML text but for those of these names.
inline std::string toml_without(std::string const& toml, std::set<std::string> const& names) {
  std::istringstream lines(toml);
  std::string rest;
  for (std::string line; std::getline(lines, line);)
    if (!names.contains(toml_name(line))) rest += line + "\n";
  return rest;
}

}  // namespace triad::examples
