// cfq --task parse train: one run for each seed, then what its parses of dev and test are worth.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <new>
#include <stdexcept>

#include "../../common/exit_status.hpp"
#include "../../common/loss_plot.hpp"
#include "../../common/run_folder.hpp"
#include "../../common/seed_means.hpp"
#include "../../common/training_run.hpp"
#include "commands.hpp"
#include "record.hpp"
#include "score.hpp"
#include "triad/train/schedule.hpp"

namespace dependency {
namespace {

struct run_result : triad::examples::run_log {
  std::vector<part_scores> parts;
};

void describe(task& work, data_set const& data) {
  auto const& v = work.words();
  std::printf("%zu training sentences, %lld words, %zu relations; %lld updates an epoch%s\n", data.train.size(),
              static_cast<long long>(v.words().size() - triad::text::dictionary::specials), v.relations().size(),
              static_cast<long long>(work.epoch_updates()), unknown_in(data.train, v).c_str());
  for (auto const& part : data.tests)
    std::printf("  %s: %zu sentences%s\n", part.name.c_str(), part.all.size(), unknown_in(part.all, v).c_str());
  if (work.measured_on_train())
    std::printf("  no dev part: checkpoints are measured on %zu of the training sentences\n", work.dev().size());
  std::fflush(stdout);
}

run_result train_once(options const& o, data_set const& data, task& work, std::string const& out) {
  auto const& v = work.words();
  std::unique_ptr<parser> net;
  try {
    net = make_parser(o, {v.words().size(), static_cast<index_t>(v.relations().size()), o.tokens,
                          work.longest_training(), work.longest(), true});
  } catch (std::bad_alloc const&) {
    throw triad::data_error("there is not enough memory for batches of " + std::to_string(o.tokens) +
                            " words in sentences of up to " + std::to_string(work.longest_training()) +
                            ": take fewer --tokens, or --recompute");
  }
  auto const fill = [&](std::int64_t update) {
    net->clear();
    work.batch(update, [&](auto const& sentence) {
      if (!net->add(sentence)) throw std::logic_error("a batch within its bounds has no room");
    });
  };
  triad::linear_warmup const schedule{o.rate, static_cast<double>(o.warmup), static_cast<double>(o.updates)};
  run_result result;
  static_cast<triad::examples::run_log&>(result) = triad::examples::train(
      *net,
      {.model = o.model,
       .out = out,
       .config = to_toml(o),
       .seed = o.seed,
       .resume = o.resume,
       .updates = o.updates,
       .epoch_updates = o.evaluate_every,
       .batch = work.mean_words(),
       .example = "words",
       .record = record_of(o, v),
       .data = work.data_setting()},
      fill, [&](std::int64_t update) { return schedule.rate(static_cast<std::uint64_t>(update)); },
      [&] { return score(*net, work.dev(), v).las(); });
  if (result.interrupted || result.failed) return result;
  for (auto const& part : data.tests) result.parts.push_back({part.name, score(*net, part.all, v)});
  result.failed = result.validation < 0.5;  // it has not learned its own task
  return result;
}

}  // namespace

int train(options const& o) {
  check(o);
  auto const data = read_data(o, true);
  triad::examples::run_folder const folder(o.out);
  std::vector<run_result> runs;
  std::vector<run_scores> scores;
  options one = o;
  one.seeds = 1;
  for (int i = 0; i < o.seeds; ++i) {
    one.seed = o.seed + static_cast<std::uint64_t>(i);
    task work(one, data);
    if (i == 0) describe(work, data);
    auto const out = triad::examples::seed_folder(o.out, o.seeds, one.seed);
    runs.push_back(train_once(one, data, work, out));
    auto const& r = runs.back();
    if (r.interrupted) return triad::examples::report_interrupted(out);
    std::printf("seed %llu: %s LAS %s  (%.0f s)%s\n", static_cast<unsigned long long>(one.seed),
                work.measured_on_train() ? "training" : "dev", percent(r.validation).c_str(), r.seconds,
                failure_of(r, "  failed: below 50"));
    for (auto const& part : r.parts) std::printf("%s\n", told(part).c_str());
    std::fflush(stdout);
    scores.push_back({one.seed, r.parts, r.diverged, r.failed});
  }
  if (scores.size() > 1)
    std::printf("\n%s%s\n", table_of(scores).c_str(), triad::examples::whose_mean(scores, o.seed).c_str());
  if (!o.out.empty()) {
    triad::examples::write_svg(o.out + "/plots/loss.svg",
                               triad::examples::loss_plot(runs, o.seed, "sum of two cross entropies"));
    triad::examples::write_svg(o.out + "/plots/validation.svg",
                               triad::examples::validation_plot(runs, o.seed, "labelled attachment score"));
    triad::examples::write_atomically(o.out + "/scores.csv", scores_csv(scores));
    std::printf("metrics, checkpoint, scores and plots are in %s\n", o.out.c_str());
  }
  return std::any_of(runs.begin(), runs.end(), [](run_result const& r) { return r.failed; })
             ? triad::examples::did_not_reach
             : triad::examples::all_well;
}

}  // namespace dependency
