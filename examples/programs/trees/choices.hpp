// Records, for each checkpoint of a training, how certain the machine's choices are, and the gradient of each step.
// SPDX-License-Identifier: Apache-2.0
//
// The doubt of a choice among n is its normalised entropy, -sum_i p_i log p_i / log n.  It is 0 if one p is 1, and 1 if
// all p are equal.  For n = 1 it is 0.  Recorded doubts are means over rows.  The doubt of arguments in a row is
// computed in two steps: first the mean over the arguments of each operation, then the mean over the operations,
// weighted by the operations' weights.
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

/// The choices of one step, and the norm of the gradient with respect to the parameters of the step's agent.
struct step_choices {
  std::array<double, 3> operations{};  // mean weights of car, cdr and cons
  double operation_doubt = 0, argument_doubt = 0, gradient = 0;
};

/// A program that consists of the likeliest choices, and the rows for which it is chosen.
struct frequent_program {
  std::string program;
  std::int64_t rows = 0, correct = 0;  // correct: rows for which this program gives the right tree
  double certainty = 0;                // the smallest weight of its choices, as a mean over rows
  std::vector<std::string> roots{};    // different labels at the roots of the source trees
  std::vector<bool> needed{};          // for every step: the result depends on it
};

/// The choices at one checkpoint.
struct choice_record {
  std::int64_t update = 0;
  double validation = 0, temperature = 1, empty_weight = 1;
  std::vector<step_choices> steps{};
  std::vector<frequent_program> programs{};  // the most frequent first
};

/// Returns the doubt of a choice with these weights, which must add up to 1.
double doubt(std::vector<double> const& weights);

/// Returns a record whose `steps` and `programs` are those of a machine on the first `most` rows.  The caller sets the
/// other members.  `gradients` has the gradient norm of each step.  It is empty before the first update.
choice_record choices_of(machine& net, placed_rows const& rows, index_t most, vocabulary const& labels,
                         std::vector<double> const& gradients);

/// Returns the record as one line of JSON.
std::string to_json_line(choice_record const& r);
/// Reads all records of a file.  Throws data_error.
std::vector<choice_record> read_choices(std::string const& path);

/// Returns a text with tables of operations, doubts and gradients by checkpoint and step, the programs of the last
/// checkpoint, and the steps that none of these programs needs.  If the run has made no update, there is no table of
/// gradients.
std::string to_text(std::vector<choice_record> const& all);
/// Draws heat maps of the doubt of operations, the doubt of arguments, and gradients.  Each gradient is divided by the
/// largest gradient at the same checkpoint.
std::string to_svg(std::vector<choice_record> const& all);
/// Returns the heat maps of to_svg() as the data of an HTML page.
nlohmann::ordered_json training_page(std::vector<choice_record> const& all);

/// The choices file of a run.  It has one line for each checkpoint. add() writes the whole file again.
class choices_file {
 public:
  /// Keeps the lines of earlier processes up to this update.  If the path is empty, writes no file.
  choices_file(std::string path, std::int64_t update);
  /// Adds a record, unless the file already has a record of the same update.
  void add(choice_record const& r);

 private:
  std::string path_, text_;
  std::int64_t last_ = -1;
};

/// The name of the choices file in a run's folder.
inline constexpr char const* choices_name = "choices.jsonl";

}  // namespace triad::programs::trees
