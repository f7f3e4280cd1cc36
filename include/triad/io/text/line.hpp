// Removes the line end of a line of text, and the byte order mark of a first line.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace triad::text {

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";  // in UTF-8

/// Removes a carriage return at the end of the line.  If `first` is true, also removes the byte order mark.
inline void trim_line(std::string& line, bool first) {
  if (line.ends_with('\r')) line.pop_back();
  if (first && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
}

}  // namespace triad::text
