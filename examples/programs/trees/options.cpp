// Lists the options of tree-to-tree programs, and checks which options can be combined.
// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "program.hpp"
#include "shared/cli/record.hpp"
#include "trained.hpp"
#include "triad/io/json_read.hpp"

namespace triad::programs::trees {

void options::each(option_list& f) {
  std::vector<std::string> const ways{"softmax", "gumbel", "gumbel-released"};
  std::string const zero = zero_is_by_task ? "; 0: the paper's for the task" : "";
  f.seldom("skip-deeper", &skip_deeper,
           "Leave rows out whose trees are too deep, as the released program does, instead of refusing them")
      .opposite("no-skip-deeper")
      .also({"evaluate", "explain"});
  // A machine's layers cannot be tied.  Its learning rate and its temperature fall only once, so its schedule has no
  // restarts.
  option_list common;
  stack_options::each(common);
  for (auto const& one : common.all())
    if (one.name != "tied" && one.name != "restarts") f(one.name, one.value, one.about) = one;
  f("model", &model, "tree-machine").one_of({"tree-machine"}).shapes();
  f("recipe", &recipe,
    "published: as the preset says; robust: ours; long: ours, for programs of many steps; options given count")
      .one_of({"published", "robust", "long"})
      .free();
  f("steps", &steps, "Steps of the machine" + zero).between(zero_is_by_task ? 0 : 1, 64).shapes().within(1, [] {
    return 64;
  });
  f("depth", &depth, "Of trees at most, a root alone has 1; roles are as deep as the data's deepest tree")
      .between(1, deepest_model);
  f.seldom("role-depth", &role_depth, "Levels of roles, where that is more than the data's deepest tree")
      .between(0, deepest_model);
  auto const both = choice_of_both(*this);
  f("choice", &choice,
    "softmax; gumbel: with noise and a falling temperature in training; gumbel-released: that over arguments, not "
    "trees")
      .one_of(ways)
      .says(both);
  f.seldom("operation-choice", &operation_choice, "Of operations alone: softmax, gumbel; without it, as --choice says")
      .one_of({"softmax", "gumbel"})
      .says(both.empty() ? choice_of_operations(*this) : "");
  f.seldom("argument-choice", &argument_choice,
           "Of arguments alone: softmax, gumbel, gumbel-released; without it, as --choice says")
      .one_of(ways)
      .says(both.empty() ? choice_of_arguments(*this) : "");
  f.seldom(
       "root", &root,
       "Of cons: scores: what the agent says, as in the released program; distribution: the softmax of it over labels")
      .one_of({"scores", "distribution"})
      .newer("scores")
      .shapes();
  f.seldom("interpreter", &interpreter,
           "rows: canonical roles; matrices: random orthonormal roles; learned: matrices that are learned")
      .one_of({"rows", "matrices", "learned"})
      .shapes();
  f.seldom("role-seed", &role_seed, "Of the roles of --interpreter matrices and learned").shapes();
  f.seldom("empty-tree", &empty_tree,
           "The empty tree is in memory from the first step on, so that none has to be made first; the paper has none")
      .opposite("no-empty-tree")
      .newer()
      .shapes();
  // If no softmax of the model has a temperature, the option has no effect, so a resumed run may change the option.
  f.seldom("temperature", &temperature, "Of softmax in training: scores are divided by it; it falls from this to 1")
      .between(1, 1000000)
      .free(cooling == 0);
  f.seldom("cooling", &cooling, "Updates until the temperature is 1; 0: it always is")
      .not_negative()
      .free(cooling == 0);
  f.seldom("loss", &loss, "Of the score x of a right symbol: squared: (x - 1)^2; divergence: x - 1 - log x")
      .one_of({"squared", "divergence"})
      .newer("squared");
  f.seldom("floor", &floor, "Of --loss divergence: smaller scores have the slope of this one")
      .between(1e-30, 1.0)
      .free(loss == "squared");
  f.seldom("empty-weight", &empty_weight, "Of positions without a symbol in the loss, at first; it goes to 1")
      .between(0.0, 1000.0)
      .free(empty_updates == 0);
  f.seldom("empty-updates", &empty_updates, "Updates until that weight is 1; 0: it always is")
      .not_negative()
      .free(empty_updates == 0);
  f.seldom("evenness", &evenness,
           "Charge of uneven choices, at first, in positions; it goes to 0, and no reported loss has it")
      .not_negative()
      .newer();
  f.seldom("recency", &recency,
           "What a tree's score as an argument loses with age, at first: this over --steps with each step; input and "
           "empty tree lose nothing; it goes to 0")
      .not_negative()
      .newer();
  f.seldom("even-updates", &even_updates, "Updates until evenness and recency are 0").not_negative().newer();
  f.seldom("choice-deviation", &choice_deviation,
           "Standard deviation of the first values of what scores operations and arguments, with biases of 0; 0: as "
           "all linear maps")
      .not_negative()
      .newer();
  f("updates", &updates, "Batches to train on").positive().length();
  f("attempts", &attempts,
    "Attempts at most, each of --updates: another begins, with other first values, while fewer than 99 % of the "
    "training rows that are scored are right")
      .between(1, 1000)
      .free();
  f("first-rows", &first_rows,
    "Train first on this fraction of the rows or more, those of the fewest levels, with roles for these alone; "
    "--updates and --attempts are of that training; 0: on all rows at once")
      .between(0.0, 1.0)
      .free(first_rows == 0);
  f.seldom("last-updates", &last_updates,
           "Batches of all rows to train on after --first-rows, at most: that training ends with a checkpoint, or does "
           "not begin, where all training rows that are scored are right")
      .positive()
      .free(first_rows == 0);
  f.seldom("last-learning-rate", &last_rate,
           "Learning rate of --last-updates after warm-up, from which it falls to 0; 0: a tenth of --learning-rate")
      .not_negative()
      .free(first_rows == 0);
  auto& rows = f("batch", &batch, "Rows of a batch" + zero);
  zero_is_by_task ? rows.not_negative() : rows.positive();
  f.seldom("weight-decay", &decay, "Weight decay of AdamW, of all parameters").not_negative();
  f.seldom("beta1", &beta1, "Of AdamW").between(0.0, 0.9999);
  f.seldom("beta2", &beta2, "Of AdamW").between(0.0, 0.99999);
  f.seldom("train-sample", &train_sample,
           "Training rows that are scored at the end, the first ones, and decide about --attempts and --last-updates; "
           "without a dev part checkpoints are measured on as many, evenly spread; 0: all")
      .also({"evaluate"})
      .not_negative()
      .newer("1000")
      .free(first_rows == 0);
}

void program_options::each(option_list& f) {
  options::each(f);
  auto const parts = part_names.empty() ? "train, dev, test, or NAME of test_NAME; without it, the first test"
                                        : fmt::format("{}", fmt::join(part_names, ", "));
  f("threshold", &threshold, "A program is extracted where each of its choices has this weight")
      .only({"evaluate", "explain"})
      .between(0.0, 1.0);
  f("discrete", &discrete, "The same as --programs").only({"evaluate"});
  f("programs", &programs, "Also extract programs, run them, and count where they agree with the machine")
      .only({"evaluate"});
  f("tree", &tree, "( LABEL child child )").only({"predict"}).question();
  f("json", &as_json, "One JSON object a line").only({"predict"});
  f("probabilities", &probabilities,
    "Also the least weight of the choices that led to the answer, as explain has it: \"least_weight\", or in front of "
    "it")
      .only({"predict"});
  questions.each(f, "A tree, as --tree has it, or {\"source\": \"( ... )\"}");
  f("tree", &tree, "( LABEL child child ): what the machine does with it").only({"explain"}).question();
  f("split", &split, "Of the data: " + parts).only({"explain"}).one_of(part_names);
  f("row", &row, "What the machine does with this row of the split, from 1; without it, the programs of all")
      .only({"explain"})
      .positive();
  f("training", &training, "How sure each step was of its choices at every checkpoint of the run, and its gradients")
      .only({"explain"});
  f("json", &json, "File for every weight of every step").only({"explain"}).file_or_folder();
  f("dot", &dot, "File for Graphviz: steps and the trees they take").only({"explain"}).file_or_folder();
  f("svg", &svg, "File for a drawing of all trees, or of --training").only({"explain"}).file_or_folder();
  f.force(&force, {"explain"});
}

std::map<std::string, std::string> options::more_shapes() const {
  nlohmann::json kept = choice_of_both(*this);
  if (kept == "") kept = {{"operations", choice_of_operations(*this)}, {"arguments", choice_of_arguments(*this)}};
  return {{"choice", kept.dump()}, {"depth", std::to_string(depth)}};
}

std::string choice_in(nlohmann::json const& choice, char const* what) {
  auto const& named = choice.is_object() && choice.contains(what) ? choice[what] : choice;
  bool const released = named == "gumbel-released" && (choice.is_string() || std::string(what) == "arguments");
  return named == "softmax" || named == "gumbel" || released ? named.get<std::string>() : std::string();
}

void options::follow_recipe() {
  // --choice on the command line sets both choices, so it overrides an option in the config file that sets only one of
  // them.
  if (given.contains("choice")) {
    if (configured.contains("operation-choice")) operation_choice.clear();
    if (configured.contains("argument-choice")) argument_choice.clear();
  }
  if (recipe == "published") return;
  auto const set = [this](char const* name, auto& value, auto to) {
    if (!is_set(name)) value = to;
  };
  // A program of many steps must make nodes whose label is not yet in any tree.  If the root of such a node were not a
  // distribution, its scores could hide an unsure choice.  Such a step also needs the empty tree, which may not be the
  // result of an earlier step.
  bool const many_steps = recipe == "long";
  bool const among_trees = choice_of_arguments(*this) != "gumbel-released";
  if (many_steps) {
    set("root", root, "distribution");
    set("empty-tree", empty_tree, among_trees);
  }
  set("loss", loss, "divergence");
  set("updates", updates, many_steps ? 4000 : 2000);
  set("learning-rate", rate, 1e-3);
  set("warmup", warmup, robust_warmup);
  set("batch", batch, 8);
  set("attempts", attempts, 10);
  if (choice_of_both(*this) == "softmax" && interpreter == "rows")
    set("first-rows", first_rows, many_steps ? 0.4 : 0.5);
  auto const falls =
      static_cast<int>(std::min<std::int64_t>(many_steps ? updates / 2 : updates / 4 * 3, 1'000'000'000));
  // Sets two options that belong together: a value, and the number of updates until the value has no effect.  If only
  // one of the two is given and turns the effect off, the other is turned off too.  Otherwise the option that is not
  // given has the value of the recipe.
  auto const both = [&](char const* name, double& value, double off, double to, char const* until, int& count,
                        bool decided) {
    bool const on = (decided || is_set(name) || is_set(until)) && !(is_set(name) && value == off);
    set(until, count, on ? falls : 0);
    set(name, value, count > 0 ? to : off);  // in a run of a few updates, `falls` is 0
  };
  both("evenness", evenness, 0, many_steps ? 0.3 : 1, "even-updates", even_updates, true);
  if (is_set("recency") && recency > 0) set("even-updates", even_updates, falls);
  set("recency", recency, many_steps && even_updates > 0 && among_trees ? 4 : 0);
  both("empty-weight", empty_weight, 1, 0.2, "empty-updates", empty_updates, false);
  both("temperature", temperature, 1, 10, "cooling", cooling, false);
}

void options::settle() {
  stack_options::settle();
  follow_recipe();
  if (cooling > 0 && choice_of_operations(*this) != "softmax" && choice_of_arguments(*this) != "softmax")
    throw data_error(
        "--temperature and --cooling are about --choice softmax; that of gumbel falls as the released program's: "
        "give --temperature 1 --cooling 0");
  if (cooling > updates)
    throw data_error(
        "--cooling " + std::to_string(cooling) + " is longer than the run of --updates " + std::to_string(updates) +
        ", which would end with choices that are softer than those of an evaluation: give a smaller --cooling");
  if (first_rows > 0 && interpreter != "rows")
    throw data_error(
        "--first-rows is about --interpreter rows, whose first roles are those of shorter trees: leave one of the two "
        "out");
  if (first_rows > 0 && choice_of_both(*this) != "softmax")
    throw data_error(
        "--first-rows is about --choice softmax: the noise and the temperature of gumbel would begin again with all "
        "rows: leave one of the two out");
  if (choice_of_arguments(*this) == "gumbel-released" && (empty_tree || recency > 0))
    throw data_error(
        "--empty-tree and --recency are about choices among trees, and gumbel-released chooses among the arguments of "
        "each tree: leave them out");
  if (interpreter == "rows" && given.contains("role-seed"))
    throw data_error(
        "--role-seed draws the roles of --interpreter matrices or learned; those of rows are canonical: leave it out");
  if (loss == "squared" && given.contains("floor"))
    throw data_error("--floor is about --loss divergence: give that, or leave it out");
  if (first_rows == 0)
    refuse_given(*this, {"last-updates", "last-learning-rate"},
                 "the training after that of --first-rows, which is 0: leave it out");
  if ((evenness > 0 || recency > 0) != (even_updates > 0))
    throw data_error("--evenness or --recency above 0 and --even-updates, the updates until they are 0, go together");
  if ((empty_weight != 1) != (empty_updates > 0))
    throw data_error("--empty-weight other than 1 and --empty-updates, the updates until it is 1, go together");
  if ((temperature > 1) != (cooling > 0))
    throw data_error("--temperature above 1 and --cooling, the updates until it is 1, go together");
}

void options::restored(checkpoint const& file) {
  stack_options::restored(file);
  depth = file.setting("depth", 1, deepest_model);
  auto const kept = file.setting<nlohmann::json>("choice");
  operation_choice = choice_in(kept, "operations");
  argument_choice = choice_in(kept, "arguments");
  if (operation_choice.empty() || argument_choice.empty())
    throw data_error(file.tensors().file() + ": setting 'choice' is " + quoted(kept) +
                     ", which is no way to choose; it was written by another program");
}

}  // namespace triad::programs::trees
