// The questions of `predict`.  They are arguments of the command line, the lines of a file, or the lines of standard
// input.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shared/cli/options.hpp"

namespace triad::programs {

/// A question that could not be answered.  `what` says where the question is, and then the reason.
struct refused_question {
  long number;  // counted from 1
  std::string const& text;
  std::string what;
};

/// One way to give questions: the names of its options, and whether the command line has them.
struct way_to_ask {
  std::string name;
  bool taken;
};
/// Throws data_error if the command line uses more than one way.
void expect_one_way(std::vector<way_to_ask> const& ways);

/// Throws data_error if the question looks like a line of a data file: columns with tabs, a line of SCAN, a value of
/// JSON, or a row or the header of a CSV file.  The words of such a line would be read as words of the question.
void expect_plain_question(std::string const& line);

struct questions {
  std::vector<std::string> given;
  std::string file;

  /// Adds the options of `predict`.  `what` describes a question in --help.  The function is defined in the header, so
  /// that the fuzz test of questions need not link the options.
  void each(option_list& f, std::string const& what) {
    f("question", &given, what + "; without one, each line of standard input is one").only({"predict"}).positional();
    f("file", &file, "A file of them, one a line, gzipped or not").only({"predict"}).existing_file();
  }

  /// Throws data_error if the command line gives questions in more than one way.  `ways` are the ways with the
  /// program's own options.  The two ways of this struct are added.
  void expect_one_way(std::vector<way_to_ask> ways = {}) const;

  /// Returns the first line of the file or of standard input, which shows the kind of question.  ask() reads this line
  /// again.  Returns nothing if the questions are on the command line, or if there is no line.
  std::optional<std::string> first_line();
  /// Returns all of standard input, including a line that first_line() has read.
  std::string all_of_input();

  /// Calls answer(question) for each question.  The questions are the arguments.  If there are none, they are the lines
  /// of the file.  If no file is given, they are the lines of standard input.  If a question cannot be answered, calls
  /// `refused` and continues.
  void ask(std::function<void(std::string const&)> const& answer,
           std::function<void(refused_question const&)> const& refused) const;

  /// Calls answer(question), which must print its answer, for each question.  For a blank question, prints a blank
  /// line.  If a question cannot be answered, prints the name `program`, the position of the question and the reason to
  /// standard error.  Then prints an empty line in place of the answer, or {"error": ..., "line": ...} if the question
  /// or all answers are JSON.  Returns the exit status.
  int answer(std::string const& program, std::function<void(std::string const&)> const& answer,
             bool as_json = false) const;

  /// Returns the position of the question that is being answered, such as "question 2", "FILE:2" or "line 2 of standard
  /// input".
  [[nodiscard]] std::string place() const;

  std::optional<std::string> begun{};  // the first line of standard input, if it has been read
  mutable long number = 0;             // number of the question that is being answered, from 1
};

}  // namespace triad::programs
