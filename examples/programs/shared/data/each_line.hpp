// Calls a function for each line of a file.  Error messages name the file and the line.
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

/// Returns a message about a line, with the file and the line number in front.  If `what` begins with a column, as in
/// "column 3:", the column follows the line number.
inline std::string told_at(std::string const& path, long number, std::string const& what) {
  std::string_view const column = "column ";
  auto const digits = what.find_first_not_of("0123456789", column.size());
  bool const has_column =
      what.starts_with(column) && digits != std::string::npos && digits > column.size() && what[digits] == ':';
  auto const rest = std::string_view(what).substr(has_column ? column.size() : 0);
  return fmt::format("{}:{}:{}{}", path, number, has_column ? "" : " ", rest);
}

/// Calls f(line) or f(line, number) for each nonempty line of a text file, gzipped or not.  If f throws data_error,
/// throws it again, with file and line before the message and `advice` after it.
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
