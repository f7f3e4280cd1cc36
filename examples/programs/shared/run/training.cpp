// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "run_folder.hpp"
#include "seed_means.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/csv.hpp"
#include "shared/processes/world.hpp"
#include "shared/report/svg_plot.hpp"
#include "shared/report/table.hpp"
#include "triad/train/schedule.hpp"

namespace triad::programs {

double linear_rate(width_options const& o, std::int64_t updates, std::int64_t update) {
  linear_warmup const schedule{o.rate, static_cast<double>(o.warmup), static_cast<double>(updates)};
  return schedule.rate(static_cast<std::uint64_t>(update));
}

namespace {
/// A warm-up that does not end within the run is said: the learning rate that was asked for never comes.  A training
/// that follows another has one of its own, and further seeds have the first one's.
void say_warmup(run_options const& o, run_plan const& plan) {
  auto const* const those = dynamic_cast<width_options const*>(&o);
  if (those == nullptr || plan.follows || those->warmup == 0 || those->warmup < plan.updates || !world().is_first())
    return;
  fmt::print(stderr,
             "--warmup {} is no shorter than the {} updates of this run, so the learning rate never comes to "
             "--learning-rate {:g}: take a smaller --warmup, or more updates\n",
             those->warmup, plan.updates, those->rate);
}
}  // namespace

scored_run train_one(run_options const& o, training& t, std::string const& out, bool says_warmup) {
  auto const run_of = [&](training& one, std::string const& folder, bool resume) {
    auto plan = one.plan();
    bool const two = t.first() != nullptr;
    plan.ends_early = two;
    plan.follows = two && &one == &t;
    if (two && &one != &t) plan.leads_to = out;
    plan.out = folder;
    plan.config = folder.empty() ? std::string() : to_toml(o);
    plan.seed = o.seed;
    plan.resume = resume;
    plan.average = o.average;
    plan.dropout_until = o.dropout_until;
    if (says_warmup) say_warmup(o, plan);
    return train(one, plan);
  };
  scored_run run;
  run.seed = o.seed;
  run_log before;
  if (auto* const first = t.first()) {
    auto const folder = out.empty() ? out : out + "/first";
    if (o.resume && !out.empty() && std::filesystem::exists(out + "/model.safetensors") &&
        !std::filesystem::exists(folder + "/model.safetensors"))
      throw data_error("there is a run in " + out + ", and no checkpoint of a first training in " + folder +
                       ", for which these options ask: give --resume the options that it began with, or another --out");
    if (!out.empty()) make_folder(folder);
    before = run_of(*first, folder, o.resume);
    if (before.interrupted || before.diverged) {
      static_cast<run_log&>(run) = before;
      return run;
    }
  }
  // A checkpoint of other first values than the first training's is not gone on from.
  static_cast<run_log&>(run) = run_of(t, out, o.resume && before.updates == 0);
  run.seconds += before.seconds;
  run.attempts = std::max(run.attempts, before.attempts);
  if (run.interrupted || run.diverged) return run;
  run.parts = t.net().with_averages([&] { return t.score(); });
  run.failed = !t.learned(run.validation);
  return run;
}

seed_runs::seed_runs(run_options& o, std::string folder)
    : options_(o), folder_(std::move(folder)), seeds_(o.seeds), first_(o.seed) {
  bool const is_one = !folder_.empty() && std::filesystem::exists(folder_ + "/model.safetensors");
  if (o.resume && seeds_ > 1 && is_one && !std::filesystem::exists(folder_ + "/seed-" + std::to_string(first_)))
    throw data_error("the run in " + folder_ +
                     " is of one seed, and those of --seeds have folders of their own in it: give --resume the options "
                     "that it began with, or another --out");
  if (o.resume && seeds_ == 1 && !folder_.empty() && !is_one) expect_one_run(folder_);
  if (!o.resume && seeds_ > 1 && is_one) set_aside(folder_);  // or it would pass for a run of these
}

bool seed_runs::next() {
  std::fflush(stdout);
  auto const made = all_.size();
  bool const ends = made == static_cast<std::size_t>(seeds_);
  options_.seeds = ends ? seeds_ : 1;
  options_.seed = ends ? first_ : first_ + made;
  if (!ends) out_ = seed_folder(folder_, seeds_, options_.seed);
  return !ends;
}

scored_run const* seed_runs::train(training& t) {
  auto run = train_one(options_, t, out_, is_first());
  if (run.interrupted) {
    report_interrupted(out_);
    return nullptr;
  }
  return &all_.emplace_back(std::move(run));
}

namespace {

/// A line for each run: values(run), one for each epoch.
template <class Values>
plot epochs_of(plot p, std::vector<scored_run> const& runs, Values const& values) {
  for (auto const& run : runs) {
    series s{"seed " + std::to_string(run.seed), {}, values(run), {}, false, false};
    for (std::size_t e = 0; e < s.y.size(); ++e) s.x.push_back(static_cast<double>(e + 1));
    p.lines.push_back(std::move(s));
  }
  return p;
}

}  // namespace

void write_plots(run_options const& o, std::vector<scored_run> const& runs, plot_texts const& say) {
  write_svg(o.out + "/plots/loss.svg", epochs_of({"Training loss", "epoch", say.loss, {}, 0.0, {}}, runs,
                                                 [](scored_run const& r) { return r.losses; }));
  if (say.validation.empty()) return;
  plot measured{"Validation accuracy", "epoch", say.validation, {}, 0.0, 1.0};
  if (say.loss_validates) {
    measured.title = "Validation loss";
    measured.y_to.reset();
  }
  write_svg(o.out + "/plots/" + say.file + ".svg",
            epochs_of(std::move(measured), runs, [](scored_run const& r) { return r.validations; }));
}

std::string table_of(std::vector<scored_run> const& runs, value_text text) {
  auto const* const one = first_scored(runs);
  std::vector<std::string> header{"seed", "part"};
  if (one && !one->parts.empty())
    for (auto const& f : one->parts.front().figures) header.push_back(f.name);
  text_table table(header);
  for (auto const& run : runs)
    for (auto const& part : run.parts) {
      std::vector<std::string> row{std::to_string(run.seed), part.part};
      for (auto const& f : part.figures) row.push_back(text(f.value));
      table.row(row);
    }
  if (runs.size() < 2 || !one) return table.text();
  for (std::size_t part = 0; part < one->parts.size(); ++part) {
    std::vector<std::string> mean{"mean", one->parts[part].part}, error{"+-", ""};
    for (std::size_t f = 0; f < one->parts[part].figures.size(); ++f) {
      auto const m = mean_over(runs, [&](scored_run const& run) { return run.parts[part].figures[f].value; });
      mean.push_back(text(m.mean));
      error.push_back(text(m.standard_error));
    }
    table.row(mean).row(error);
  }
  return table.text();
}

std::string scores_csv(std::vector<scored_run> const& runs, value_text text) {
  std::string all = "seed,part,figure,value\n";
  for (auto const& run : runs)
    for (auto const& part : run.parts) {
      auto const add = [&](std::string const& name, double value) {
        all += fmt::format("{},{},{},{}\n", run.seed, csv_cell(part.part), csv_cell(name), text(value));
      };
      for (auto const& f : part.figures) add(f.name, f.value);
      for (auto const& k : part.kinds) add("exact match of " + k.kind, k.percent);
    }
  return all;
}

int status_of(std::vector<scored_run> const& runs) {
  return std::any_of(runs.begin(), runs.end(), [](scored_run const& r) { return r.failed; }) ? did_not_reach : all_well;
}

}  // namespace triad::programs
