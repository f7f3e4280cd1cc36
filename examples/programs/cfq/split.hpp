// Splits annotated questions, either randomly or so that the compounds of the two parts diverge.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rule_tree.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/permute.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/random.hpp"
#include "triad/io/text/characters.hpp"
#include "triad/io/text/compound_split.hpp"
#include "triad/io/text/compounds.hpp"
#include "triad/io/text/divergence.hpp"

namespace triad::programs::cfq {

using text::alpha_of_atoms, text::alpha_of_compounds, text::atoms_of, text::compound_split, text::compounds_of,
    text::divergence_of, text::item_table, text::split_options;

/// Returns for each question the numbers of the words that occur in the question or in its query, without repetitions.
inline std::vector<std::vector<int>> words_of(std::vector<annotated_question> const& questions) {
  std::map<std::string, int> numbers;
  std::vector<std::vector<int>> result;
  for (auto const& q : questions) {
    auto& mine = result.emplace_back();
    for (auto const* const text : {&q.question, &q.query})
      for (auto const& word : text::words(*text))
        mine.push_back(
            numbers.try_emplace((text == &q.query ? " " : "") + word, static_cast<int>(numbers.size())).first->second);
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  }
  return result;
}

/// Searches for a split with the library's compound_split. The order of the questions and the random numbers are those
/// of our published splits.
inline compound_split found_split(item_table const& atoms, item_table const& compounds,
                                  std::vector<std::vector<int>> const& words, split_options const& s) {
  std::vector<std::size_t> order(atoms.of.size());
  permute(order, s.seed, 0);
  try {
    return text::split_search(atoms, compounds, words, s, {order.begin(), order.end()}, counter_random(s.seed, 1))
        .run();
  } catch (data_error const& e) {
    refuse("{} (split: --train, --dev-and-test; train: --questions)", e.what());
  }
}

/// Draws a random split with these sizes.
inline compound_split random_split(std::size_t all, split_options const& s) {
  std::vector<std::size_t> order(all);
  permute(order, s.seed, 2);
  compound_split r;
  for (std::size_t i = 0; i < static_cast<std::size_t>(s.train + s.held_out); ++i)
    (i < static_cast<std::size_t>(s.train) ? r.train : r.held_out).push_back(static_cast<int>(order[i]));
  return r;
}

/// Divides the held-out questions randomly into two parts. The first part has `count` questions.
inline std::pair<std::vector<int>, std::vector<int>> halves(std::vector<int> const& held_out, std::size_t count,
                                                            std::uint64_t seed) {
  std::vector<std::size_t> order(held_out.size());
  permute(order, seed, 3);
  std::pair<std::vector<int>, std::vector<int>> r;
  for (std::size_t i = 0; i < order.size(); ++i) (i < count ? r.first : r.second).push_back(held_out[order[i]]);
  std::sort(r.first.begin(), r.first.end());
  std::sort(r.second.begin(), r.second.end());
  return r;
}

/// A divided corpus, and the divergences between its parts.
struct divided {
  std::vector<int> train, dev, test;            // numbers of questions
  std::size_t compounds = 0;                    // number of different compounds with a weight above 0
  double atoms_apart = 0, compounds_apart = 0;  // divergences of this split; next line: of a random split
  double atoms_by_chance = 0, compounds_by_chance = 0;
};

inline divided make_split(corpus const& c, split_options const& s, int largest_compound) {
  std::vector<rule_tree> trees;
  for (auto const& q : c.questions) trees.push_back(q.rules);
  auto const atoms = atoms_of(trees, c.names.size()), compounds = compounds_of(trees, largest_compound);
  auto const words = words_of(c.questions);
  auto const found = found_split(atoms, compounds, words, s), chance = random_split(trees.size(), s);
  divided d;
  d.train = found.train;
  auto const apart = halves(found.held_out, found.held_out.size() / 2, s.seed);
  d.dev = apart.first;
  d.test = apart.second;
  d.compounds = static_cast<std::size_t>(compounds.kinds);
  d.atoms_apart = divergence_of(atoms, found.train, found.held_out, alpha_of_atoms);
  d.compounds_apart = divergence_of(compounds, found.train, found.held_out, alpha_of_compounds);
  d.atoms_by_chance = divergence_of(atoms, chance.train, chance.held_out, alpha_of_atoms);
  d.compounds_by_chance = divergence_of(compounds, chance.train, chance.held_out, alpha_of_compounds);
  return d;
}

/// Returns the options for a split like CFQ's own: two fifths of the questions are for training, and a tenth is held
/// out.
inline split_options settings_for(std::size_t questions, std::uint64_t seed) {
  auto const n = static_cast<int>(questions);
  return {n * 2 / 5, n / 10, seed};
}

}  // namespace triad::programs::cfq
