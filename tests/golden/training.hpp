// Kind train_clutrr: the first updates of a training run, from the same parameters on the same batches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <set>

#include "edge_model.hpp"
#include "triad/models/graph_loader.hpp"
#include "triad/train/trainer.hpp"
#include "update.hpp"

namespace triad::golden {

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
    run.compute_gradient(batches.at(0).queries, batches.at(0).target);
    std::vector<first_gradient> first;
    walk(params.gradients(), [&](std::string const& path, auto view) { first.push_back({name(path), largest(bench.read(view))}); });

    std::vector<double> losses, norms, rates;
    for (index_t step = 0; step < file.size("steps"); ++step) {
      auto const& batch = batches.at(static_cast<std::size_t>(step) % batches.size());
      rates.push_back(schedule.rate(static_cast<std::uint64_t>(step)));
      run.update(batch.queries, batch.target, rates.back());
      losses.push_back(run.loss());
      norms.push_back(run.norm());
    }
    r.relative("out/loss", "loss", losses, r.trace_tolerance());
    r.relative("out/grad_norm", "norm", norms, r.trace_tolerance());
    r.tensor("out/lr", "rate", rates, 1e-12);
    compare_final(bench, file, r, params, name, first);
  }

 private:
  struct first_gradient {
    std::string name;
    double largest;
  };

  /// In double, and only where the first gradient was more than rounding: Adam makes whole steps of rounding noise.
  template <backend Ex, class Set, class Name>
  static void compare_final(workbench<Ex>& bench, golden_file const& file, report& r, Set& params, Name const& name,
                            std::vector<first_gradient> const& first) {
    double scale = 0;
    for (auto const& g : first) scale = std::max(scale, g.largest);
    std::set<std::string> ours;
    std::size_t k = 0;
    walk(params.values(), [&](std::string const& path, auto view) {
      auto const stored = "out/final_param/" + name(path);
      ours.insert(stored);
      if (!file.single() && first.at(k).largest >= 1e-12 * scale)
        r.tensor(stored, "final parameters", bench.read(view), 1e-6);
      else
        r.skip(stored);
      ++k;
    });
    // What our model does not have must be what the reference never used.
    for (auto const& stored : file.names("out/final_param/"))
      if (!ours.contains(stored) && file.values(stored) == file.values("param/" + stored.substr(16))) r.skip(stored);
  }
};

}  // namespace triad::golden
