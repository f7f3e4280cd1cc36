// The program cognition, for CoGnition and other sequence-to-sequence tasks.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "compounds.hpp"
#include "score.hpp"
#include "sequences/program.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/new_data.hpp"
#include "translation_data.hpp"

namespace triad::programs::cognition {
namespace {

int generate(options const& o) {
  if (o.translation) {
    auto const chosen = [&](char const* name, int value, int usual) {
      return o.given.contains(name) || o.configured.contains(name) ? value : usual;
    };
    auto const sentences = chosen("sentences", o.sentences, 200000),
               test_size = chosen("test-size", o.test_size, 10000);
    write_data(o.out, translation_files(generate_translation(sentences, test_size, o.data_seed)));
    return 0;
  }
  auto const data = generate_data(o);
  std::vector<new_file> files;
  auto const add = [&](std::string const& name, std::vector<text_pair> const& pairs) {
    std::string text;
    for (auto const& pair : pairs) text += pair.source + "\t" + pair.target + "\t" + pair.kind + "\n";
    files.push_back({name + ".tsv", std::move(text), fmt::format("{} commands", pairs.size())});
  };
  add("train", data.train);
  add("dev", data.dev);
  for (auto const& part : data.tests) add(part.name, part.pairs);
  write_data(o.out, files);
  return 0;
}

}  // namespace
}  // namespace triad::programs::cognition

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::cognition;
  return run_program<options>(
      "cognition",
      "CoGnition and other tasks from sequence to sequence.  A Transformer whose layers read all earlier layers, or "
      "a plain one, learns to translate, and is tested on sentences that are new in their composition alone.",
      [](options& o) {
        auto verbs = sequences::verbs_of(o, [&o](bool needs_train, bool measures) {
          return measures ? program_of(o, needs_train) : sequences::program{data_of(o, needs_train)};
        });
        verbs.push_back({"compounds", "CTER of runs by the length of compounds and sentences, as tables and pictures",
                         [&o] { return compounds(o); }});
        verbs.push_back({"generate", "Write generated commands and their actions, or a translation task",
                         [&o] { return generate(o); }});
        return verbs;
      },
      argc, argv, "examples/programs/sequences/cognition/README.md");
}
