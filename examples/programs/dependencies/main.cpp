// The program dependencies, formerly called parse: predicts the dependencies of sentences.  You train it on your own
// data.
// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"
#include "shared/cli/called_by.hpp"
#include "shared/cli/verbs.hpp"

namespace triad::programs::dependencies {
namespace {

struct own_options : options {
  std::string file;  // inspect: the file to summarise

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

/// Sets the defaults of o.preset and o.model.
///   quick   for some hundred sentences of your own
void apply_preset(own_options& o) {
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

}  // namespace
}  // namespace triad::programs::dependencies

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::dependencies;
  return run_program<own_options>(
      called_by(argc, argv, "dependencies", "parse"),
      "From a sentence to its dependencies: which word is whose head, and by which relation.  An Edge Transformer, "
      "or a Transformer with biaffine heads, learns it from CoNLL-U or JSON lines.",
      [](own_options& o) {
        auto verbs = verbs_of(o);
        verbs.push_back({"inspect", "Say what a file of sentences holds", [&o] { return inspect(o.file); }});
        return verbs;
      },
      argc, argv, "examples/programs/dependencies/README.md");
}
