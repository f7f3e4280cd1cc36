// Iterates over the lines of a file; errors have file and line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "shared/report/refuse.hpp"
#include "triad/core/errors.hpp"
#include "triad/io/text/gz_lines.hpp"

namespace triad::programs {

/// What is wrong with a line of a file, by file and line; what begins with "column 3:" has its column after them.
inline std::string told_at(std::string const& path, long number, std::string const& what) {
  std::string_view const column = "column ";
  auto const digits = what.find_first_not_of("0123456789", column.size());
  bool const has_column =
      what.starts_with(column) && digits != std::string::npos && digits > column.size() && what[digits] == ':';
  auto const rest = std::string_view(what).substr(has_column ? column.size() : 0);
  return fmt::format("{}:{}:{}{}", path, number, has_column ? "" : " ", rest);
}

/// f(line), or f(line, number), for each line of a text, gzipped or not, that is not empty.  A data_error of f is
/// told_at() its line; `advice` stands at its end.
template <class F>
void each_line(std::string const& path, F const& f, std::string const& advice = {}) {
  text::gz_lines lines(path);
  for (std::string line; lines.next_text(line);) {
    if (line.empty()) continue;
    try {
      if constexpr (std::is_invocable_v<F const&, std::string const&, long>)
        f(line, lines.number());
      else
        f(line);
    } catch (data_error const& e) {
      refuse("{}{}", told_at(path, lines.number(), e.what()), advice);
    }
  }
}

}  // namespace triad::programs
