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

/// The likeliest choices of some of the rows, as a program.
struct frequent_program {
  std::string program;
  std::int64_t rows = 0, correct = 0;  // right: run on trees of symbols it gives the right tree
  double certainty = 0;                // of its least sure choice, mean over rows
  std::vector<std::string> roots{};    // labels at the roots of their sources
  std::vector<bool> needed{};          // of every step, in the first of the rows
};

/// One checkpoint's.
struct choice_record {
  std::int64_t update = 0;
  double validation = 0, temperature = 1, empty_weight = 1;
  std::vector<step_choices> steps{};
  std::vector<frequent_program> programs{};  // the most frequent first
};

/// Of weights that sum to 1.
double doubt(std::vector<double> const& weights);

/// steps and programs of a machine on the first `most` rows; gradients: of every step, or none before the first update.
choice_record choices_of(machine& net, placed_rows const& rows, index_t most, vocabulary const& labels,
                         std::vector<double> const& gradients);

/// One line, and back.  Throws data_error.
std::string to_json_line(choice_record const& r);
std::vector<choice_record> read_choices(std::string const& path);

/// Tables by checkpoint and step, the last programs, and which steps none of them needs.  Of gradients only where the
/// last checkpoint comes after some updates.
std::string to_text(std::vector<choice_record> const& all);
/// Maps: doubt of operations, doubt of arguments, and gradients over the largest of their checkpoint.
std::string to_svg(std::vector<choice_record> const& all);
/// The same maps as the data of a page.
nlohmann::ordered_json training_page(std::vector<choice_record> const& all);

/// The file of a run, a line a checkpoint, written whole.
class choices_file {
 public:
  /// Lines of an earlier process are kept up to this update.  No path: no file.
  choices_file(std::string path, std::int64_t update);
  /// Does nothing where the file has that update already.
  void add(choice_record const& r);

 private:
  std::string path_, text_;
  std::int64_t last_ = -1;
};

/// Its name in a run's folder.
inline constexpr char const* choices_name = "choices.jsonl";

}  // namespace triad::programs::trees
