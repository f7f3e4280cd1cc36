// The questions of predict: arguments, a file, or the lines of standard input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"

namespace triad::programs {

/// A question that could not be answered.  what: the reason, with the place of the question.
struct refused_question {
  long number;  // counted from 1
  std::string const& text;
  std::string what;
};

/// One of several ways to ask questions, named by its options.
struct way_to_ask {
  std::string name;
  bool taken;
};
/// Throws data_error if more than one way is used.
void expect_one_way(std::vector<way_to_ask> const& ways);

/// Throws data_error for a line of data where a question in plain text is expected.  Otherwise the data would be read
/// as words of the question.  Such lines are columns with tabs, a line of SCAN, a value of JSON, and a row or the
/// header of a CSV file.
void expect_plain_question(std::string const& line);

struct questions {
  std::vector<std::string> given;
  std::string file;

  /// Adds the options of predict.  what: describes one question, for --help.  Defined in the header, so that a fuzzer
  /// of questions need not link the options.
  void each(option_list& f, std::string const& what) {
    f("question", &given, what + "; without one, each line of standard input is one").only({"predict"}).positional();
    f("file", &file, "A file of them, one a line, gzipped or not").only({"predict"}).existing_file();
  }

  /// Throws data_error if more than one way to ask is used.  ways: those of the program's own options; the two of this
  /// struct are added.
  void expect_one_way(std::vector<way_to_ask> ways = {}) const;

  /// Returns the first line of the file or of standard input, so that a program can see the kind of question.  The line
  /// is still asked afterwards.  Returns nothing if the questions are on the command line, or if there is no line.
  std::optional<std::string> first_line();
  /// Returns all of standard input, including the line that first_line() has read.
  std::string all_of_input();

  /// Calls answer(question) for each question: the arguments if there are any, else the lines of the file, else the
  /// lines of standard input.  Calls `refused` for a question that cannot be answered, and goes on.
  void ask(std::function<void(std::string const&)> const& answer,
           std::function<void(refused_question const&)> const& refused) const;

  /// Does the same with an answer(question) that prints.  A blank question prints a blank line.  If a question is
  /// refused, the reason and the place are printed on standard error after the name `program`.  Its answer is then an
  /// empty line, or {"error": ..., "line": ...} if the question or all answers are JSON.  Returns the exit status.
  int answer(std::string const& program, std::function<void(std::string const&)> const& answer,
             bool as_json = false) const;

  std::optional<std::string> begun{};  // the first line of standard input, unchanged, once it is read
};

}  // namespace triad::programs
