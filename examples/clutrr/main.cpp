// clutrr: train, evaluate, predict, explain, generate.
// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

int main(int argc, char** argv) {
  return triad::examples::run_verbs<clutrr::options, clutrr::query>(
      {.name = "clutrr",
       .about = "CLUTRR: how are two people of a family related?  An Edge Transformer learns it from short chains and "
                "answers long ones.",
       .train = "Train on a data set or on generated chains, and evaluate by chain length",
       .evaluate = "Accuracy of a trained model by chain length",
       .predict = "Answer every question of a CSV file, or one given by --facts",
       .explain = "Show which middle people the attention used for one question",
       .generate = "Write generated chains as CSV files"},
      argc, argv);
}
