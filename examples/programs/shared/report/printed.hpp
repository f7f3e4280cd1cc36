// Replaces control characters in texts from users and files.  Checks that the output was written and that standard
// input was read to its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>
#include <system_error>

#include "triad/core/errors.hpp"

namespace triad::programs {

namespace detail {

/// Returns the number of bytes of the UTF-8 character at the start of the text.  Returns 0 if the text does not start
/// with one.
inline std::size_t bytes_of_character(std::string_view text) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t const size = byte(0) < 0x80   ? 1
                           : byte(0) < 0xc2 ? 0
                           : byte(0) < 0xe0 ? 2
                           : byte(0) < 0xf0 ? 3
                           : byte(0) < 0xf5 ? 4
                                            : 0;
  if (text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(i) & 0xc0U) != 0x80U) return 0;
  return size;
}

/// Returns true if a terminal would act on this character instead of showing it.  Such characters are the control
/// characters of C0, DEL and C1, line and paragraph separators, and characters that change the direction of the text.
inline bool commands_terminal(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]) < ' ' || character[0] == '\x7f';
  if (character.size() == 2) return character < "\xc2\xa0";
  return (character >= "\xe2\x80\xa8" && character <= "\xe2\x80\xae") ||
         (character >= "\xe2\x81\xa6" && character <= "\xe2\x81\xa9");
}

/// Replaces such characters by '?', except for the control characters in `allowed`.
inline std::string shown(std::string_view text, std::string_view allowed) {
  std::string result;
  while (!text.empty()) {
    auto const size = bytes_of_character(text);
    auto const character = text.substr(0, std::max<std::size_t>(size, 1));
    bool const stays = size > 0 && (!commands_terminal(character) || allowed.find(character) != std::string_view::npos);
    stays ? void(result += character) : void(result += '?');
    text.remove_prefix(character.size());
  }
  return result;
}

}  // namespace detail

/// Returns a printable form of a text from a user or a file.  Replaces each byte that is not UTF-8, and each control
/// character except line ends and tabs, by '?'.  Do not call it for texts that are written to files or as JSON, which
/// must keep every byte.
inline std::string printable(std::string_view text) { return detail::shown(text, "\n\t"); }

/// Returns a printable form of a name within a line or a table cell.  Replaces line ends and tabs, too.
inline std::string printable_name(std::string_view text) { return detail::shown(text, ""); }

/// Returns the beginning of printable_name(text) for a message: at most `most` bytes, without cutting a UTF-8
/// character.  Appends "..." if the text is longer.
inline std::string shortened(std::string_view text, std::size_t most = 60) {
  auto end = std::min(most, text.size());
  if (end < text.size())
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;
  return printable_name(text.substr(0, end)) + (end < text.size() ? "..." : "");
}

/// Throws data_error if the output was not written, for example because the disk is full.
inline void expect_all_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw data_error("the output could not be written, not all of it is there: is the disk full?");
}

/// Throws data_error if standard input ended because of a read error.  Must be called after the last line has been
/// read.
inline void expect_all_read() {
  if (std::ferror(stdin) != 0)
    throw data_error("standard input cannot be read to its end: " + std::generic_category().message(errno) +
                     "; give a file or a pipe");
}

}  // namespace triad::programs
