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
#include "shared/processes/first_writes.hpp"
#include "shared/processes/world.hpp"
#include "shared/report/event_file.hpp"
#include "training.hpp"
#include "triad/core/errors.hpp"
#include "triad/train/run.hpp"

namespace triad::programs {

std::string newest_checkpoint(std::string const& folder) {
  if (folder.empty()) return {};
  auto const last = folder + "/" + last_checkpoint;
  return std::filesystem::exists(last) ? last : folder + "/model.safetensors";
}

void set_aside(std::string const& folder) {
  namespace fs = std::filesystem;
  static constexpr std::array<char const*, 4> files{"model.safetensors", "metrics.csv", "config.toml", last_checkpoint};
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

/// The state that a process stores for the next process if it is interrupted within an epoch.  It has the losses of the
/// updates in this epoch, and the seconds of the run so far.
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

/// If the plan resumes a run, loads the checkpoint.  Otherwise renames the files of an earlier run.
unfinished_epoch resumed(learner& net, run_plan const& plan, run_record record, std::string const& checkpoint) {
  bool const there = any_process(world().is_first() && !checkpoint.empty() && std::filesystem::exists(checkpoint));
  if (there && plan.resume) {
    record.resumes = true;
    if (!plan.before.empty()) record.settings = plan.before + plan.data;
    auto const left = unfinished_epoch::from(net.load(open_checkpoint(checkpoint), record));
    if (auto const most = plan.updates * plan.attempts; std::cmp_greater(net.step(), most))
      throw data_error(
          fmt::format("{} has {} updates, more than the {} of this run: leave --resume out, or let the "
                      "run be longer",
                      checkpoint, net.step(), most));
    return left;
  }
  if (there)
    set_aside(plan.out);
  else if (plan.resume)
    say("no checkpoint in {}: this run begins at the beginning\n", plan.out.empty() ? "(no --out)" : plan.out);
  return {};
}

/// Computes an update without the optimiser step.  No weight changes.
void rehearse(training& t, std::uint64_t update) {
  auto& net = t.net();
  for (auto const& part : t.parts(update, net.shares()))
    if (!part.empty) net.rehearse();
}

/// Prints the planned memory of the run, and its expected duration, which is computed from the time of one update.
void announce(training& t, run_plan const& plan) {
  auto& net = t.net();
  rehearse(t, 0);
  auto const start = clock::now();
  rehearse(t, 0);
  auto const one = seconds_since(start), all = one * static_cast<double>(plan.updates);
  fmt::print("{}, {} parameters; {} updates of {} {}; memory {:.0f} MiB{}; about {}{}\n", plan.model, net.parameters(),
             plan.updates, plan.batch, plan.example, static_cast<double>(net.bytes().total()) / 1048576, plan.within,
             duration(all),
             plan.attempts > 1 ? fmt::format("; {} attempts at most, until it has learned", plan.attempts) : "");
  if (auto const products = plan.tells_products ? net.products() : ""; !products.empty()) fmt::print("{}\n", products);
  constexpr double long_run = 180;
  if (all > long_run && !plan.shorter.empty()) fmt::print("shorter: {}\n", plan.shorter);
  if (plan.out.empty()) fmt::print("no --out: nothing of this run is kept\n");
  std::fflush(stdout);
}

/// Returns the seed for the initial values of an attempt.  Attempt 0 has the seed of the run.  The seeds of later
/// attempts differ from all small seeds.
std::uint64_t seed_of_attempt(std::uint64_t seed, std::uint64_t attempt) { return seed ^ attempt << 40U; }

/// Returns the plan's record.  Throws if the processes have different records.
run_record record_of(run_plan const& plan) {
  auto record = plan.record;
  record.settings += plan.data;
  expect_same("the model", record.configuration + record.vocabulary);
  expect_same("options or data", record.settings);
  return record;
}

/// Writes the files of a run and its messages during training.
class run_files final : public run_callbacks {
 public:
  /// If the plan resumes a run, loads the folder's checkpoint.  Prints the size of the run.
  run_files(training& t, run_plan const& plan)
      : t_(t),
        plan_(plan),
        net_(t.net()),
        checkpoint_(in_folder("model.safetensors")),
        record_(record_of(plan)),
        left_(resumed(net_, plan, record_, newest_checkpoint(plan.out))),
        keeps_best_(plan.patience > 0 || (!plan.out.empty() && std::filesystem::exists(in_folder(last_checkpoint)))),
        begin_(net_.step()),
        metrics_(in_folder("metrics.csv"), begin_),
        before_(std::max(metrics_.seconds(), left_.seconds)) {
    if (world().size() > 1)
      expect_same("the weights that it begins with", fmt::format("update {}, digest {}", begin_, net_.digest()));
    if (!plan.out.empty()) first_writes(in_folder("config.toml"), plan.config);
    // At a multiple of plan.updates, an attempt has ended, so its last epoch is complete.
    if (left_.updates > 0 && begin_ % static_cast<std::uint64_t>(plan.updates) != 0) metrics_.reopen(begin_);
    announce(t, plan);
    if (!plan.events.empty() && world().is_first()) events_.emplace(plan.events, begin_);
    start_ = epoch_start_ = clock::now();
  }

  triad::run_options options() const {
    auto const with_dropout = std::llround(plan_.dropout_until * static_cast<double>(plan_.updates));
    epoch_record interrupted;
    interrupted.updates = static_cast<std::uint64_t>(left_.updates);
    interrupted.loss_sum = left_.loss_sum;
    return {.epoch_updates = static_cast<std::uint64_t>(plan_.epoch_updates),
            .updates = static_cast<std::uint64_t>(plan_.updates),
            .attempts = static_cast<std::uint64_t>(plan_.attempts),
            .checks_fit_each_epoch = plan_.ends_early,
            .checks_fit_first = plan_.follows,
            .dropout_updates = static_cast<std::uint64_t>(with_dropout),
            .schedule = [this](std::uint64_t update) { return t_.rate(static_cast<std::int64_t>(update)); },
            .interrupted = interrupted};
  }

  /// Returns true if --patience checkpoints have followed the best checkpoint.  The run then ends.
  bool is_out_of_patience() const {
    return plan_.patience > 0 && metrics_.since_best(attempt_begin(), plan_.lower_is_better) >= plan_.patience;
  }
  bool fits() { return t_.fits(); }
  void begin_attempt(run_place const& at) { net_.begin_anew(seed_of_attempt(plan_.seed, at.attempt)); }
  void before_epoch(run_place const& at) {
    if (!shown_ || at.in_attempt == 0) {
      if (shown_) shown_->finish();
      shown_.emplace(fmt::format("{} seed {}{}", plan_.model, plan_.seed,
                                 at.attempt > 0 ? fmt::format(", attempt {}", at.attempt + 1) : std::string()),
                     plan_.updates * plan_.batch, plan_.example, examples_in(at.in_attempt));
    }
    if (at.update == begin_ && !plan_.leads_to.empty() &&
        std::filesystem::exists(plan_.leads_to + "/model.safetensors"))
      set_aside(plan_.leads_to);
  }
  /// Returns true if a signal ends the run at this update.  Several processes decide this together, and only in updates
  /// in which `looks` is true.
  bool stops(bool looks) {
    if (world().size() == 1) return interrupted != 0;
    if (!looks || !any_process(interrupted != 0)) return false;
    if (interrupted == 0) interrupted = SIGTERM;
    return true;
  }
  run_control after_update(update_record const& u) {
    if (events_)
      events_->add(u.step + 1, {{"train/loss", u.loss},
                                {"train/learning_rate", t_.rate(static_cast<std::int64_t>(u.step) % plan_.updates)},
                                {"train/norm", u.norm}});
    return run_control::go_on;
  }
  void after_look(run_place const& at, epoch_record const& e) {
    at_ = at;
    if (events_) events_->flush();
    shown_->update(examples_in(at.in_attempt), fmt::format("loss {:.4f}", e.last.loss));
  }
  std::optional<double> validate(epoch_record const&) {
    epoch_seconds_ = seconds_since(epoch_start_);
    return validation_ = t_.validate();
  }
  run_control after_epoch(epoch_record const& e) {
    metrics_.add(fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.4f},{:.2f},{:.0f}", e.epoch + 1, at_.update, e.loss,
                             t_.rate(static_cast<std::int64_t>(at_.in_attempt - 1)), e.last.norm, *e.validation,
                             seconds(), static_cast<double>(examples_in(at_.update - epoch_begin_)) / epoch_seconds_));
    if (events_) {
      events_->add(at_.update, {{measured_tag_.c_str(), *e.validation}});
      events_->flush();
    }
    // After a complete epoch, no times are stored, so that equal runs have equal checkpoints.
    save(at_.in_attempt % static_cast<std::uint64_t>(plan_.epoch_updates) == 0 ? unfinished_epoch() : of(e, 0), true);
    epoch_start_ = clock::now();
    epoch_begin_ = at_.update;
    return is_out_of_patience() ? run_control::stop : run_control::go_on;
  }
  void after_stop(epoch_record const& e) { save(of(e, seconds()), false); }

  void tell(run_diverged const& e) {
    auto const step = static_cast<std::int64_t>(e.update.step), at = step % plan_.updates;
    auto const what = e.weight.empty() ? fmt::format("the loss is {:g} at", e.update.loss) : e.weight + " after";
    shown_->finish();
    if (world().is_first())
      fmt::print(stderr, "{} update {} (batch {} of epoch {}){}: stopped{}\n", what, step, at % plan_.epoch_updates,
                 options().place_of(e.update.step, 0).epoch + 1,
                 e.weight.empty() ? fmt::format(", the gradient's norm {:g}", e.update.norm) : "",
                 !checkpoint_.empty() && std::filesystem::exists(checkpoint_) ? "; the last checkpoint is kept" : "");
  }
  /// Sets the remaining members of the log at the end of the run.
  void finish(run_log& log) {
    if (shown_) shown_->finish();
    auto const step = static_cast<std::int64_t>(net_.step());
    log.attempts = static_cast<int>(std::max<std::int64_t>(1, (step + plan_.updates - 1) / plan_.updates));
    log.updates = step - static_cast<std::int64_t>(begin_);
    log.seconds = seconds();
    log.losses = metrics_.losses();
    log.validations = metrics_.validations();
    // Weights that are not finite are not validated.
    if (!log.interrupted && !log.diverged && !validation_)
      validation_ = net_.with_averages([&] { return t_.validate(); });
    if (!log.interrupted && !log.diverged) take_best();
    log.validation = validation_.value_or(0);
    if (log.interrupted || step > 0) return;
    metrics_.write();  // a run always has this file, even if it made no update
    save({}, false);
  }

 private:
  std::string in_folder(char const* name) const { return plan_.out.empty() ? std::string() : plan_.out + "/" + name; }
  std::int64_t examples_in(std::uint64_t updates) const { return static_cast<std::int64_t>(updates) * plan_.batch; }
  /// Returns the number of updates in all attempts before this one.
  std::uint64_t attempt_begin() const {
    auto const done = net_.step(), each = static_cast<std::uint64_t>(plan_.updates);
    return done == 0 ? 0 : (done - 1) / each * each;
  }
  /// Loads the best weights, so that they are scored, as in `evaluate`.
  void take_best() {
    if (!keeps_best_ || net_.step() == 0) return;
    auto const since = metrics_.since_best(attempt_begin(), plan_.lower_is_better);
    if (since <= 0) return;
    auto const [update, worth] = metrics_.before_last(since);
    net_.load(open_checkpoint(checkpoint_), record_);
    validation_ = worth;
    say("the best checkpoint, of update {}, is kept in model.safetensors and answers; {} later ones are no better\n",
        update, since);
  }
  /// Returns the seconds of the run so far, including those of earlier processes.
  double seconds() const { return before_ + seconds_since(start_); }
  static unfinished_epoch of(epoch_record const& e, double seconds) {
    return {e.loss_sum, static_cast<long long>(e.updates), seconds};
  }
  /// `is_epoch` says whether these weights were validated.
  void save(unfinished_epoch const& left, bool is_epoch) {
    record_.notes = left.text();
    // Different kinds of processors may round differently.
    if (world().size() > 1) expect_same("the weights that it has come to", net_.digest());
    if (checkpoint_.empty()) return;
    // The best checkpoint is saved first.  If the run is killed before the latest checkpoint is saved too, the next
    // process still finds the best checkpoint.
    bool const is_best = !keeps_best_ || !std::filesystem::exists(checkpoint_) ||
                         (is_epoch && metrics_.since_best(attempt_begin(), plan_.lower_is_better) == 0);
    if (is_best) net_.save(checkpoint_, record_);
    if (keeps_best_) net_.save(in_folder(last_checkpoint), record_);
  }

  training& t_;
  run_plan const& plan_;
  learner& net_;
  std::string checkpoint_;
  run_record record_;
  unfinished_epoch left_;
  bool keeps_best_;
  std::string measured_tag_ = "validation/" + plan_.measured;
  std::optional<event_file> events_;
  std::uint64_t begin_, epoch_begin_ = begin_;  // the first update of this process, and of its current epoch
  metrics_file metrics_;
  double before_, epoch_seconds_ = 0;
  clock::time_point start_, epoch_start_;
  std::optional<progress> shown_;
  std::optional<double> validation_;  // the validation result of the last epoch
  run_place at_;                      // the place at the last call of after_look()
};

}  // namespace

speed speed_of(training& t, std::uint64_t seed, double budget, std::string const& folder) {
  constexpr std::uint64_t least = 3, most = 50;
  constexpr double enough = 3;  // seconds
  t.initialize(seed);
  auto& net = t.net();
  std::uint64_t made = 0;
  auto const update = [&] {
    make_update(net, t.parts(made, net.shares()), t.rate(static_cast<std::int64_t>(made)));
    ++made;
  };
  update();  // not timed: the first update takes longer, because it touches memory for the first time
  (void)net.records();
  auto const start = clock::now();
  // The first process decides for all processes how many updates are timed.
  auto const has_time = [&] { return seconds_since(start) < std::min(enough, budget / 20); };
  while (made <= least || (made <= most && any_process(world().is_first() && has_time()))) update();
  (void)net.records();  // waits until a device has finished
  speed s{.update = seconds_since(start) / static_cast<double>(made - 1)};
  auto const validated = clock::now();
  t.rehearse_validation();
  // Files may take longer than the updates of a small model's epoch, since each write waits for the disk.
  std::array<std::string, 2> const files{folder + "/timed.safetensors", folder + "/timed.csv"};
  if (!folder.empty()) {
    net.save(files[0], t.plan().record);
    first_writes(files[1], files[0]);
  }
  s.validation = seconds_since(validated);
  if (!folder.empty() && world().is_first())
    for (auto const& file : files) std::filesystem::remove(file);
  return s;
}

run_log train(training& t, run_plan const& plan) {
  std::optional<run_lock> lock;
  if (!plan.out.empty()) lock.emplace(plan.out);
  t.initialize(plan.seed);
  if (plan.average > 0) t.net().keep_averages(plan.average);
  run_files files(t, plan);
  interrupt_guard const guard;
  run_log log;
  try {
    auto const ended = files.is_out_of_patience() ? run_result() : run(t.net(), t, files.options(), files);
    log.interrupted = ended.stopped && !files.is_out_of_patience();
    if (ended.fits && t.net().step() == 0)
      fmt::print("this training begins with weights that answer its examples: no update is made\n");
  } catch (run_diverged const& e) {
    files.tell(e);
    log.diverged = log.failed = true;
  }
  files.finish(log);
  return log;
}

}  // namespace triad::programs
