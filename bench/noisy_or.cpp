// Times the noisy or over the tokens of a sentence, with the relations of CFQ's queries, in evaluation and in training.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/noisy_or.hpp"

#include <string>
#include <vector>

#include "grid_problem.hpp"

namespace bench {
namespace {

/// `grids` questions of `tokens` words, with `nodes` queried nodes each and `relations` relations.
struct noisy_or_task {
  index_t grids, tokens, nodes, relations;
  bool train = false;

  std::string name() const {
    return "noisy_or/b:" + std::to_string(grids) + "/n:" + std::to_string(tokens) + "/m:" + std::to_string(nodes) +
           "/relations:" + std::to_string(relations) + (train ? "/train" : "/forward");
  }
  /// The number of factors 1 - x.
  double factors() const { return static_cast<double>(grids * tokens * nodes * nodes * relations); }
  double sums() const { return static_cast<double>(grids * nodes * nodes * relations); }
  /// The floor counts multiply-adds and exponentials.  Forward has two multiply-adds for each factor: x = kappa p q, and
  /// the product with 1 - x.  The logarithm of each sum counts as one exponential.  Backward has four for each factor:
  /// x, the quotient ds / (1 - x), and the two sums that it is added to.
  work_model model() const {
    work_model work;
    work.multiply_adds(factors() * (train ? 6 : 2));
    work.exps = sums();
    return work;
  }
};

template <class T>
struct noisy_or_problem {
  noisy_or_task task;
  equal_grids grids{task.grids, task.tokens, task.nodes};
  std::vector<T> p = numbers<T>(grids.dims.rows * task.relations), role = numbers<T>(grids.dims.cells * 2),
                 ds = numbers<T>(grids.dims.pairs * task.relations), s = ds, dp = p, drole = role;

  template <class Ex>
  void run(Ex& ex) {
    index_t const r = task.relations;
    auto const batch = grids.batch();
    auto const read = [](std::vector<T> const& v, index_t width) { return as_rows(v, width); };
    triad::noisy_or(ex, batch, read(p, r), read(role, 2), as_rows(s, r));
    if (task.train)
      triad::noisy_or_grad(ex, batch, read(p, r), read(role, 2), read(ds, r), as_rows(dp, r), as_rows(drole, 2));
  }
  named_results<T> results() const { return {{"s", &s}, {"dp", &dp}, {"drole", &drole}}; }
  std::size_t bytes() const { return 2 * sizeof(T) * (p.size() + role.size() + ds.size()); }
};

[[maybe_unused]] bool const registered = register_grid_problem<noisy_or_problem>(noisy_or_task{32, 13, 8, 38});

}  // namespace
}  // namespace bench
