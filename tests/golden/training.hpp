// Golden files of kind train_clutrr: the first updates of a training run. Our run begins with the same parameters and
// has the same batches. This file also has the code that all kinds of training share.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "edge_model.hpp"
#include "triad/batches/graph_loader.hpp"
#include "triad/train/trainer.hpp"
#include "update.hpp"

namespace triad::golden {

/// For each parameter's path, the largest absolute value in its first gradient.
using first_gradients = std::map<std::string, double>;

/// Makes updates of a trainer by update(step, rate), and compares losses, norms and rates with the file. `pass` lists
/// the parameters in the form of the file.
template <backend Ex, class Run, class Schedule, class Update, class Pass = as_listed>
first_gradients compare_updates(workbench<Ex>& bench, report& r, Run& run, std::uint64_t steps,
                                Schedule const& schedule, Update&& update, Pass const& pass = {}) {
  first_gradients first;
  std::vector<double> losses, norms, rates;
  for (std::uint64_t step = 0; step < steps; ++step) {
    rates.push_back(schedule.rate(step));
    update(step, rates.back());
    losses.push_back(run.loss());
    norms.push_back(run.norm());
    if (step == 0)
      pass(run.parameters().gradients(),
           [&](std::string const& path, auto view) { first[path] = largest(bench.read(view)); });
  }
  r.relative("out/loss", "loss", losses, r.trace_tolerance());
  // In bf16, the weights of later updates differ too much for a comparison of their gradients.
  std::size_t const compared = r.rounds() ? 4 : norms.size();
  r.relative("out/grad_norm", "norm", norms, r.trace_tolerance(), compared);
  r.tensor("out/lr", "rate", rates, 1e-12);
  return first;
}

/// Returns a parameter's values unchanged.
struct as_ours {
  std::vector<double> const& operator()(std::string const&, std::vector<double> const& values) const { return values; }
};

/// Compares the parameters after the last update. as_stored(path, values) must convert values to their form in the
/// file. Compares only in double, and only parameters whose first gradient was larger than rounding errors, because
/// Adam makes full steps even if a gradient is only rounding error.
template <backend Ex, class Set, class Name, class Pass = as_listed, class Stored = as_ours>
void compare_final(workbench<Ex>& bench, golden_file const& file, report& r, Set& params, first_gradients const& first,
                   Name const& name, Pass const& pass = {}, Stored const& as_stored = {}) {
  double scale = 0;
  for (auto const& [path, value] : first) scale = std::max(scale, value);
  std::set<std::string> ours;
  pass(params.values(), [&](std::string const& path, auto view) {
    auto const stored = "out/final_param/" + name(path);
    ours.insert(stored);
    if (!file.single() && first.at(path) >= 1e-12 * scale)
      r.tensor(stored, "final parameters", as_stored(path, bench.read(view)), 1e-6);
    else
      r.skip(stored);
  });
  // If our model does not have a parameter, the reference must not have changed the parameter.
  for (auto const& stored : file.names("out/final_param/"))
    if (!ours.contains(stored) && file.values(stored) == file.values("param/" + stored.substr(16))) r.skip(stored);
}

struct train_clutrr {
  static constexpr std::string_view kind = "train_clutrr";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    std::vector<clutrr_batch> batches;
    trainer_options options;
    for (index_t k = 0; k < file.size("num_batches"); ++k) {
      batches.push_back(load_batch(bench, file, "in/batch" + std::to_string(k) + "/"));
      options.capacity = larger(options.capacity, batches.back().queries.graphs.dims);
    }
    options.adam = detail::adam_of(file.config.at("optimizer").get<std::string>(), file.config);
    options.max_norm = file.config.value("max_grad_norm", 0.0);
    linear_warmup const schedule{file.config.at("lr").get<double>(), file.config.at("num_warmup_steps").get<double>(),
                                 file.config.at("num_training_steps").get<double>()};

    edge_transformer<T> const model(model_sizes(file));
    trainer<edge_transformer<T>, Ex> run(ex, model, options);
    auto& params = run.parameters();
    auto const name = model_names(file);
    load_values(bench, params, file, name);
    auto const first = compare_updates(
        bench, r, run, static_cast<std::uint64_t>(file.size("steps")), schedule, [&](std::uint64_t step, double rate) {
          auto const& batch = batches.at(static_cast<std::size_t>(step) % batches.size());
          run.update(batch.queries, batch.target, rate);
        });
    compare_final(bench, file, r, params, first, name);
  }
};

}  // namespace triad::golden
