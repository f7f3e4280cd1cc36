// The verbs `evaluate` and `predict` of all tree-to-tree programs.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "explanation.hpp"
#include "program.hpp"
#include "read.hpp"
#include "report.hpp"
#include "shared/cli/say.hpp"
#include "shared/data/given_answers.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/report/refuse.hpp"
#include "trained.hpp"

namespace triad::programs::trees {
namespace {

constexpr index_t batch_rows = 16;

void add_programs(text_table& table, std::string const& title, program_tally const& t) {
  table.row({title, percent(tally::part(t.discrete, t.rows)), std::to_string(t.extracted),
             t.extracted > 0 ? fmt::format("{:.3f}", t.least) : "-", std::to_string(t.agreeing),
             std::to_string(t.correct), std::to_string(t.programs.size()), std::to_string(t.rows)});
}

int evaluate(program_options& o, data_reader const& read) {
  trained model(o, batch_rows);
  auto const data = read(true).data;
  if (std::all_of(data.parts.begin(), data.parts.end(), [](part const& p) { return p.rows.empty(); }))
    refuse(
        "no part of the data has a row whose trees are as deep as the machine's or less: give rows that are less deep, "
        "or train a machine on these");
  auto found = tallies_of(data);
  bool const programs = o.programs || o.discrete;
  if (programs)
    refuse_given(o, {"train-sample"}, "training rows, of which --programs extracts none: leave it out");
  else
    refuse_given(o, {"threshold"}, "--programs: give that, or leave it out");
  text_table of_programs({"", "likeliest choices", "programs", "least weight", "agree", "right", "distinct", "rows"});
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto const& part = data.parts[i];
    if ((i == 0 && programs) || part.rows.empty()) continue;
    auto const rows = model.placed(part);
    auto& own = found[i].found;
    if (programs)
      add_programs(of_programs, part.title, score_programs(*model.net, rows, model.labels, o.threshold, own));
    else
      own = score(*model.net, rows, i == 0 ? o.train_sample : 0);
  }
  fmt::print("{}", table_of(found));
  for (auto const& part : data.parts) say("{}", what_is_left_out(part));
  if (programs)
    fmt::print(
        "\nlikeliest choices: whole trees where each step's are run on trees of symbols; "
        "programs: rows where each of those that count has a weight of {:.2f} or more;\n"
        "agree: of these, rows where the program's tree is the machine's; right: where it is the right one\n\n{}",
        o.threshold, of_programs.text());
  return 0;
}

/// Returns true if `target` is the text of this tree.
bool is_same(nlohmann::json const& target, symbol_tree const& tree, bool binary) {
  try {
    return target.is_string() && to_text(tree_from(target.get<std::string>(), binary)) == to_text(tree);
  } catch (data_error const&) {  // a target that is not a tree is replaced by the answer, too
    return false;
  }
}

/// Prints the answer to a line, which is a tree, or an object with a tree.  All other members of the object are copied.
void answer(trained& model, program_options const& o, std::string const& line, given_answers& targets) {
  auto const question = question_of(line);
  bool const is_object = !question.is_null();
  auto const source = source_of(question, line, o.binarise);
  auto const& positions = model.net->positions();
  auto const target = model.labels.label(tree_of(model.answer(source), positions));
  double least = 0;
  if (o.probabilities) {
    auto const said = model.net->traced(false).front();
    auto const program = likeliest(said);
    least = certainty(said, program, execute(program, model.numbered(source), positions.depth()));
  }
  if (is_object || o.as_json) {
    json_members members{{"target", to_text(target)}};
    if (o.probabilities) members.emplace_back("least_weight", four_digits(least));
    programs::answer(with_members(is_object ? line : to_json_line({source, target}), members) + "\n");
    auto const given = given_answer(question, "target");
    targets.add(!given.is_null(), is_same(given, target, o.binarise));
  } else {
    programs::answer((o.probabilities ? fmt::format("{:.4f}\t", least) : std::string()) + shown(target) + "\n");
  }
}

int predict(program_options& o) {
  o.questions.expect_one_way({{"--tree", !o.tree.empty()}});
  trained model(o, 1);
  given_answers targets("a target");
  auto const one = [&](std::string const& line) { answer(model, o, line, targets); };
  int status = 0;
  if (o.tree.empty())
    status = o.questions.answer(o.program, one, o.as_json);
  else
    one(o.tree);
  note(o.program, targets.note());
  return status;
}

}  // namespace

std::vector<verb> verbs_of(program_options& o, data_reader const& read, char const* of_train) {
  return {{"train", of_train, [&o, read] { return train(o, read); }},
          {"evaluate", "Score a trained machine, and the programs that give its answers",
           [&o, read] { return evaluate(o, read); }},
          {"predict", "Transform a tree, or each line of a file or of standard input", [&o] { return predict(o); }},
          {"explain", "The program that a trained machine runs on a tree, or all programs of a split",
           [&o, read] { return explain(o, read); }}};
}

}  // namespace triad::programs::trees
