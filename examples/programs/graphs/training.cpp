// Training: one run for each seed, and accuracy by part.
// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <deque>

#include "glue.hpp"
#include "rules.hpp"
#include "shared/cli/say.hpp"
#include "shared/report/printed.hpp"
#include "shared/report/refuse.hpp"
#include "shared/run/digest.hpp"
#include "shared/run/epoch_batches.hpp"
#include "shared/run/run_folder.hpp"
#include "shared/run/seed_means.hpp"
#include "triad/batches/augmentation.hpp"
#include "triad/core/random.hpp"

namespace triad::programs::graphs {

namespace {

/// The training run of one seed.
class graph_training : public training {
 public:
  graph_training(options const& o, data_set const& data)
      : options_(o), data_(data), dev_(data.dev), examples_(held_out(), o.batch, o.shuffle, o.seed) {
    int const further = o.dense_loss > 0 || o.augment > 0 ? read_rules() : 0;
    int const usual = std::max({most_nodes(train_), data.made_nodes, glue_ ? glue_->most_nodes() : 0});
    most_ = std::max({usual, most_nodes(dev_), most_nodes(data.tests)});
    int const batch =
        data.made ? o.batch : static_cast<int>(std::min(most_graphs(), static_cast<std::size_t>(o.batch)));
    net_ = make<network>(o,
                         {.labels = data.words.embedding_rows(),
                          .names = data.words.targets.end(),
                          .batch = batch,
                          .usual = usual,
                          .most = most_,
                          .learns = true,
                          .further = further},
                         {.batches = fmt::format("batches of {} graphs of up to {} nodes", batch, usual),
                          .remedy = "take a smaller --batch, or --recompute",
                          .unit = "nodes",
                          .larger = [&] {
                            auto const square = [](int n) { return std::int64_t{n} * n; };
                            return square(most_) > batch * square(usual) ? larger_than(usual)
                                                                         : std::vector<sized_example>();
                          }});
  }

  learner& net() override { return *net_; }
  bool measures() const { return !dev_.empty(); }

  run_plan plan() override {
    return {.model = options_.model,
            .updates = epoch_updates() * options_.epochs,
            .epoch_updates = epoch_updates(),
            .batch = options_.batch,
            .example = "graphs",
            .record = record_of(options_, data_.words),
            .data = data_setting(),
            .length = data_.made ? "chains" : "epochs",
            .fixed = data_.made ? "more graphs are made in epochs of other sizes" : "",
            .measured = "accuracy"};
  }
  double rate(std::int64_t update) override { return linear_rate(options_, epoch_updates() * options_.epochs, update); }
  double validate() override {
    net_->set_depth(options_.layers);
    return accuracy(*net_, dev_);
  }
  std::vector<part_scores> score() override {
    net_->set_depth(options_.layers);
    std::vector<part_scores> scores;
    for (auto const& part : data_.tests)
      scores.push_back(
          {part.name, {{"accuracy", accuracy(*net_, part.graphs)}}, static_cast<long long>(part.graphs.size())});
    return scores;
  }
  /// Returns whether the model has learned the task: at least half of its answers to the validation graphs are right.
  bool learned(double validation) override { return !measures() || validation >= 0.5; }

 protected:
  std::size_t begin_update(std::int64_t update) override {
    net_->set_depth(depth_of(update));
    batch_.clear();
    made_.clear();
    if (data_.made) {
      auto const first = update * options_.batch;
      for (auto number = first; number < first + options_.batch; ++number) {
        auto g = data_.made(options_.seed, number);
        if (auto glued = glued_to(g, static_cast<std::size_t>(number), 0))
          g = std::move(*glued);
        else if (options_.dense_loss > 0)
          ask_further(g);
        batch_.push_back(&made_.emplace_back(std::move(g)));
      }
    } else {
      for (auto const i : examples_.batch(update)) {
        auto glued = glued_to(train_[i], i, update / epoch_updates());
        batch_.push_back(glued ? &made_.emplace_back(std::move(*glued)) : &train_[i]);
      }
    }
    return batch_.size();
  }
  void clear() override { net_->clear(); }
  bool add(std::size_t k) override {
    auto const& g = *batch_[k];
    if (g.nodes > most_)
      refuse("a graph of {} nodes has no room in a batch; made_nodes says how many they have at most", g.nodes);
    return net_->add(g);
  }

 private:
  /// Returns the number of graphs in the largest part of the data.  No batch is larger.
  std::size_t most_graphs() const {
    auto most = std::max<std::size_t>({1, train_.size(), dev_.size()});
    for (auto const& part : data_.tests) most = std::max(most, part.graphs.size());
    return most;
  }
  std::vector<sized_example> larger_than(int nodes) const {
    std::vector<sized_example> all;
    add_larger_graphs(all, nodes, data_.train, data_.train_places, "the training set");
    add_larger_graphs(all, nodes, data_.dev, data_.dev_places, "dev");
    for (auto const& part : data_.tests) add_larger_graphs(all, nodes, part.graphs, part.places, part.name);
    return all;
  }
  /// Holds out training examples for validation if there is no dev part.  The seed determines the random split, as in
  /// the released program.  Returns the number of examples that remain for training.
  std::size_t held_out() {
    if (!dev_.empty() || data_.made) {
      refuse_given(options_, {"validation"},
                   data_.made ? "a training file: generated examples come with a dev part"
                              : "data without a dev part, and this folder has one");
      if (data_.made) refuse_given(options_, {"shuffle"}, "the order of a training file: generated examples have none");
      train_ = data_.train;
      return train_.size();
    }
    std::vector<std::size_t> order(data_.train.size());
    permute(order, options_.seed, 0);
    auto const held = static_cast<std::size_t>(options_.validation * static_cast<double>(order.size()));
    for (std::size_t i = 0; i < order.size(); ++i) (i < held ? dev_ : train_).push_back(data_.train[order[i]]);
    return train_.size();
  }
  /// Returns the number of layers in an update.  It depends only on the seed and the update's number, so a resumed run
  /// has the same.
  int depth_of(std::int64_t update) const {
    if (options_.layers_from == 0) return options_.layers;
    random_stream random(options_.seed ^ 0xdeb7u, static_cast<std::uint64_t>(update));
    return options_.layers_from +
           static_cast<int>(random.below(static_cast<std::uint32_t>(options_.layers - options_.layers_from + 1)));
  }
  /// Learns the rules from the training graphs of this run only.  Prepares joined graphs and additional questions.
  /// Returns the largest number of additional questions about a graph.
  int read_rules() {
    std::size_t most = 0;
    auto const made = [&](std::int64_t epochs, auto const& use) {
      for (std::int64_t i = 0; i < epoch_updates() * epochs * options_.batch; ++i) use(data_.made(options_.seed, i));
    };
    auto const each_graph = [&](auto const& use) {
      if (data_.made) return made(options_.epochs, use);
      for (auto& g : train_) use(g);
    };
    each_graph([&](labelled_graph const& g) { rules_.learn(g); });
    if (rules_.size() == 0)
      refuse(
          "{} reads rules off training graphs of two edges, one after the other, from one node that is asked about to "
          "the other, and there is none",
          std::string(options_.dense_loss > 0 ? "--dense-loss" : "--augment"));
    if (options_.augment > 0) {
      if (data_.made)  // generated graphs are joined with those of the first epoch
        made(1, [&](labelled_graph const& g) { glued_.push_back(g); });
      auto const& with = options_.augment_with;
      glue_.emplace(data_.made ? glued_ : train_, data_.words, rules_,
                    with == "both"      ? gluing::both
                    : with == "detours" ? gluing::detours
                                        : gluing::branches);
      if (with == "detours" && !glue_->has_detours())
        refuse(
            "--augment-with detours needs training graphs whose answer is an edge's label, and there is none: take "
            "branches");
    }
    if (options_.dense_loss == 0) return 0;
    each_graph([&](labelled_graph const& g) { most = std::max(most, rules_.questions(g, no_name()).size()); });
    for (auto& g : train_) ask_further(g);
    most_further_ = options_.augment > 0 ? 2 * most : most;
    return static_cast<int>(most_further_);
  }
  /// Returns graph `number` joined with another graph, or nothing if it is not joined in this epoch.
  std::optional<labelled_graph> glued_to(labelled_graph const& g, std::size_t number, std::int64_t epoch) const {
    if (!glue_) return std::nullopt;
    augmentation const how{.seed = options_.seed ^ glued_stream, .rate = options_.augment};
    auto const random = how.of(number, static_cast<std::uint64_t>(epoch));
    auto glued = random ? (*glue_)(g, *random) : std::nullopt;
    if (!glued || options_.dense_loss == 0) return glued;
    ask_further(*glued);
    return glued->further.size() <= most_further_ ? std::move(glued) : std::nullopt;
  }
  void ask_further(labelled_graph& g) const { g.further = rules_.questions(g, no_name()); }
  int no_name() const { return data_.words.targets.end(); }

  std::int64_t epoch_updates() const {
    if (data_.made) return std::max<std::int64_t>(1, *data_.made_in_all / options_.batch / options_.epochs);
    return examples_.epoch_updates();
  }
  /// Returns a text that identifies the training graphs.  A resumed run must have the same text.
  std::string data_setting() const {
    if (data_.made) return example_digest::generated();
    example_digest digest;
    for (auto const& g : train_) {
      digest.begin();
      digest.add({g.nodes, g.query.from, g.query.to, g.target});
      for (auto const& e : g.edges) digest.add({e.from, e.to, e.label});
    }
    return digest.setting();
  }

  options const& options_;
  data_set const& data_;
  /// This constant is part of the key of the random stream for joins.  It is larger than any seed that users give.
  static constexpr philox_key glued_stream = std::uint64_t{4} << 56U;

  graph_list dev_, train_, glued_;   // glued_: the graphs to which generated graphs are joined
  std::deque<labelled_graph> made_;  // generated and joined graphs of this update
  std::vector<labelled_graph const*> batch_;
  int most_ = 0;  // largest number of nodes of a graph
  composition_rules rules_;
  std::optional<glued_graphs> glue_;
  std::size_t most_further_ = 0;
  epoch_batches examples_;
  std::unique_ptr<network> net_;
};

using runs = std::vector<scored_run>;

mean_and_error over_runs(runs const& all, std::size_t part) {
  return mean_over(all, [part](scored_run const& r) { return r.parts[part].figures[0].value; });
}

/// Returns the accuracy by part as a line of a plot.
series curve(std::string name, runs const& all, run_texts const& say) {
  series s{std::move(name), {}, {}, {}};
  if (auto const* const one = first_scored(all))
    for (std::size_t p = 0; p < one->parts.size(); ++p) {
      auto const a = over_runs(all, p);
      s.x.push_back(say.place(one->parts[p].part));
      s.y.push_back(a.mean);
      s.error.push_back(a.standard_error);
    }
  return s;
}

void print_table(options const& o, runs const& all, runs const& others, bool held_out, run_texts const& say) {
  auto const* const one = first_scored(all);
  std::vector<std::string> names;
  if (one)
    for (auto const& part : one->parts) names.push_back(part.part);
  for (std::size_t p = 0; p < names.size(); ++p) {
    auto const a = over_runs(all, p);
    fmt::print("{:<{}}  {:.3f}", printable_name(names[p]), widest(names), a.mean);
    if (all.size() > 1) fmt::print(" +- {:.3f}", a.standard_error);
    if (first_scored(others)) fmt::print("    {} {:.3f}", o.compare, over_runs(others, p).mean);
    fmt::print("\n");
  }
  if (one && names.empty()) {
    if (held_out)
      fmt::print("no test files; accuracy on what was held out: {:.3f}\n",
                 mean_over(all, [](scored_run const& r) { return r.validation; }).mean);
    else
      fmt::print("no test files, and nothing was held out: how good this model is was not measured; {}\n",
                 say.no_tests);
  }
  if (all.size() > 1) fmt::print("{}\n", whose_mean(all, o.seed));
  if (others.size() > 1) fmt::print("{}: {}\n", o.compare, whose_mean(others, o.seed));
  auto const failed = std::count_if(all.begin(), all.end(), [](scored_run const& r) { return r.failed; });
  if (all.size() > 1 || failed > 0)
    fmt::print("{} of {} runs failed (validation accuracy below 0.5, or a loss or weight that is not finite)\n", failed,
               all.size());
}

}  // namespace

int train(options& o, data_set const& data, run_texts const& say) {
  run_folder const folder(o.out);
  bool held_out = false;
  int const seeds = o.seeds;
  auto const all_of = [&](std::string const& out) -> std::optional<runs> {
    seed_runs of_seeds(o, out);
    while (of_seeds.next()) {
      graph_training t(o, data);
      if (of_seeds.fits_to_minutes(t)) continue;
      held_out = t.measures();
      if (o.patience > 0 && !held_out)
        refuse("--patience asks for examples to measure on: give a dev part, or a --validation above 0");
      auto const* const r = of_seeds.train(t);
      if (!r) return std::nullopt;
      if (seeds == 1) continue;
      fmt::print("seed {}:", r->seed);
      for (auto const& part : r->parts) fmt::print("  {} {:.3f}", printable_name(part.part), part.figures[0].value);
      fmt::print("  ({:.0f} s){}\n", r->seconds, r->diverged ? "  diverged" : "");
    }
    return of_seeds.all();
  };
  auto const all = all_of(o.out);
  std::optional<runs> others = runs();
  if (all && !o.compare.empty() && o.compare != "none") {
    auto const asked = std::tuple(o.model, o.compare, o.tensorboard);
    o.model = o.compare;
    o.compare.clear();
    if (!o.tensorboard.empty()) o.tensorboard += "/" + o.model;
    others = all_of(o.out.empty() ? o.out : o.out + "/" + o.model);
    std::tie(o.model, o.compare, o.tensorboard) = asked;
  }
  if (!all || !others) return interrupted_status();
  print_table(o, *all, *others, held_out, say);
  if (!o.out.empty()) {
    if (say.place) {
      plot accuracies{say.title, say.x, "accuracy", {curve(o.model, *all, say)}, 0.0, 1.0};
      if (!others->empty()) accuracies.lines.push_back(curve(o.compare, *others, say));
      if (say.paper) accuracies.lines.push_back(*say.paper);
      write_svg(o.out + "/plots/accuracy.svg", accuracies);
    }
    write_plots(o, *all, {"cross entropy", held_out ? "accuracy on what is held out" : ""});
    programs::say("{}", where_it_lies(o.out, o.seed, o.seeds));
  }
  programs::say("{}", remedy_of(*all));
  return std::max(status_of(*all), status_of(*others));
}

}  // namespace triad::programs::graphs
