// One training run: updates, an evaluation and a checkpoint after every epoch, and its folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "batch_parts.hpp"
#include "interrupts.hpp"
#include "learner.hpp"
#include "metrics_file.hpp"
#include "progress.hpp"
#include "run_lock.hpp"

namespace triad::examples {

struct run_plan {
  std::string model;        // for people
  std::string out, config;  // the run's folder, or none; the text of its config.toml
  std::uint64_t seed = 1;
  bool resume = false;
  std::int64_t updates = 0, epoch_updates = 1,
               batch = 1;            // the last epoch may be shorter; batch: examples of an update
  std::string example = "examples";  // what a batch is made of
  std::string within{};              // of the memory: what it was to fit, and what follows
  run_record record{};
  std::string data{};  // a line of its settings: the examples, as example_digest tells them
};

struct run_log {
  std::vector<double> losses, validations;  // mean loss of every epoch, and what its weights were worth
  double seconds = 0;                       // of all processes that ran it
  double validation = 0;                    // of the weights at the end; of a failed run, of its last checkpoint, or 0
  bool interrupted = false;
  bool diverged = false;  // the loss was no longer finite
  bool failed = false;    // that, or what a program says of what was learned
};

namespace detail {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

inline std::string line_of(char const* format, auto... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// What a process that was interrupted within an epoch leaves to the next: the losses of its updates, and the seconds
/// of the run so far.
struct unfinished_epoch {
  double loss_sum = 0;
  long long updates = 0;
  double seconds = 0;

  std::string text() const { return line_of("%a %lld %.2f", loss_sum, updates, seconds); }
  static unfinished_epoch from(std::string const& text) {
    unfinished_epoch e;
    std::sscanf(text.c_str(), "%lf %lld %lf", &e.loss_sum, &e.updates, &e.seconds);
    return e;
  }
};

/// An earlier run's files in a folder where another begins get names that no file has.
inline void set_aside(std::string const& folder) {
  namespace fs = std::filesystem;
  char const* const files[] = {"model.safetensors", "metrics.csv", "config.toml"};
  auto const name = [&](char const* file, int number) {
    return folder + "/" + file + ".old" + (number > 1 ? std::to_string(number) : "");
  };
  int number = 1;
  while (
      std::any_of(std::begin(files), std::end(files), [&](char const* file) { return fs::exists(name(file, number)); }))
    ++number;
  for (auto const* file : files) {
    auto const path = folder + "/" + file;
    std::error_code failure;
    if (fs::exists(path)) fs::rename(path, name(file, number), failure);
    if (failure)
      throw data_error(path + ": an earlier run's file cannot be renamed to " + name(file, number) + ": " +
                       failure.message() + "; see that the folder may be written, or give another with --out");
  }
  std::printf(
      "%s had a run already, which --resume would have gone on with: its checkpoint is now %s, metrics.csv and "
      "config.toml are called so too\n",
      folder.c_str(), name(files[0], number).c_str());
}

/// Goes on from the checkpoint where that is asked for.
inline unfinished_epoch resumed(learner& net, run_plan const& plan, run_record record, std::string const& checkpoint) {
  bool const there = !checkpoint.empty() && std::filesystem::exists(checkpoint);
  if (there && plan.resume) {
    record.resumes = true;
    auto const left = unfinished_epoch::from(net.load(checkpoint, record));
    if (static_cast<std::int64_t>(net.step()) > plan.updates)
      throw data_error(checkpoint + " has " + std::to_string(net.step()) + " updates, more than the " +
                       std::to_string(plan.updates) + " of this run: leave --resume out, or let the run be longer");
    return left;
  }
  if (there)
    set_aside(plan.out);
  else if (plan.resume)
    std::printf("no checkpoint in %s: this run begins at the beginning\n",
                plan.out.empty() ? "(no --out)" : plan.out.c_str());
  return {};
}

/// Says what the run will take, from the planned memory and one rehearsed update.
template <class Fill>
void announce(learner& net, run_plan const& plan, Fill const& fill) {
  auto const rehearse = [&] { each_part(fill, 0, [&](batch_part const&) { net.rehearse(); }); };
  rehearse();
  auto const start = std::chrono::steady_clock::now();
  rehearse();
  auto const one = seconds_since(start);
  std::printf("%s, %lld parameters; %lld updates of %lld %s; memory %.0f MiB%s; about %s\n", plan.model.c_str(),
              static_cast<long long>(net.parameters()), static_cast<long long>(plan.updates),
              static_cast<long long>(plan.batch), plan.example.c_str(),
              static_cast<double>(net.bytes().total()) / 1048576, plan.within.c_str(),
              duration(one * static_cast<double>(plan.updates)).c_str());
  if (plan.out.empty()) std::printf("no --out: nothing of this run is kept\n");
  std::fflush(stdout);
}

}  // namespace detail

/// What a line about a run ends with; unlearned: where its loss was finite and the program calls it failed all the
/// same.
inline char const* failure_of(run_log const& r, char const* unlearned) {
  return r.diverged ? "  failed" : r.failed ? unlearned : "";
}

/// Trains.  fill(update) fills the learner's batch of that number (or fill(update, use) does so in parts:
/// batch_parts.hpp), rate(update) is its learning rate, validate() what a checkpoint is worth; nothing is written where
/// there is no folder.
template <class Fill, class Rate, class Validate>
run_log train(learner& net, run_plan const& plan, Fill const& fill, Rate const& rate, Validate const& validate) {
  using clock = std::chrono::steady_clock;
  std::optional<run_lock> lock;
  if (!plan.out.empty()) lock.emplace(plan.out);
  net.initialize(plan.seed);
  auto const checkpoint = plan.out.empty() ? std::string() : plan.out + "/model.safetensors";
  run_record record = plan.record;
  record.settings += plan.data;
  auto epoch_so_far = detail::resumed(net, plan, record, checkpoint);
  if (!plan.out.empty()) write_atomically(plan.out + "/config.toml", plan.config);
  auto const begin = static_cast<std::int64_t>(net.step());
  metrics_file metrics(plan.out.empty() ? std::string() : plan.out + "/metrics.csv", net.step());
  auto const save = [&] {
    record.notes = epoch_so_far.text();
    if (!checkpoint.empty()) net.save(checkpoint, record);
  };
  detail::announce(net, plan, fill);
  detail::interrupt_guard const guard;
  run_log log;
  progress shown(plan.model + " seed " + std::to_string(plan.seed), plan.updates * plan.batch, plan.example,
                 begin * plan.batch);
  auto const start = clock::now();
  double const before = std::max(metrics.seconds(), epoch_so_far.seconds);
  auto epoch_start = start;
  std::int64_t epoch_begin = begin;  // of this process
  update_record last{};
  bool validated = false;  // since the last update
  for (std::int64_t update = begin; update < plan.updates; ++update) {
    make_update(net, fill, update, rate(update));
    validated = false;
    bool const epoch_ends = (update + 1) % plan.epoch_updates == 0 || update + 1 == plan.updates;
    if (!epoch_ends && !detail::interrupted && (update + 1) % net.patience() != 0) continue;
    for (auto const& r : net.records()) {
      if (!std::isfinite(r.loss) || !std::isfinite(r.norm)) {
        auto const at = static_cast<std::int64_t>(r.step);
        shown.finish();
        std::fprintf(stderr,
                     "the loss is %g at update %lld (batch %lld of epoch %lld), the gradient's norm %g: stopped%s\n",
                     r.loss, static_cast<long long>(at), static_cast<long long>(at % plan.epoch_updates),
                     static_cast<long long>(at / plan.epoch_updates + 1), r.norm,
                     checkpoint.empty() ? "" : "; the last checkpoint is kept");
        log.diverged = log.failed = true;
        break;
      }
      epoch_so_far.loss_sum += r.loss;
      ++epoch_so_far.updates;
      last = r;
    }
    if (log.diverged) break;
    shown.update((update + 1) * plan.batch, detail::line_of("loss %.4f", last.loss));
    if (epoch_ends) {
      auto const epoch = update / plan.epoch_updates + 1;
      double const seconds = detail::seconds_since(epoch_start),
                   mean = epoch_so_far.loss_sum / static_cast<double>(epoch_so_far.updates);
      log.validation = validate();
      validated = true;
      metrics.add(detail::line_of("%lld,%lld,%.6g,%.6g,%.6g,%.4f,%.2f,%.0f", static_cast<long long>(epoch),
                                  static_cast<long long>(update + 1), mean, rate(update), last.norm, log.validation,
                                  before + detail::seconds_since(start),
                                  static_cast<double>((update + 1 - epoch_begin) * plan.batch) / seconds));
      epoch_so_far = {};
      save();
      epoch_start = clock::now();
      epoch_begin = update + 1;
    }
    if (detail::interrupted) {
      if (!epoch_ends) {
        epoch_so_far.seconds = before + detail::seconds_since(start);
        save();
      }
      log.interrupted = true;
      break;
    }
  }
  shown.finish();
  log.seconds = before + detail::seconds_since(start);
  log.losses = metrics.losses();
  log.validations = metrics.validations();
  if (!log.interrupted && !log.diverged && !validated)
    log.validation = validate();  // of weights that are no numbers nothing is asked
  return log;
}

}  // namespace triad::examples
