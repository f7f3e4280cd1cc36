// clutrr train: one run for each seed, then accuracy by k beside the paper's.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <optional>

#include "../common/exit_status.hpp"
#include "../common/loss_plot.hpp"
#include "../common/run_folder.hpp"
#include "../common/seed_means.hpp"
#include "commands.hpp"
#include "paper.hpp"
#include "run.hpp"

namespace clutrr {
namespace {

auto over_runs(std::vector<run_result> const& runs, int k) {
  return triad::examples::mean_over(runs, [k](run_result const& r) { return r.test.at(k); });
}

/// The lengths of chains that runs were tested on; none where all of them diverged.
std::vector<int> tested(std::vector<run_result> const& runs) {
  std::vector<int> lengths;
  if (auto const* const one = triad::examples::first_scored(runs))
    for (auto const& [k, unused] : one->test) lengths.push_back(k);
  return lengths;
}

/// accuracy by k as a line of a plot.
triad::examples::series curve(std::string name, std::vector<run_result> const& runs) {
  triad::examples::series s{std::move(name), {}, {}, {}};
  for (int const k : tested(runs)) {
    auto const a = over_runs(runs, k);
    s.x.push_back(k), s.y.push_back(a.mean), s.error.push_back(a.standard_error);
  }
  return s;
}

/// All runs of one model; none where one was interrupted, after that is said.
std::optional<std::vector<run_result>> train_seeds(options const& o, task& work, std::string const& folder) {
  std::vector<run_result> runs;
  options one = o;
  one.seeds = 1;
  for (int i = 0; i < o.seeds; ++i) {
    one.seed = o.seed + static_cast<std::uint64_t>(i);
    auto const out = triad::examples::seed_folder(folder, o.seeds, one.seed);
    std::optional<task> own;  // a file is split anew for each seed
    if (i > 0 && !o.data.empty()) own.emplace(one);
    runs.push_back(train_once(one, own ? *own : work, out));
    if (runs.back().interrupted) {
      triad::examples::report_interrupted(out);
      return std::nullopt;
    }
    if (o.seeds > 1) {
      std::printf("seed %llu:", static_cast<unsigned long long>(one.seed));
      for (auto const& [k, a] : runs.back().test) std::printf("  k=%d %.3f", k, a);
      std::printf("  (%.0f s)%s\n", runs.back().seconds, runs.back().diverged ? "  diverged" : "");
      std::fflush(stdout);
    }
  }
  return runs;
}

/// Accuracy on what was held out, where there is nothing else to score.
void print_held_out(std::vector<run_result> const& runs, bool held_out) {
  auto const mean = triad::examples::mean_over(runs, [](run_result const& r) { return r.validation; });
  if (!triad::examples::first_scored(runs)) return;
  if (held_out)
    std::printf("no test files; accuracy on what was held out: %.3f\n", mean.mean);
  else
    std::printf(
        "no test files, and nothing was held out: how good this model is was not measured; give a folder with "
        "*_test.csv, more rows, or a larger --validation\n");
}

/// held_out: there is a part of the training file that a run is measured on.
void print_table(options const& o, std::vector<run_result> const& runs, std::vector<run_result> const* other,
                 bool held_out) {
  for (int const k : tested(runs)) {
    auto const a = over_runs(runs, k);
    std::printf("k=%-2d  %.3f", k, a.mean);
    if (runs.size() > 1) std::printf(" +- %.3f", a.standard_error);
    if (other && triad::examples::first_scored(*other))
      std::printf("    %s %.3f", o.compare.c_str(), over_runs(*other, k).mean);
    std::printf("\n");
  }
  if (tested(runs).empty()) print_held_out(runs, held_out);
  if (runs.size() > 1) std::printf("%s\n", triad::examples::whose_mean(runs, o.seed).c_str());
  if (other && other->size() > 1)
    std::printf("%s: %s\n", o.compare.c_str(), triad::examples::whose_mean(*other, o.seed).c_str());
  int failed = 0;
  for (auto const& r : runs) failed += r.failed ? 1 : 0;
  if (runs.size() > 1 || failed > 0)
    std::printf("%d of %zu runs failed (validation accuracy below 0.5, or a loss that is not finite)\n", failed,
                runs.size());
}

}  // namespace

int train(options const& o) {
  if (o.preset.starts_with("paper") && o.data.empty())
    throw triad::data_error(
        "--preset " + o.preset +
        " is about published data: give its folder with --data; docs/data.md says where it comes from");
  task work(o);
  triad::examples::run_folder const folder(o.out);
  auto const runs = train_seeds(o, work, o.out);
  std::optional<std::vector<run_result>> others;
  if (runs && !o.compare.empty()) {
    options other = o;
    other.model = o.compare;
    other.compare.clear();
    others = train_seeds(other, work, o.out.empty() ? o.out : o.out + "/" + o.compare);
  }
  if (!runs || (!o.compare.empty() && !others)) return triad::examples::interrupted_status();
  print_table(o, *runs, others ? &*others : nullptr, !work.validation().empty());
  if (!o.out.empty()) {
    triad::examples::plot accuracy{
        "CLUTRR: accuracy by chain length", "k (facts in the chain)", "accuracy", {curve(o.model, *runs)}, 0.0, 1.0};
    if (others) accuracy.lines.push_back(curve(o.compare, *others));
    if (auto paper = paper_curve(o)) accuracy.lines.push_back(*paper);
    triad::examples::write_svg(o.out + "/plots/accuracy.svg", accuracy);
    triad::examples::write_svg(o.out + "/plots/loss.svg", triad::examples::loss_plot(*runs, o.seed, "cross entropy"));
    std::printf("metrics, checkpoint and plots are in %s\n", o.out.c_str());
  }
  for (auto const& r : *runs)
    if (r.failed) return triad::examples::did_not_reach;
  return 0;
}

}  // namespace clutrr
