// cogs train: one run for each seed, then accuracy on sentences of kinds that the training set has not.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <new>
#include <optional>

#include "../common/exit_status.hpp"
#include "../common/loss_plot.hpp"
#include "../common/run_folder.hpp"
#include "../common/seed_means.hpp"
#include "../common/training_run.hpp"
#include "commands.hpp"
#include "record.hpp"
#include "report.hpp"
#include "triad/train/schedule.hpp"

namespace cogs {
namespace {

struct run_result : triad::examples::run_log {
  std::optional<double> test;        // none where there is no such part, or the run diverged
  std::map<std::string, tally> gen;  // the same
};

/// ": generalisation 12.3 +- 1.2, as trees 13.4 +- 1.1", of the runs that have a score.
std::string means_of(std::vector<run_result> const& runs) {
  auto const shown_mean = [&](std::int64_t tally::*right) {
    auto const m = triad::examples::mean_over(runs, [right](run_result const& r) {
      auto const all = total(r.gen);
      return all.part(all.*right);
    });
    return percent(m.mean) + " +- " + percent(m.standard_error);
  };
  return ": generalisation " + shown_mean(&tally::graphs) + ", as trees " + shown_mean(&tally::trees);
}

/// What was not measured has no number.
std::string shown(std::optional<double> part) { return part ? percent(*part) : "-"; }

run_result train_once(options const& o, task& work, std::string const& out) {
  std::unique_ptr<parser> net;
  try {
    net = make_parser(o, {work.words().tokens.count(), work.words().labels(), o.batch, work.longest_training(),
                          work.longest(), true});
  } catch (std::bad_alloc const&) {
    throw triad::data_error("there is not enough memory for batches of " + std::to_string(o.batch) +
                            " sentences of up to " + std::to_string(work.longest_training()) +
                            " tokens: take a smaller --batch, or --recompute");
  }
  auto const fill = [&](std::int64_t update) {
    net->clear();
    work.batch(update, [&](auto const& sentence) { net->add(sentence); });
  };
  triad::linear_warmup const schedule{o.rate, static_cast<double>(o.warmup), static_cast<double>(work.updates())};
  auto const validate = [&] { return accuracy(*net, work.data().dev, work.words()); };
  run_result result;
  static_cast<triad::examples::run_log&>(result) = triad::examples::train(
      *net,
      {.model = o.model,
       .out = out,
       .config = to_toml(o),
       .seed = o.seed,
       .resume = o.resume,
       .updates = work.updates(),
       .epoch_updates = work.epoch_updates(),
       .batch = o.batch,
       .example = "sentences",
       .record = record_of(o, work.words()),
       .data = work.data_setting()},
      fill, [&](std::int64_t update) { return schedule.rate(static_cast<std::uint64_t>(update)); }, validate);
  if (result.interrupted || result.failed) return result;
  if (!work.data().test.empty()) result.test = accuracy(*net, work.data().test, work.words());
  result.gen = score(*net, work.data().gen, work.words());
  result.failed = result.validation < 0.5;  // it has not learned its own task
  return result;
}

}  // namespace

int train(options const& o) {
  if (o.preset == "paper" && o.data.empty())
    throw triad::data_error(
        "--preset paper is about published data: give its folder with --data; docs/data.md says where it comes from");
  triad::examples::run_folder const folder(o.out);
  std::vector<run_result> runs;
  std::map<std::string, tally> gen;
  options one = o;
  one.seeds = 1;
  for (int i = 0; i < o.seeds; ++i) {
    one.seed = o.seed + static_cast<std::uint64_t>(i);
    task work(one);
    auto const out = triad::examples::seed_folder(o.out, o.seeds, one.seed);
    runs.push_back(train_once(one, work, out));
    auto const& r = runs.back();
    if (r.interrupted) return triad::examples::report_interrupted(out);
    auto const all = total(r.gen);
    bool const measured = !r.gen.empty();
    std::printf("seed %llu: dev %s  test %s  generalisation %s  as trees %s  (%.0f s)%s\n",
                static_cast<unsigned long long>(one.seed), percent(r.validation).c_str(), shown(r.test).c_str(),
                measured ? percent(all.part(all.graphs)).c_str() : "-",
                measured ? percent(all.part(all.trees)).c_str() : "-", r.seconds,
                failure_of(r, "  failed: dev is below 50"));
    std::fflush(stdout);
    for (auto const& [kind, t] : r.gen) gen[kind] += t;
  }
  if (!gen.empty()) std::printf("\n%s", table_of(gen).c_str());
  if (runs.size() > 1)
    std::printf("%s%s\n", triad::examples::whose_mean(runs, o.seed).c_str(), gen.empty() ? "" : means_of(runs).c_str());
  if (!o.out.empty()) {
    triad::examples::write_svg(o.out + "/plots/loss.svg",
                               triad::examples::loss_plot(runs, o.seed, "sum of five cross entropies"));
    if (!gen.empty()) {
      triad::examples::write_svg(o.out + "/plots/generalisation.svg", chart_of(gen));
      triad::examples::write_atomically(o.out + "/generalisation.txt", table_of(gen));
    }
    std::printf("metrics, checkpoint and plots are in %s\n", o.out.c_str());
  }
  for (auto const& r : runs)
    if (r.failed) return triad::examples::did_not_reach;
  return 0;
}

}  // namespace cogs
