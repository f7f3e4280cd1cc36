// Prints a text for people. Control characters in names, words and paths are replaced before they reach the terminal.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "shared/report/printed.hpp"

namespace triad::programs {

template <class... Values>
void say(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(printable(fmt::format(text, std::forward<Values>(values)...)).c_str(), stdout);
}

/// Prints a line for people to standard error, because another program may read the answers from standard output.
/// Prints nothing if the text is empty.
inline void note(std::string_view program, std::string_view text) {
  if (text.empty()) return;
  std::fflush(stdout);  // the answers come first
  std::fprintf(stderr, "%s: note: %s\n", std::string(program).c_str(), printable(text).c_str());
}

/// Prints an answer of predict.  If standard output is a terminal, replaces control characters. A file or a pipe gets
/// all bytes unchanged.
inline void answer(std::string_view text, bool to_people = ::isatty(STDOUT_FILENO) != 0) {
  auto const shown = to_people ? printable(text) : std::string(text);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

}  // namespace triad::programs
