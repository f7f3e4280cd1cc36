// What benchmarks of operations on grids share: grids of equal sizes, numbers to fill them, and the comparison with the
// reference.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "compare.hpp"
#include "session.hpp"
#include "triad/core/grids.hpp"
#include "triad/core/views.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/reference/reference.hpp"

namespace bench {

using triad::index_t;

/// `count` grids of `height` rows and `width` columns.
struct equal_grids {
  std::vector<index_t> rows, columns, row, column, cell, pair;
  triad::grid_dims dims;

  equal_grids(index_t count, index_t height, index_t width) {
    for (index_t g = 0; g < count; ++g) {
      rows.push_back(height), columns.push_back(width);
      row.push_back(dims.rows), column.push_back(dims.columns), cell.push_back(dims.cells), pair.push_back(dims.pairs);
      dims = dims + triad::grid_of(height, width);
    }
  }
  triad::grid_batch batch() const {
    auto const view = [&](std::vector<index_t> const& v) { return triad::make_vec(v.data(), dims.graphs); };
    return {dims, view(rows), view(columns), view(row), view(column), view(cell), view(pair)};
  }
};

/// Returns numbers between 0 and 0.9 that a float stores exactly.
template <class T>
std::vector<T> numbers(index_t count) {
  std::vector<T> all(static_cast<std::size_t>(count));
  for (std::size_t e = 0; e < all.size(); ++e)
    all[e] = static_cast<T>(static_cast<float>((static_cast<std::uint32_t>(e) * 2654435761u) >> 8) * 0x1p-24f * 0.9f);
  return all;
}

/// Returns a vector as a matrix with `columns` columns.
template <class T>
triad::matrix<T const> as_rows(std::vector<T> const& v, index_t columns) {
  return triad::make_matrix<T const>(v.data(), static_cast<index_t>(v.size()) / columns, columns, columns);
}
template <class T>
triad::matrix<T> as_rows(std::vector<T>& v, index_t columns) {
  return triad::make_matrix(v.data(), static_cast<index_t>(v.size()) / columns, columns, columns);
}

/// A list of results with their names.
template <class T>
using named_results = std::vector<std::pair<char const*, std::vector<T> const*>>;

/// Compares the results of a problem in float with those of the reference in double.
template <template <class> class Problem, class Task>
verdict check_grid_problem(Task const& task) {
  Problem<float> found{task};
  Problem<double> expected{task};
  triad::reference::backend specification;
  found.run(machine()), expected.run(specification);
  auto const wanted = expected.results();
  std::size_t next = 0;
  for (auto const& [what, values] : found.results()) {
    auto const& right = *wanted[next++].second;
    if (auto wrong = compare(what, values->data(), right.data(), static_cast<index_t>(right.size()))) return wrong;
  }
  return std::nullopt;
}

/// Registers two benchmarks of a task: of the operation alone, and with its gradient (task.train).  A Problem has
/// run(backend), results() and bytes().  A task has name() and model(), the counted work.
template <template <class> class Problem, class Task>
bool register_grid_problem(Task task) {
  for (bool const train : {false, true}) {
    task.train = train;
    benchmark::RegisterBenchmark(task.name().c_str(), [=](benchmark::State& state) {
      Problem<float> problem{task};
      if (!may_time(state, task.name(), 4 * problem.bytes(), [&] { return check_grid_problem<Problem>(task); })) return;
      time_work(state, {.model = task.model(), .total = problem.bytes()}, [&] { problem.run(machine()); });
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}

}  // namespace bench
