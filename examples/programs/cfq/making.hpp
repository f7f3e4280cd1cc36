// Options of the verbs that make data: generate writes questions, split takes a corpus apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "shared/cli/options.hpp"

namespace triad::programs::cfq {

/// Options of the two verbs.
struct making {
  std::string data, out;  // of split: a file of annotated questions; the folder that is written
  int count = 20000, depth = 3;
  std::uint64_t seed = 1;
  int train = 0, held_out = 0;  // 0: two fifths, and a tenth, of the corpus
  int compound_size = 5, candidates = 5, passes = 30;
  double atom_limit = 0.02;

  void each(option_list& f) {
    f("out", &out, "Folder of all.tsv, all.conllu and rules.jsonl").only({"generate"}).required().file_or_folder();
    f("count", &count, "Questions").only({"generate"}).positive();
    f("depth", &depth, "How often phrases stand inside of others, at most").only({"generate"}).between(0, 6);
    f("seed", &seed, "Of the questions, and of how they are taken apart").only({"generate", "split"});
    f("data", &data,
      "File of questions with the rules that derive them, such as rules.jsonl; docs/data.md has the format")
        .only({"split"})
        .required();
    f("out", &out, "Folder of train, dev and test, .tsv and .conllu, and split.json")
        .only({"split"})
        .required()
        .file_or_folder();
    f("train", &train, "Training questions; 0: two fifths of all").only({"split"}).not_negative();
    f("dev-and-test", &held_out, "Questions of dev and test together; 0: a tenth of all")
        .only({"split"})
        .not_negative();
    f("atom-limit", &atom_limit, "Largest divergence of atoms").only({"split"}).between(0.0, 1.0);
    f("compound-size", &compound_size, "Rules of a compound, at most").only({"split"}).between(2, 6);
    f("candidates", &candidates, "Questions looked at for each that comes in").only({"split"}).between(1, 10000);
    f("passes", &passes, "Over all questions, twice at most").only({"split"}).between(1, 10000);
  }
};

}  // namespace triad::programs::cfq
