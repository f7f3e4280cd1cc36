// One machine on one backend: the interface that the program's verbs use.
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
  index_t position, filler;  // breadth-first position; number of the label, never 0
  bool operator==(placed_node const&) const = default;
};

/// The nodes in the order of their positions.
using placed_tree = std::span<placed_node const>;

struct placed_row {
  placed_tree source, target;
};

struct machine_options {
  index_t symbols;  // including <empty>
  index_t depth;    // levels of the roles
  index_t batch;    // largest number of rows of a batch
  bool learns;      // false: memory for inference alone
};

class machine : public learner {
 public:
  using options = trees::options;
  using room = machine_options;

  // A batch: first add rows, then use it.
  virtual void clear() = 0;
  /// Returns false if the batch is full.  The nodes must lie within the machine's positions.
  virtual bool add(placed_row const& row) = 0;
  /// Returns the symbols of every tree of the batch, position by position; 0 is no symbol.  They are valid until the
  /// next call.
  virtual std::span<index_t const> infer() = 0;
  /// Returns the steps of the last infer() for every tree of the batch.  If `trees`, each step has the tree that it
  /// wrote.
  virtual std::vector<tree_trace> traced(bool trees) = 0;
  /// Returns, for every step, the norm of the gradient of its agent's parameters in the last update, after clipping.
  virtual std::vector<double> gradient_norms() = 0;

  virtual tree_positions<> const& positions() const = 0;

  /// Copies the parameters of a machine that has only the first of these positions, and otherwise equal sizes.  Both
  /// machines agree unless a step makes a tree that is too deep for the smaller machine, which drops the nodes that
  /// have no position there.
  virtual void widen(machine const& smaller) = 0;

  /// Makes the machine that the options describe.  The backend is moved into the machine.  The backends' translation
  /// units call this function.
  template <class Ex>
  static std::unique_ptr<machine> make(Ex ex, options const& o, room const& z);
};

}  // namespace triad::programs::trees
