// dependencies, or parse by its older name: from sentences to their dependencies, with your own data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "program.hpp"
#include "shared/cli/called_by.hpp"
#include "shared/cli/verbs.hpp"

namespace triad::programs::dependencies {

struct own_options : options {
  std::string file;  // inspect

  own_options() { other_names = {"dependencies", "parse"}; }
  void each(option_list& f) override {
    f("program", &program, "").one_of({program}).hidden().free();
    f("preset", &preset,
      "quick: a minute or two for some hundred sentences on two processors; smoke: a few seconds, to try a data set; "
      "it learns nothing")
        .one_of({"quick", "smoke"})
        .free();
    options::each(f);
    f("file", &file, "A file of sentences").only({"inspect"}).positional().required().existing_file();
  }
};

/// The defaults that o.preset and o.model stand for.
///   quick   for some hundred sentences of your own
inline void apply_preset(own_options& o) {
  apply_preset(static_cast<options&>(o));
  if (o.preset == "quick") {
    o.layers = 3;
    o.width = 64;
    o.rate = 2e-3;
    o.warmup = 60;
    o.tokens = 300;
    o.updates = 600;
    o.evaluate_every = 60;
  }
}

}  // namespace triad::programs::dependencies
