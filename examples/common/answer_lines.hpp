// What predict answers: one sentence of the command line, or every line of standard input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iostream>
#include <string>

#include "gz_lines.hpp"
#include "triad/core/errors.hpp"

namespace triad::examples {

/// answer(sentence), or where that is empty answer(line) for each line; what is wrong with a line is told with its number.
template <class Answer>
void answer_lines(std::string const& sentence, Answer const& answer) {
  if (!sentence.empty()) return answer(sentence);
  long number = 0;
  for (std::string line; std::getline(std::cin, line);) {
    ++number;
    if (line.ends_with('\r')) line.pop_back();
    if (number == 1 && line.starts_with(byte_order_mark)) line.erase(0, byte_order_mark.size());
    try {
      answer(line);
    } catch (data_error const& e) {
      throw data_error("line " + std::to_string(number) + " of standard input: " + e.what());
    }
  }
}

}  // namespace triad::examples
