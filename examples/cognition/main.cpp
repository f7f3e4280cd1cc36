// cognition: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "../common/run_folder.hpp"
#include "command_line.hpp"
#include "score.hpp"

namespace {

/// CoGnition's Chinese words are parts, where its codes are at hand.
cognition::options with_published_codes(cognition::options o) {
  if (o.task != "cognition" || o.data.empty() || !o.target_bpe.empty() || !o.target_dictionary.empty()) return o;
  o.target_bpe = seq2seq::find_file(o.data, {"bpe/code"});
  if (!o.target_bpe.empty()) std::printf("Chinese words are cut into parts by %s\n", o.target_bpe.c_str());
  return o;
}

int generate(cognition::options const& o) {
  auto const data = cognition::generate_data(o);
  triad::examples::make_folder(o.out);
  auto const write = [&](std::string const& name, std::vector<seq2seq::text_pair> const& pairs) {
    std::string text;
    for (auto const& pair : pairs) text += pair.source + "\t" + pair.target + "\t" + pair.kind + "\n";
    auto const path = o.out + "/" + name + ".tsv";
    triad::examples::write_atomically(path, text);
    std::printf("%s  %zu commands\n", path.c_str(), pairs.size());
  };
  write("train", data.train);
  write("dev", data.dev);
  for (auto const& part : data.tests) write(part.name, part.pairs);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"CoGnition and other tasks from sequence to sequence.  A Transformer whose layers read all earlier layers, or a plain one, learns to translate, "
               "and is tested on sentences that are new in their composition alone."};
  app.require_subcommand(1);
  cognition::options o;
  seq2seq::query q;
  auto* const train = app.add_subcommand("train", "Train on a data set or on generated commands, and translate its test parts");
  auto* const evaluate = app.add_subcommand("evaluate", "Translate the test parts with a trained model, and measure the translations");
  auto* const predict = app.add_subcommand("predict", "Translate a sentence, or each line of standard input");
  auto* const explain = app.add_subcommand("explain", "How much each layer reads from each earlier one");
  auto* const generate_verb = app.add_subcommand("generate", "Write generated commands and their actions");
  train->footer("Preset paper: 6 + 6 layers of 512 and 1024, 4 heads, 100,000 updates are the paper's; rate 5e-4, 4000 updates of warm-up, smoothing 0.1 and dropout 0.3 "
                "are our guess, since the paper does not give them, and so are --tokens 4096 and --beam 5.");
  seq2seq::add_train_options(*train, o);
  cognition::add_data_options(*train, o);
  seq2seq::add_query_options(*evaluate, *predict, *explain, o, q);
  cognition::add_data_options(*evaluate, o);
  cognition::add_data_options(*explain, o);
  cognition::add_generate_options(*generate_verb, o);
  return triad::examples::run_program(app, "cognition", [&] {
    triad::examples::parse(app, *train, o, argc, argv);
    if (train->parsed()) return seq2seq::train(with_published_codes(o), cognition::program_of(o, true));
    for (auto* const verb : {evaluate, predict, explain})
      if (verb->parsed()) seq2seq::take_from_run(*verb, q);
    if (evaluate->parsed()) return seq2seq::evaluate(o, cognition::program_of(o, false), q);
    if (predict->parsed()) return seq2seq::predict(o, q);
    if (explain->parsed()) return seq2seq::explain(o, cognition::program_of(o, false), q);
    return generate(o);
  });
}
