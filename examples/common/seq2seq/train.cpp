// train, of every sequence-to-sequence program: one run for each seed, then what its translations of the test parts are
// worth.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <new>
#include <stdexcept>

#include "../exit_status.hpp"
#include "../loss_plot.hpp"
#include "../run_folder.hpp"
#include "../sample.hpp"
#include "../training_run.hpp"
#include "record.hpp"
#include "score.hpp"
#include "translate.hpp"
#include "triad/train/schedule.hpp"

namespace seq2seq {
namespace {

struct run_result : triad::examples::run_log {
  std::vector<report> reports;
};

void describe(task& work, data_set const& data) {
  auto& words = work.words();
  std::printf("%zu training pairs%s, %lld source and %lld target words; %lld updates an epoch%s\n", work.pairs(),
              work.left_out() > 0 ? (" (" + std::to_string(work.left_out()) + " longer ones left out)").c_str() : "",
              static_cast<long long>(words.source.ordinary()), static_cast<long long>(words.target.ordinary()),
              static_cast<long long>(work.epoch_updates()), work.unknown().c_str());
  for (auto const& part : data.tests)
    std::printf("  %s: %zu pairs%s\n", part.name.c_str(), part.pairs.size(),
                unknown_in(part.pairs, words, false).c_str());
  if (data.dev.empty())
    std::printf("  no dev part: checkpoints are measured on %zu of the training pairs\n", work.dev().size());
  std::fflush(stdout);
}

run_result train_once(options const& o, program const& p, task& work, std::string const& out) {
  auto& words = work.words();
  expect_readable(o, words, "the training set", p.data.train);
  expect_readable(o, words, "dev", work.dev());
  for (auto const& part : p.data.tests) expect_readable(o, words, part.name, part.pairs);
  auto const dev = coded(work.dev(), words);
  auto const tests = longest_source(p.data, words), measured = longest_of(dev);
  pair_length const room{std::max(tests.source, measured.source),
                         std::max(tests.target, o.validate == "loss" ? measured.target : 0)};
  std::unique_ptr<translator> net;
  try {
    net = make_translator(o, sizes_for(o, words, room, use::learning));
  } catch (std::bad_alloc const&) {
    throw triad::data_error("there is not enough memory for batches of " + std::to_string(o.tokens) +
                            " tokens: say with --memory how much there is, or take --recompute, or a smaller --beam");
  }
  std::vector<coded_pair const*> batch;
  auto const fill = [&](std::int64_t update, auto const& use) {
    batch.clear();
    work.batch(update, [&](coded_pair const& pair) { batch.push_back(&pair); });
    triad::examples::cut_batch(
        batch, [&] { net->clear(); }, [&](coded_pair const* pair) { return net->add(pair->source, pair->target); },
        [](coded_pair const* pair) { return static_cast<double>(pair->target.size() + 1); },
        [&](triad::examples::batch_part const& part) {
          if (!part.whole && o.memory.empty()) throw std::logic_error("a batch within its bounds has no room");
          use(part);
        });
  };
  triad::inverse_sqrt const root{o.rate, 0, static_cast<double>(std::max(1, o.warmup))};
  triad::linear_warmup const line{o.rate, static_cast<double>(o.warmup), static_cast<double>(work.updates())};
  auto const rate = [&](std::int64_t update) {
    auto const u = static_cast<std::uint64_t>(update);
    return o.schedule == "linear" ? line.rate(u) : root.rate(u);
  };
  auto greedy = search_of(o, words);
  greedy.beam = 1;
  auto const references = with_tokens(work.dev(), words.target);
  auto const validate = [&] {
    if (o.validate == "loss") return mean_loss(*net, dev);
    return right_ones(p, references, translations(*net, work.dev(), words, greedy)).percent() / 100;
  };
  std::string within;
  if (!o.memory.empty()) {
    auto const parts = triad::examples::most_parts(fill, 0, std::min(work.updates(), work.epoch_updates()));
    within = " of --memory " + o.memory + ", batches of " + std::to_string(o.tokens) + " tokens " +
             (parts > 1 ? "in parts of " + std::to_string(net->room()) + ", at most " + std::to_string(parts) +
                              " in the first epoch"
                        : "in one part");
  }
  run_result result;
  static_cast<triad::examples::run_log&>(result) = triad::examples::train(*net,
                                                                          {.model = o.model,
                                                                           .out = out,
                                                                           .config = p.toml + to_toml(o),
                                                                           .seed = o.seed,
                                                                           .resume = o.resume,
                                                                           .updates = work.updates(),
                                                                           .epoch_updates = o.evaluate_every,
                                                                           .batch = work.mean_tokens(),
                                                                           .example = "target tokens",
                                                                           .within = within,
                                                                           .record = record_of(o, p, words),
                                                                           .data = work.data_setting()},
                                                                          fill, rate, validate);
  if (result.interrupted || result.failed) return result;
  for (auto const& part : p.data.tests) {
    auto const found = translations(*net, part.pairs, words, search_of(o, words));
    write_lines(out, part.name, found);
    result.reports.push_back(score(p, {part.name, with_tokens(part.pairs, words.target)}, found));
  }
  result.failed = o.validate == "exact" && result.validation < 0.5;  // it has not learned its own task
  return result;
}

}  // namespace

int train(options const& asked, program const& with) {
  options o = asked;
  auto const only_updates = [](std::set<std::string> const& names) {
    return names.contains("updates") && !names.contains("epochs");
  };
  if (o.given.contains("updates") && o.given.contains("epochs") && o.epochs > 0)
    throw triad::data_error("--updates and --epochs are two ways to say how long the run is: give one");
  // A preset's epochs are no answer to updates that were asked for, nor are those of a config file to the command line.
  if (only_updates(o.given) || (!o.given.contains("epochs") && only_updates(o.configured))) o.epochs = 0;
  check(o);
  if (!o.roberta.empty()) read_published(o);
  program p = with;
  p.data.train = triad::examples::sample(p.data.train, o.train_size);
  triad::examples::run_folder const folder(o.out);
  std::vector<run_result> runs;
  std::vector<run_scores> scores;
  options one = o;
  one.seeds = 1;
  for (int i = 0; i < o.seeds; ++i) {
    one.seed = o.seed + static_cast<std::uint64_t>(i);
    task work(one, p.data);
    if (i == 0) describe(work, p.data);
    auto const out = triad::examples::seed_folder(o.out, o.seeds, one.seed);
    runs.push_back(train_once(one, p, work, out));
    auto const& r = runs.back();
    if (r.interrupted) return triad::examples::report_interrupted(out);
    std::printf("seed %llu: %s %.4f  (%.0f s)%s\n", static_cast<unsigned long long>(one.seed),
                o.validate == "loss" ? "dev loss" : "dev exact match, parts of one,", r.validation, r.seconds,
                failure_of(r, "  failed: below 0.5"));
    for (auto const& part : r.reports) std::printf("%s\n", told(part).c_str());
    std::fflush(stdout);
    scores.push_back({one.seed, r.reports, r.diverged, r.failed});
  }
  if (scores.size() > 1) std::printf("%s", means_of(scores).c_str());
  if (!o.out.empty()) {
    triad::examples::write_svg(o.out + "/plots/loss.svg",
                               triad::examples::loss_plot(runs, o.seed, "cross entropy of a token, smoothed"));
    auto measured = triad::examples::validation_plot(
        runs, o.seed, o.validate == "loss" ? "cross entropy of a token" : "sentences that are right");
    if (o.validate == "loss") measured.title = "Validation loss", measured.y_to.reset();
    triad::examples::write_svg(o.out + "/plots/validation.svg", measured);
    triad::examples::write_atomically(o.out + "/scores.csv", scores_csv(scores));
    std::printf("metrics, checkpoint, translations, scores and plots are in %s\n", o.out.c_str());
  }
  return std::any_of(runs.begin(), runs.end(), [](run_result const& r) { return r.failed; })
             ? triad::examples::did_not_reach
             : triad::examples::all_well;
}

}  // namespace seq2seq
