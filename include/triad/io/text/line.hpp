// A line of text without its line end; the first line of a text without a byte order mark.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace triad::text {

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // of UTF-8

/// Removes the carriage return of a CRLF and, from the first line, the byte order mark.
inline void trim_line(std::string& line, bool first) {
  if (line.ends_with('\r')) line.pop_back();
  if (first && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
}

}  // namespace triad::text
