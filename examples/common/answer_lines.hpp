// What predict answers: one sentence of the command line, or every line of standard input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <string>

#include "triad/core/errors.hpp"
#include "triad/io/text/line.hpp"

namespace triad::examples {

/// answer(sentence), or where that is empty answer(line) for each line; what is wrong with a line is told with its
/// number.
template <class Answer>
void answer_lines(std::string const& sentence, Answer const& answer) {
  if (!sentence.empty()) return answer(sentence);
  long number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    text::trim_line(line, number == 1);
    try {
      answer(line);
    } catch (data_error const& e) {
      throw data_error("line " + std::to_string(number) + " of standard input: " + e.what());
    }
  }
}

}  // namespace triad::examples
