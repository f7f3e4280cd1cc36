// The options of every verb of `cfq --task parse` on the command line.
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <CLI/CLI.hpp>

#include "../../common/program.hpp"
#include "commands.hpp"

namespace dependency {
namespace {

using triad::examples::not_negative, triad::examples::positive;

void add_task(CLI::App& app, options& o) {
  app.add_option("--task", o.task,
                 "parse, this task; cfq VERB --help is about the other one, semantic: from question to query")
      ->check(CLI::IsMember({"parse"}));
}
void add_data(CLI::App& app, options& o) {
  app.add_option("--data", o.data, "Folder with train, dev and test .conllu, gzipped or not");
}

}  // namespace

/// Presets are applied when the command line is read: what is given beside one overrides it.
void add_train_options(CLI::App& app, options& o) {
  add_task(app, o);
  app.add_option("--preset", o.preset, "paper-dependency, small-dependency (the defaults), smoke")
      ->check(CLI::IsMember({"paper-dependency", "small-dependency", "smoke"}));
  add_data(app, o);
  triad::examples::add_training_options(app, o);
  app.add_option("--min-count", o.least_count, "The dictionary has words that the training set has so often")
      ->check(positive);
  app.add_option("--model", o.model, "edge-transformer; transformer or universal-transformer, with biaffine heads")
      ->check(CLI::IsMember({"edge-transformer", "transformer", "universal-transformer"}));
  app.add_option("--attention", o.attention,
                 "Of edge-transformer: full, value-ablation, attention-ablation, both-ablations, flat")
      ->transform(CLI::CheckedTransformer(triad::examples::attention_names()));
  app.add_flag("--tied,!--untied", o.tied, "One layer's parameters for all, as the paper says; else each its own");
  app.add_option("--tokens", o.tokens, "Words of a batch, at most")->check(positive);
  app.add_option("--updates", o.updates)->check(positive);
  app.add_option("--evaluate-every", o.evaluate_every, "Updates between two checkpoints")->check(positive);
  app.add_option("--dev-size", o.dev_size, "Sentences that a checkpoint is measured on; 0: all of dev")
      ->check(not_negative);
  app.add_option("--weight-decay", o.decay, "Weight decay of AdamW")->check(not_negative);
}

void add_query_options(CLI::App& evaluate, CLI::App& predict, CLI::App& explain, CLI::App&, options& o, query& q) {
  for (auto* const verb : {&evaluate, &predict, &explain}) add_task(*verb, o);
  add_data(evaluate, o);
  evaluate.add_option("--out", o.out, "Folder for the parses, dev.conllu and test.conllu");
  for (auto* const verb : {&predict, &explain}) {
    verb->add_option("--sentence", q.sentence, "Words separated by spaces: \"Did M0 marry M1\"")
        ->check(triad::examples::not_blank);
    verb->add_flag("--unknown", q.unknown,
                   "Parse words that the model does not know as <unk>, instead of refusing them");
  }
  predict.add_option("--file", q.file, "CoNLL-U, gzipped or not: its words are parsed, its heads not looked at")
      ->check(CLI::ExistingFile);
  predict.footer("Without --sentence and --file, every line of standard input is a sentence.  The answer is CoNLL-U.");
  explain.add_option("--out", o.out, "Folder for tree.svg");
}

int run(int argc, char** argv) {
  return triad::examples::run_verbs<options, query>(
      {.name = "cfq",
       .about = "CFQ, --task parse: from a question to its dependencies, in CoNLL-U.  An Edge Transformer, or a "
                "Transformer with biaffine heads, learns which "
                "word is whose head, and by which relation.",
       .train = "Train, and parse dev and test",
       .evaluate = "Exact match, unlabelled and labelled attachment score of a trained model",
       .predict = "Parse a sentence, a file, or each line of standard input",
       .explain = "The likeliest heads of each word, and a picture of the tree"},
      argc, argv);
}

}  // namespace dependency
