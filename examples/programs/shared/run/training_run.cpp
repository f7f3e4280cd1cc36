// SPDX-License-Identifier: Apache-2.0
#include "training_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "interrupts.hpp"
#include "metrics_file.hpp"
#include "progress.hpp"
#include "run_lock.hpp"
#include "shared/cli/renames.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/atomic_file.hpp"
#include "shared/processes/world.hpp"
#include "training.hpp"
#include "triad/core/errors.hpp"
#include "triad/core/finite.hpp"

namespace triad::programs {

void detail::set_aside(std::string const& folder) {
  namespace fs = std::filesystem;
  static constexpr std::array<char const*, 3> files{"model.safetensors", "metrics.csv", "config.toml"};
  if (!world().is_first()) return;
  auto const name = [&](char const* file, int number) {
    return fmt::format("{}/{}.old{}", folder, file, number > 1 ? std::to_string(number) : "");
  };
  int number = 1;
  while (std::any_of(files.begin(), files.end(), [&](char const* file) { return fs::exists(name(file, number)); }))
    ++number;
  for (auto const* file : files) {
    auto const path = folder + "/" + file;
    std::error_code failure;
    if (fs::exists(path)) fs::rename(path, name(file, number), failure);
    if (failure)
      throw data_error(
          fmt::format("{}: an earlier run's file cannot be renamed to {}: {}; see that the folder may be "
                      "written, or give another with --out",
                      path, name(file, number), failure.message()));
  }
  say("{} had a run already, which --resume would have gone on with: its checkpoint is now {}, metrics.csv and "
      "config.toml are called so too\n",
      folder, name(files[0], number));
}

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) { return std::chrono::duration<double>(clock::now() - start).count(); }

/// What a process that was interrupted within an epoch leaves to the next: the losses of its updates, and the seconds
/// of the run so far.
struct unfinished_epoch {
  double loss_sum = 0;
  long long updates = 0;
  double seconds = 0;

  std::string text() const { return fmt::format("{:a} {} {:.2f}", loss_sum, updates, seconds); }
  static unfinished_epoch from(std::string const& text) {
    unfinished_epoch e;
    std::sscanf(text.c_str(), "%lf %lld %lf", &e.loss_sum, &e.updates, &e.seconds);
    return e;
  }
};

/// Goes on from the checkpoint where that is asked for.
unfinished_epoch resumed(learner& net, run_plan const& plan, run_record record, std::string const& checkpoint) {
  bool const there = any_process(world().is_first() && !checkpoint.empty() && std::filesystem::exists(checkpoint));
  if (there && plan.resume) {
    record.resumes = true;
    auto const left = unfinished_epoch::from(net.load(open_checkpoint(checkpoint), record));
    if (auto const most = plan.updates * plan.attempts; std::cmp_greater(net.step(), most))
      throw data_error(
          fmt::format("{} has {} updates, more than the {} of this run: leave --resume out, or let the "
                      "run be longer",
                      checkpoint, net.step(), most));
    return left;
  }
  if (there)
    detail::set_aside(plan.out);
  else if (plan.resume)
    say("no checkpoint in {}: this run begins at the beginning\n", plan.out.empty() ? "(no --out)" : plan.out);
  return {};
}

/// Says what the run will take, from the planned memory and one rehearsed update.
void announce(training& t, run_plan const& plan) {
  auto& net = t.net();
  batch_use const alone{net.shares(), [](index_t) {}, [&](batch_part const&) { net.rehearse(); }};
  auto const rehearse = [&] { t.fill(0, alone); };
  rehearse();
  auto const start = clock::now();
  rehearse();
  auto const one = seconds_since(start);
  fmt::print("{}, {} parameters; {} updates of {} {}; memory {:.0f} MiB{}; about {}{}\n", plan.model, net.parameters(),
             plan.updates, plan.batch, plan.example, static_cast<double>(net.bytes().total()) / 1048576, plan.within,
             duration(one * static_cast<double>(plan.updates)),
             plan.attempts > 1 ? fmt::format("; {} attempts at most, until it has learned", plan.attempts) : "");
  if (plan.out.empty()) fmt::print("no --out: nothing of this run is kept\n");
  std::fflush(stdout);
}

/// What an attempt's first values are drawn by, from 0: the run's seed, and then others than those of small seeds.
std::uint64_t seed_of_attempt(std::uint64_t seed, std::int64_t attempt) {
  return seed ^ static_cast<std::uint64_t>(attempt) << 40U;
}

/// Whether a signal ends this run here.  Several processes agree about that where they look at what they have done.
bool interrupted_anywhere(bool looks) {
  if (world().size() == 1) return detail::interrupted != 0;
  if (!looks || !any_process(detail::interrupted != 0)) return false;
  if (detail::interrupted == 0) detail::interrupted = SIGTERM;
  return true;
}

}  // namespace

run_log train(training& t, run_plan const& plan) {
  auto& net = t.net();
  std::optional<run_lock> lock;
  if (!plan.out.empty()) lock.emplace(plan.out);
  t.initialize(plan.seed);
  if (plan.average > 0) net.keep_averages(plan.average);
  auto const validate = [&] { return with_averages(net, [&] { return t.validate(); }); };
  auto const checkpoint = plan.out.empty() ? std::string() : plan.out + "/model.safetensors";
  run_record record = plan.record;
  record.settings += plan.data;
  expect_same("the model", plan.record.configuration + plan.record.vocabulary);
  expect_same("options or data", record.settings);
  auto epoch_so_far = resumed(net, plan, record, checkpoint);
  if (world().size() > 1)
    expect_same("the weights that it begins with", fmt::format("update {}, digest {}", net.step(), net.digest()));
  if (!plan.out.empty()) write_atomically(plan.out + "/config.toml", plan.config);
  auto const begin = static_cast<std::int64_t>(net.step());
  metrics_file metrics(plan.out.empty() ? std::string() : plan.out + "/metrics.csv", net.step());
  double const before = std::max(metrics.seconds(), epoch_so_far.seconds);
  if (epoch_so_far.updates > 0 && begin % plan.updates != 0) metrics.reopen(net.step());  // else an attempt has ended
  auto const save = [&] {
    record.notes = epoch_so_far.text();
    // Processors of two kinds may compute other bits.
    if (world().size() > 1) expect_same("the weights that it has come to", net.digest());
    if (!checkpoint.empty()) net.save(checkpoint, record);
  };
  announce(t, plan);
  detail::interrupt_guard const guard;
  run_log log;
  std::int64_t const epochs = (plan.updates + plan.epoch_updates - 1) / plan.epoch_updates;  // of an attempt
  auto const updates_with_dropout = std::llround(plan.dropout_until * static_cast<double>(plan.updates));
  std::optional<progress> shown;
  auto const start = clock::now();
  auto epoch_start = start;
  std::int64_t epoch_begin = begin;  // of this process
  update_record last{};
  bool validated = false;  // since the last update
  for (std::int64_t update = begin; update < plan.updates * plan.attempts; ++update) {
    auto const before_it = update % plan.updates;  // updates of this attempt
    if ((update > 0 || plan.follows) && before_it % (plan.ends_early ? plan.epoch_updates : plan.updates) == 0 &&
        with_averages(net, [&] { return t.fits(); })) {
      if (update == 0) fmt::print("this training begins with weights that answer its examples: no update is made\n");
      break;
    }
    if (before_it == 0) epoch_so_far = {};
    if (update > 0 && before_it == 0) net.begin_anew(seed_of_attempt(plan.seed, update / plan.updates));
    if (!shown || before_it == 0) {
      if (shown) shown->finish();
      auto const attempt = update / plan.updates + 1;
      shown.emplace(fmt::format("{} seed {}{}", plan.model, plan.seed,
                                attempt > 1 ? fmt::format(", attempt {}", attempt) : std::string()),
                    plan.updates * plan.batch, plan.example, before_it * plan.batch);
    }
    if (update == begin && !plan.leads_to.empty() && std::filesystem::exists(plan.leads_to + "/model.safetensors"))
      detail::set_aside(plan.leads_to);
    net.set_dropout(before_it < updates_with_dropout);
    make_update(
        net, [&](std::int64_t number, auto const& use) { t.fill(number, use); }, update, t.rate(before_it));
    validated = false;
    bool const epoch_ends = (before_it + 1) % plan.epoch_updates == 0 || before_it + 1 == plan.updates;
    bool const looks = epoch_ends || (update + 1) % net.patience() == 0;
    bool const stops = interrupted_anywhere(looks);
    if (!looks && !stops) continue;
    auto const diverges = [&](std::string const& what, std::int64_t step, std::string const& more) {
      auto const at = step % plan.updates;
      shown->finish();
      if (world().is_first())
        fmt::print(stderr, "{} update {} (batch {} of epoch {}){}: stopped{}\n", what, step, at % plan.epoch_updates,
                   step / plan.updates * epochs + at / plan.epoch_updates + 1, more,
                   !checkpoint.empty() && std::filesystem::exists(checkpoint) ? "; the last checkpoint is kept" : "");
      log.diverged = log.failed = true;
    };
    for (auto const& r : net.records()) {
      if (!is_finite(r.loss) || !is_finite(r.norm)) {
        diverges(fmt::format("the loss is {:g} at", r.loss), static_cast<std::int64_t>(r.step),
                 fmt::format(", the gradient's norm {:g}", r.norm));
        break;
      }
      epoch_so_far.loss_sum += r.loss;
      ++epoch_so_far.updates;
      last = r;
    }
    // What the last update made is judged or kept, and has had no loss yet.
    if (auto const bad = !log.diverged && (epoch_ends || stops) ? net.not_finite() : std::string(); !bad.empty())
      diverges(bad + " after", update, "");
    if (log.diverged) break;
    shown->update((before_it + 1) * plan.batch, fmt::format("loss {:.4f}", last.loss));
    if (epoch_ends) {
      auto const epoch = update / plan.updates * epochs + before_it / plan.epoch_updates + 1;
      double const seconds = seconds_since(epoch_start),
                   mean = epoch_so_far.loss_sum / static_cast<double>(epoch_so_far.updates);
      log.validation = validate();
      validated = true;
      metrics.add(fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.4f},{:.2f},{:.0f}", epoch, update + 1, mean,
                              t.rate(before_it), last.norm, log.validation, before + seconds_since(start),
                              static_cast<double>((update + 1 - epoch_begin) * plan.batch) / seconds));
      if ((before_it + 1) % plan.epoch_updates == 0)
        epoch_so_far = {};
      else  // a longer run goes on with it; what the clock said is no part of a checkpoint
        epoch_so_far.seconds = 0;
      save();
      epoch_start = clock::now();
      epoch_begin = update + 1;
    }
    if (stops) {
      if (!epoch_ends) {
        epoch_so_far.seconds = before + seconds_since(start);
        save();
      }
      log.interrupted = true;
      break;
    }
  }
  if (shown) shown->finish();
  log.attempts = static_cast<int>(
      std::max<std::int64_t>(1, (static_cast<std::int64_t>(net.step()) + plan.updates - 1) / plan.updates));
  log.updates = static_cast<std::int64_t>(net.step()) - begin;
  log.seconds = before + seconds_since(start);
  log.losses = metrics.losses();
  log.validations = metrics.validations();
  // Of weights that are no numbers nothing is asked.
  if (!log.interrupted && !log.diverged && !validated) log.validation = validate();
  // A run has its files, also where it made no update.
  if (!log.interrupted && net.step() == 0) {
    metrics.write();
    save();
  }
  return log;
}

}  // namespace triad::programs
