// The options that cfq-dependencies adds to those of every dependency parser, and the paper's settings.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "dependencies/program.hpp"

namespace triad::programs::cfq_dependencies {

struct options : dependencies::options {
  options() { task = "parse", other_names = {"cfq"}; }
  void each(option_list& f) override {
    f("preset", &preset, "paper-dependency, small-dependency (the defaults), smoke")
        .one_of({"paper-dependency", "small-dependency", "smoke"})
        .free();
    dependencies::options::each(f);
  }
};

/// Sets the defaults of o.preset and o.model.
///   paper-dependency   Layers, width, heads, words, rate and updates are from Table 1 of the Edge Transformer paper.
///                      The layers of an Edge Transformer are tied, and their feed-forward block has 4 d (section 3).
///                      The paper does not give dropout, warm-up, decay of the rate, clip, and the feed-forward width
///                      of the other models; we chose these settings.
///   small-dependency   Our own settings.  The layers of the Edge Transformer are not tied.  No setting was chosen by
///                      test scores (docs/results/cfq.md).
inline void apply_preset(options& o) {
  bool const universal = o.model == "universal-transformer";
  dependencies::apply_preset(o);
  if (o.preset != "paper-dependency") return;
  o.tied = universal || o.model == "edge-transformer";
  o.layers = universal ? 8 : 7;
  o.width = 360;
  o.heads = 4;
  o.tokens = o.model == "transformer" ? 1000 : 500;
  o.rate = 1e-3;
  o.updates = 8000;
  o.evaluate_every = 500;
}

}  // namespace triad::programs::cfq_dependencies
