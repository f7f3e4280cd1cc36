// Generates distinct questions with this program's grammar. A seed gives the same questions on every machine.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>

#include "grammar.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::cfq {

/// Generates `count` distinct questions of up to `longest` words.  Phrases are nested up to `depth` levels deep. Throws
/// data_error if almost all new draws repeat earlier questions.
inline corpus generate_questions(int count, std::uint64_t seed, int depth = 3, std::size_t longest = 30) {
  corpus c;
  std::unordered_set<std::string> seen;
  counter_random random(seed);
  for (int made = 0, tries = 0; made < count;) {
    question_writer writer(c.names);
    bool const counts = question_grammar(writer, random).question(random.below(depth + 1));
    if (writer.length() <= longest)
      if (auto q = writer.finish(counts); seen.insert(q.question).second) {
        c.questions.push_back(std::move(q));
        ++made;
        tries = 0;
        continue;
      }
    if (++tries > 20000)
      refuse(
          "the grammar has hardly any questions left that were not drawn: ask for fewer (--count) or deeper ones "
          "(--depth)");
  }
  return c;
}

}  // namespace triad::programs::cfq
