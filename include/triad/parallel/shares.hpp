// The shares of a batch: assigns shares to processes, and adds the results of the shares along a fixed tree.
// SPDX-License-Identifier: Apache-2.0
//
// A batch of n examples is divided into S shares.  S is a power of two.  S does not change during a run, even if the
// number of processes does.  Share s has the examples i with
//
//   floor(n s / S) <= i < floor(n (s + 1) / S)
//
// Process r of R computes the shares r S/R .. (r + 1) S/R - 1, one after another.  The process adds the results of its
// shares along the tree of parallel/communicator.hpp, and all_reduce adds the sums of all processes.  So all numbers of
// processes R give the same bits.
#pragma once

#include <cstddef>

#include "triad/core/backend.hpp"
#include "triad/core/buffer.hpp"
#include "triad/core/contracts.hpp"
#include "triad/core/views.hpp"
#include "triad/ops/elementwise.hpp"
#include "triad/parallel/communicator.hpp"

namespace triad {

/// The shares that a process computes: shares first, first + 1, ..., last - 1 of a batch of `all` shares.
struct share_range {
  index_t all = 1, first = 0, last = 1;
  index_t count() const { return last - first; }
};

/// Returns the shares of process `rank` of `processes` processes.  Throws contract_violation if `shares` or `processes`
/// is not a power of two, or if there are more processes than shares.
inline share_range shares_of(index_t shares, int rank, int processes) {
  detail::expect_power_of_two("shares: shares", shares);
  detail::expect_power_of_two("shares: processes", processes);
  TRIAD_EXPECTS(
      processes <= shares,
      "shares: " + std::to_string(processes) + " processes, expected at most " + std::to_string(shares) +
          ", one for each share; give as many shares as there are processes (trainer options: shares), or start fewer");
  TRIAD_EXPECTS(rank >= 0 && rank < processes,
                "shares: rank is " + std::to_string(rank) + ", expected 0 to " + std::to_string(processes - 1));
  auto const each = shares / processes;
  return {shares, rank * each, (rank + 1) * each};
}

/// The examples of one share of a batch: [first, last).
struct example_range {
  std::size_t first, last;
};
constexpr example_range examples_of_share(index_t share, index_t shares, std::size_t count) {
  auto const at = [&](index_t s) { return count * static_cast<std::size_t>(s) / static_cast<std::size_t>(shares); };
  return {at(share), at(share + 1)};
}

/// Adds the results of 2^k shares in pairs, like the nodes of a binary tree (parallel/communicator.hpp).  The result of
/// a share is a row of `values` numbers.  The rows come one after another, and only k rows are stored.  Allocates
/// memory only in the constructor.
template <class T, backend Ex>
class share_sums {
 public:
  share_sums(index_t values, index_t shares, typename Ex::memory where = {})
      : values_(values), shares_(shares), held_(bytes(values, shares), where) {}

  static std::size_t bytes(index_t values, index_t shares) {
    return static_cast<std::size_t>(levels(shares) * values) * sizeof(T);
  }

  /// Starts an update.  The next row that is added belongs to the first share of this update.
  void begin() { next_ = 0; }
  index_t added() const { return next_; }
  /// Adds `row`, the row of the next share, and overwrites `row`.  After the last share, `row` is the sum over all
  /// shares.
  void add(Ex& ex, vec<T> row) {
    TRIAD_EXPECTS(next_ < shares_, "share_sums: a share after all " + std::to_string(shares_) +
                                       " were added, expected none; begin() another update");
    index_t level = 0;
    for (; (next_ >> level & 1) != 0; ++level) transform(ex, plus{}, this->level(level), row, row);
    if (++next_ < shares_) transform(ex, unchanged{}, row, this->level(level));
  }

 private:
  static index_t levels(index_t shares) {
    index_t k = 0;
    while (index_t{1} << k < shares) ++k;
    return k;
  }
  vec<T> level(index_t k) const { return make_vec(static_cast<T*>(held_.data()) + k * values_, values_); }

  index_t values_, shares_, next_ = 0;
  buffer<typename Ex::memory> held_;
};

/// The sums of a batch's gradient and loss, first over the shares of this process, then over all processes.  Allocates
/// memory only in the constructor.  With 0 values, as in a trainer that does not train, this class takes almost no
/// memory.
template <class T, backend Ex, class Processes>
  requires communicator<Processes, Ex, T>
class gradient_sums {
 public:
  gradient_sums(index_t values, index_t shares, Processes& processes, typename Ex::memory where = {})
      : processes_(processes),
        gradients_(values, shares, where),
        losses_(1, shares, where),
        exchanged_(exchange_bytes(values, processes.size()), where) {}

  /// Returns the bytes for gradients.  The losses take one more number for each level of the tree, which is not
  /// counted.
  static std::size_t bytes(index_t values, index_t shares, int processes) {
    return share_sums<T, Ex>::bytes(values, shares) + exchange_bytes(values, processes);
  }
  int processes() const { return processes_.size(); }

  /// Starts an update.  The next share that is added is the first share of this update.
  void begin() { gradients_.begin(), losses_.begin(); }
  /// Adds a share, as share_sums does.  After the last share, `gradient` and `loss` are the sums over the shares of
  /// this process.
  void add(Ex& ex, vec<T> gradient, vec<T> loss) {
    gradients_.add(ex, gradient);
    losses_.add(ex, loss);
  }
  /// Replaces the sums of this process by the sums over all processes.
  void sum_over_processes(Ex& ex, vec<T> gradient, vec<T> loss) {
    if (processes() == 1) return;
    auto const scratch =
        make_vec(static_cast<T*>(exchanged_.data()), static_cast<index_t>(exchanged_.bytes() / sizeof(T)));
    all_reduce(ex, processes_, gradient, scratch);
    all_reduce(ex, processes_, loss, scratch);
  }

 private:
  static std::size_t exchange_bytes(index_t values, int processes) {
    return values > 0 ? static_cast<std::size_t>(all_reduce_scratch(values, processes)) * sizeof(T) : 0;
  }

  Processes& processes_;
  share_sums<T, Ex> gradients_, losses_;
  buffer<typename Ex::memory> exchanged_;
};

}  // namespace triad
