// Counts the questions of predict that already have an answer, and those whose answer is the predicted one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

namespace triad::programs {

/// Returns the member of a question that is its answer; null if there is none.
inline nlohmann::json given_answer(nlohmann::json const& question, char const* name) {
  auto const found = question.find(name);
  return found == question.end() ? nlohmann::json() : *found;
}

/// Counts the questions of one predict that have an answer, and those whose answer is the predicted one.
class given_answers {
 public:
  /// what: the answer's name within a sentence, such as "a target".
  explicit given_answers(std::string what) : what_(std::move(what)) {}

  /// Counts a question.  had: it has an answer; same: this answer is the predicted one.
  void add(bool had, bool same) {
    ++all_;
    given_ += had ? 1 : 0;
    same_ += had && same ? 1 : 0;
  }

  /// Returns a note for people; empty if no question has an answer.
  [[nodiscard]] std::string note() const {
    if (given_ == 0) return {};
    return fmt::format(
        "{} of {} questions already had {}, which predict replaced; {} of these {} equalled the answer; evaluate "
        "measures accuracy",
        given_, all_, what_, same_, given_);
  }

 private:
  std::string what_;
  long all_ = 0, given_ = 0, same_ = 0;
};

}  // namespace triad::programs
