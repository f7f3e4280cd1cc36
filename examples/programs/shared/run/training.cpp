// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "run_folder.hpp"
#include "seed_means.hpp"
#include "shared/cli/config.hpp"
#include "shared/cli/renames.hpp"
#include "shared/cli/say.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/csv.hpp"
#include "shared/processes/world.hpp"
#include "shared/report/svg_plot.hpp"
#include "shared/report/table.hpp"
#include "triad/train/schedule.hpp"

namespace triad::programs {

double linear_rate(width_options const& o, std::int64_t updates, std::int64_t update) {
  std::int64_t first = 0, last = updates;
  for (std::int64_t const restart : o.restarts) {
    if (restart > update) last = std::min(last, restart);
    if (restart <= update) first = restart;
  }
  linear_warmup const schedule{o.rate, first == 0 ? o.warmup : 0.0, static_cast<double>(last - first)};
  return schedule.rate(static_cast<std::uint64_t>(update - first));
}

namespace {

/// Sets a numeric option to this value.  If the value exceeds the option's type, sets the option to the largest number
/// of the type.
void set_number(run_options& o, std::string const& name, std::int64_t value) {
  auto const options = options_of(o);
  auto const* const one = options.find(name);
  if (one == nullptr) return;
  if (auto* const* const v = std::get_if<int*>(&one->value))
    **v = static_cast<int>(std::min<std::int64_t>(value, std::numeric_limits<int>::max()));
  if (auto* const* const v = std::get_if<std::int64_t*>(&one->value)) **v = value;
}
std::optional<std::int64_t> number_of(run_options& o, std::string const& name) {
  auto const options = options_of(o);
  auto const* const one = options.find(name);
  if (one == nullptr) return std::nullopt;
  if (auto* const* const v = std::get_if<int*>(&one->value)) return **v;
  if (auto* const* const v = std::get_if<std::int64_t*>(&one->value)) return **v;
  return std::nullopt;
}

/// Returns, in all processes, the value of the first process.
std::int64_t as_the_first_says(std::int64_t value) {
  return std::strtoll(texts_of_all(std::to_string(value)).front().c_str(), nullptr, 10);
}

/// The options that --minutes sets in addition to the length.  The value of each is limited to a fraction of the
/// updates.
constexpr std::pair<char const*, double> parts_of_length[] = {{"warmup", 0.1}, {"cooling", 0.6}};

/// The length and the checkpoint interval of a run that takes a given time.
struct fitted_length {
  std::int64_t updates = 1;
  std::int64_t evaluate_every = 0;  // 0: unchanged
};
fitted_length fit(run_plan const& plan, speed const& s, double seconds, bool may_evaluate_otherwise) {
  double const update = std::max(s.update, 1e-6), validation = s.validation;
  if (plan.length == "chains") {  // the number of epochs stays the same
    auto const epochs = static_cast<double>((plan.updates + plan.epoch_updates - 1) / plan.epoch_updates);
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>((seconds - epochs * validation) / update))};
  }
  if (!may_evaluate_otherwise) {
    auto const epoch = static_cast<double>(plan.epoch_updates);
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(seconds / (update + validation / epoch)))};
  }
  // Ten checkpoints, or fewer if ten would take more than a third of the time.
  auto const checkpoints = std::clamp(seconds / 3 / std::max(validation, 1e-6), 1.0, 10.0);
  auto const updates = std::max(1.0, (seconds - checkpoints * validation) / update);
  return {static_cast<std::int64_t>(updates), std::max<std::int64_t>(1, std::llround(updates / checkpoints))};
}

/// Returns the settings that are stored in a checkpoint, by name.
std::map<std::string, std::string> settings_of(std::string const& checkpoint) {
  auto const file = open_checkpoint(checkpoint);
  std::map<std::string, std::string> found;
  auto const all = file.state().extra.find("settings");
  if (all == file.state().extra.end()) return found;
  std::istringstream lines(all->second);
  for (std::string line; std::getline(lines, line);)
    if (auto const at = line.find(" = "); at != std::string::npos) found[line.substr(0, at)] = line.substr(at + 3);
  return found;
}

/// Prepares a resumed run that is longer than the run of its checkpoint.  Adds a restart of the learning rate at the
/// update at which the shorter run ended.  Returns the settings of the shorter run, which must equal those in the
/// checkpoint.  Returns an empty text if the length is unchanged.
std::string extend(run_options& o, training& t, std::string const& checkpoint) {
  auto* const width = dynamic_cast<width_options*>(&o);
  if (!o.resume || width == nullptr || checkpoint.empty() || !std::filesystem::exists(checkpoint)) return {};
  auto const plan = t.plan();
  auto const options = options_of(o);
  auto const* const length = options.find(plan.length);
  if (length == nullptr || length->is_free) return {};  // the learning rate does not depend on the length
  auto const settings = settings_of(checkpoint);
  auto const was = settings.find(plan.length);
  if (was == settings.end()) return {};
  std::int64_t const now = number_of(o, plan.length).value_or(0), old = std::strtoll(was->second.c_str(), nullptr, 10);
  if (auto const restarts = settings.find("restarts"); restarts != settings.end() && !o.given.contains("restarts")) {
    width->restarts.clear();
    std::string text = restarts->second;
    for (char& c : text) c = c >= '0' && c <= '9' ? c : ' ';
    std::istringstream numbers(text);
    for (int update = 0; numbers >> update;) width->restarts.push_back(update);
  }
  if (now <= old || old <= 0 || width->dropout_until != 1) return {};
  if (!plan.fixed.empty())
    throw data_error(fmt::format("{} is of a run of --{} {}, and this one has {}: {}; give the same, or train anew",
                                 checkpoint, plan.length, old, now, plan.fixed));
  set_number(o, plan.length, old);
  auto const before = training_settings(o);
  auto const ended = t.plan().updates;
  set_number(o, plan.length, now);
  if (!o.given.contains("restarts")) width->restarts.push_back(static_cast<int>(ended));
  say("this run goes on after update {}, with which --{} {} ended: the learning rate begins again at {:g}, and falls "
      "to 0 "
      "at update {}; config.toml says so as restarts\n",
      ended, plan.length, old, width->rate, plan.updates);
  return before;
}

/// Returns a text for people that says which options make the run shorter.
std::string shorter_run(run_options const& o) {
  auto const options = options_of(o);
  auto const* const presets = options.find("preset");
  bool const has_quick = presets != nullptr && o.preset != "quick" &&
                         std::find(presets->choices.begin(), presets->choices.end(), "quick") != presets->choices.end();
  return has_quick ? "--preset quick, or --minutes 2" : "--minutes 2";
}

/// Warns if the warm-up does not end within the run, because the run then never reaches the given learning rate.  If a
/// run has two trainings, the warm-up of the second is not checked.
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

scored_run train_one(run_options const& o, training& t, std::string const& out, bool says_warmup,
                     run_extras const& extras) {
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
    plan.before = extras.before;
    plan.patience = o.patience;
    plan.events = extras.events;
    if (two && &one != &t && !plan.events.empty()) plan.events += "/first";
    if (!o.resume && !o.given.contains("minutes")) plan.shorter = shorter_run(o);
    if (o.patience > 0 && plan.attempts > 1)
      throw data_error(
          fmt::format("--patience {} ends a run that gets no better, and --attempts {} begins it again: leave one out",
                      o.patience, plan.attempts));
    plan.tells_products = says_warmup && !plan.follows;
    if (says_warmup) say_warmup(o, plan);
    return train(one, plan);
  };
  scored_run run;
  run.seed = o.seed, run.length = t.plan().length;
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
  // The second training begins with the weights of the first.  If this process continued the first training, the second
  // cannot be resumed.
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
  if (o.minutes > 0) {
    for (auto const& one : options_of(o).all())
      if (one.is_length && o.given.contains(one.name))
        throw data_error(
            fmt::format("--minutes {:g} decides how long the run is, and --{} says it: leave one of the two out",
                        o.minutes, one.name));
    if (o.resume) take_fitted();
  }
  if (o.resume && seeds_ == 1 && !folder_.empty() && !is_one) expect_one_run(folder_);
  if (!o.resume && seeds_ > 1 && is_one) set_aside(folder_);  // otherwise it would be taken for a run of these seeds
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

void seed_runs::take_fitted() {
  auto const config = seed_folder(folder_, seeds_, first_) + "/config.toml";
  auto& o = options_;
  std::vector<std::string> names{"evaluate-every"};
  for (auto const& one : options_of(o).all())
    if (one.is_length) names.push_back(one.name);
  for (auto const& [name, part] : parts_of_length) names.emplace_back(name);
  for (auto const& name : names)
    if (auto const text = config_value(config, name); !text.empty() && !o.given.contains(name)) {
      set_number(o, name, std::strtoll(text.c_str(), nullptr, 10));
      o.configured.insert(name);
      o.minutes = 0;
    }
  if (o.minutes == 0) o.settle();
}

bool seed_runs::fits_to_minutes(training& t) {
  auto& o = options_;
  if (o.minutes == 0) return false;
  auto& one = t.first() != nullptr ? *t.first() : t;
  auto const plan = one.plan();
  double const budget = 60 * std::exchange(o.minutes, 0), for_scores = 0.1;
  bool const may_evaluate_otherwise = number_of(o, "evaluate-every") && !o.given.contains("evaluate-every");
  if (!out_.empty() && world().is_first()) make_folder(out_);
  auto const s = speed_of(one, o.seed, budget, out_);
  auto const fitted = fit(plan, s, (1 - for_scores) * budget, may_evaluate_otherwise);
  auto const was = number_of(o, plan.length).value_or(1);
  auto const length = as_the_first_says(std::max<std::int64_t>(
      1, static_cast<std::int64_t>(static_cast<double>(fitted.updates) * static_cast<double>(was) /
                                   static_cast<double>(plan.updates))));
  auto const set = [&](std::string const& name, std::int64_t value) {
    set_number(o, name, value);
    o.given.insert(name);
  };
  set(plan.length, length);
  auto const updates = std::max<std::int64_t>(1, length * plan.updates / was);
  if (may_evaluate_otherwise) set("evaluate-every", as_the_first_says(fitted.evaluate_every));
  for (auto const& [name, part] : parts_of_length)
    if (auto const value = number_of(o, name); value && !o.given.contains(name))
      if (auto const most = static_cast<std::int64_t>(part * static_cast<double>(updates)); *value > most)
        set(name, most);
  o.settle();
  say("--minutes {:g}: an update takes about {:.3g} s and a checkpoint {:.3g} s, so this run has --{} {}\n",
      budget / 60, s.update, s.validation, plan.length, length);
  return true;
}

scored_run const* seed_runs::train(training& t) {
  run_extras extras{.before = extend(options_, t, newest_checkpoint(out_)), .events = options_.tensorboard};
  if (seeds_ > 1 && !extras.events.empty()) extras.events += "/seed-" + std::to_string(options_.seed);
  auto run = train_one(options_, t, out_, is_first(), extras);
  if (run.interrupted) {
    report_interrupted(out_);
    return nullptr;
  }
  return &all_.emplace_back(std::move(run));
}

namespace {

/// Adds a line to the plot for each run. values(run) must return one value for each epoch.
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
      for (auto const& f : part.figures) add(f.title(), f.value);
      for (auto const& k : part.kinds) add(figure{"exact match", k.value, k.kind}.title(), k.value);
    }
  return all;
}

std::string remedy_of(std::vector<scored_run> const& runs) {
  auto const failed = std::find_if(runs.begin(), runs.end(), [](scored_run const& r) { return r.failed; });
  if (failed == runs.end()) return {};
  auto const of = fmt::format("seed {} failed: ", failed->seed);
  if (failed->diverged)
    return of + "its loss or a weight was no number; take a smaller --learning-rate, or more --warmup\n";
  auto const& losses = failed->losses;
  constexpr std::size_t enough = 3;  // number of epochs that show the trend of the loss
  bool const falls = losses.size() < enough || losses.back() < 0.95 * losses[losses.size() * 2 / 3 - 1];
  return of + (falls ? fmt::format("its loss was still falling; give it more --{}\n", failed->length)
                     : "its loss no longer fell; try another --seed or --learning-rate, or a larger --width\n");
}

int status_of(std::vector<scored_run> const& runs) {
  return std::any_of(runs.begin(), runs.end(), [](scored_run const& r) { return r.failed; }) ? did_not_reach : all_well;
}

}  // namespace triad::programs
