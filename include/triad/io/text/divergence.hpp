// Measures how much two sets of examples differ in their atoms or compounds.  The divergence is one minus the Chernoff
// coefficient of the distributions of both sets.
// SPDX-License-Identifier: Apache-2.0
//
//   D(P || Q) = 1 - C,   C = sum over x of P(x)^alpha Q(x)^(1 - alpha),   P: of the training set, Q: of the test set
//   alpha = 0.5 for atoms, because both sets should have each atom equally often.  alpha = 0.1 for compounds, because
//     it matters more whether P has a compound than how often
// (Keysers et al. 2020, section 2.1).  P(x) = n(x) / N, so C = S / (N_P^alpha N_Q^(1 - alpha)) with S = sum of
// n_P(x)^alpha n_Q(x)^(1 - alpha).  If an example is added or removed, only the terms of its items change.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "triad/io/text/compounds.hpp"

namespace triad::text {

/// The exponents alpha of the formula above.
inline constexpr double alpha_of_atoms = 0.5, alpha_of_compounds = 0.1;

/// The two sets of a split.
enum class side { train, test };

/// Two sets of examples, and their divergence, which is updated when examples are added or removed.
class divergence {
 public:
  divergence(int kinds, double alpha) : alpha_(alpha), cells_(static_cast<std::size_t>(kinds)) {}

  /// Adds the items of an example to a set (sign 1), or removes them (sign -1).
  void change(side where, std::vector<item> const& items, int sign = 1) {
    bool const train = where == side::train;
    for (auto const& i : items) {
      auto& c = cells_[static_cast<std::size_t>(i.what)];
      auto const before = c.power[0] * c.power[1];
      auto& n = c.count[train ? 0 : 1];
      n += sign * i.amount;
      c.power[train ? 0 : 1] = n > 0 ? power(n, train) : 0;
      sum_ += c.power[0] * c.power[1] - before;
      total_[train ? 0 : 1] += sign * i.amount;
    }
  }

  double value() const { return of(sum_, total_[0], total_[1]); }

  /// Returns the divergence that the sets would have if these items were added to a set.
  double value_with(side where, std::vector<item> const& items) const {
    bool const train = where == side::train;
    auto sum = sum_;
    std::int64_t more = 0;
    for (auto const& i : items) {
      auto const& c = cells_[static_cast<std::size_t>(i.what)];
      more += i.amount;
      auto const other = c.power[train ? 1 : 0];
      if (other > 0) sum += (power(c.count[train ? 0 : 1] + i.amount, train) - c.power[train ? 0 : 1]) * other;
    }
    return of(sum, total_[0] + (train ? more : 0), total_[1] + (train ? 0 : more));
  }

  /// Changes alpha, but not the sets.
  void weigh_by(double alpha) {
    alpha_ = alpha;
    for (auto& c : cells_)
      for (int k = 0; k < 2; ++k) c.power[k] = c.count[k] > 0 ? power(c.count[k], k == 0) : 0;
    refresh();
  }

  /// Computes the sum again from all counts, to remove the rounding errors of many changes.
  void refresh() {
    sum_ = 0;
    for (auto const& c : cells_) sum_ += c.power[0] * c.power[1];
  }

 private:
  struct cell {
    std::int64_t count[2] = {0, 0};  // train, test
    double power[2] = {0, 0};        // the counts to the powers alpha and 1 - alpha
  };

  double power(std::int64_t n, bool train) const {
    auto const x = static_cast<double>(n);
    return alpha_ == 0.5 ? std::sqrt(x) : std::pow(x, train ? alpha_ : 1 - alpha_);
  }
  /// Returns the divergence for this sum and these total counts, or 1 if a set is empty.
  double of(double sum, std::int64_t train, std::int64_t test) const {
    if (train == 0 || test == 0) return 1;
    return std::clamp(1 - sum / (power(train, true) * power(test, false)), 0.0, 1.0);
  }

  double alpha_, sum_ = 0;
  std::int64_t total_[2] = {0, 0};
  std::vector<cell> cells_;
};

/// Returns the divergence of two sets of examples, which are given as indices of examples.
inline double divergence_of(item_table const& table, std::vector<int> const& train, std::vector<int> const& test,
                            double alpha) {
  divergence d(table.kinds, alpha);
  for (int const q : train) d.change(side::train, table.of[static_cast<std::size_t>(q)]);
  for (int const q : test) d.change(side::test, table.of[static_cast<std::size_t>(q)]);
  d.refresh();
  return d.value();
}

}  // namespace triad::text
