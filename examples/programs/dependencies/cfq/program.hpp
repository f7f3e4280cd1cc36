// `cfq --task parse`: from a question to its dependencies; the paper's settings, and the options beside the task's own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dependencies/program.hpp"
#include "shared/cli/verbs.hpp"

namespace cfq {

struct parse_options : dependencies::options {
  parse_options() { task = "parse"; }
  void each(triad::programs::option_list& f) override {
    f("preset", &preset, "paper-dependency, small-dependency (the defaults), smoke")
        .one_of({"paper-dependency", "small-dependency", "smoke"})
        .free();
    options::each(f);
  }
};

/// The defaults that o.preset and o.model stand for.
///   paper-dependency   layers, width, heads, words, rate and updates: the Edge Transformer paper's Table 1; its layers
///                      are tied and their feed-forward block has 4 d (section 3).  Dropout, warm-up, the linear fall,
///                      the clip and the other models' feed-forward width are ours: the paper does not say.
///   small-dependency   ours.  Its Edge Transformer is untied, as in its first runs; nothing was chosen on test scores
///                      (docs/results.md).
inline void apply_preset(parse_options& o) {
  bool const universal = o.model == "universal-transformer";
  dependencies::apply_preset(o);
  if (o.preset != "paper-dependency") return;
  o.tied = universal || o.model == "edge-transformer";
  o.layers = universal ? 8 : 7, o.width = 360, o.heads = 4, o.tokens = o.model == "transformer" ? 1000 : 500;
  o.rate = 1e-3, o.updates = 8000, o.evaluate_every = 500;
}

/// All of main(): the exit status.
inline int parse_main(int argc, char** argv) {
  return triad::programs::run_program<parse_options>(
      "cfq",
      "CFQ, --task parse: from a question to its dependencies, in CoNLL-U.  An Edge Transformer, or a Transformer with "
      "biaffine heads, learns which word is whose head, and by which relation.",
      [](parse_options& o) { return dependencies::verbs_of(o); }, argc, argv,
      "examples/programs/sequences/cfq/README.md");
}

}  // namespace cfq
