// The interface of a machine on one backend.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "options.hpp"
#include "shared/backend/network.hpp"
#include "shared/run/learner.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/program_trace.hpp"

namespace triad::programs::trees {

struct placed_node {
  index_t position, filler;  // breadth-first; of a vocabulary, never 0
  bool operator==(placed_node const&) const = default;
};

/// In the order of positions.
using placed_tree = std::span<placed_node const>;

struct placed_row {
  placed_tree source, target;
};

struct machine_options {
  index_t symbols;  // <empty> among them
  index_t depth;    // of the roles
  index_t batch;    // rows at most
  bool learns;      // false: room for inference alone
};

class machine : public learner {
 public:
  using options = trees::options;
  using room = machine_options;

  // A batch: rows are added, then used.
  virtual void clear() = 0;
  /// False where the batch is full.  The nodes lie within the machine's positions.
  virtual bool add(placed_row const& row) = 0;
  /// The symbols of every tree of the batch, position by position, until the next call; 0: nothing.
  virtual std::span<index_t const> infer() = 0;
  /// What the last infer() did, for every tree of the batch; `trees`: also what each step wrote.
  virtual std::vector<tree_trace> traced(bool trees) = 0;
  /// Of every step: the norm of the gradient of its agent's parameters in the last update, as it was clipped.
  virtual std::vector<double> gradient_norms() = 0;

  virtual tree_positions<> const& positions() const = 0;

  /// Takes the parameters of a machine over the first of these positions, whose other sizes are this one's.  Both do
  /// the same where no step makes a tree that is too deep for the smaller one, which drops what it has no position for.
  virtual void widen(machine const& smaller) = 0;

  /// The machine that the options describe, on a backend, which moves into it; for the backends' units.
  template <class Ex>
  static std::unique_ptr<machine> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::trees
