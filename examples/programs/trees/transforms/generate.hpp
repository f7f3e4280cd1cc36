// Generates the four tasks with their five splits.  All sentences are distinct.  A seed gives the same rows on every
// machine.
// SPDX-License-Identifier: Apache-2.0
//
// The words and the forms of trees in sentences.hpp and transform.hpp are those of the published data of
// active-logical, in which we counted them.  The following points are guesses:
//   - For the other tasks, sentences are drawn in the same way.
//   - active-passive-logical: the active and the passive form are equally likely.
//   - car-cdr-seq: an active and a passive tree are equally likely, and so are 1, 2, 3 and 4 steps.  All sequences of
//     the drawn length whose result is not empty are equally likely.  We did not have the rows of the published task,
//     whose address is in docs/data.md.  The published task has more labels than ours.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kinds.hpp"
#include "sentences.hpp"
#include "shared/report/refuse.hpp"
#include "splits.hpp"
#include "transform.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::transforms {

struct generator_options {
  kind task = kind::active_logical;
  bool one_way = false;                          // only rows with logical forms as targets
  index_t train_rows = 10000, test_rows = 1250;  // as published; test_rows: for each of the other four splits
  std::uint64_t seed = 1;
};

class generator {
 public:
  explicit generator(generator_options const& settings) : settings_(settings) {}

  /// Returns the rows of one split.  Their sentences differ from the sentences of all rows made before.
  std::vector<row> rows(split of) {
    // Each split of each task has its own random stream, so that different tasks have different sentences.
    random_stream random(settings_.seed,
                         static_cast<std::uint64_t>(settings_.task) * 8 + static_cast<std::uint64_t>(of));
    std::vector<row> made;
    auto const count = of == split::train ? settings_.train_rows : settings_.test_rows;
    made.reserve(static_cast<std::size_t>(count));
    int repeats = 0;  // number of consecutive draws that gave known sentences
    while (static_cast<index_t>(made.size()) < count) {
      auto const s = draw_sentence(random, of);
      if (seen_.insert(text_of(s)).second) {
        made.push_back(transformed(random, s));
        repeats = 0;
      } else if (++repeats == 100000) {
        refuse("the grammar has hardly more than {} sentences: ask for fewer rows", seen_.size());
      }
    }
    return made;
  }

 private:
  row transformed(random_stream& random, sentence const& s) const {
    auto const either = [&] { return random.below(2) == 0 ? form::active : form::passive; };
    auto logical = tree_of(s, form::logical);
    switch (settings_.task) {
      case kind::car_cdr_seq:
        return selected(random, s, either());
      case kind::active_passive_logical:
        return {tree_of(s, either()), std::move(logical)};
      case kind::active_logical:
      case kind::passive_logical:
        break;
    }
    auto sentence = tree_of(s, settings_.task == kind::active_logical ? form::active : form::passive);
    if (settings_.one_way || random.below(2) == 0) return {std::move(sentence), std::move(logical)};
    return {std::move(logical), std::move(sentence)};
  }

  row selected(random_stream& random, sentence const& s, form f) const {
    auto const tree = tree_of(s, f);
    auto const letters = 1 + random.below(4);
    std::vector<std::string const*> possible;
    for (auto const& function : functions_)
      if (function.size() == letters + 2 && !car_cdr(tree, function).empty()) possible.push_back(&function);
    auto const& function = *possible[random.below(static_cast<std::uint32_t>(possible.size()))];
    return {tree_of(s, f, function), car_cdr(tree, function)};
  }

  generator_options settings_;
  std::vector<std::string> functions_ = car_cdr_functions();
  std::unordered_set<std::string> seen_;
};

/// Generates all splits of a task.
inline data_set generate_data(generator_options const& settings, depth_limit const& limit = {}) {
  generator drawn(settings);
  auto data = no_rows();
  for (auto const s : splits)
    for (auto& r : drawn.rows(s)) limit.add(std::move(r), part_of(data, s));
  return data;
}

}  // namespace triad::programs::transforms
