// pairs: from sequence to sequence, of one's own data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <map>
#include <utility>

#include "../apps/data_folder.hpp"
#include "../apps/json_lines.hpp"
#include "../apps/say.hpp"
#include "../apps/verbs.hpp"
#include "program.hpp"
#include "score.hpp"

namespace pairs {

struct options : seq2seq::options {
  std::string file;  // inspect

  options() { presets = {"small", "paper", "smoke"}; }
  void each(triad::apps::option_list& f) override {
    f("program", &program, "").one_of({"pairs"}).hidden().free();
    f("data", &data, "Folder with train, maybe dev, and test or several test_NAME, .jsonl or .tsv, gzipped or not")
        .also({"evaluate", "explain"})
        .path();
    seq2seq::options::each(f);
    f("file", &file, "A file of pairs").only({"inspect"}).positional().required().existing_file();
  }
};

/// {"source": "a b", "target": "c d"} a line, maybe with a "kind"; or columns of .tsv.
inline std::vector<seq2seq::text_pair> read(std::string const& path) {
  if (path.ends_with(".tsv") || path.ends_with(".tsv.gz")) return triad::apps::read_pairs(path);
  std::vector<seq2seq::text_pair> all;
  triad::apps::read_json_lines(path, [&](nlohmann::json const& line) {
    auto const text = [&](char const* name) {
      auto const words =
          triad::text::joined(triad::text::words(triad::apps::member<std::string>(line, name, "a text")));
      if (words.empty()) throw triad::data_error(std::string("the ") + name + " has no words");
      return words;
    };
    auto kind = line.contains("kind") ? triad::apps::member<std::string>(line, "kind", "a text") : std::string();
    all.push_back({text("source"), text("target"), std::move(kind)});
  });
  return all;
}

inline seq2seq::program program_of(options const& o, bool needs_train) {
  if (o.data.empty())
    throw triad::data_error(
        "there is nothing to read: give a folder with train and test .jsonl or .tsv with --data; docs/data.md has the "
        "format");
  auto const files = triad::apps::find_data(o.data, {".jsonl", ".tsv"}, needs_train);
  seq2seq::program p;
  if (needs_train) p.data.train = read(files.train);
  if (!files.dev.empty()) p.data.dev = read(files.dev);
  if (!p.data.dev.empty()) p.data.tests.push_back({"dev", p.data.dev});
  for (auto const& [name, path] : files.tests) p.data.tests.push_back({name, read(path)});
  p.figures = seq2seq::plain_bleu;
  return p;
}

inline int inspect(std::string const& path) {
  auto const all = read(path);
  std::map<std::string, int> source, target;
  std::size_t longest_source = 0, longest_target = 0;
  for (auto const& pair : all) {
    auto const count = [](std::string const& text, auto& words) {
      auto const tokens = triad::text::words(text);
      for (auto const& token : tokens) ++words[token];
      return tokens.size();
    };
    longest_source = std::max(longest_source, count(pair.source, source));
    longest_target = std::max(longest_target, count(pair.target, target));
  }
  triad::apps::say("{}: {} pairs\nsource: {} words, {} in the longest\ntarget: {} words, {} in the longest\n", path,
                   all.size(), source.size(), longest_source, target.size(), longest_target);
  return 0;
}

struct task {
  static int main(int argc, char** argv) {
    return triad::apps::run_program<options>(
        "pairs",
        "From sequence to sequence.  A Transformer whose layers read all earlier layers, a plain one, or an Edge "
        "Transformer learns it from JSON lines.",
        [](options& o) {
          auto verbs = seq2seq::verbs_of(o, [&o](bool needs_train, bool) { return program_of(o, needs_train); });
          verbs.push_back({"inspect", "Say what a file of pairs holds", [&o] { return inspect(o.file); }});
          return verbs;
        },
        argc, argv);
  }
};

}  // namespace pairs
