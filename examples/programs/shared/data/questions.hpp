// The questions of predict: arguments, a file, or every line of standard input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"

namespace triad::programs {

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

/// Throws data_error for a line of data in the place of a question in plain text, which would be read as more words of
/// it: columns with tabs, a line of SCAN, a value of JSON, or a row or the header of a CSV file.
void expect_plain_question(std::string const& line);

struct questions {
  std::vector<std::string> given;
  std::string file;

  /// Options of predict; what: of one question, for --help.  In the header: a fuzzer of questions has no options.
  void each(option_list& f, std::string const& what) {
    f("question", &given, what + "; without one, each line of standard input is one").only({"predict"}).positional();
    f("file", &file, "A file of them, one a line, gzipped or not").only({"predict"}).existing_file();
  }

  /// Throws data_error where more than one way to ask was taken.  ways: those of the program's own options, before the
  /// two of this.
  void expect_one_way(std::vector<way_to_ask> ways = {}) const;

  /// The first line of the file, or of standard input, to know what is asked by; it is asked all the same.  None where
  /// the questions are on the command line, or there is no line.
  std::optional<std::string> first_line();
  /// All of standard input, with the line that was read.
  std::string all_of_input();

  /// answer(question) for the arguments; else for each line of the file; else of standard input.  One that cannot be
  /// answered is given to `refused`, and the others are answered.
  void ask(std::function<void(std::string const&)> const& answer,
           std::function<void(refused_question const&)> const& refused) const;

  /// The same, where answer(question) prints; a blank question has a blank line.  `program` says on standard error what
  /// is wrong with a question and where it stands.  Its own answer is an empty line, or {"error": ..., "line": ...}
  /// where it is JSON or all answers are.  Returns the exit status.
  int answer(std::string const& program, std::function<void(std::string const&)> const& answer,
             bool as_json = false) const;

  std::optional<std::string> begun{};  // the first line of standard input as it stands there, once it is read
};

}  // namespace triad::programs
