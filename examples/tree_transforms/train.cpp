// tree-transforms train: one run for each seed, then whole trees that are right, on all splits.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <new>

#include "../common/exit_status.hpp"
#include "../common/loss_plot.hpp"
#include "../common/run_folder.hpp"
#include "../common/training_run.hpp"
#include "commands.hpp"
#include "record.hpp"
#include "report.hpp"
#include "triad/train/schedule.hpp"

namespace tree_transforms {
namespace {

struct run_result : triad::examples::run_log {
  split_tallies found{};  // without rows where it diverged
};

run_result train_once(options const& o, task& work, std::string const& out) {
  index_t const depth = std::max<index_t>(work.depth(), o.role_depth);
  std::unique_ptr<machine> net;
  try {
    net = make_machine(o, {work.labels().size(), depth, o.batch, true});
  } catch (std::bad_alloc const&) {
    throw triad::data_error("there is not enough memory for batches of " + std::to_string(o.batch) +
                            " trees of depth " + std::to_string(depth) + " and " + std::to_string(o.steps) +
                            " steps: take a smaller --batch");
  }
  auto const fill = [&](std::int64_t update) {
    net->clear();
    work.each_example(update, [&](placed_row const& row) { net->add(row); });
  };
  triad::dtm_main_cosine const schedule{o.rate, static_cast<std::uint64_t>(o.warmup),
                                        static_cast<std::uint64_t>(work.epoch_updates()),
                                        static_cast<std::uint64_t>(work.epochs())};
  auto const validate = [&] { return score(*net, work.placed(split::dev)).accuracy(); };
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
       .example = "trees",
       .record = record_of(o, depth, work.labels()),
       .data = work.data_setting()},
      fill, [&](std::int64_t update) { return schedule.rate(static_cast<std::uint64_t>(update)); }, validate);
  if (result.interrupted || result.diverged) return result;
  for (auto const s : splits)
    result.found[static_cast<std::size_t>(s)] = score(*net, work.placed(s), s == split::train ? o.train_sample : 0);
  result.failed = has_failed(result.found);
  return result;
}

}  // namespace

int train(options const& given) {
  options o = given;
  settle(o);
  if (o.width % o.heads != 0)
    throw triad::data_error("--width " + std::to_string(o.width) + " is no multiple of --heads " +
                            std::to_string(o.heads));
  triad::examples::run_folder const folder(o.out);
  std::vector<run_result> runs;
  std::vector<seed_tallies> found;
  options one = o;
  one.seeds = 1;
  for (int i = 0; i < o.seeds; ++i) {
    one.seed = o.seed + static_cast<std::uint64_t>(i);
    task work(one);
    if (i == 0)
      std::printf("%s: %lld training rows, %lld labels, trees of depth %lld%s\n", o.task.c_str(),
                  static_cast<long long>(work.placed(split::train).size()),
                  static_cast<long long>(work.labels().size() - 1), static_cast<long long>(work.depth()),
                  work.skipped() > 0 ? (", " + std::to_string(work.skipped()) + " deeper rows left out").c_str() : "");
    auto const out = triad::examples::seed_folder(o.out, o.seeds, one.seed);
    runs.push_back(train_once(one, work, out));
    auto const& r = runs.back();
    if (r.interrupted) return triad::examples::report_interrupted(out);
    found.push_back({r.found, r.diverged, r.failed});
    std::printf("seed %llu (%.0f s)%s\n\n", static_cast<unsigned long long>(one.seed), r.seconds,
                r.diverged ? ": failed, its loss was not finite"
                : r.failed ? ": failed, fewer than 90 % of the training rows are right"
                           : "");
    if (!r.diverged) std::printf("%s\n", table_of(r.found).c_str());
    std::fflush(stdout);
  }
  if (o.seeds > 1) std::printf("%s\n", table_of(found, o.seed).c_str());
  if (!o.out.empty()) {
    triad::examples::write_svg(o.out + "/plots/loss.svg",
                               triad::examples::loss_plot(runs, o.seed, "distance of trees, per position"));
    triad::examples::write_svg(o.out + "/plots/accuracy.svg",
                               triad::examples::validation_plot(runs, o.seed, "whole trees that are right"));
    triad::examples::write_atomically(o.out + "/splits.txt", o.seeds > 1 || found.front().diverged
                                                                 ? table_of(found, o.seed)
                                                                 : table_of(found.front().found));
    std::printf("metrics, checkpoint and plots are in %s\n", o.out.c_str());
  }
  return std::any_of(runs.begin(), runs.end(), [](run_result const& r) { return r.failed; })
             ? triad::examples::did_not_reach
             : triad::examples::all_well;
}

}  // namespace tree_transforms
