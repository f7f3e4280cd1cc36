// cfq: train, evaluate, predict, explain, generate, split; from a question to a query, or (parse/) to its dependencies.
// SPDX-License-Identifier: Apache-2.0
#include "../common/seq2seq/command_line.hpp"
#include "../common/seq2seq/score.hpp"
#include "make_data.hpp"
#include "options.hpp"
#include "parse/program.hpp"
#include "task_of.hpp"

namespace cfq {

void add_data_options(CLI::App& app, options& o) {
  app.add_option("--data", o.data,
                 "Folder with train, dev and test .tsv, question and query in columns, or CFQ's dataset.json; without "
                 "it, questions of our own grammar");
  app.add_option("--split", o.split, "Of dataset.json: a file such as splits/mcd1.json, or its name, mcd1");
  app.add_flag("--sort-conjuncts", o.sort_conjuncts, "Queries have their conjuncts in one order, that of bytes");
  app.add_option("--questions", o.questions, "Generated ones; two fifths are for training, a tenth for dev and test")
      ->check(between(50, 1000000));
  app.add_option("--data-seed", o.data_seed, "Of generated questions and their split")
      ->check(triad::examples::any_seed);
  app.add_option("--task", o.task,
                 "semantic, this task: from question to query; parse: to its dependencies, with options of its own: "
                 "cfq VERB --task parse --help")
      ->check(CLI::IsMember({"semantic", "parse"}));
}

seq2seq::program program_of(options const& o, bool needs_train) {
  seq2seq::program p{data_toml(o), "task = \"" + o.task + "\"\n" + data_settings(o), data_of(o, needs_train)};
  p.figures = [](seq2seq::test_part const& part, std::vector<std::string> const& found) {
    seq2seq::share same;
    for (std::size_t i = 0; i < found.size(); ++i)
      same.right += same_conjuncts(found[i], part.pairs[i].target) ? 1 : 0, ++same.all;
    return std::vector<seq2seq::figure>{{"up to the order of conjuncts", same.percent()}};
  };
  return p;
}

void add_train_options(CLI::App& app, options& o) {
  seq2seq::add_train_options(app, o, ", paper-semantic, small-semantic, roberta");
  add_data_options(app, o);
}

void add_query_options(CLI::App& evaluate, CLI::App& predict, CLI::App& explain, CLI::App&, options& o,
                       seq2seq::query& q) {
  seq2seq::add_query_options(evaluate, predict, explain, o, q);
  add_data_options(evaluate, o);
  add_data_options(explain, o);
}

int train(options const& o) {
  if (o.preset == "roberta" && o.roberta.empty())
    throw triad::data_error("--preset roberta needs --roberta FOLDER, the pre-trained encoder");
  return seq2seq::train(o, program_of(o, true));
}
int evaluate(options const& o, seq2seq::query const& q) { return seq2seq::evaluate(o, program_of(o, false), q); }
int explain(options const& o, seq2seq::query const& q) { return seq2seq::explain(o, program_of(o, false), q); }

/// generate and split.
std::vector<triad::examples::more_verb> more_verbs(CLI::App& app, options const&) {
  static making m;
  std::vector<triad::examples::more_verb> added;
  for (auto const& verb : add_making_verbs(app, m))
    added.push_back({verb.first, [run = verb.second] { return run(m); }});
  return added;
}

}  // namespace cfq

int main(int argc, char** argv) {
  if (cfq::task_of({argv + 1, argv + argc}) == "parse") return dependency::run(argc, argv);
  return triad::examples::run_verbs<cfq::options, seq2seq::query>(
      {.name = "cfq",
       .about = "CFQ: from a question to the query that answers it.  An Edge Transformer, a Transformer whose layers "
                "read all earlier layers, or a plain one, learns it, and is "
                "tested on questions whose parts are known and whose compounds are not.  With --task parse: from a "
                "question to its dependencies.",
       .train = "Train, and translate the questions of dev and test",
       .evaluate = "Exact match of a trained model, strict and up to the order of conjuncts",
       .predict = "The query of a question, or of each line of standard input",
       .explain = "How much each layer reads from each earlier one"},
      argc, argv);
}
