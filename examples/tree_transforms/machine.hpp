// One machine on one backend: what the program's verbs ask of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "../common/backend_choice.hpp"
#include "../common/learner.hpp"
#include "options.hpp"
#include "placed.hpp"
#include "triad/tree/positions.hpp"
#include "triad/tree/program_trace.hpp"

namespace tree_transforms {

class machine : public triad::examples::learner {
 public:
  // A batch: rows are added, then used.
  virtual void clear() = 0;
  /// False where the batch is full.  The nodes lie within the machine's positions.
  virtual bool add(placed_row const& row) = 0;
  /// The symbols of every tree of the batch, position by position, until the next call; 0: nothing.
  virtual std::span<index_t const> infer() = 0;
  /// What the last infer() did, for every tree of the batch; `trees`: also what each step wrote.
  virtual std::vector<triad::tree_trace> traced(bool trees) = 0;

  virtual triad::tree_positions<> const& positions() const = 0;
};

struct machine_options {
  index_t symbols;  // <empty> among them
  index_t depth;    // of the roles
  index_t batch;    // rows at most
  bool learns;      // false: room for inference alone
};

// The machine that the options describe, on one backend; each is a translation unit of its own.  Where a build has not
// got the backend, its function says so by a data_error.
std::unique_ptr<machine> make_on_reference(options const& o, machine_options const& z);
std::unique_ptr<machine> make_on_cpu(options const& o, machine_options const& z);
std::unique_ptr<machine> make_on_cuda(options const& o, machine_options const& z);

inline std::unique_ptr<machine> make_machine(options const& o, machine_options const& z) {
  return triad::examples::on_chosen_backend(
      o, [&] { return make_on_reference(o, z); }, [&] { return make_on_cpu(o, z); },
      [&] { return make_on_cuda(o, z); });
}

}  // namespace tree_transforms
