// Times the removal of labels that edges imply, with the relations and labels of CFQ's queries.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/implied_labels.hpp"

#include <string>
#include <vector>

#include "compare.hpp"
#include "equal_grids.hpp"
#include "session.hpp"
#include "triad/cpu/cpu.hpp"

namespace bench {
namespace {

using triad::make_matrix;

/// `grids` questions with `nodes` queried nodes each, `relations` relations and `labels` labels of nodes.
struct implied_labels_task {
  index_t grids, nodes, relations, labels;
  bool train;

  std::string name() const {
    return "implied_labels/b:" + std::to_string(grids) + "/m:" + std::to_string(nodes) +
           "/relations:" + std::to_string(relations) + "/labels:" + std::to_string(labels) +
           (train ? "/train" : "/forward");
  }
  double columns() const { return static_cast<double>(grids * nodes); }
  /// The number of factors 1 - kappa p E.
  double factors() const { return columns() * static_cast<double>(relations * labels); }
};

template <class T>
struct implied_labels_problem {
  implied_labels_task task;
  equal_grids grids{task.grids, 1, task.nodes};
  index_t columns = grids.dims.columns;
  std::vector<T> s = negative(grids.dims.pairs * task.relations), x = negative(columns * task.labels),
                 implied = numbers<T>(task.relations * task.labels), dresult = numbers<T>(columns * task.labels),
                 edge = numbers<T>(columns * task.relations), of_x = x, of_y = x, result = x, dx = x,
                 dimplied = implied;

  static std::vector<T> negative(index_t count) {
    auto all = numbers<T>(count);
    for (T& v : all) v = -v;
    return all;
  }
  template <class Ex>
  void run(Ex& ex) {
    auto const read = [](std::vector<T> const& v, index_t width) {
      return make_matrix<T const>(v.data(), static_cast<index_t>(v.size()) / width, width, width);
    };
    auto const write = [](std::vector<T>& v, index_t width) {
      return make_matrix(v.data(), static_cast<index_t>(v.size()) / width, width, width);
    };
    index_t const r = task.relations, u = task.labels;
    auto const batch = grids.batch();
    triad::implied_labels(ex, batch, read(s, r), read(x, u), read(implied, u), write(edge, r), write(of_x, u),
                          write(of_y, u), write(result, u));
    if (task.train)
      triad::implied_labels_grad(ex, batch, read(implied, u), read(edge, r), read(of_x, u), read(of_y, u),
                                 read(dresult, u), write(dx, u), write(dimplied, u));
  }
  std::size_t bytes() const { return sizeof(T) * (s.size() + 6 * x.size() + 2 * implied.size() + edge.size()); }
};

verdict check(implied_labels_task const& task) {
  implied_labels_problem<float> found{task};
  implied_labels_problem<double> expected{task};
  triad::reference::backend specification;
  found.run(machine()), expected.run(specification);
  auto const same = [](char const* what, std::vector<float> const& a, std::vector<double> const& b) {
    return compare(what, a.data(), b.data(), static_cast<index_t>(b.size()));
  };
  if (auto wrong = same("result", found.result, expected.result)) return wrong;
  if (auto wrong = same("dx", found.dx, expected.dx)) return wrong;
  return same("dimplied", found.dimplied, expected.dimplied);
}

// The floor counts multiply-adds and exponentials.  Forward has two multiply-adds for each factor: kappa p E, and the
// product with 1 - kappa p E.  It has an exponential for each E, and three exponentials or logarithms for each label.
// Backward has three multiply-adds for each factor: kappa p E, the quotient, and the sum that it is added to.
void run(benchmark::State& state, implied_labels_task const& task) {
  implied_labels_problem<float> problem{task};
  if (!may_time(state, task.name(), 4 * problem.bytes(), [&] { return check(task); })) return;
  work_model model;
  model.multiply_adds(task.factors() * (task.train ? 5 : 2));
  model.exps = task.columns() * static_cast<double>(task.relations + 3 * task.labels);
  time_work(state, {.model = model, .total = problem.bytes()}, [&] { problem.run(machine()); });
}

[[maybe_unused]] bool const registered = [] {
  for (bool const train : {false, true}) {
    implied_labels_task const task{32, 8, 38, 44, train};
    benchmark::RegisterBenchmark(task.name().c_str(), [=](benchmark::State& state) {
      run(state, task);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace bench
