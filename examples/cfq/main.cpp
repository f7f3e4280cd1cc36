// cfq: train, evaluate, predict, explain; from a question to a query.
// SPDX-License-Identifier: Apache-2.0
#include "../common/seq2seq/command_line.hpp"
#include "../common/seq2seq/score.hpp"
#include "conjuncts.hpp"
#include "options.hpp"

namespace {

void add_data_options(CLI::App& app, cfq::options& o) {
  app.add_option("--data", o.data, "Folder with train, dev and test .tsv, question and query in columns, gzipped or not");
  app.add_option("--task", o.task, "semantic: from question to query; parse: dependencies of questions, not built yet")->check(CLI::IsMember({"semantic", "parse"}));
}

seq2seq::program program_of(cfq::options const& o, bool needs_train) {
  if (o.task == "parse") throw triad::data_error("--task parse is not built yet; --task semantic is");
  if (o.data.empty()) throw triad::data_error("there are no generated questions: give a folder with --data; docs/data.md says where the data come from");
  seq2seq::program p{cfq::data_toml(o), "task = \"" + o.task + "\"\n", seq2seq::read_columns(o.data, needs_train, "docs/data.md says where the data come from")};
  p.figures = [](seq2seq::test_part const& part, std::vector<std::string> const& found) {
    seq2seq::share same;
    for (std::size_t i = 0; i < found.size(); ++i) same.right += cfq::same_conjuncts(found[i], part.pairs[i].target) ? 1 : 0, ++same.all;
    return std::vector<seq2seq::figure>{{"up to the order of conjuncts", same.percent()}};
  };
  return p;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"CFQ: from a question to the query that answers it.  A Transformer whose layers read all earlier layers, or a plain one, learns it, and is tested on "
               "questions whose parts are known and whose compounds are not."};
  app.require_subcommand(1);
  cfq::options o;
  seq2seq::query q;
  auto* const train = app.add_subcommand("train", "Train, and translate the questions of dev and test");
  auto* const evaluate = app.add_subcommand("evaluate", "Exact match of a trained model, strict and up to the order of conjuncts");
  auto* const predict = app.add_subcommand("predict", "The query of a question, or of each line of standard input");
  auto* const explain = app.add_subcommand("explain", "How much each layer reads from each earlier one");
  seq2seq::add_train_options(*train, o);
  seq2seq::add_query_options(*evaluate, *predict, *explain, o, q);
  for (auto* const verb : {train, evaluate, explain}) add_data_options(*verb, o);
  return triad::examples::run_program(app, "cfq", [&] {
    triad::examples::parse(app, *train, o, argc, argv);
    if (train->parsed()) return seq2seq::train(o, program_of(o, true));
    for (auto* const verb : {evaluate, predict, explain})
      if (verb->parsed()) seq2seq::take_from_run(*verb, q);
    if (evaluate->parsed()) return seq2seq::evaluate(o, program_of(o, false), q);
    if (predict->parsed()) return seq2seq::predict(o, q);
    return seq2seq::explain(o, program_of(o, false), q);
  });
}
