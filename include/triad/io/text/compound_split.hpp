// Splits a corpus so that the divergence of compounds is as large as possible.  Training and test examples then consist
// of the same atoms, but combine the atoms as differently as possible.
// SPDX-License-Identifier: Apache-2.0
//
//   maximise D_C, the divergence of compounds; D_A, the divergence of atoms, <= limit       (DBCA, Keysers et al. 2020)
//
// The search algorithm was designed for this library.  A split has two sides, training examples and held-out examples.
// Both sides are empty at first and grow in their final proportion.  Each step draws a few random examples, and adds
// the drawn example with the best score D_C - 20 max(0, D_A - limit).  Then several passes of exchanges follow.  For
// each example of both sides, a pass draws a few random examples that are unused.  If a drawn example improves the
// score, it replaces the example of the side.  A pass also exchanges examples between the two sides.  The search ends
// when a pass improves the score by almost nothing.
//
// The exponent alpha of compounds (io/text/divergence.hpp) is 0.3 at first, and decreases to 0.1.  If alpha is 0.1 from
// the beginning, the search ends too early: for 6,000 generated questions like those of CFQ, D_C is 0.58 instead of
// 0.64.  The reason is that the score hardly changes when one of many occurrences of a compound is removed from
// training.  Once both sides have grown, every word of a held-out example occurs in a training example.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "triad/core/contracts.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/random.hpp"
#include "triad/io/text/compounds.hpp"
#include "triad/io/text/divergence.hpp"

namespace triad::text {

/// The sizes of a split, and the effort of the search.
struct split_options {
  int train, held_out;     // numbers of examples; held_out: dev and test together
  std::uint64_t seed = 1;  // for split_by_compounds(); split_search gets its random numbers as an argument
  double atom_limit = 0.02;
  int candidates = 5;  // the number of random examples among which each added example is chosen
  int passes = 30;     // the number of passes while alpha decreases; at most as many passes follow
};

/// The indices of the examples of both sides.  Examples are numbered in the order of the corpus.
struct compound_split {
  std::vector<int> train, held_out;
};

/// Searches for a split.  `words` has, for each example, the words that training must contain if the example is held
/// out.  `order` has each example once.  random.below(bound) returns a random number from 0 to bound - 1.  The split
/// depends only on the order and the random numbers.  Throws data_error if there is no such split.
template <class Random>
class split_search {
 public:
  split_search(item_table const& atoms, item_table const& compounds, std::vector<std::vector<int>> const& words,
               split_options const& options, std::vector<int> order, Random random)
      : atoms_(&atoms),
        compounds_(&compounds),
        words_(&words),
        s_(options),
        random_(std::move(random)),
        by_atoms_(atoms.kinds, alpha_of_atoms),
        by_compounds_(compounds.kinds, alpha_of_compounds),
        known_(count_of(words), 0),
        rest_(std::move(order)) {
    auto const all = atoms.of.size();
    TRIAD_EXPECTS(compounds.of.size() == all && words.size() == all && rest_.size() == all,
                  "split_search: compounds of " + std::to_string(compounds.of.size()) + ", words of " +
                      std::to_string(words.size()) + " and an order of " + std::to_string(rest_.size()) +
                      " examples, expected " + std::to_string(all) + " of each, as atoms have");
    if (options.train < 1 || options.held_out < 2)
      throw data_error("a split of " + std::to_string(options.train) + " training and " +
                       std::to_string(options.held_out) + " other examples, expected 1 or more and 2 or more");
    if (static_cast<std::size_t>(options.train) + static_cast<std::size_t>(options.held_out) > all)
      throw data_error("a split of " + std::to_string(options.train) + " and " + std::to_string(options.held_out) +
                       " examples, expected at most " + std::to_string(all));
  }

  compound_split run() {
    by_compounds_.weigh_by(first_alpha);
    grow();
    cover();
    for (int pass = 0; pass < s_.passes; ++pass) {
      by_compounds_.weigh_by(first_alpha *
                             std::pow(alpha_of_compounds / first_alpha, static_cast<double>(pass) / s_.passes));
      improve();
    }
    by_compounds_.weigh_by(alpha_of_compounds);
    double before = score();
    for (int pass = 0; pass < s_.passes; ++pass) {
      improve();
      double const now = score();
      if (now - before < 1e-4) break;
      before = now;
    }
    compound_split found{train_, test_};
    std::sort(found.train.begin(), found.train.end());
    std::sort(found.held_out.begin(), found.held_out.end());
    return found;
  }

 private:
  static constexpr double first_alpha = 0.3;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static std::size_t count_of(std::vector<std::vector<int>> const& words) {
    int most = -1;
    for (auto const& of_one : words)
      for (int const w : of_one) most = std::max(most, w);
    return at(most + 1);
  }

  double scored(double atoms, double compounds) const { return compounds - 20 * std::max(0.0, atoms - s_.atom_limit); }
  double score() const { return scored(by_atoms_.value(), by_compounds_.value()); }
  double score_with(side where, int q) const {
    return scored(by_atoms_.value_with(where, atoms_->of[at(q)]),
                  by_compounds_.value_with(where, compounds_->of[at(q)]));
  }
  /// Adds example q to a side (sign 1) or removes it (sign -1).  The caller updates the lists of examples.
  void change(side where, int q, int sign) {
    by_atoms_.change(where, atoms_->of[at(q)], sign);
    by_compounds_.change(where, compounds_->of[at(q)], sign);
    if (where == side::train)
      for (int const w : (*words_)[at(q)]) known_[at(w)] += sign;
  }
  bool may_test(int q) const {
    return std::all_of((*words_)[at(q)].begin(), (*words_)[at(q)].end(), [&](int w) { return known_[at(w)] > 0; });
  }
  /// Whether training would still contain all words of example q if example q were removed from training.
  bool may_leave(int q) const {
    return std::all_of((*words_)[at(q)].begin(), (*words_)[at(q)].end(), [&](int w) { return known_[at(w)] > 1; });
  }
  std::size_t any_of(std::vector<int> const& list) { return at(random_.below(static_cast<int>(list.size()))); }

  void grow() {
    auto const train_goal = at(s_.train), test_goal = at(s_.held_out);
    while (train_.size() < train_goal || test_.size() < test_goal) {
      bool const train = test_.size() == test_goal ||
                         (train_.size() < train_goal && train_.size() * test_goal <= test_.size() * train_goal);
      auto const where = train ? side::train : side::test;
      std::size_t best = 0;
      double most = -1e300;
      for (int i = 0; i < s_.candidates; ++i) {
        auto const tried = any_of(rest_);
        double const value = score_with(where, rest_[tried]);
        if (value > most) {
          most = value;
          best = tried;
        }
      }
      int const q = rest_[best];
      rest_[best] = rest_.back();
      rest_.pop_back();
      change(where, q, 1);
      (train ? train_ : test_).push_back(q);
    }
  }

  /// If a held-out example has a word that training lacks, exchanges the held-out example with a training example whose
  /// words all occur in other training examples, too.
  void cover() {
    for (std::size_t i = 0; i < test_.size(); ++i) {
      if (may_test(test_[i])) continue;
      auto const from = any_of(train_);
      bool done = false;
      for (std::size_t k = 0; k < train_.size() && !done; ++k) {
        auto& other = train_[(from + k) % train_.size()];
        if (!may_leave(other)) continue;
        swap_sides(other, test_[i]);
        done = true;
      }
      if (!done) throw data_error("these training examples cannot contain all words; give more of them");
    }
  }
  void swap_sides(int& of_train, int& of_test) {
    change(side::train, of_train, -1);
    change(side::test, of_test, -1);
    std::swap(of_train, of_test);
    change(side::train, of_train, 1);
    change(side::test, of_test, 1);
  }

  /// For each example of a side, draws a few random unused examples.  If a drawn example improves the score, it
  /// replaces the example of the side.
  void replace(side where) {
    if (rest_.empty()) return;
    for (auto& q : where == side::train ? train_ : test_) {
      if (where == side::train && !may_leave(q)) continue;
      double most = score();
      change(where, q, -1);
      std::size_t best = rest_.size();
      for (int i = 0; i < s_.candidates; ++i) {
        auto const tried = any_of(rest_);
        if (where == side::test && !may_test(rest_[tried])) continue;
        double const value = score_with(where, rest_[tried]);
        if (value > most + 1e-12) {
          most = value;
          best = tried;
        }
      }
      if (best < rest_.size()) std::swap(q, rest_[best]);
      change(where, q, 1);
    }
  }

  void improve() {
    replace(side::train);
    replace(side::test);
    exchange();
    by_atoms_.refresh();
    by_compounds_.refresh();
  }

  /// Exchanges each held-out example with one of a few random training examples, if this improves the score.
  void exchange() {
    for (auto& q : test_)
      for (int i = 0; i < 4; ++i) {
        auto& other = train_[any_of(train_)];
        if (!may_leave(other)) continue;
        double const before = score();
        swap_sides(other, q);
        if (score() <= before + 1e-12 || !may_test(q)) swap_sides(other, q);
      }
  }

  item_table const *atoms_, *compounds_;
  std::vector<std::vector<int>> const* words_;
  split_options s_;
  Random random_;
  divergence by_atoms_, by_compounds_;
  std::vector<int> known_;  // for each word: the number of training examples that contain it
  std::vector<int> train_, test_, rest_;
};

/// Returns the split for a seed.  The split is the same on every machine.  `words` has, for each example, the numbers
/// of the words that training must contain if the example is held out.  No number may occur twice in one example.
inline compound_split split_by_compounds(item_table const& atoms, item_table const& compounds,
                                         std::vector<std::vector<int>> const& words, split_options const& options) {
  struct stream {
    random_stream from;
    int below(int bound) { return static_cast<int>(from.below(static_cast<std::uint32_t>(bound))); }
  };
  std::vector<int> order(atoms.of.size());
  std::iota(order.begin(), order.end(), 0);
  random_stream(options.seed, 0).shuffle(order);
  return split_search(atoms, compounds, words, options, std::move(order), stream{{options.seed, 1}}).run();
}

}  // namespace triad::text
