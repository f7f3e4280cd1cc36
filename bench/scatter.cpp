// Times gradients of table lookups: in a large table, for the edges that a model reads, and in a table with few labels.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "scatter_task.hpp"
#include "session.hpp"
#include "triad/cpu/cpu.hpp"
#include "triad/ops/gather.hpp"

namespace bench {
namespace {

using triad::make_matrix;
using triad::make_vec;

struct scatter_problem {
  scatter_task task;
  std::vector<index_t> index = task.indices();
  std::vector<float> dy = task.values(),
                     dtable = std::vector<float>(static_cast<std::size_t>(task.table * task.columns));

  void run() {
    triad::matrix<float const> const from = make_matrix<float const>(dy.data(), task.rows, task.columns, task.columns);
    triad::scatter_add_rows(machine(), from, make_vec<index_t const>(index.data(), task.rows),
                            make_matrix(dtable.data(), task.table, task.columns, task.columns));
  }
};

verdict check(scatter_task const& task) {
  scatter_problem p{task};
  p.run();
  return task.check(p.dtable);
}

void run(benchmark::State& state, std::string const& name, scatter_task const& task) {
  auto const bytes = static_cast<std::size_t>(4 * (task.rows + task.table) * task.columns + 8 * task.rows);
  if (!may_time(state, name, 2 * bytes, [&] { return check(task); })) return;
  scatter_problem p{task};
  work_model model;
  model.stream = task.bytes();
  time_work(state, {.model = model, .total = bytes}, [&] { p.run(); });
}

[[maybe_unused]] bool const registered = [] {
  for (auto const& task : scatter_tasks()) {
    auto const name = "scatter_add_rows/" + task.name();
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
      run(state, name, task);
    })->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace bench
