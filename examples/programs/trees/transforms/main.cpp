// The program tree-transforms.  It runs the verbs of all tree-to-tree programs on the data of Basic Sentence
// Transforms, which are published or generated.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "data.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/new_data.hpp"
#include "shared/report/refuse.hpp"
#include "trees/program.hpp"

namespace triad::programs::transforms {
namespace {

/// Returns the data that the command line names.  If data are generated for a trained machine, prints a line, because
/// the machine may have been trained on other data.
trees::named_data data_of(options const& o, bool trained) {
  if (trained && o.data.empty()) fmt::print("rows are generated; --data takes a folder\n");
  return {o.task, load_data(o, trained)};
}

/// Changes the sentences in the rows of a part to the voice o.voice.  If a row has no sentence, throws a data_error
/// that names the row.
void say_in_voice(trees::part& of, options const& o) {
  auto const voice = o.voice == "passive" ? form::passive : form::active;
  for (std::size_t i = 0; i < of.rows.size(); ++i) {
    auto told = in_voice(of.rows[i], voice);
    if (!told)
      refuse(
          "{}: {}, row {} of the file: no sentence of Basic Sentence Transforms with its logical form, which --voice "
          "is about; leave --voice out to write the rows as they are",
          o.data, of.name, of.numbers[i]);
    of.rows[i] = *std::move(told);
  }
}

/// Writes the rows of all splits.  Programs of trees and of sequences read the same lines.  For programs of sequences,
/// the words of a tree are its labels and parentheses.
int generate(options& o) {
  o.settle();
  o.depth = trees::deepest_numbered;
  if (!o.voice.empty() && o.data.empty())
    refuse("--voice is about the sentences of --data: give these, or choose the voice of generated rows by --task");
  auto data = load_data(o);
  std::vector<new_file> files;
  for (auto const s : splits) {
    if (!o.voice.empty()) say_in_voice(part_of(data, s), o);
    auto const& rows = part_of(data, s).rows;
    if (rows.empty()) continue;  // the data of --data may not have all splits
    std::string text;
    for (auto const& r : rows) text += trees::to_json_line(r) + "\n";
    files.push_back({fmt::format("{}.jsonl", o.as == "sequences" ? own_name_of(s) : name_of(s)), std::move(text),
                     fmt::format("{} rows", rows.size())});
  }
  write_data(o.out, files);
  return 0;
}

}  // namespace
}  // namespace triad::programs::transforms

int main(int argc, char** argv) {
  using namespace triad::programs;
  using namespace triad::programs::transforms;
  return run_program<options>(
      "tree-transforms",
      "Basic Sentence Transforms: from one tree to another.  A Differentiable Tree Machine learns programs of car, "
      "cdr and cons, and shows them.",
      [](options& o) {
        auto all = trees::verbs_of(
            o, [&o](bool trained) { return data_of(o, trained); },
            "Train on a data set or on generated rows, and score all splits");
        all.push_back(
            {"generate", "Write the rows of all splits, generated or of --data", [&o] { return generate(o); }});
        return all;
      },
      argc, argv, "examples/programs/trees/transforms/README.md");
}
