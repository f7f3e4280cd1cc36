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
  text::gz_lines lines(path);
  for (std::string line; lines.next(line);) {
    if (line.empty()) continue;
    try {
      f(line);
    } catch (data_error const& e) {
      std::string const what = e.what();
      auto const place = path + ":" + std::to_string(lines.number());
      throw data_error(place + (what.starts_with("column ") ? ":" + what.substr(7) : ": " + what) + advice);
    }
  }
}

}  // namespace triad::apps
