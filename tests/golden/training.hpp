// Kind train_clutrr: the first updates of a training run, from the same parameters on the same batches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "edge_model.hpp"
#include "update.hpp"

namespace triad::golden {

struct train_clutrr {
  static constexpr std::string_view kind = "train_clutrr";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    using model_type = edge_transformer<T>;
    model_type const model(model_sizes(file));
    auto const name = model_names(file);
    auto params = load_parameters(bench, model, file, name, holding::moments);
    adam_optimizer const optimizer(params, detail::adam_of(file.config.at("optimizer").get<std::string>(), file.config));
    linear_warmup const schedule{file.config.at("lr").get<double>(), file.config.at("num_warmup_steps").get<double>(),
                                 file.config.at("num_training_steps").get<double>()};
    double const max_norm = file.config.value("max_grad_norm", 0.0);
    training_clock<Ex> clock;
    auto const length = bench.template make<vec<T>>(1);

    std::vector<double> losses, norms, rates;
    std::vector<first_gradient> first;
    for (index_t step = 0; step < file.size("steps"); ++step) {
      auto const batch = load_batch(bench, file, "in/batch" + std::to_string(step % file.size("num_batches")) + "/");
      auto const& dims = batch.queries.graphs.dims;
      auto const saved = bench.place([&](arena& a) { return model.plan_saved(a, dims); });
      answers<T> const found(bench, dims.graphs, model.targets());
      rates.push_back(schedule.rate(static_cast<std::uint64_t>(step)));
      clock.set(static_cast<std::uint64_t>(step), rates.back());
      params.zero_gradients(ex);
      bench.run([&](auto& backend, call const& c) {
        model.forward(backend, c, params.values(), batch.queries, saved, found.logits);
        found.score(backend, batch.target);
        model.backward(backend, c, params.values(), batch.queries, saved, found.dlogits, params.gradients());
        clip_gradient(backend, *c.scratch, max_norm, params.flat_gradients(), length);
      }, true);
      if (step == 0) first = gradients(bench, params, name);
      optimizer.update(ex, params, clock);
      losses.push_back(bench.read(found.loss).at(0));
      norms.push_back(bench.read(length).at(0));
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

  template <backend Ex, class Set, class Name>
  static std::vector<first_gradient> gradients(workbench<Ex>& bench, Set& params, Name const& name) {
    std::vector<first_gradient> all;
    walk(params.gradients(), [&](std::string const& path, auto view) { all.push_back({name(path), largest(bench.read(view))}); });
    return all;
  }

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
