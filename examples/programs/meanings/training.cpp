// The options of the program, and training.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "program.hpp"
#include "shared/cli/record.hpp"
#include "shared/cli/say.hpp"
#include "shared/processes/first_writes.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/digest.hpp"
#include "shared/run/permute.hpp"
#include "shared/run/run_folder.hpp"
#include "shared/run/seed_means.hpp"
#include "threshold.hpp"
#include "triad/batches/room_for.hpp"
#include "triad/train/schedule.hpp"

namespace triad::programs::meanings {

void options::each(option_list& f) {
  f("data", &data, "Folder with train, dev and test .jsonl, .tsv, .conllu or .sdp, gzipped or not")
      .also({"evaluate"})
      .path();
  stack_options::each(f);
  f.seldom("min-count", &least_count, "The dictionary has words that occur this often in the training set").positive();
  f("slots", &slots, "Nodes that no token names; 0: as many as the training graphs have")
      .between(0, most_slots)
      .shapes()
      .within(0, [] { return most_slots; });
  f.seldom("model", &model,
           "edge-transformer; transformer: a baseline whose layers have states of tokens and slots, not of pairs")
      .one_of({"edge-transformer", "transformer"})
      .newer("edge-transformer")
      .shapes();
  f("slot-form", &slot_form,
    "nodes: slots have roles of their own; anchors: a slot has the roles of a token.  Of --head predicates")
      .one_of({"nodes", "anchors"})
      .shapes()
      .newer("nodes");
  f("head", &head, "edges: labels straight from the states; predicates: every token may be a predicate with roles")
      .one_of({"edges", "predicates"})
      .shapes();
  f("lists", &lists,
    "Members of a list take over the roles of its first member: prior knowledge about coordination.  Of --head "
    "predicates")
      .opposite("no-lists")
      .shapes();
  f("implied-labels", &implied_labels,
    "An edge can remove labels of its first node: prior knowledge that an edge can make a label superfluous.  Of "
    "--head predicates")
      .opposite("no-implied-labels")
      .shapes()
      .newer();
  f("word-labels", &word_labels, "Look up the labels of nodes that words decide: prior knowledge about words")
      .opposite("no-word-labels")
      .shapes()
      .newer();
  f.seldom("lists-after", &lists_after,
           "Whether a node continues a list is read from: 0: the three words before the node; otherwise the states of "
           "edge-transformer after this layer")
      .between(0, most_layers)
      .shapes()
      .within(0, [] { return most_layers; });
  f.seldom("list-penalty", &list_penalty, "Weight of the penalty of list members that keep their own roles")
      .not_negative();
  f.seldom("list-accuracy", &list_accuracy,
           "The penalty begins at the first checkpoint at which this fraction of a sample of the training graphs is "
           "right")
      .between(0.0, 1.0);
  f.seldom("bag", &bag, "Weight of the loss of the labels that any pair of nodes has.  Of --head predicates")
      .not_negative();
  f("attention", &attention, "Of edge-transformer: full, value-ablation, attention-ablation, both-ablations, flat")
      .shapes();
  f.seldom("inner-dropout", &inner_dropout, "Dropout rate of attention weights and hidden units").between(0.0, 0.95);
  f.seldom("max-offset", &max_offset, "Tokens so far apart, and farther, have one relative position")
      .between(1, most_offset)
      .shapes()
      .within(1, [] { return most_offset; });
  f("batch", &batch, "Sentences in a batch").positive();
  f("updates", &updates, "Batches to train on").positive().length();
  f.seldom("evaluate-every", &evaluate_every, "Updates between two checkpoints").positive();
  f.seldom("dev-size", &dev_size, "Sentences that a checkpoint is measured on; 0: all of dev").not_negative().free();
  f.seldom("dev-only", &dev_only, "Read no test file, so that settings are chosen by dev alone")
      .also({"evaluate"})
      .free();
  f.seldom("choose-threshold", &choose_threshold,
           "Each checkpoint chooses, on the sentences of --dev-size, the --threshold with the most exact matches, and "
           "answers with it")
      .newer();
  f.seldom("weight-decay", &decay, "Weight decay of AdamW").not_negative();
  f("augment", &augment,
    "Rate at which training puts a phrase of another training sentence in the place of one of a sentence's own; prior "
    "knowledge: phrases with edges of one kind can stand for each other")
      .between(0.0, 1.0)
      .newer();
  f.seldom("phrase-words", &phrase_words,
           "Words that belong to the phrase after them, for --augment: knowledge about the language; none: no word")
      .check(some_words)
      .newer(options().phrase_words);
  f.seldom("question-words", &question_words, "Words that --augment leaves in their places; none: no word")
      .check(some_words)
      .newer(options().question_words);

  f("threshold", &threshold,
    "A label is in the graph from this probability on; if it is not given, from the probability that train "
    "--choose-threshold chose")
      .only({"evaluate", "predict", "explain"})
      .between(0.0, 1.0);
  f("confusion", &confusion, "Say which labels of edges are taken for which: the ten most frequent pairs")
      .only({"evaluate"});
  f("out", &out, "Folder for the predicted graphs of each part, labels.csv and confusion.csv")
      .only({"evaluate"})
      .file_or_folder();
  f("sentence", &sentence, "Words separated by spaces: \"Did M0 marry M1\"").only({"predict", "explain"}).question();
  f("format", &format, "json; query, for runs on CFQ; dot, a picture for Graphviz")
      .only({"predict"})
      .one_of({"json", "query", "dot"});
  f("unknown", &unknown, "Read words that the model does not know as <unk>, instead of refusing them")
      .only({"predict", "explain"});
  questions.each(f, "A sentence, as --sentence has it, or {\"tokens\": [...]}");
  f("out", &out, "Folder for graph.dot").only({"explain"}).file_or_folder();
  f("out", &out, "Folder of the new data set").only({"generate"}).required().file_or_folder();
  f("count", &count, "Training commands").only({"generate"}).between(1, 20000);
  f("seed", &seed, "Of the training commands").only({"generate"});
  f.force(&force, {"evaluate", "explain"});
}

void options::settle() {
  stack_options::settle();
  bool const edges = head == "edges", plain = model == "transformer";
  options const defaults;
  if (edges && bag != defaults.bag)
    refuse("--bag is about the predicates of --head predicates: give --head predicates, or leave --bag out");
  if (!lists && (list_penalty != defaults.list_penalty || list_accuracy != defaults.list_accuracy))
    refuse("--list-penalty and --list-accuracy say how --lists learns: give --head predicates --lists, too");
  if (!lists && given.contains("lists-after"))
    refuse("--lists-after says where --lists reads: give --head predicates --lists, too");
  if (edges && lists) refuse("--lists is about the roles of --head predicates: give --head predicates, or --no-lists");
  if (edges && implied_labels)
    refuse("--implied-labels is about the labels of --head predicates: give --head predicates, or --no-implied-labels");
  if (edges && slot_form == "anchors")
    refuse(
        "--slot-form anchors is about the roles of --head predicates: give --head predicates, or leave --slot-form "
        "out");
  if (plain && (attention != defaults.attention || (given.contains("lists-after") && lists_after > 0)))
    refuse(
        "--attention and --lists-after are about the layers of --model edge-transformer: leave them out, or give that "
        "model");
  if (lists && !plain && lists_after >= layers)
    refuse("--lists-after {} is not before the last of {} layers; give a smaller one", lists_after, layers);
  if (augment == 0 && (phrase_words != defaults.phrase_words || question_words != defaults.question_words))
    refuse("--phrase-words and --question-words say how --augment swaps phrases: give it a rate above 0");
  if (list_penalty > 0 && lists && list_accuracy <= 0)
    refuse(
        "--list-accuracy is {}; expected more than 0: with a penalty from the first update on, all nodes become "
        "members of lists",
        list_accuracy);
}

void options::restored(checkpoint const& file) {
  stack_options::restored(file);
  if (lists && model != "transformer" && lists_after >= layers)
    throw data_error(
        fmt::format("{}: lists are read after layer {} of {}, expected a layer before the last; the checkpoint "
                    "is damaged",
                    file.tensors().file(), lists_after, layers));
}

graph_training::graph_training(options const& o, data_set const& data) : options_(o), data_(data) {
  words_ = vocabulary::of(data.train, o.least_count, patterns_of(data.format), o.word_labels);
  std::vector<meaning const*> graphs;
  for (auto const& row : data.train) {
    auto reason = row.left_out;
    if (reason.empty()) {
      if (auto e = numbered(row.graph, words_, o.slots, reason)) {
        examples_.push_back(std::move(*e));
        graphs.push_back(&row.graph);
        continue;
      }
    }
    ++left_out_[reason];
  }
  if (examples_.empty()) refuse("{}: no training sentence has a graph that can be learned", o.data);
  if (words_.relations().size() == 0)
    refuse("{}: no training graph has an edge, expected one or more; give graphs with edges", o.data);
  batches_.emplace(examples_.size(), o.batch, true, o.seed);
  if (o.augment > 0) {
    swaps_.emplace(std::move(graphs), swap_words{words_in(o.phrase_words), words_in(o.question_words)}, words_,
                   o.slots);
    if (swaps_->sentences() == 0)
      refuse("--augment: no training sentence has a phrase that a phrase of another one can replace; leave it out");
  }
  dev_ = sample(data.dev, o.dev_size);
  measured_on_train_ = dev_.empty();
  constexpr int shown = 300;  // enough for a fraction of 0.6 with an error of 0.03
  if (o.lists) sample_ = sample(data.train, shown);
  if (o.choose_threshold && measured_on_train_)
    refuse(
        "--choose-threshold: {} has no dev file, and the threshold is not chosen on training sentences; give a dev "
        "file, or leave the option out",
        o.data);
  if (measured_on_train_) dev_ = sample(data.train, o.dev_size);
}

learner& graph_training::net() {
  if (net_) return *net_;
  auto const& o = options_;
  auto const dims = [&](std::size_t tokens, std::size_t queried) {
    return sentence_graph_of(static_cast<index_t>(tokens), o.slots, static_cast<index_t>(queried) + o.slots);
  };
  std::vector<sentence_graph_dims> all;
  // With swapped phrases, any sentence may become as large as the largest.
  for (auto const& e : examples_)
    all.push_back(swaps_ ? dims(swaps_->longest(), swaps_->most_queried()) : dims(e.tokens.size(), e.queried.size()));
  auto room = room_for(all, std::min(all.size(), static_cast<std::size_t>(o.batch)), [](auto const& d) { return d; });
  auto const hold = [&](auto const&, std::vector<given_row> const& rows) {
    for (auto const& row : rows) room = larger(room, dims_of(row.graph.tokens, words_, o.slots));
  };
  hold("train", data_.train);
  each_part(data_, hold);
  net_ = make<network>(o, {.tables = tables_of(words_, o), .capacity = room, .learns = true},
                       {.batches = fmt::format("batches of {} sentences", o.batch),
                        .remedy = "take a smaller --batch, or --recompute",
                        .unit = "tokens",
                        .larger = [] { return std::vector<sized_example>(); }});
  return *net_;
}

run_plan graph_training::plan() {
  example_digest all;
  for (auto const& e : examples_) {
    all.begin();
    for (auto const token : e.tokens) all.add({token});
    for (auto const token : e.queried) all.add({token});
    for (auto const& one : e.edges) all.add({one.from, one.label, one.to});
    for (auto const& one : e.labels) all.add({one.node, one.label});
    all.add({e.graph_label});
  }
  return {.model = options_.model,
          .updates = options_.updates,
          .epoch_updates = options_.evaluate_every,
          .batch = options_.batch,
          .example = "sentences",
          .record = record_of(options_, words_),
          .data = all.setting(),
          .length = "updates",
          .fixed = "the learning rate falls along a cosine to the last update",
          .measured = "exact match"};
}

double graph_training::rate(std::int64_t update) {
  cosine_warmup const schedule{options_.rate, static_cast<double>(options_.warmup),
                               static_cast<double>(options_.updates), 0.02};
  return schedule.rate(static_cast<std::uint64_t>(update));
}

double graph_training::list_weight(std::int64_t update) const {
  auto const from = net_->penalty_from;
  if (!options_.lists || from < 0 || update < from) return 0;
  constexpr double ramp = 200, fall = 1.3, least = 0.1;
  auto const since = static_cast<double>(update - from);
  auto const left = static_cast<double>(std::max<std::int64_t>(1, options_.updates - from));
  return options_.list_penalty * std::min(1.0, (since + 1) / ramp) * std::max(least, 1 - fall * since / left);
}

std::size_t graph_training::begin_update(std::int64_t update) {
  (void)net();
  auto const batch = batches_->batch(update);
  batch_.assign(batch.begin(), batch.end());
  swapped_.assign(batch_.size(), std::nullopt);
  if (swaps_)
    for (std::size_t k = 0; k < batch_.size(); ++k)
      if (auto const random = stream_of_swap(options_.seed, options_.augment, batch_[k],
                                             static_cast<std::uint64_t>(update / batches_->epoch_updates())))
        swapped_[k] = (*swaps_)(batch_[k], *random);
  net_->weigh({.bag = options_.bag, .pointers = list_weight(update)});
  return batch_.size();
}

double graph_training::validate() {
  (void)net();
  // --list-accuracy uses the default threshold, so that --choose-threshold does not change the updates.
  net_->threshold = options_.threshold;
  // A penalty from the first update on makes every node a member of a list, before the model knows any role.
  if (options_.lists && net_->penalty_from < 0 &&
      meanings::score(*net_, data_.format, sample_, words_).exact_match() >= options_.list_accuracy) {
    net_->penalty_from = static_cast<std::int64_t>(net_->step());
    say("the penalty of list members begins at update {}\n", net_->penalty_from);
  }
  if (options_.choose_threshold) return choose_threshold();
  auto const t = meanings::score(*net_, data_.format, dev_, words_);
  edges_ = t.edges.f1();
  return t.exact_match();
}

double graph_training::choose_threshold() {
  threshold_choice choice;
  net_->threshold = threshold_choice::lowest;
  predict_all(*net_, dev_, words_, [&](given_row const& row, meaning const&, found_graph const& found) {
    choice.add(
        row, found, [&](found_graph const& part) { return answer_of(row.graph.tokens, part, words_); },
        [&](meaning const& graph) { return is_right(data_.format, row, graph); });
  });
  auto const best = choice.best();
  net_->threshold = threshold_choice::at(best);
  net_->has_chosen_threshold = true;
  edges_ = choice.of(best).edges.f1();
  return choice.exact_match(best);
}

std::vector<part_scores> graph_training::score() {
  std::vector<part_scores> scores;
  each_part(data_, [&](auto const& name, auto const& rows) {
    scores.push_back(scores_of(name, meanings::score(*net_, data_.format, rows, words_)));
  });
  return scores;
}

namespace {

std::string told(part_scores const& p) {
  std::string text = p.part;
  for (auto const& f : p.figures) text += fmt::format("  {} {}", f.name, percent(f.value));
  return text + fmt::format("  ({} sentences)", p.examples);
}

/// Returns how many labels of nodes there are, and how many of them are looked up.
std::string labels_told(vocabulary const& v) {
  auto const looked_up = v.looked_up().size(), all = v.labels().size() + looked_up;
  return fmt::format("{} label{} of nodes{}", all, all == 1 ? "" : "s",
                     looked_up == 0 ? "" : fmt::format(" ({} looked up by word)", looked_up));
}

void describe(graph_training& work, data_set const& data, options const& o) {
  auto const& v = work.words();
  auto const several = [](auto n, std::string one, char const* more = "") {
    return fmt::format("{} {}{}{}", n, one, n == 1 ? "" : "s", more);
  };
  say("{}, {}, {}, {}, {}; {}; {} a pass\n", several(work.examples(), "training sentence"),
      several(v.words().size() - dictionary::specials, "word"), several(v.relations().size(), "label", " of edges"),
      labels_told(v), several(o.slots, "slot"),
      v.by_word() ? "only words that are nodes are queried" : "every token is queried",
      several(work.updates_of_a_pass(), "update"));
  if (auto const* const swaps = work.swaps()) {
    say("  {} of {} can be swapped, if their edges are of one kind:\n", several(swaps->phrases(), "phrase"),
        several(swaps->sentences(), "training sentence"));
    for (auto const& labels : swaps->kinds()) {
      std::string kind;
      for (auto const& label : labels) kind += (kind.empty() ? "" : ", ") + label;
      say("    {}\n", kind);
    }
  }
  for (auto const& [reason, count] : work.left_out()) say("  {} left out: {}\n", count, reason);
  each_part(data, [](auto const& name, auto const& rows) { say("  {}: {} sentences\n", name, rows.size()); });
  if (work.measured_on_train())
    fmt::print("  no dev part: checkpoints are measured on {} of the training sentences\n", work.measured());
  std::fflush(stdout);
}

}  // namespace

int train(options& o) {
  auto const data = data_of(o, true);
  if (o.slots == 0)
    for (auto const& row : data.train)
      if (row.left_out.empty()) o.slots = std::max(o.slots, slots_of(row.graph));
  if (o.slots == 0 && o.slot_form == "anchors")
    refuse("--slot-form anchors is about slots, and no training graph has a slot: give --slots, or leave it out");
  run_folder const folder(o.out);
  seed_runs of_seeds(o, o.out);
  while (of_seeds.next()) {
    graph_training work(o, data);
    if (of_seeds.fits_to_minutes(work)) continue;
    if (of_seeds.is_first()) describe(work, data, o);
    auto const* const r = of_seeds.train(work);
    if (!r) return interrupted_status();
    fmt::print("seed {}: {} exact match {}  ({:.0f} s){}\n", r->seed, work.measured_on_train() ? "training" : "dev",
               r->validations.empty() ? "not measured" : percent(r->validation), r->seconds,
               failure_of(*r, "  failed: F1 of edges is below 50"));
    if (o.choose_threshold && !r->parts.empty())
      fmt::print("threshold {:g}, chosen on {} sentences of dev\n", work.threshold(), work.measured());
    for (auto const& part : r->parts) say("{}\n", told(part));
  }
  auto const& runs = of_seeds.all();
  if (runs.size() > 1) fmt::print("\n{}{}\n", table_of(runs, percent), whose_mean(runs, o.seed));
  if (!o.out.empty()) {
    write_plots(o, runs, {"sum of cross entropies", "exact match"});
    first_writes(o.out + "/scores.csv", scores_csv(runs, percent));
    say("{}", where_it_lies(o.out, o.seed, o.seeds, "scores"));
  }
  say("{}", remedy_of(runs));
  return status_of(runs);
}

}  // namespace triad::programs::meanings
