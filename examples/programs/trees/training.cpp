// The verb `train` of all tree-to-tree programs.  It trains one run for each seed, and scores all parts of the data.
// SPDX-License-Identifier: Apache-2.0
#include "shared/run/training.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "choices.hpp"
#include "program.hpp"
#include "report.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "trained.hpp"
#include "training_data.hpp"
#include "triad/train/schedule.hpp"

namespace triad::programs::trees {
namespace {

/// The training run of one seed.
class machine_training final : public training {
 public:
  /// `run` has the options of the whole run, which are stored in checkpoints.  `o` has the options of this training.
  /// `first` is the training before this training.  Its machine has fewer positions, and this training begins with the
  /// parameters of that machine.
  machine_training(options const& run, options const& o, training_data const& work, part_tallies& found,
                   std::string out, std::unique_ptr<machine_training> first = nullptr)
      : run_(run),
        options_(o),
        work_(work),
        batches_(work.batches(o.seed)),
        found_(found),
        out_(std::move(out)),
        depth_(std::max<index_t>(work.depth(), o.role_depth)),
        first_(std::move(first)) {}

  training* first() override { return first_.get(); }
  void initialize(std::uint64_t seed) override {
    net().initialize(seed);
    if (!first_) return;
    TRIAD_EXPECTS(first_->net_, "machine_training: its first training comes before it");
    first_->net_->with_averages([&] { net_->widen(*first_->net_); });  // fits() has scored the averages
    first_->net_.reset();
  }

  learner& net() override {
    if (net_) return *net_;
    std::size_t most = 1;  // rows in the largest part: no batch is larger
    for (auto const& part : work_.data().parts) most = std::max(most, part.rows.size());
    auto const batch = std::min(static_cast<index_t>(most), static_cast<index_t>(options_.batch));
    net_ = make<machine>(
        options_, {work_.labels().size(), depth_, batch, true},
        {.batches = fmt::format("batches of {} trees of depth {} and {} steps", batch, depth_, options_.steps),
         .remedy = "take a smaller --batch"});
    return *net_;
  }
  run_plan plan() override {
    return {.model = options_.model,
            .updates = options_.updates,
            .epoch_updates = options_.evaluate_every > 0 ? options_.evaluate_every : work_.epoch_updates(),
            .batch = options_.batch,
            .attempts = options_.attempts,
            .example = "trees",
            .record = record_of(run_, depth_, work_.labels()),
            .data = work_.data_setting(),
            .fixed = "the rate and the temperature of choices fall once in a run, from its first update to its last",
            .measured = "whole_trees"};
  }
  double rate(std::int64_t update) override {
    if (!begun_ && net_) begun_ = static_cast<std::int64_t>(net_->step());  // without a machine, no update was made
    // As in the released program, the rate falls after every epoch.  The second training of a run may be shorter than
    // one epoch, so its rate falls after every update.
    bool const by_updates = first_ != nullptr;
    auto const epoch = by_updates ? 1 : work_.epoch_updates();
    auto const epochs = by_updates ? options_.updates : work_.epochs(options_.updates);
    dtm_main_cosine const schedule{options_.rate, static_cast<std::uint64_t>(options_.warmup),
                                   static_cast<std::uint64_t>(epoch), static_cast<std::uint64_t>(epochs)};
    return schedule.rate(static_cast<std::uint64_t>(update));
  }
  double validate() override {
    auto const done = static_cast<std::int64_t>(net_->step());
    auto const gradients = done > 0 ? net_->gradient_norms() : std::vector<double>();
    auto const validation = tally_of(work_.measured()).accuracy();
    if (out_.empty()) return validation;
    if (!choices_) choices_.emplace(out_ + "/" + choices_name, begun_.value_or(done));
    auto record = choices_of(*net_, work_.measured(), shown_rows, work_.labels(), gradients);
    record.update = done;
    record.validation = validation;
    auto const update = update_of_attempt(options_, static_cast<std::uint64_t>(std::max<std::int64_t>(done, 1) - 1));
    record.temperature = temperature_at(options_, choice_of_operations(options_), update);
    record.empty_weight = empty_weight_at(options_, update);
    choices_->add(record);
    return validation;
  }
  void rehearse_validation() override {
    (void)tally_of(work_.measured());
    scored_.clear();
  }
  std::vector<part_scores> score() override {
    std::vector<part_scores> scores;
    for (std::size_t i = 0; i < found_.size(); ++i) {
      auto& t = found_[i].found;
      t = i == 0 ? of_training_rows() : tally_of(work_.placed(i));
      if (t.rows > 0)
        scores.push_back(
            {work_.data().parts[i].name, {{"whole trees", t.accuracy()}, {"partial", t.partial()}}, t.rows});
    }
    return scores;
  }
  bool fits() override { return of_training_rows().accuracy() >= (first_ ? enough_at_last : enough); }
  bool learned(double) override { return !has_failed(found_); }

 protected:
  std::size_t begin_update(std::int64_t update) override {
    batch_ = batches_.batch(update);
    return batch_.size();
  }
  void clear() override { net_->clear(); }
  bool add(std::size_t k) override { return net_->add(work_.train()[static_cast<index_t>(batch_[k])]); }

 private:
  static constexpr index_t shown_rows = 64;  // number of rows whose choices are recorded for each checkpoint

  // Fractions of right answers among the scored training rows.  If the fraction `enough` is right, no other attempt
  // begins.  If the fraction `enough_at_last` is right, the second training ends.
  static constexpr double enough = 0.99, enough_at_last = 1;

  /// Returns the scores of the first o.train_sample training rows.
  tally const& of_training_rows() { return tally_of(work_.train(), options_.train_sample); }
  /// Returns the scores of rows.  To score deep trees is slow, so scores are kept until the weights change.  The number
  /// of the update identifies the weights, because the caller always takes the averages if there are any.
  tally const& tally_of(placed_rows const& rows, index_t most = 0) {
    if (auto const done = net_->step(); scored_at_ != done) {
      scored_.clear();
      scored_at_ = done;
    }
    auto const [at, is_new] = scored_.try_emplace(&rows);
    if (is_new) at->second = trees::score(*net_, rows, most);
    return at->second;
  }

  options const& run_;
  options options_;  // options of this training
  training_data const& work_;
  epoch_batches batches_;
  std::span<std::size_t const> batch_;  // rows of the current update
  part_tallies& found_;
  std::string out_;
  std::optional<choices_file> choices_;
  std::optional<std::int64_t> begun_;           // the update at which this process began
  std::map<placed_rows const*, tally> scored_;  // scores of the weights after `scored_at_` updates
  std::uint64_t scored_at_ = 0;
  index_t depth_;
  std::unique_ptr<machine_training> first_;
  std::unique_ptr<machine> net_;
};

/// Returns whether `wanted` is a subtree of `tree`.
bool has_subtree(symbol_tree const& tree, symbol_tree const& wanted) {
  for (index_t at = 0; at < tree.size(); ++at)
    if (tree[at].size == wanted.size() && tree.subtree(at) == wanted) return true;
  return false;
}
/// Returns the number of rows whose target has a node with one child and whose source does not have the subtree of that
/// node.
index_t rows_with_lone_children(part const& rows) {
  index_t found = 0;
  for (auto const& [source, target] : rows.rows) {
    bool lone = false;
    for (index_t at = 0; at < target.size() && !lone; ++at)
      if (auto const first = target.first_child(at); first != no_node)
        lone = target.next_child(at, first) == no_node && !has_subtree(source, target.subtree(at));
    found += lone ? 1 : 0;
  }
  return found;
}

/// Returns the options of the first of two trainings.  Only the first training has attempts, evenness, recency and
/// cooling.
options of_first(options o) {
  o.role_depth = 0;
  return o;
}
/// Returns the options of the second of two trainings.
options of_last(options o) {
  o.attempts = 1;
  o.updates = o.last_updates;
  // The second training begins with the weights of the first.  In one run, the full rate undid a part of what the first
  // training had learned (docs/notes/why_tree_runs_fail.md).
  o.rate = o.last_rate > 0 ? o.last_rate : o.rate / 10;
  o.warmup = static_cast<int>(std::min<std::int64_t>(o.warmup, o.last_updates / 2));
  if (o.warmup == 1) o.warmup = 0;  // with one update, the rate of the released schedule stays 0
  o.evenness = 0, o.recency = 0, o.even_updates = 0, o.empty_weight = 1, o.empty_updates = 0, o.temperature = 1,
  o.cooling = 0;
  return o;
}

}  // namespace

int train(program_options& o, data_reader const& read) {
  auto named = read(false);
  run_folder const folder(o.out);
  training_data const work(o, std::move(named.data));
  say("{}: {} training rows, {} labels, trees of depth {} at most in all parts{}\n", named.name, work.train().size(),
      work.labels().size() - 1, work.depth(),
      work.skipped() > 0 ? fmt::format(", {} deeper rows left out", work.skipped()) : "");
  if (auto const sampled = work.measured().size(), all = work.train().size(); work.data().dev().rows.empty())
    say("  no {} part: checkpoints are measured on {}\n", work.data().dev().name,
        sampled == all ? fmt::format("all {} training rows", all)
                       : fmt::format("{0} of the {1} training rows, evenly spread; the scores of train at the "
                                     "end are of the first {0}",
                                     sampled, all));
  std::optional<training_data> shorter;
  if (auto const levels = o.first_rows > 0 ? work.levels_of(o.first_rows) : work.depth(); levels < work.depth()) {
    shorter.emplace(work, o, levels);
    fmt::print("  {} of the {} training rows have at most {} levels: they come first\n", shorter->train().size(),
               work.train().size(), levels);
  }
  bool const several = o.seeds > 1;
  part_tallies now, of_shorter;
  std::vector<seed_tallies> found;
  seed_runs of_seeds(o, o.out);
  while (of_seeds.next()) {
    auto const& out = of_seeds.out();
    now = tallies_of(work.data());
    std::unique_ptr<machine_training> first;
    if (shorter) {
      of_shorter = tallies_of(shorter->data());
      first =
          std::make_unique<machine_training>(o, of_first(o), *shorter, of_shorter, out.empty() ? out : out + "/first");
    }
    machine_training training(o, shorter ? of_last(o) : o, work, now, out, std::move(first));
    if (of_seeds.fits_to_minutes(training)) continue;
    auto const* const r = of_seeds.train(training);
    if (!r) return interrupted_status();
    found.push_back({now, r->diverged, r->failed});
    fmt::print("seed {} ({:.0f} s{}){}\n\n", r->seed, r->seconds,
               r->attempts > 1 ? fmt::format(", {} attempts", r->attempts) : "",
               r->diverged ? ": failed, a loss or a weight was not finite"
               : r->failed ? ": failed, fewer than 90 % of the training rows are right"
                           : "");
    if (!r->diverged) fmt::print("{}\n", table_of(now));
    if (r->failed && !r->diverged && !o.empty_tree)
      if (auto const lone = rows_with_lone_children(work.data().train()); lone > 0)
        say("{} of {} training targets have a node with one child that is not in the source: cons makes it of a tree "
            "and "
            "the empty tree, and no step has that.  Train with --recipe long --steps {}, which has it from the first "
            "step "
            "on (--empty-tree)\n",
            lone, work.train().size(), std::max(o.steps, 12));
  }
  auto const& runs = of_seeds.all();
  if (several) fmt::print("{}\n", table_of(found, o.seed));
  if (!o.out.empty()) {
    write_plots(
        o, runs,
        {.loss = "distance of trees, per position", .validation = "whole trees that are right", .file = "accuracy"});
    first_writes(o.out + "/splits.txt",
                 several || found.front().diverged ? table_of(found, o.seed) : table_of(found.front().found));
    say("{}", where_it_lies(o.out, o.seed, o.seeds));
  }
  say("{}", remedy_of(runs));
  return status_of(runs);
}

}  // namespace triad::programs::trees
