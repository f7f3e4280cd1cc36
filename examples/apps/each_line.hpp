// The lines of a file, and what is wrong with one by file and line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triad/core/errors.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace triad::apps {

/// f(line) for each line of a file, gzipped or not, that is not empty.  A data_error of f gets file and line, and one
/// that begins with "column 3:" has its column behind them; `advice` stands at its end.
template <class F>
void each_line(std::string const& path, F const& f, std::string const& advice = {}) {
  std::string const column = "column ";
  text::gz_lines lines(path);
  for (std::string line; lines.next(line);) {
    if (line.empty()) continue;
    try {
      f(line);
    } catch (data_error const& e) {
      std::string const what = e.what();
      auto const place = path + ":" + std::to_string(lines.number());
      auto const digits = what.find_first_not_of("0123456789", column.size());
      bool const has_column =
          what.starts_with(column) && digits != std::string::npos && digits > column.size() && what[digits] == ':';
      throw data_error(place + (has_column ? ":" + what.substr(column.size()) : ": " + what) + advice);
    }
  }
}

}  // namespace triad::apps
