// clutrr: how are two people of a family related?
// SPDX-License-Identifier: Apache-2.0
#include "clutrr.hpp"

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::clutrr;
  return run_program<options>(
      "clutrr",
      "CLUTRR: how are two people of a family related?  An Edge Transformer learns it from short chains and answers "
      "long ones.",
      [](options& o) -> std::vector<verb> {
        return {
            {"train", "Train on a data set or on generated chains, and evaluate by chain length",
             [&o] { return train(o); }},
            {"evaluate", "Accuracy of a trained model by chain length", [&o] { return evaluate(o); }},
            {"predict", "Answer every question of a CSV file, or of the command line or standard input",
             [&o] { return predict(o); }},
            {"explain", "Show which middle people the attention used for one question", [&o] { return explain(o); }},
            {"generate", "Write generated chains as CSV files", [&o] { return generate(o); }}};
      },
      argc, argv, "examples/programs/graphs/clutrr/README.md");
}
