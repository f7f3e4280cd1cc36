// The questions of predict: arguments of the command line, the lines of a file, or the lines of standard input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"

namespace triad::programs {

/// A question that could not be answered.  what: the reason, with the place of the question in front.
struct refused_question {
  long number;  // counted from 1
  std::string const& text;
  std::string what;
};

/// One way to give questions, and whether the command line uses it; it is named by its options.
struct way_to_ask {
  std::string name;
  bool taken;
};
/// Throws data_error if more than one way is used.
void expect_one_way(std::vector<way_to_ask> const& ways);

/// Throws data_error if a line of data is given where a question in plain text is expected; its words would be read as
/// words of the question.  Such lines are columns with tabs, a line of SCAN, a value of JSON, and a row or the header
/// of a CSV file.
void expect_plain_question(std::string const& line);

struct questions {
  std::vector<std::string> given;
  std::string file;

  /// Adds the options of predict.  what: describes one question, for --help.  This function is defined in the header,
  /// so that the fuzz test of questions need not link the options.
  void each(option_list& f, std::string const& what) {
    f("question", &given, what + "; without one, each line of standard input is one").only({"predict"}).positional();
    f("file", &file, "A file of them, one a line, gzipped or not").only({"predict"}).existing_file();
  }

  /// Throws data_error if the command line gives questions in more than one way.  ways: those by the program's own
  /// options; the two of this struct are added.
  void expect_one_way(std::vector<way_to_ask> ways = {}) const;

  /// Returns the first line of the file or of standard input, which shows the kind of question.  ask() still gets this
  /// line. Returns nothing if the questions are on the command line, or if there is no line.
  std::optional<std::string> first_line();
  /// Returns all of standard input, including a line that first_line() has read.
  std::string all_of_input();

  /// Calls answer(question) for each question: for the arguments if there are any; otherwise for the lines of the file
  /// if one is given; otherwise for the lines of standard input.  If a question cannot be answered, calls `refused` and
  /// continues.
  void ask(std::function<void(std::string const&)> const& answer,
           std::function<void(refused_question const&)> const& refused) const;

  /// Does the same with a function that prints its answer.  A blank question prints a blank line.  If a question cannot
  /// be answered, prints the reason and the place on standard error, after the name `program`.  Its answer is then an
  /// empty line, or {"error": ..., "line": ...} if the question or all answers are JSON.  Returns the exit status.
  int answer(std::string const& program, std::function<void(std::string const&)> const& answer,
             bool as_json = false) const;

  /// Returns the place of the question that is being answered: "question 2", "FILE:2" or "line 2 of standard input".
  [[nodiscard]] std::string place() const;

  std::optional<std::string> begun{};  // the first line of standard input, unchanged, if it has been read
  mutable long number = 0;             // of the question that is being answered, from 1
};

}  // namespace triad::programs
