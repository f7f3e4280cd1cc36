// cogs: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

int main(int argc, char** argv) {
  return triad::examples::run_verbs<cogs::options, cogs::query>(
      {.name = "cogs",
       .about = "COGS: from a sentence to the graph of its meaning.  An Edge Transformer, or a Transformer, learns it, "
                "and parses "
                "sentences of kinds that it never saw.",
       .train = "Train on a data set or on generated sentences, and evaluate by kind of sentence",
       .evaluate = "Accuracy of a trained model by kind of sentence",
       .predict = "Parse a sentence, or each line of standard input",
       .explain = "Draw the graph of a sentence with the probabilities of its edges",
       .generate = "Write generated sentences with their graphs"},
      argc, argv);
}
