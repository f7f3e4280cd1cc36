// The program cogs predicts the graph of a sentence's meaning.  This header reads or generates data, trains, and has
// the code of the program's verbs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "grammar.hpp"
#include "hold_out.hpp"
#include "perturb.hpp"
#include "read.hpp"
#include "score.hpp"
#include "shared/cli/list_items.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/epoch_batches.hpp"
#include "shared/run/phrase_pool.hpp"
#include "shared/run/seed_means.hpp"
#include "shared/run/sentence_training.hpp"
#include "swap.hpp"

namespace triad::programs::cogs {

/// Reads one split of a folder.  Of the files NAME_seqtag.jsonl, NAME.tsv and NAME.jsonl, gzipped or not, the first
/// that exists is read.  The files of the split dev may also be called validation.
inline sentences read_split(std::string const& folder, std::string const& name, bool needed = true) {
  std::vector<std::string> const endings{"_seqtag.jsonl", ".tsv", ".jsonl"};
  std::vector<std::string> names;
  for (auto const& ending : endings) names.push_back(name + ending);
  auto path = name == "dev" ? find_dev(folder, endings) : find_file(folder, names);
  if (path.empty() && needed) path = need_file(folder, names, "docs/data.md says where they come from");
  return path.empty() ? sentences() : read_sentences(path);
}

struct data_set {
  sentences train, dev, test, gen;

  int longest() const {
    int most = 1;
    for (auto const* part : {&train, &dev, &test, &gen})
      for (auto const& s : *part) most = std::max(most, s.size());
    return most;
  }
  /// The number of sentences in the largest split.  No batch is larger.
  std::size_t most() const { return std::max<std::size_t>({1, train.size(), dev.size(), test.size(), gen.size()}); }
  std::vector<sized_example> larger(int than) const {
    std::vector<sized_example> all;
    for (auto const& [name, part] : {std::pair("train", &train), {"dev", &dev}, {"test", &test}, {"gen", &gen}})
      add_larger(
          all, than, part->size(), [&](std::size_t i) { return (*part)[i].size(); },
          [&](std::size_t i) { return fmt::format("sentence {} of {}", i + 1, name); });
    return all;
  }
};

/// Reads the splits of a folder.  For training, the splits train and dev must exist; for other verbs, at least one
/// split other than train.  The corrected labels of 2022 are in a separate file.
inline data_set read_data(options const& o, bool training) {
  refuse_generated(o, {"sentences", "test-size"}, "sentences");
  if (!std::filesystem::is_directory(o.data)) refuse("{}: a folder with train, dev, test and gen is expected", o.data);
  bool const corrected = o.labels == "2022";
  data_set d{training ? read_split(o.data, "train") : sentences(), read_split(o.data, "dev", training),
             read_split(o.data, "test", false), read_split(o.data, corrected ? "gen_2022fix" : "gen", corrected)};
  if (!training && d.dev.empty() && d.test.empty() && d.gen.empty())
    refuse("{}: there is no sentence of dev, test or gen; docs/data.md says where they come from", o.data);
  return d;
}

/// Seeds of the generated sentences for validation and for tests.  They differ from the seeds 1, 2, 3 ... of training.
/// No training sentence is of a test kind, whatever the seed.
inline constexpr std::uint64_t held_seed = 0xdef, kinds_seed = 0x7e57;

inline data_set generate_data(options const& o, int training) {
  refuse_given(o, {"labels"}, "the published generalisation set: give its folder with --data");
  data_set d;
  sentence_generator train(o.seed), held(held_seed), test(kinds_seed);
  for (int i = 0; i < training; ++i) d.train.push_back(train.next());
  for (int i = 0; i < o.test_size; ++i) d.dev.push_back(held.next());
  for (int i = 0; i < o.test_size; ++i) d.test.push_back(held.next());
  for (auto const* kind : generated_kinds)
    for (int i = 0; i < o.test_size; ++i) d.gen.push_back(test.next(kind));
  return d;
}

using tallies = std::map<std::string, tally>;  // by kind of sentence

/// Returns the fraction of sentences whose graph is right, for each kind, and the mean over the kinds.
inline std::vector<figure> figures_of(tallies const& kinds) {
  std::vector<figure> figures{{"mean", 0}};
  for (auto const& [kind, t] : kinds) {
    figures.push_back({kind, t.part(t.graphs)});
    figures[0].value += t.part(t.graphs) / static_cast<double>(kinds.size());
  }
  return figures;
}

class parser_training final : public sentence_training<parser, labelled_token> {
 public:
  parser_training(options const& o, data_set const& data, tallies& found)
      : sentence_training(o, "sentences"), data_(data), found_(found) {
    // The vocabulary has the words of all files, as in the released program.
    for (auto const* part : {&data_.train, &data_.test, &data_.dev, &data_.gen})
      for (auto const& s : *part) words_.add(s);
    if (!o.hold_out.empty()) held_out_ = hold_out(data_.train, list_items(o.hold_out));
    auto const& train = o.hold_out.empty() ? data_.train : held_out_.train;
    for (auto const& s : train) add_example(numbered(s, words_));
    if (o.augment > 0) swaps_.emplace(train, phrase_kinds_of(o), forbidden(o));
    if (o.position_range > 0 && o.position_range < longest_)
      refuse("--position-range {} has no place for each of the {} words of the longest training sentence: give as many",
             o.position_range, longest_);
    epochs_.emplace(examples_.size(), o.batch, true, o.seed);
    int const batch = static_cast<int>(std::min(data_.most(), static_cast<std::size_t>(o.batch)));
    net_ = make<parser>(o,
                        {.tokens = words_.tokens.end(),
                         .labels = words_.labels(),
                         .batch = batch,
                         .usual = longest_,
                         .longest = data_.longest(),
                         .positions = o.position_range,
                         .learns = true},
                        {.batches = fmt::format("batches of {} sentences of up to {} tokens", batch, longest_),
                         .remedy = "take a smaller --batch, or --recompute",
                         .unit = "tokens",
                         .larger = [&] {
                           auto const square = [](int n) { return std::int64_t{n} * n; };
                           return square(data_.longest()) > batch * square(longest_) ? data_.larger(longest_)
                                                                                     : std::vector<sized_example>();
                         }});
  }

  std::string length() const override { return "epochs"; }
  std::string measured() const override { return "accuracy"; }
  std::int64_t updates() override { return epoch_updates() * options_.epochs; }
  std::int64_t epoch_updates() override { return epochs_->epoch_updates(); }
  std::int64_t batch_size() override { return options_.batch; }
  std::span<std::size_t const> batch(std::int64_t update) override { return epochs_->batch(update); }
  /// Returns the sentence that an update trains on.  Swapped phrases depend only on the seed, the epoch and the
  /// sentence.  Dropped words and positions depend only on the seed, the update and the sentence.  So the number of
  /// processes, and the parts into which a batch is divided, have no effect.
  std::span<labelled_token const> seen(std::size_t example, std::int64_t update,
                                       std::vector<labelled_token>& room) override {
    auto const& all = examples_[example];
    if (options_.word_dropout == 0 && options_.position_range == 0 && !swaps_) return all;
    auto const swapped = swapped_in(example, update);
    room = swapped ? numbered(*swapped, words_) : all;
    auto const stream = static_cast<std::uint64_t>(update) << 32U | example;
    drop_words(room, options_.word_dropout, random_stream(options_.seed ^ dropped_words, stream));
    draw_positions(room, options_.position_range, random_stream(options_.seed ^ drawn_positions, stream));
    return room;
  }
  std::string data_setting() override {
    if (options_.data.empty()) return example_digest::generated();
    return digest(
        [](auto& d, labelled_token const& t) { d.add({t.token, t.parent, t.role, t.category, t.noun_type, t.verb}); });
  }
  /// Returns the accuracy on dev.  With --hold-out, returns the mean accuracy over the held-out constructions instead.
  double validate() override {
    dev_ = accuracy(*net_, data_.dev, words_);
    if (options_.hold_out.empty()) return dev_;
    held_out_scores_ = cogs::score(*net_, held_out_.rows, words_);
    return figures_of(held_out_scores_)[0].value;
  }
  bool learned(double) override { return dev_ >= 0.5; }
  held_out const& what_is_held_out() const { return held_out_; }
  std::vector<part_scores> score() override {
    std::vector<part_scores> scores;
    if (!options_.hold_out.empty()) {  // settings must not be chosen by scores on the generalisation set
      for (auto const& [kind, t] : held_out_scores_) found_[kind] += t;
      return {{"dev", {{"accuracy", dev_}}}, {"held out", figures_of(held_out_scores_)}};
    }
    if (!data_.test.empty()) scores.push_back({"test", {{"accuracy", accuracy(*net_, data_.test, words_)}}});
    if (data_.gen.empty()) return scores;
    auto const by_kind = cogs::score(*net_, data_.gen, words_);
    auto const all = total(by_kind);
    scores.push_back({"generalisation", {{"graphs", all.part(all.graphs)}, {"trees", all.part(all.trees)}}});
    for (auto const& [kind, t] : by_kind) found_[kind] += t;
    return scores;
  }

 private:
  static std::vector<phrase_kind> phrase_kinds_of(options const& o) {
    if (o.augment_phrases == "both") return {phrase_kinds.begin(), phrase_kinds.end()};
    return {o.augment_phrases == "clauses" ? phrase_kind::clause : phrase_kind::noun_phrase};
  }
  /// Returns a function that returns true for a sentence that no swap may make.
  phrase_swaps::refusal forbidden(options const& o) const {
    if (!o.augment_within) return {};
    auto const kinds = list_items(o.hold_out);
    construction_finder finder(data_.train, {kinds.begin(), kinds.end()});
    return [kinds, finder = std::move(finder)](tagged_sentence const& s) {
      return std::any_of(kinds.begin(), kinds.end(), [&](auto const& kind) { return finder.has(s, kind); });
    };
  }
  std::optional<tagged_sentence> swapped_in(std::size_t example, std::int64_t update) {
    if (!swaps_) return std::nullopt;
    auto const epoch = static_cast<std::uint64_t>(update / epoch_updates());
    auto const random = stream_of_swap(options_.seed, options_.augment, example, epoch);
    return random ? (*swaps_)(example, *random) : std::nullopt;
  }

  data_set const& data_;
  tallies& found_;  // scores of all runs
  held_out held_out_;
  std::optional<phrase_swaps> swaps_;  // swaps phrases of training sentences
  tallies held_out_scores_;            // the last validation scores of held-out sentences
  double dev_ = 0;
  std::optional<epoch_batches> epochs_;
};

/// Prints the number of held-out sentences of each kind.
inline void describe(held_out const& h) {
  tallies kinds;
  for (auto const& s : h.rows) ++kinds[s.distribution].sentences;
  std::string text;
  for (auto const& [kind, t] : kinds) text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", t.sentences, kind);
  say("{} training sentences; held out: {}; {} left out\n", h.train.size(), text, h.left_out);
  std::fflush(stdout);
}

inline int train(options& o) {
  tallies found;
  bool const holds_out = !o.hold_out.empty();
  // Returns figure `f` of a part, or nothing if the part was not scored.
  auto const figure = [](scored_run const& r, std::string const& part, std::size_t f) -> std::optional<double> {
    for (auto const& p : r.parts)
      if (p.part == part) return p.figures[f].value;
    return std::nullopt;
  };
  auto const shown = [](std::optional<double> part) { return part ? percent(*part) : "-"; };
  if (o.data.empty()) refuse_seed(o, held_seed, "sentences of dev and test");
  auto data = o.data.empty() ? data_set() : read_data(o, true);
  run_folder const folder(o.out);
  seed_runs of_seeds(o, o.out);
  while (of_seeds.next()) {
    if (o.data.empty()) data = generate_data(o, o.sentences);  // every seed has its own generated data
    parser_training work(o, data, found);
    if (of_seeds.fits_to_minutes(work)) continue;
    if (holds_out && of_seeds.is_first()) describe(work.what_is_held_out());
    auto const* const r = of_seeds.train(work);
    if (!r) return interrupted_status();
    auto const measured = r->validations.empty() ? "-" : percent(r->validation);
    if (holds_out)
      fmt::print("seed {}: held out {}  dev {}  ({:.0f} s){}\n", r->seed, measured, shown(figure(*r, "dev", 0)),
                 r->seconds, failure_of(*r, "  failed: dev is below 50"));
    else
      fmt::print("seed {}: dev {}  test {}  generalisation {}  as trees {}  ({:.0f} s){}\n", r->seed, measured,
                 shown(figure(*r, "test", 0)), shown(figure(*r, "generalisation", 0)),
                 shown(figure(*r, "generalisation", 1)), r->seconds, failure_of(*r, "  failed: dev is below 50"));
  }
  auto const& runs = of_seeds.all();
  if (!found.empty()) fmt::print("\n{}", table_of(found));
  if (runs.size() > 1) {
    auto const mean = [&](std::string const& part, std::size_t f) {
      auto const m = mean_over(runs, [&](scored_run const& r) { return *figure(r, part, f); });
      return percent(m.mean) + " +- " + percent(m.standard_error);
    };
    fmt::print("{}{}\n", whose_mean(runs, o.seed),
               found.empty() ? ""
               : holds_out
                   ? ": held out " + mean("held out", 0)
                   : ": generalisation " + mean("generalisation", 0) + ", as trees " + mean("generalisation", 1));
  }
  if (!o.out.empty()) {
    plot_texts texts{"sum of five cross entropies"};
    if (holds_out) texts.validation = "accuracy on held-out constructions";
    write_plots(o, runs, texts);
    auto const name = std::string(holds_out ? "held_out" : "generalisation");
    if (!found.empty()) {
      write_svg(o.out + "/plots/" + name + ".svg",
                chart_of(found, holds_out ? "held-out constructions" : "generalisation"));
      first_writes(o.out + "/" + name + ".txt", table_of(found));
    }
    say("{}", where_it_lies(o.out, o.seed, o.seeds));
  }
  say("{}", remedy_of(runs));
  return status_of(runs);
}
}  // namespace triad::programs::cogs
