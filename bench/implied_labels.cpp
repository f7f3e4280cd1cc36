// Times the removal of labels that edges imply, with the relations and labels of CFQ's queries.
// SPDX-License-Identifier: Apache-2.0
#include "triad/ops/implied_labels.hpp"

#include <string>
#include <vector>

#include "grid_problem.hpp"

namespace bench {
namespace {

/// `grids` questions with `nodes` queried nodes each, `relations` relations and `labels` labels of nodes.
struct implied_labels_task {
  index_t grids, nodes, relations, labels;
  bool train = false;

  std::string name() const {
    return "implied_labels/b:" + std::to_string(grids) + "/m:" + std::to_string(nodes) +
           "/relations:" + std::to_string(relations) + "/labels:" + std::to_string(labels) +
           (train ? "/train" : "/forward");
  }
  double columns() const { return static_cast<double>(grids * nodes); }
  /// The number of factors 1 - kappa p E.
  double factors() const { return columns() * static_cast<double>(relations * labels); }
  /// The floor counts multiply-adds and exponentials.  Forward has two multiply-adds for each factor: kappa p E, and the
  /// product with 1 - kappa p E.  It has an exponential for each E, and three exponentials or logarithms for each label.
  /// Backward has three multiply-adds for each factor: kappa p E, the quotient, and the sum that it is added to.
  work_model model() const {
    work_model work;
    work.multiply_adds(factors() * (train ? 5 : 2));
    work.exps = columns() * static_cast<double>(relations + 3 * labels);
    return work;
  }
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
    index_t const r = task.relations, u = task.labels;
    auto const batch = grids.batch();
    auto const read = [](std::vector<T> const& v, index_t width) { return as_rows(v, width); };
    triad::implied_labels(ex, batch, read(s, r), read(x, u), read(implied, u), as_rows(edge, r), as_rows(of_x, u),
                          as_rows(of_y, u), as_rows(result, u));
    if (task.train)
      triad::implied_labels_grad(ex, batch, read(implied, u), read(edge, r), read(of_x, u), read(of_y, u),
                                 read(dresult, u), as_rows(dx, u), as_rows(dimplied, u));
  }
  named_results<T> results() const { return {{"result", &result}, {"dx", &dx}, {"dimplied", &dimplied}}; }
  std::size_t bytes() const { return sizeof(T) * (s.size() + 6 * x.size() + 2 * implied.size() + edge.size()); }
};

[[maybe_unused]] bool const registered =
    register_grid_problem<implied_labels_problem>(implied_labels_task{32, 8, 38, 44});

}  // namespace
}  // namespace bench
