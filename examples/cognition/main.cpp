// cognition: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "../common/run_folder.hpp"
#include "command_line.hpp"
#include "score.hpp"

namespace cognition {

/// CoGnition's Chinese words are parts, where its codes are at hand.
options with_published_codes(options o) {
  if (o.task != "cognition" || o.data.empty() || !o.target_bpe.empty() || !o.target_dictionary.empty()) return o;
  o.target_bpe = seq2seq::find_file(o.data, {"bpe/code"});
  if (!o.target_bpe.empty()) std::printf("Chinese words are cut into parts by %s\n", o.target_bpe.c_str());
  return o;
}

int train(options const& o) { return seq2seq::train(with_published_codes(o), program_of(o, true)); }
int evaluate(options const& o, seq2seq::query const& q) { return seq2seq::evaluate(o, program_of(o, false), q); }
int explain(options const& o, seq2seq::query const& q) { return seq2seq::explain(o, data_program_of(o, false), q); }

int generate(options const& o, seq2seq::query const&) {
  auto const data = generate_data(o);
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

}  // namespace cognition

int main(int argc, char** argv) {
  return triad::examples::run_verbs<cognition::options, seq2seq::query>(
      {.name = "cognition",
       .about = "CoGnition and other tasks from sequence to sequence.  A Transformer whose layers read all earlier "
                "layers, or a plain one, learns to "
                "translate, and is tested on sentences that are new in their composition alone.",
       .train = "Train on a data set or on generated commands, and translate its test parts",
       .evaluate = "Translate the test parts with a trained model, and measure the translations",
       .predict = "Translate a sentence, or each line of standard input",
       .explain = "How much each layer reads from each earlier one",
       .generate = "Write generated commands and their actions"},
      argc, argv);
}
