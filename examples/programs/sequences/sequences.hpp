// The program sequences, formerly called pairs: translates sequences into sequences.  You train it on your own data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <map>
#include <utility>

#include "program.hpp"
#include "score.hpp"
#include "shared/cli/called_by.hpp"
#include "shared/cli/say.hpp"
#include "shared/cli/verbs.hpp"
#include "shared/data/data_folder.hpp"
#include "shared/data/json_lines.hpp"
#include "shared/report/refuse.hpp"

namespace triad::programs::sequences {

struct own_options : options {
  std::string file;  // inspect: the file to summarise

  own_options() {
    presets = {"quick", "small", "paper", "smoke"};
    other_names = {"sequences", "pairs"};
  }
  void each(option_list& f) override {
    f("program", &program, "").one_of({program}).hidden().free();
    f("data", &data, "Folder with train, maybe dev, and test or several test_NAME, .jsonl or .tsv, gzipped or not")
        .also({"evaluate", "explain"})
        .path();
    options::each(f);
    f("file", &file, "A file of pairs").only({"inspect"}).positional().required().existing_file();
  }
};

/// Sets the defaults of o.preset and o.model.
///   quick   for some thousand short pairs of your own
inline void apply_preset(own_options& o) {
  apply_preset(static_cast<options&>(o));
  if (o.preset == "quick") {
    o.encoder_layers = o.decoder_layers = 2;
    o.width = 64;
    o.hidden = 128;
    o.rate = 2e-3;
    o.warmup = 100;
    o.schedule = "linear";
    o.updates = 1200;
    o.tokens = 512;
    o.evaluate_every = 200;
  }
}

/// Reads pairs from the columns of a .tsv file, or from JSON lines such as {"source": "a b", "target": "c d"}, which
/// may also have a "kind".
inline std::vector<text_pair> read_pair_lines(std::string const& path) {
  if (path.ends_with(".tsv") || path.ends_with(".tsv.gz")) return read_pairs(path);
  std::vector<text_pair> all;
  read_json_lines(path, [&](nlohmann::json const& line) {
    auto const text = [&](char const* name) {
      auto const words = text::joined(text::words(member<std::string>(line, name, "a text")));
      if (words.empty()) refuse("the {} has no words", name);
      return words;
    };
    auto kind = line.contains("kind") ? member<std::string>(line, "kind", "a text") : std::string();
    all.push_back({text("source"), text("target"), std::move(kind)});
  });
  return all;
}

inline program program_of(own_options const& o, bool needs_train) {
  if (o.data.empty())
    refuse(
        "there is nothing to read: give a folder with train and test .jsonl or .tsv with --data; docs/data.md has the "
        "format");
  auto const files = find_data(o.data, {".jsonl", ".tsv"}, needs_train);
  program p;
  if (needs_train) p.data.train = read_pair_lines(files.train);
  if (!files.dev.empty()) p.data.dev = read_pair_lines(files.dev);
  if (!p.data.dev.empty()) p.data.tests.push_back({"dev", p.data.dev});
  for (auto const& [name, path] : files.tests) p.data.tests.push_back({name, read_pair_lines(path)});
  p.figures = plain_figures;
  return p;
}

inline int inspect(std::string const& path) {
  auto const all = read_pair_lines(path);
  std::map<std::string, int> source, target;
  std::size_t longest_source = 0, longest_target = 0;
  for (auto const& pair : all) {
    auto const count = [](std::string const& text, auto& words) {
      auto const tokens = text::words(text);
      for (auto const& token : tokens) ++words[token];
      return tokens.size();
    };
    longest_source = std::max(longest_source, count(pair.source, source));
    longest_target = std::max(longest_target, count(pair.target, target));
  }
  say("{}: {} pairs\nsource: {} words, {} in the longest\ntarget: {} words, {} in the longest\n", path, all.size(),
      source.size(), longest_source, target.size(), longest_target);
  return 0;
}

}  // namespace triad::programs::sequences
