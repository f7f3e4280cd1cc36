// Training of parsers, and the scores of their parses.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "program.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/permute.hpp"
#include "shared/run/seed_means.hpp"

namespace triad::programs::dependencies {

using text::attachment_scores;

void options::each(option_list& f) {
  std::set<std::string> const asked{"evaluate", "predict", "explain"};
  if (!task.empty()) {
    auto& t =
        f("task", &task, "parse, this task; cfq VERB --help is about the other one, semantic: from question to query")
            .also(asked)
            .one_of({"parse"})
            .shapes();
    if (one_task) t.hidden();
  }
  f("data", &data,
    "Folder with train, dev and test .conllu" + std::string(task.empty() ? " or .jsonl" : "") + ", gzipped or not")
      .also({"evaluate"})
      .path();
  stack_options::each(f);
  f.seldom("min-count", &least_count, "The dictionary has words that occur this often in the training set").positive();
  f("model", &model, "edge-transformer; transformer or universal-transformer, with biaffine heads")
      .one_of({"edge-transformer", "transformer", "universal-transformer"})
      .shapes();
  f("attention", &attention, "Of edge-transformer: full, value-ablation, attention-ablation, both-ablations, flat")
      .newer()
      .shapes();
  f.seldom("max-offset", &max_offset,
           "Of edge-transformer: words so far apart, and farther, have one relative position")
      .between(1, most_offset)
      .newer("16")
      .shapes()
      .within(1, [] { return most_offset; });
  f("tokens", &tokens, "Words of a batch, at most").positive();
  f("updates", &updates, "Batches to train on").positive().length();
  f.seldom("evaluate-every", &evaluate_every, "Updates between two checkpoints").positive();
  f.seldom("dev-size", &dev_size, "Sentences that a checkpoint is measured on; 0: all of dev").not_negative().free();
  f.seldom("weight-decay", &decay, "Weight decay of AdamW").not_negative();

  f("confusion", &confusion, "Say which relations to a right head are taken for which: the ten most frequent pairs")
      .only({"evaluate"});
  f("out", &out, "Folder for the parses, NAME.conllu of each part, and confusion.csv")
      .only({"evaluate"})
      .file_or_folder();
  f("sentence", &sentence, "Words separated by spaces: \"Did M0 marry M1\"").only({"predict", "explain"}).question();
  f("unknown", &unknown, "Parse words that the model does not know as <unk>, instead of refusing them")
      .only({"predict", "explain"});
  f("probabilities", &probabilities,
    "Also how probable each head is, and each label to that head: \"head_probabilities\" and \"label_probabilities\", "
    "or, in CoNLL-U, HeadProbability and LabelProbability in the last column")
      .only({"predict"});
  questions.each(f, "A sentence, as --sentence has it, or {\"tokens\": [...]}");
  f("out", &out, "Folder for tree.svg").only({"explain"}).file_or_folder();
  f.force(&force, {"evaluate", "explain"});
}

void options::settle() {
  stack_options::settle();
  if (model == "edge-transformer") return;
  if (attention != triangle_form::full)
    refuse("--attention is about the states of edges, which --model {} does not have", model);
  if (max_offset != options().max_offset)
    refuse("--max-offset is about relative positions, which --model {} does not have", model);
  if (tied != (model == "universal-transformer"))
    refuse("a Transformer with --tied is --model universal-transformer, and that is always tied");
}

int longest_of(sentences const& all) {
  std::size_t most = 1;
  for (auto const& s : all) most = std::max(most, s.words.size());
  return static_cast<int>(most);
}

int longest_of(data_set const& data) {
  int most = longest_of(data.train);
  for (auto const& part : data.tests) most = std::max(most, longest_of(part.all));
  return most;
}

std::vector<sized_example> larger_than(std::vector<test_part> const& parts, int words) {
  std::vector<sized_example> all;
  for (auto const& part : parts)
    add_larger(
        all, words, part.all.size(), [&](std::size_t i) { return part.all[i].words.size(); },
        [&](std::size_t i) { return fmt::format("sentence {} of {}", i + 1, part.name); });
  return all;
}

attachment_scores score(parser& net, sentences const& all, vocabulary const& v, parsed_sentence const& f) {
  attachment_scores scores;
  parse_all(net, all, v, [&](conllu_sentence const& s, found_tree const& tree) {
    auto const parsed = with_tree(s, tree, v);
    scores.add(s.words, parsed.words);
    if (f) f(s, parsed);
  });
  return scores;
}

long long words_of(sentences const& all) {
  long long count = 0;
  for (auto const& s : all) count += static_cast<long long>(s.words.size());
  return count;
}

namespace {

std::string percent(double part) { return fmt::format("{:.2f}", 100 * part); }

}  // namespace

part_scores scores_of(std::string const& part, attachment_scores const& s) {
  return {part, {{"exact match", s.exact_match()}, {"UAS", s.uas()}, {"LAS", s.las()}}, s.sentences};
}

std::string told(part_scores const& p, long long words) {
  std::string text = p.part;
  for (auto const& f : p.figures) text += fmt::format("  {} {}", f.name, percent(f.value));
  return text + fmt::format("  ({} sentences, {} words)", p.examples, words);
}

parser_training::parser_training(options const& o, data_set const& data)
    : sentence_training(o, "words"), data_(data), most_(longest_of(data)) {
  words_ = vocabulary::of(data.train, o.least_count);
  std::vector<sized_example> longer;
  add_larger(
      longer, o.tokens, data.train.size(), [&](std::size_t i) { return data.train[i].words.size(); },
      [&](std::size_t i) { return std::to_string(i + 1); });
  if (!longer.empty())
    refuse("training sentence{} {}: give --tokens {}, or leave {} out", longer.size() == 1 ? "" : "s",
           told_sizes(longer, "words"), longest_of(data.train), longer.size() == 1 ? "it" : "them");
  std::vector<pair_length> lengths;
  for (auto const& s : data.train) {
    lengths.push_back({static_cast<index_t>(s.words.size()), 0});
    add_example(numbered(s, words_));
  }
  batches_.emplace(std::move(lengths), o.tokens, o.seed);
  for (auto const& part : data.tests)
    if (part.name == "dev") dev_ = sample(part.all, o.dev_size);
  measured_on_train_ = dev_.empty();
  if (measured_on_train_) dev_ = sample(data.train, o.dev_size);
}

learner& parser_training::net() {
  if (net_) return *net_;
  auto all = words_of(data_.train);  // the number of words of the largest file: no batch has more words
  for (auto const& part : data_.tests) all = std::max(all, words_of(part.all));
  int const words = static_cast<int>(std::min<long long>(all, options_.tokens));
  net_ = make<parser>(options_,
                      {.tokens = words_.words().size(),
                       .relations = static_cast<index_t>(words_.relations().size()),
                       .words = words,
                       .usual = longest_,
                       .longest = most_,
                       .learns = true},
                      {.batches = fmt::format("batches of {} words in sentences of up to {}", words, longest_),
                       .remedy = "take fewer --tokens, or --recompute",
                       .unit = "words",
                       .larger = [&] {
                         bool const one = std::int64_t{most_} * most_ > std::int64_t{words} * longest_;
                         return one ? larger_than(data_.tests, longest_) : std::vector<sized_example>();
                       }});
  return *net_;
}

std::int64_t parser_training::batch_size() { return words_of(data_.train) / updates_of_a_pass(); }

std::string parser_training::data_setting() {
  return digest([](auto& d, attached_token const& t) { d.add({t.token, t.parent, t.relation}); });
}

double parser_training::validate() { return dependencies::score(*net_, dev_, words_).las(); }

std::vector<part_scores> parser_training::score() {
  std::vector<part_scores> scores;
  for (auto const& part : data_.tests)
    scores.push_back(scores_of(part.name, dependencies::score(*net_, part.all, words_)));
  return scores;
}

namespace {

void describe(parser_training& work, data_set const& data) {
  auto const& v = work.words();
  say("{} training sentences, {} words, {} relations; {} updates an epoch{}\n", data.train.size(),
      v.words().size() - dictionary::specials, v.relations().size(), work.updates_of_a_pass(),
      unknown_in(data.train, v));
  for (auto const& part : data.tests)
    say("  {}: {} sentences{}\n", part.name, part.all.size(), unknown_in(part.all, v));
  if (work.measured_on_train())
    fmt::print("  no dev part: checkpoints are measured on {} of the training sentences\n", work.dev().size());
  std::fflush(stdout);
}

}  // namespace

int train(options& o) {
  auto const data = read_data(o, true);
  run_folder const folder(o.out);
  seed_runs of_seeds(o, o.out);
  while (of_seeds.next()) {
    parser_training work(o, data);
    if (of_seeds.fits_to_minutes(work)) continue;
    if (of_seeds.is_first()) describe(work, data);
    auto const* const r = of_seeds.train(work);
    if (!r) return interrupted_status();
    fmt::print("seed {}: {} LAS {}  ({:.0f} s){}\n", r->seed, work.measured_on_train() ? "training" : "dev",
               r->validations.empty() ? "not measured" : percent(r->validation), r->seconds,
               failure_of(*r, "  failed: below 50"));
    for (std::size_t p = 0; p < r->parts.size(); ++p) say("{}\n", told(r->parts[p], words_of(data.tests[p].all)));
  }
  auto const& runs = of_seeds.all();
  if (runs.size() > 1) fmt::print("\n{}{}\n", table_of(runs, percent), whose_mean(runs, o.seed));
  if (!o.out.empty()) {
    write_plots(o, runs, {"sum of two cross entropies", "labelled attachment score"});
    first_writes(o.out + "/scores.csv", scores_csv(runs, percent));
    say("{}", where_it_lies(o.out, o.seed, o.seeds, "scores"));
  }
  say("{}", remedy_of(runs));
  return status_of(runs);
}

}  // namespace triad::programs::dependencies
