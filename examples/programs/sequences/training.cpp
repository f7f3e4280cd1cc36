// The verb `train` of all sequence-to-sequence programs. It trains one run for each seed, and scores each run's
// translations of the test parts.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "score.hpp"
#include "shared/backend/memory_size.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "trained.hpp"
#include "translate.hpp"
#include "triad/train/schedule.hpp"

namespace triad::programs::sequences {
namespace {

void describe(task& work, data_set const& data) {
  auto& words = work.words();
  say("{} training pairs{}, {} source and {} target words; {} updates an epoch{}\n", work.pairs(),
      work.left_out() > 0 ? fmt::format(" ({} longer ones left out)", work.left_out()) : "", words.source.ordinary(),
      words.target.ordinary(), work.epoch_updates(), work.unknown());
  for (auto const& part : data.tests) say("  {}: {} pairs{}\n", part.name, part.pairs.size(), unknown_in(part, words));
  if (data.dev.empty())
    fmt::print("  no dev part: checkpoints are measured on {} of the training pairs\n", work.dev().size());
  std::fflush(stdout);
}

/// The training run of one seed.
class translator_training final : public training {
 public:
  translator_training(options const& o, program const& p, std::string out)
      : options_(o), program_(p), out_(std::move(out)), work_(o, p.data) {}

  task& work() { return work_; }

  learner& net() override {
    if (net_) return *net_;
    auto const& o = options_;
    auto& words = work_.words();
    expect_readable(o, words, "the training set", program_.data.train);
    expect_readable(o, words, "dev", work_.dev());
    for (auto const& part : program_.data.tests) expect_readable(o, words, part.name, part.pairs);
    dev_ = coded(work_.dev(), words);
    references_ = with_tokens(work_.dev(), words.target);
    auto const tests = longest_source(program_.data, words), measured = longest_of(dev_);
    pair_length const room{std::max(tests.source, measured.source),
                           std::max(tests.target, o.validate == "loss" ? measured.target : 0)};
    auto sizes = sizes_for(o, words, room, use::learning);
    auto const longest = words.longest_source;  // in the training set
    sizes.tokens = std::min(sizes.tokens, std::max<index_t>(work_.all_tokens(), all_tokens_of(dev_)));
    net_ =
        make<translator>(o, sizes,
                         {.batches = fmt::format("batches of {} tokens", sizes.tokens),
                          .remedy = "say with --memory how much there is, or take --recompute, or a smaller --beam",
                          .unit = "tokens",
                          .larger = [&] {
                            bool const one = tests.source > longest && (of_edges(o) || tests.source > sizes.tokens);
                            return one ? larger_sources(program_.data, words, longest) : std::vector<sized_example>();
                          }});
    if (o.freeze_encoder) say("{}", told_states(net_->states_of(work_.source_tokens())));
    return *net_;
  }

  run_plan plan() override {
    auto const& o = options_;
    std::string within;
    if (!o.memory.empty()) {
      net();
      auto const parts = most_parts(*this, 0, std::min(updates(), work_.epoch_updates()), o.shares);
      within =
          fmt::format(" of --memory {}, batches of {} tokens {}", o.memory, o.tokens,
                      parts > 1 ? fmt::format("in parts of {}, at most {} in the first epoch", net_->tokens(), parts)
                                : "in one part");
    }
    return {.model = o.model,
            .updates = updates(),
            .epoch_updates = o.evaluate_every,
            .batch = work_.mean_tokens(),
            .example = "target tokens",
            .within = within,
            .record = record_of(o, work_.words()),
            .data = work_.data_setting(),
            .length = o.epochs > 0 ? "epochs" : "updates",
            .measured = o.validate == "loss" ? "loss" : "exact_match",
            .lower_is_better = o.validate == "loss"};
  }

  double rate(std::int64_t update) override {
    auto const& o = options_;
    if (o.schedule == "linear") return linear_rate(o, updates(), update);
    auto const k = static_cast<std::uint64_t>(update);
    if (o.schedule == "constant") return constant_rate{o.rate, static_cast<double>(o.warmup)}.rate(k);
    return inverse_sqrt{o.rate, 0, static_cast<double>(std::max(1, o.warmup))}.rate(k);
  }

  double validate() override {
    if (options_.validate == "loss") return mean_loss(*net_, dev_);
    auto greedy = search_of(options_, work_.words());
    greedy.beam = 1;
    auto const found = translations(*net_, work_.dev(), work_.words(), greedy);
    return total(right_ones(program_.right, references_, found)).percent() / 100;
  }
  bool learned(double validation) override { return options_.validate != "exact" || validation >= 0.5; }

  std::vector<part_scores> score() override {
    if (options_.freeze_encoder) say("the frozen encoder read {} training sources\n", net_->encoded_sources());
    std::vector<part_scores> scores;
    auto& words = work_.words();
    for (auto const& part : program_.data.tests) {
      auto const found = translations(*net_, part.pairs, words, search_of(options_, words));
      write_lines(out_, part.name, found);
      scores.push_back(sequences::score(program_, {part.name, with_tokens(part.pairs, words.target)}, found));
    }
    return scores;
  }

 protected:
  std::size_t begin_update(std::int64_t update) override {
    batch_.clear();
    work_.batch(update, [&](coded_pair const& pair) { batch_.push_back(&pair); });
    return batch_.size();
  }
  void clear() override { net_->clear(); }
  bool add(std::size_t k) override { return net_->add(batch_[k]->source, batch_[k]->target); }
  double answer_count(std::size_t k) override { return static_cast<double>(batch_[k]->target.size() + 1); }
  bool may_cut() const override { return !options_.memory.empty(); }

 private:
  /// Returns a line about the memory of the frozen encoder's states.
  std::string told_states(state_memory const& states) const {
    return fmt::format("states of the frozen encoder: at most {}, {}\n", told_size(states.needed),
                       states.needed <= states.limit ? "computed in the first epoch and kept"
                                                     : "of which --encoder-cache keeps " + options_.encoder_cache +
                                                           "; the rest is computed again in each epoch");
  }
  std::int64_t updates() { return options_.epochs > 0 ? work_.updates_of(options_.epochs) : options_.updates; }

  options const& options_;
  program const& program_;
  std::string out_;
  task work_;
  std::vector<coded_pair> dev_;
  std::vector<text_pair> references_;  // pairs of dev, with targets as a model would write them
  std::unique_ptr<translator> net_;
  std::vector<coded_pair const*> batch_;
};

}  // namespace

int train(options& o, program p) {
  if (!o.encoder.empty()) read_published(o);
  p.data.train = sample(p.data.train, o.train_size);
  run_folder const folder(o.out);
  bool const loss = o.validate == "loss";
  auto const measured =
      std::string(p.data.dev.empty() ? "training" : "dev") + (loss ? " loss" : " exact match, parts of one,");
  seed_runs of_seeds(o, o.out);
  while (of_seeds.next()) {
    translator_training one(o, p, of_seeds.out());
    if (of_seeds.fits_to_minutes(one)) continue;
    if (of_seeds.is_first()) describe(one.work(), p.data);
    auto const* const r = of_seeds.train(one);
    if (!r) return interrupted_status();
    fmt::print("seed {}: {} {}  ({:.0f} s){}\n", r->seed, measured,
               r->validations.empty() ? "not measured" : fmt::format("{:.4f}", r->validation), r->seconds,
               failure_of(*r, "  failed: below 0.5"));
    for (auto const& part : r->parts) fmt::print("{}\n", told(part));
  }
  auto const& runs = of_seeds.all();
  if (runs.size() > 1) fmt::print("{}", means_of(runs));
  if (!o.out.empty()) {
    write_plots(
        o, runs,
        {"cross entropy of a token, smoothed", loss ? "cross entropy of a token" : "sentences that are right", loss});
    first_writes(o.out + "/scores.csv", scores_csv(runs));
    say("{}", where_it_lies(o.out, o.seed, o.seeds, "translations, scores"));
  }
  say("{}", remedy_of(runs));
  return status_of(runs);
}

}  // namespace triad::programs::sequences
