// The verbs that make data: generate writes questions, split takes a corpus apart.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "../common/atomic_file.hpp"
#include "../common/exit_status.hpp"
#include "../common/number_checks.hpp"
#include "../common/run_folder.hpp"
#include "corpus.hpp"
#include "data.hpp"

namespace cfq {

using triad::examples::between, triad::examples::not_negative, triad::examples::positive;

/// What the two verbs are told.
struct making {
  std::string data, out;  // of split: a file of annotated questions; the folder that is written
  int count = 20000, depth = 3;
  std::uint64_t seed = 1;
  int train = 0, held_out = 0;  // 0: two fifths, and a tenth, of the corpus
  int compound_size = 5, candidates = 5, passes = 30;
  double atom_limit = 0.02;
};

namespace detail {

inline void write_file(std::string const& path, std::string const& text, std::size_t questions) {
  triad::examples::write_atomically(path, text);
  std::printf("%s  %zu questions\n", path.c_str(), questions);
}

/// NAME.tsv, and NAME.conllu where all dependencies are known.
inline void write_part(std::string const& folder, std::string const& name, corpus const& c,
                       std::vector<int> const& numbers) {
  std::string pairs, trees;
  bool known = true;
  for (int const i : numbers) {
    auto const& q = c.questions[static_cast<std::size_t>(i)];
    pairs += q.question + "\t" + q.query + "\n";
    known = known && !q.heads.empty();
    if (known) trees += to_conllu(q);
  }
  write_file(folder + "/" + name + ".tsv", pairs, numbers.size());
  if (known) write_file(folder + "/" + name + ".conllu", trees, numbers.size());
}

}  // namespace detail

inline int generate(making const& m) {
  auto const c = generate_questions(m.count, m.seed, m.depth);
  triad::examples::make_folder(m.out);
  std::vector<int> all(c.questions.size());
  std::string lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<int>(i);
    lines += to_line(c.questions[i], c.names) + "\n";
  }
  detail::write_part(m.out, "all", c, all);
  detail::write_file(m.out + "/rules.jsonl", lines, all.size());
  return 0;
}

/// did_not_reach where the atoms are further apart than they may be.
inline int split(making const& m) {
  int repeated = 0;
  auto const c = read_corpus(m.data, repeated);
  if (repeated > 0) std::printf("%d questions left out that are there before\n", repeated);
  auto s = settings_for(c.questions.size(), m.seed);
  if (m.train > 0) s.train = m.train;
  if (m.held_out > 0) s.held_out = m.held_out;
  s.atom_limit = m.atom_limit, s.candidates = m.candidates, s.passes = m.passes;
  auto const d = make_split(c, s, m.compound_size);
  std::printf("%zu questions, %d rules, %zu compounds of 2 to %d rules\n\n", c.questions.size(), c.names.size(),
              d.compounds, m.compound_size);
  std::printf("%-10s  %7s  %6s  %6s  %19s  %23s\n", "", "train", "dev", "test", "divergence of atoms",
              "divergence of compounds");
  auto const row = [&](char const* name, double atoms, double compounds) {
    std::printf("%-10s  %7zu  %6zu  %6zu  %19.4f  %23.4f\n", name, d.train.size(), d.dev.size(), d.test.size(), atoms,
                compounds);
  };
  row("this split", d.atoms_apart, d.compounds_apart);
  row("by chance", d.atoms_by_chance, d.compounds_by_chance);
  std::printf("\n");

  triad::examples::make_folder(m.out);
  detail::write_part(m.out, "train", c, d.train);
  detail::write_part(m.out, "dev", c, d.dev);
  detail::write_part(m.out, "test", c, d.test);
  nlohmann::ordered_json json;
  json["seed"] = m.seed, json["atom_limit"] = m.atom_limit, json["compound_size"] = m.compound_size;
  json["candidates"] = m.candidates, json["passes"] = m.passes;
  json["atom_divergence"] = d.atoms_apart, json["compound_divergence"] = d.compounds_apart;
  json["by_chance"] = {{"atom_divergence", d.atoms_by_chance}, {"compound_divergence", d.compounds_by_chance}};
  json["trainIdxs"] = d.train, json["devIdxs"] = d.dev, json["testIdxs"] = d.test;
  triad::examples::write_atomically(m.out + "/split.json", json.dump() + "\n");
  if (d.atoms_apart <= m.atom_limit) return 0;
  std::printf(
      "the atoms are further apart than %g: give fewer questions with --train and --dev-and-test, or more --passes  "
      "failed\n",
      m.atom_limit);
  return triad::examples::did_not_reach;
}

/// Adds the two verbs; they write what they are told to `m`, which must live as long as the app.
inline std::vector<std::pair<CLI::App*, int (*)(making const&)>> add_making_verbs(CLI::App& app, making& m) {
  auto& to_generate = *app.add_subcommand(
      "generate", "Write generated questions: queries, dependencies and the rules that derive them");
  to_generate.add_option("--out", m.out, "Folder of all.tsv, all.conllu and rules.jsonl")->required();
  to_generate.add_option("--count", m.count, "Questions")->check(positive);
  to_generate.add_option("--depth", m.depth, "How often phrases stand inside of others, at most")->check(between(0, 6));
  to_generate.add_option("--seed", m.seed)->check(triad::examples::any_seed);
  auto& to_split = *app.add_subcommand(
      "split", "Take a corpus apart so that parts have the same rules and compounds as different as can be");
  to_split
      .add_option("--data", m.data,
                  "File of questions with the rules that derive them, such as rules.jsonl; docs/data.md has the format")
      ->required();
  to_split.add_option("--out", m.out, "Folder of train, dev and test, .tsv and .conllu, and split.json")->required();
  to_split.add_option("--train", m.train, "Training questions; 0: two fifths of all")->check(not_negative);
  to_split.add_option("--dev-and-test", m.held_out, "Questions of dev and test together; 0: a tenth of all")
      ->check(not_negative);
  to_split.add_option("--seed", m.seed)->check(triad::examples::any_seed);
  to_split.add_option("--atom-limit", m.atom_limit, "Largest divergence of atoms")->check(between(0.0, 1.0));
  to_split.add_option("--compound-size", m.compound_size, "Rules of a compound, at most")->check(between(2, 6));
  to_split.add_option("--candidates", m.candidates, "Questions looked at for each that comes in")
      ->check(between(1, 10000));
  to_split.add_option("--passes", m.passes, "Over all questions, twice at most")->check(between(1, 10000));
  return {{&to_generate, generate}, {&to_split, split}};
}

}  // namespace cfq
