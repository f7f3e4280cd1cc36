// cogs: from sentences to their logical forms.
// SPDX-License-Identifier: Apache-2.0
#include "verbs.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::cogs;
  return run_program<options>(
      "cogs",
      "COGS: from a sentence to the graph of its meaning.  An Edge Transformer, or a Transformer, learns it, and "
      "parses sentences of kinds that it never saw.",
      [](options& o) -> std::vector<verb> {
        return {{"train", "Train on a data set or on generated sentences, and evaluate by kind of sentence",
                 [&o] { return train(o); }},
                {"evaluate", "Accuracy of a trained model by kind of sentence", [&o] { return evaluate(o); }},
                {"predict", "Parse a sentence, or each line of standard input", [&o] { return predict(o); }},
                {"explain", "Draw the graph of a sentence with the probabilities of its edges",
                 [&o] { return explain(o); }},
                {"generate", "Write generated sentences with their graphs", [&o] { return generate(o); }}};
      },
      argc, argv, "examples/programs/meanings/cogs/README.md");
}
