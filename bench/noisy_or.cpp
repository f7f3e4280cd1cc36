// Times the noisy or over the tokens of a sentence, with the relations of CFQ's queries, in evaluation and in training.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/noisy_or.hpp"

#include <string>
#include <vector>

#include "compare.hpp"
#include "equal_grids.hpp"
#include "session.hpp"
#include "triad/cpu/cpu.hpp"

namespace bench {
namespace {

using triad::make_matrix;

/// `grids` questions of `tokens` words, with `nodes` queried nodes each and `relations` relations.
struct noisy_or_task {
  index_t grids, tokens, nodes, relations;
  bool train;

  std::string name() const {
    return "noisy_or/b:" + std::to_string(grids) + "/n:" + std::to_string(tokens) + "/m:" + std::to_string(nodes) +
           "/relations:" + std::to_string(relations) + (train ? "/train" : "/forward");
  }
  /// The number of factors 1 - x.
  double factors() const { return static_cast<double>(grids * tokens * nodes * nodes * relations); }
  double sums() const { return static_cast<double>(grids * nodes * nodes * relations); }
};

template <class T>
struct noisy_or_problem {
  noisy_or_task task;
  equal_grids grids{task.grids, task.tokens, task.nodes};
  std::vector<T> p = numbers<T>(grids.dims.rows * task.relations), role = numbers<T>(grids.dims.cells * 2),
                 ds = numbers<T>(grids.dims.pairs * task.relations), s = ds, dp = p, drole = role;

  template <class Ex>
  void run(Ex& ex) {
    auto const read = [](std::vector<T> const& v, index_t columns) {
      return make_matrix<T const>(v.data(), static_cast<index_t>(v.size()) / columns, columns, columns);
    };
    auto const write = [](std::vector<T>& v, index_t columns) {
      return make_matrix(v.data(), static_cast<index_t>(v.size()) / columns, columns, columns);
    };
    index_t const r = task.relations;
    triad::noisy_or(ex, grids.batch(), read(p, r), read(role, 2), write(s, r));
    if (task.train)
      triad::noisy_or_grad(ex, grids.batch(), read(p, r), read(role, 2), read(ds, r), write(dp, r), write(drole, 2));
  }
  std::size_t bytes() const { return 2 * sizeof(T) * (p.size() + role.size() + ds.size()); }
};

verdict check(noisy_or_task const& task) {
  noisy_or_problem<float> found{task};
  noisy_or_problem<double> expected{task};
  triad::reference::backend specification;
  found.run(machine()), expected.run(specification);
  auto const same = [](char const* what, std::vector<float> const& x, std::vector<double> const& y) {
    return compare(what, x.data(), y.data(), static_cast<index_t>(y.size()));
  };
  if (auto wrong = same("s", found.s, expected.s)) return wrong;
  if (auto wrong = same("dp", found.dp, expected.dp)) return wrong;
  return same("drole", found.drole, expected.drole);
}

// The floor counts multiply-adds and exponentials.  Forward has two multiply-adds for each factor: x = kappa p q, and
// the product with 1 - x.  The logarithm of each sum counts as one exponential.  Backward has four for each factor: x,
// the quotient ds / (1 - x), and the two sums that it is added to.
void run(benchmark::State& state, noisy_or_task const& task) {
  noisy_or_problem<float> problem{task};
  if (!may_time(state, task.name(), 4 * problem.bytes(), [&] { return check(task); })) return;
  work_model model;
  model.multiply_adds(task.factors() * (task.train ? 6 : 2));
  model.exps = task.sums();
  time_work(state, {.model = model, .total = problem.bytes()}, [&] { problem.run(machine()); });
}

[[maybe_unused]] bool const registered = [] {
  for (bool const train : {false, true}) {
    noisy_or_task const task{32, 13, 8, 38, train};
    benchmark::RegisterBenchmark(task.name().c_str(), [=](benchmark::State& state) {
      run(state, task);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace bench
