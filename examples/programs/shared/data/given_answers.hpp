// Counts the questions of `predict` that already have an answer, and how often this answer equals the predicted answer.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace triad::programs {

/// Returns the member `name` of a question, which is its answer. Returns null if there is no such member.
inline nlohmann::json given_answer(nlohmann::json const& question, char const* name) {
  auto const found = question.find(name);
  return found == question.end() ? nlohmann::json() : *found;
}

/// Counts the questions of one call of `predict` that have an answer, and how often this answer equals the predicted
/// answer.
class given_answers {
 public:
  /// `what` is the answer's name within a sentence, such as "a target".
  explicit given_answers(std::string what) : what_(std::move(what)) {}

  /// Counts a question. `had` is true if the question has an answer, and `same` if this answer equals the predicted
  /// answer.
  void add(bool had, bool same) {
    ++all_;
    given_ += had ? 1 : 0;
    same_ += had && same ? 1 : 0;
  }

  /// Returns a note for people. Returns an empty text if no question has an answer.
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
