// train, of every tree-to-tree program: one run for each seed, then whole trees that are right, in all parts.
// SPDX-License-Identifier: Apache-2.0
#include "../apps/training.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "../apps/atomic_file.hpp"
#include "choices.hpp"
#include "program.hpp"
#include "report.hpp"
#include "trained.hpp"
#include "training_data.hpp"
#include "triad/train/schedule.hpp"

namespace trees {
namespace {

/// One seed's run.
class machine_training final : public triad::apps::training {
 public:
  machine_training(options const& o, training_data const& work, part_tallies& found, std::string out)
      : options_(o),
        work_(work),
        batches_(work.batches(o.seed)),
        found_(found),
        out_(std::move(out)),
        depth_(std::max<index_t>(work.depth(), o.role_depth)) {}

  triad::apps::learner& net() override {
    if (!net_)
      net_ = triad::apps::make<machine>(options_, {work_.labels().size(), depth_, options_.batch, true},
                                        fmt::format("{} trees of depth {} and {} steps: take a smaller --batch",
                                                    options_.batch, depth_, options_.steps));
    return *net_;
  }
  triad::apps::run_plan plan() override {
    return {.model = options_.model,
            .updates = work_.updates(),
            .epoch_updates = options_.evaluate_every > 0 ? options_.evaluate_every : work_.epoch_updates(),
            .batch = options_.batch,
            .example = "trees",
            .record = record_of(options_, depth_, work_.labels()),
            .data = work_.data_setting()};
  }
  void fill(std::int64_t update, triad::apps::batch_use const& use) override {
    triad::apps::cut_batch(
        batches_.batch(update), [&] { net_->clear(); },
        [&](std::size_t i) { return net_->add(work_.train()[static_cast<index_t>(i)]); },
        [](std::size_t) { return 1.0; }, use);
  }
  double rate(std::int64_t update) override {
    triad::dtm_main_cosine const schedule{options_.rate, static_cast<std::uint64_t>(options_.warmup),
                                          static_cast<std::uint64_t>(work_.epoch_updates()),
                                          static_cast<std::uint64_t>(work_.epochs())};
    return schedule.rate(static_cast<std::uint64_t>(update));
  }
  double validate() override {
    auto const gradients = net_->gradient_norms();
    auto const validation = trees::score(*net_, work_.measured()).accuracy();
    if (out_.empty()) return validation;
    auto const done = net_->step();
    if (!choices_) choices_.emplace(out_ + "/" + choices_name, options_.resume ? static_cast<std::int64_t>(done) : 0);
    auto record = choices_of(*net_, work_.measured(), shown_rows, work_.labels(), gradients);
    record.update = static_cast<std::int64_t>(done);
    record.validation = validation;
    record.temperature = temperature_at(options_, choice_of_operations(options_), done - 1);
    record.empty_weight = empty_weight_at(options_, done - 1);
    choices_->add(record);
    return validation;
  }
  std::vector<triad::apps::part_scores> score() override {
    std::vector<triad::apps::part_scores> scores;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      auto& t = found_[i].found;
      t = trees::score(*net_, work_.placed(i), i == 0 ? options_.train_sample : 0);
      if (t.rows > 0)
        scores.push_back(
            {work_.data().parts[i].name, {{"whole trees", t.accuracy()}, {"partial", t.partial()}}, t.rows});
    }
    return scores;
  }
  bool learned(double) override { return !has_failed(found_); }

 private:
  static constexpr index_t shown_rows = 64;  // whose choices are recorded at a checkpoint

  options const& options_;
  training_data const& work_;
  triad::apps::epoch_batches batches_;
  part_tallies& found_;
  std::string out_;
  std::optional<choices_file> choices_;
  index_t depth_;
  std::unique_ptr<machine> net_;
};

}  // namespace

int train(program_options& o, data_reader const& read) {
  o.settle();
  if (o.width % o.heads != 0)
    throw triad::data_error(fmt::format("--width {} is no multiple of --heads {}", o.width, o.heads));
  if (o.evenness > 0 && o.shares > 1)
    throw triad::data_error("--evenness is of whole batches, and --shares cuts them: give one of the two");
  triad::apps::run_folder const folder(o.out);
  auto named = read(false);
  training_data const work(o, std::move(named.data));
  fmt::print("{}: {} training rows, {} labels, trees of depth {}{}\n", named.name, work.train().size(),
             work.labels().size() - 1, work.depth(),
             work.skipped() > 0 ? fmt::format(", {} deeper rows left out", work.skipped()) : "");
  if (auto const sampled = work.measured().size(), all = work.train().size(); work.data().dev().rows.empty())
    fmt::print("  no {} part: checkpoints are measured on {}\n", work.data().dev().name,
               sampled == all ? fmt::format("all {} training rows", all)
                              : fmt::format("{0} of the {1} training rows, evenly spread; the scores of train at the "
                                            "end are of the first {0}",
                                            sampled, all));
  bool const several = o.seeds > 1;
  part_tallies now;
  std::vector<seed_tallies> found;
  auto const runs = triad::apps::train_seeds(
      o, o.out,
      [&](std::string const& out) {
        now = tallies_of(work.data());
        return std::make_unique<machine_training>(o, work, now, out);
      },
      [&](triad::apps::scored_run const& r) {
        found.push_back({now, r.diverged, r.failed});
        fmt::print("seed {} ({:.0f} s){}\n\n", r.seed, r.seconds,
                   r.diverged ? ": failed, its loss was not finite"
                   : r.failed ? ": failed, fewer than 90 % of the training rows are right"
                              : "");
        if (!r.diverged) fmt::print("{}\n", table_of(now));
      });
  if (!runs) return triad::apps::interrupted_status();
  if (several) fmt::print("{}\n", table_of(found, o.seed));
  if (!o.out.empty()) {
    triad::apps::write_plots(
        o, *runs,
        {.loss = "distance of trees, per position", .validation = "whole trees that are right", .file = "accuracy"});
    triad::apps::write_atomically(o.out + "/splits.txt", several || found.front().diverged
                                                             ? table_of(found, o.seed)
                                                             : table_of(found.front().found));
    fmt::print("metrics, checkpoint and plots are in {}\n", o.out);
  }
  return triad::apps::status_of(*runs);
}

}  // namespace trees
