// The interface of a machine on one backend, which the program's verbs use.
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
  index_t position, filler;  // position in breadth-first order; number of the label, never 0
  bool operator==(placed_node const&) const = default;
};

/// The nodes of a tree in the order of their positions.
using placed_tree = std::span<placed_node const>;

struct placed_row {
  placed_tree source, target;
};

struct machine_options {
  index_t symbols;  // number of symbols, with <empty>
  index_t depth;    // number of levels that have roles
  index_t batch;    // largest number of rows in a batch
  bool learns;      // false: there is memory for inference only
};

class machine : public learner {
 public:
  using options = trees::options;
  using room = machine_options;

  // To use a batch: clear it, add rows, then call one of the functions below.
  virtual void clear() = 0;
  /// Adds a row to the batch.  Returns false if the batch is full.  The machine must have the positions of all nodes.
  virtual bool add(placed_row const& row) = 0;
  /// Returns the symbols of all answers of the batch, position by position. 0 means that a position has no symbol.  The
  /// symbols are valid until the next call.
  virtual std::span<index_t const> infer() = 0;
  /// Returns the steps of the last infer() for each row of the batch.  If `trees`, includes the tree that each step
  /// wrote.
  virtual std::vector<tree_trace> traced(bool trees) = 0;
  /// For each step, returns the norm of the gradient with respect to its agent's parameters in the last update, after
  /// clipping.
  virtual std::vector<double> gradient_norms() = 0;

  virtual tree_positions<> const& positions() const = 0;

  /// Copies the parameters of a machine that has fewer positions.  All other sizes must be equal.  The smaller machine
  /// drops nodes at positions that it does not have.  If no step makes such a node, both machines give the same
  /// answers.
  virtual void widen(machine const& smaller) = 0;

  /// Makes the machine that the options describe, and moves the backend into the machine.  The source file of each
  /// backend calls this function.
  template <class Ex>
  static std::unique_ptr<machine> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::trees
