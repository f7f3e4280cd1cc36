// The certainty of a machine's choices, and the gradient of each step, at the checkpoints of a training.
// SPDX-License-Identifier: Apache-2.0
//
// The doubt of a choice among n is its normalised entropy, -sum_i p_i log p_i / log n. It is 0 if one p is 1, and 1 if
// all p are equal. For n = 1 it is 0. Doubts are means over rows. The doubt of arguments in a row is first the mean
// over an operation's arguments, then the mean over operations by their weights.
//
//   {"update": 625, "validation": 0.25, "temperature": 9, "empty_weight": 1,
//    "steps": [{"operations": [0.1, 0.1, 0.8], "operation_doubt": 0.6, "argument_doubt": 0.9, "gradient": 0.01}],
//    "programs": [{"program": "T1 = CAR T0", "rows": 64, "right": 0, "certainty": 0.3, "roots": ["S"],
//                  "needed": [false, true]}]}
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "score.hpp"
#include "triad/tree/program_trace.hpp"

namespace triad::programs::trees {

/// What one step chose, and the norm of the gradient of its agent's parameters.
struct step_choices {
  std::array<double, 3> operations{};  // mean weights of car, cdr and cons
  double operation_doubt = 0, argument_doubt = 0, gradient = 0;
};

/// A program of likeliest choices, and the rows that have it.
struct frequent_program {
  std::string program;
  std::int64_t rows = 0, correct = 0;  // correct: rows where the program, run on trees of symbols, gives the right tree
  double certainty = 0;                // weight of the least certain choice, mean over rows
  std::vector<std::string> roots{};    // distinct labels at the roots of the rows' sources
  std::vector<bool> needed{};          // for every step, whether the result depends on it
};

/// The choices at one checkpoint.
struct choice_record {
  std::int64_t update = 0;
  double validation = 0, temperature = 1, empty_weight = 1;
  std::vector<step_choices> steps{};
  std::vector<frequent_program> programs{};  // the most frequent first
};

/// Returns the doubt of a choice with these weights, which sum to 1.
double doubt(std::vector<double> const& weights);

/// Returns `steps` and `programs` of a machine on the first `most` rows; the caller sets the other members.
/// `gradients` has the gradient norm of every step, and is empty before the first update.
choice_record choices_of(machine& net, placed_rows const& rows, index_t most, vocabulary const& labels,
                         std::vector<double> const& gradients);

/// Returns the record as one line of JSON.
std::string to_json_line(choice_record const& r);
/// Reads all records of a file.  Throws data_error.
std::vector<choice_record> read_choices(std::string const& path);

/// Returns tables of operations, doubts and gradients by checkpoint and step, the programs of the last checkpoint, and
/// the steps that none of these programs needs.  There is no table of gradients if the run has made no update.
std::string to_text(std::vector<choice_record> const& all);
/// Draws heat maps of the doubt of operations, of the doubt of arguments, and of gradients.  Each gradient is divided
/// by the largest gradient of its checkpoint.
std::string to_svg(std::vector<choice_record> const& all);
/// Returns the same maps as the data of an HTML page.
nlohmann::ordered_json training_page(std::vector<choice_record> const& all);

/// The choices file of a run, with one line for each checkpoint.  Each new line rewrites the whole file.
class choices_file {
 public:
  /// Keeps the lines of an earlier process up to this update.  An empty path means no file.
  choices_file(std::string path, std::int64_t update);
  /// Adds a record, unless the file already has its update.
  void add(choice_record const& r);

 private:
  std::string path_, text_;
  std::int64_t last_ = -1;
};

/// The name of the choices file in a run's folder.
inline constexpr char const* choices_name = "choices.jsonl";

}  // namespace triad::programs::trees
