// What a program prints: no control characters of others, and whether it arrived; and whether standard input was read
// to its end.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "triad/core/errors.hpp"

namespace triad::apps {

/// What somebody else wrote, for a terminal: control characters but line ends and tabs become '?'.
inline std::string printable(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == '\x7f') c = '?';
  return text;
}

/// Throws data_error where it did not, as on a full disk.
inline void expect_all_printed() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
    throw data_error("the output could not be written, not all of it is there: is the disk full?");
}

/// Behind the last line of standard input: throws data_error where that was none, but a failure to read.
inline void expect_all_read() {
  if (std::ferror(stdin) != 0)
    throw data_error("standard input cannot be read to its end: " + std::generic_category().message(errno) +
                     "; give a file or a pipe");
}

}  // namespace triad::apps
