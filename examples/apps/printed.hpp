// What a program prints: no control characters of others, and whether it arrived.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <string>

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

}  // namespace triad::apps
