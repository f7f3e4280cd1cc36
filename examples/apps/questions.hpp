// What predict is asked: arguments, a file, or every line of standard input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "options.hpp"

namespace triad::apps {

/// One that could not be answered; what: with where it stands.
struct refused_question {
  long number;  // from 1
  std::string const& text;
  std::string what;
};

/// One of several ways to ask, by its options.
struct way_to_ask {
  std::string name;
  bool taken;
};
/// Throws data_error where more than one was taken.
void expect_one_way(std::vector<way_to_ask> const& ways);

struct questions {
  std::vector<std::string> given;
  std::string file;

  /// Options of predict; what: of one question, for --help.
  void each(option_list& f, std::string const& what);

  /// Throws data_error where more than one way to ask was taken.  ways: those of the program's own options, before the
  /// two of this.
  void expect_one_way(std::vector<way_to_ask> ways = {}) const;

  /// answer(question) for the arguments; else for each line of the file; else of standard input.  One that cannot be
  /// answered is given to `refused`, and the others are answered.
  void ask(std::function<void(std::string const&)> const& answer,
           std::function<void(refused_question const&)> const& refused) const;

  /// The same, where answer(question) prints; a blank question has a blank line.  `program` says on standard error what
  /// is wrong with a question and where it stands.  Its own answer is an empty line, or {"error": ..., "line": ...}
  /// where it is JSON or all answers are.  Returns the exit status.
  int answer(std::string const& program, std::function<void(std::string const&)> const& answer,
             bool as_json = false) const;
};

}  // namespace triad::apps
