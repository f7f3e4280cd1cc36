// Golden files of kinds optim, clip and sched: how a step is computed from a gradient.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "family.hpp"
#include "triad/ops/adam.hpp"
#include "triad/train/optimizer.hpp"
#include "triad/train/schedule.hpp"

namespace triad::golden {

namespace detail {

/// Returns the names of all tensors <prefix><name> in the file, without the prefix.
inline std::vector<std::string> names_under(golden_file const& file, std::string const& prefix) {
  auto names = file.names(prefix);
  for (auto& name : names) name.erase(0, prefix.size());
  return names;
}

/// A model that consists only of parameters: named tensors of a file, as flat arrays.
template <class T>
struct named_tensors {
  using value_type = T;
  std::vector<std::pair<std::string, index_t>> sizes;

  named_tensors(golden_file const& file, std::string const& prefix) {
    for (auto const& name : names_under(file, prefix))
      sizes.emplace_back(name, static_cast<index_t>(file.values(prefix + name).size()));
  }

  template <class S>
  struct fields {
    std::vector<std::pair<std::string, vec<S>>> rows;
    template <class F>
    void each(F&& f) {
      for (auto& [name, row] : rows) f(name, row);
    }
  };
  template <class S = T>
  fields<S> plan_params(arena& place) const {
    fields<S> planned;
    for (auto const& [name, size] : sizes) planned.rows.emplace_back(name, place.make<vec<S>>(size));
    return planned;
  }
};

inline adam_options adam_of(std::string const& optimizer, nlohmann::json const& args) {
  adam_options s;
  if (optimizer == "AdamW") {
    s.decoupled = true;
    s.weight_decay = 0.01;
  } else if (optimizer != "Adam") {
    throw data_error("the optimizer is " + optimizer + "; expected Adam or AdamW");
  }
  if (args.contains("betas")) {
    s.beta1 = args["betas"].at(0).get<double>();
    s.beta2 = args["betas"].at(1).get<double>();
  }
  s.epsilon = args.value("eps", s.epsilon);
  s.weight_decay = args.value("weight_decay", s.weight_decay);
  return s;
}

}  // namespace detail

/// Compares an optimiser that gets its gradients from the file. A parameter without a stored gradient is skipped. It is
/// not decayed.
struct optim {
  static constexpr std::string_view kind = "optim";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    auto const args = file.config.at("args");
    double const peak = args.at("lr").get<double>();
    bool const clipped = file.config.contains("clip") && file.config["clip"].is_number();
    double const max_norm = clipped ? file.config["clip"].get<double>() : 0;

    parameter_set<detail::named_tensors<T>, Ex> params(detail::named_tensors<T>(file, "in/param/"), holding::moments,
                                                       memory_of(ex));
    auto const absent = [&](std::string const& name) { return !file.has("in/step0/grad/" + name); };
    adam_optimizer const optimizer(params, detail::adam_of(file.config.at("optimizer").get<std::string>(), args),
                                   absent);
    training_clock<Ex> clock(memory_of(ex));
    auto const length = bench.template make<vec<T>>(1);
    walk(params.mutable_values(),
         [&](std::string const& name, auto row) { bench.write(row, file.values("in/param/" + name)); });

    for (index_t t = 0; t < file.size("steps"); ++t) {
      auto const at = "step" + std::to_string(t) + "/";
      double const rate = rate_at(file, peak, t);
      walk(params.gradients(), [&](std::string const& name, auto row) {
        if (!absent(name)) bench.write(row, file.values("in/" + at + "grad/" + name));
      });
      clock.set(static_cast<std::uint64_t>(t), rate);
      bench.run([&](auto& backend, call const& c) {
        clip_gradient(backend, *c.scratch, max_norm, params.flat_gradients(), length);
      });
      optimizer.update(ex, params, clock);

      r.tensor("out/" + at + "lr", "rate", {rate}, 1e-12);
      if (file.has("out/" + at + "grad_norm_before_clip"))
        r.tensor("out/" + at + "grad_norm_before_clip", "norm", bench.read(length), r.update_tolerance());
      walk(params.values(), [&](std::string const& name, auto row) {
        r.tensor("out/" + at + "param/" + name, "parameters", bench.read(row), r.update_tolerance());
      });
    }
    auto const compare_moments = [&](std::string const& prefix, auto moments) {
      walk(moments, [&](std::string const& name, auto row) {
        if (!absent(name)) r.tensor(prefix + name, "moments", bench.read(row), r.update_tolerance());
      });
    };
    compare_moments("out/final/exp_avg/", params.first_moments());
    compare_moments("out/final/exp_avg_sq/", params.second_moments());
  }

 private:
  static double rate_at(golden_file const& file, double peak, index_t t) {
    if (!file.config.contains("schedule") || !file.config["schedule"].is_object()) return peak;
    auto const& s = file.config["schedule"];
    return linear_warmup{peak, s.at("num_warmup_steps").get<double>(), s.at("num_training_steps").get<double>()}.rate(
        static_cast<std::uint64_t>(t));
  }
};

struct clipping {
  static constexpr std::string_view kind = "clip";

  template <class T, backend Ex>
  static void check(Ex& ex, golden_file const& file, report& r) {
    workbench<Ex> bench(ex);
    parameter_set<detail::named_tensors<T>, Ex> params(detail::named_tensors<T>(file, "in/grad/"), holding::gradients,
                                                       memory_of(ex));
    walk(params.gradients(),
         [&](std::string const& name, auto row) { bench.write(row, file.values("in/grad/" + name)); });
    auto const length = bench.template make<vec<T>>(1);
    bench.run([&](auto& backend, call const& c) {
      clip_gradient(backend, *c.scratch, file.config.at("max_norm").get<double>(), params.flat_gradients(), length);
    });
    r.tensor("out/total_norm", "norm", bench.read(length), r.update_tolerance());
    walk(params.gradients(), [&](std::string const& name, auto row) {
      r.tensor("out/grad/" + name, "gradient", bench.read(row), r.update_tolerance());
    });
  }
};

/// Compares schedules. Rates are computed on the host, so every backend has the same rates.
struct sched {
  static constexpr std::string_view kind = "sched";

  template <class T, backend Ex>
  static void check(Ex&, golden_file const& file, report& r) {
    auto const updates = static_cast<index_t>(file.values("out/lr").size());
    std::vector<double> rates, epochs;
    auto const all = [&](auto const& schedule) {
      for (index_t k = 0; k < updates; ++k) rates.push_back(schedule.rate(static_cast<std::uint64_t>(k)));
    };
    auto const number = [&](char const* key) { return file.config.at(key).get<double>(); };
    auto const count = [&](char const* key) { return file.config.at(key).get<std::uint64_t>(); };
    auto const name = file.config.at("schedule").get<std::string>();
    if (name == "linear_warmup")
      all(linear_warmup{number("lr"), number("num_warmup_steps"), number("num_training_steps")});
    else if (name == "inverse_sqrt")
      all(inverse_sqrt{number("lr"), number("warmup_init_lr"), number("warmup_updates")});
    else if (name == "dtm_main_cosine")
      all(dtm_main_cosine{number("lr"), count("num_warmup_steps"), count("iters_per_epoch"), count("epochs")});
    else if (name == "dtm_main_exponential")
      all(dtm_main_exponential{number("lr"), number("gamma"), count("num_warmup_steps"), count("iters_per_epoch")});
    else
      throw data_error(file.path().string() + ": no schedule is called " + name);
    if (file.has("out/epoch"))
      for (index_t k = 0; k < updates; ++k) epochs.push_back(static_cast<double>(k / file.size("iters_per_epoch")));
    r.tensor("out/lr", "rate", rates, r.update_tolerance());
    if (file.has("out/epoch")) r.tensor("out/epoch", "epoch", epochs, 0);
  }
};

}  // namespace triad::golden
